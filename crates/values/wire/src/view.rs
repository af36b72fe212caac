//! Small typed views of what naming, policy and lifecycle need to know.
//!
//! A view borrows from raw JSON and forgives: unknown members are ignored and a member of the
//! wrong type counts as absent, so one odd field never hides the rest. Views are for reading;
//! what is forwarded is always the bytes they were taken from.

mod capability;
mod level;
mod lifecycle;
mod report;

use std::borrow::Cow;

pub use capability::{Hints, PromptView, ResourceView, TaskSupport, TemplateView, ToolView};
pub use level::{LogLevel, UnknownLevel};
pub use lifecycle::{Implementation, Initialize, InitializeResult};
pub use report::{LogMessage, Progress, RpcError};

use crate::{scan, string};

/// The members of one object, with forgiving access.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// `None` if `raw` is no object.
    fn of(raw: &'a [u8]) -> Option<Self> {
        raw.trim_ascii_start().starts_with(b"{").then_some(Self(raw))
    }

    fn raw(self, key: &str) -> Option<&'a [u8]> {
        Some(scan::member(self.0, key)?.of(self.0))
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

    fn object(self, key: &str) -> Option<Fields<'a>> {
        Fields::of(self.raw(key)?)
    }
}
