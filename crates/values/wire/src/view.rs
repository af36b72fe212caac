//! Small typed views of the message parts that naming, policy and lifecycle read.
//!
//! A view borrows from raw JSON and is lenient: it ignores unknown members and treats a member of
//! the wrong type as absent, so one odd field never hides the rest. Views are read-only; the
//! gateway always forwards the original bytes.

mod capability;
mod level;
mod report;

use std::borrow::Cow;

pub use capability::{TaskSupport, ToolHints};
pub use level::LogLevel;
pub use report::{LogMessageParams, ProgressParams, RpcError};

use crate::{scan, string};

/// A JSON object with lenient access to its members.
#[derive(Clone, Copy)]
struct ObjectView<'a>(&'a [u8]);

impl<'a> ObjectView<'a> {
    /// Returns a view of `raw`, or `None` if `raw` is not an object.
    fn of(raw: &'a [u8]) -> Option<Self> {
        raw.trim_ascii_start().starts_with(b"{").then_some(Self(raw))
    }

    fn raw(self, key: &str) -> Option<&'a [u8]> {
        Some(scan::member(self.0, key)?.slice(self.0))
    }

    fn text(self, key: &str) -> Option<Cow<'a, str>> {
        string::decode(self.raw(key)?)
    }

    fn flag(self, key: &str) -> Option<bool> {
        match self.raw(key)? {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    fn object(self, key: &str) -> Option<ObjectView<'a>> {
        ObjectView::of(self.raw(key)?)
    }
}
