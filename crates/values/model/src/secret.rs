//! A value that must never be printed.
//!
//! It shows as `***` in Debug and has no Display, so that a log line or an error message cannot
//! contain it by accident. Reading it takes an explicit call that stands out in review: `expose`.

use std::fmt;

/// A wrapper that hides its value in output.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Hides a value.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value, for the code that must send it.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
