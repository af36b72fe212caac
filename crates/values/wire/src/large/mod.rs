//! Answers too large to be held: a small message in their place, and where the rest lies.
//!
//! A large answer is read once, piece by piece, by a [`Sieve`]. It is as strict as the scan of an
//! ordinary message and keeps the long values out: what remains is the *skeleton*, an ordinary
//! message in which each of them is a placeholder. Ids, types, names and URIs are short and stay,
//! so whoever routes or shapes an answer works on the skeleton and need not know. The [`Aside`]
//! goes with it and says what belongs where, for whoever writes the answer out.
//!
//! Only values inside `result` are kept out; everything else is decided on and must be whole. An
//! answer of which too much would remain is not for the sieve ([`Stop::Unfit`]).

mod aside;
mod sieve;
mod syntax;
mod unescape;
mod utf8;

pub use aside::{Aside, Form, Hole, Kept, Piece, Pieces, Token};
pub use sieve::{Sieve, Sifted, Stop};
pub use unescape::Unescape;
