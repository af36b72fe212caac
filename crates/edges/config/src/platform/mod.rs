//! What differs between systems, and the only place of this crate that knows which one it runs on:
//! who may read a file, where hosts keep theirs, how a terminal is told to be silent.
//!
//! Each function means the same everywhere; what a system cannot do it leaves out and says so here.
//! What files say, and which of them count, is decided elsewhere.

pub(crate) mod files;
pub(crate) mod paths;
pub(crate) mod terminal;
