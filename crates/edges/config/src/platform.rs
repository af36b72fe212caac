//! The platform-specific parts of this crate: file permissions, the folders of hosts, and terminal
//! echo.
//!
//! Each function has the same contract on every platform; its documentation says what a platform
//! cannot do. Other modules decide what files contain and which of them count.

pub(crate) mod files;
pub(crate) mod paths;
pub(crate) mod terminal;
