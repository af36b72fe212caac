//! Whether a caller has read what a server wrote that nobody trusts.
//!
//! Whatever such a server says may be meant to make a model do something else. From then on, as
//! long as the caller stays, tools that carry data out or destroy something are asked about. The
//! content itself is not looked at: what it says cannot be told from what it is for.

use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is only ever raised.
#[derive(Debug, Default)]
pub(crate) struct Taint(AtomicBool);

impl Taint {
    /// The caller was given untrusted content.
    pub(crate) fn raise(&self) {
        if !self.is_raised() {
            self.0.store(true, Ordering::Release);
        }
    }

    /// Whether he was.
    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
