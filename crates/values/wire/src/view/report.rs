//! Views of what a peer reports: log messages, progress and errors.

use std::borrow::Cow;

use super::{LogLevel, ObjectView};

/// A view of the params of `notifications/message`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogMessageParams<'a> {
    /// `level`, if it is known.
    pub level: Option<LogLevel>,
    /// `logger`.
    pub logger: Option<Cow<'a, str>>,
    /// `data`, raw.
    pub data: Option<&'a [u8]>,
}

impl<'a> LogMessageParams<'a> {
    /// Reads raw params. Returns `None` if they are not an object.
    pub fn of(params: &'a [u8]) -> Option<Self> {
        let fields = ObjectView::of(params)?;
        Some(Self {
            level: fields.text("level").and_then(|level| level.parse().ok()),
            logger: fields.text("logger"),
            data: fields.raw("data"),
        })
    }
}

/// A view of the params of `notifications/progress`, without the token, which
/// [`Frame`](crate::Frame) provides.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressParams<'a> {
    /// `progress`.
    pub progress: Option<f64>,
    /// `total`.
    pub total: Option<f64>,
    /// `message`.
    pub message: Option<Cow<'a, str>>,
}

impl<'a> ProgressParams<'a> {
    /// Reads raw params. Returns `None` if they are not an object.
    pub fn of(params: &'a [u8]) -> Option<Self> {
        let fields = ObjectView::of(params)?;
        let number = |key| serde_json::from_slice(fields.raw(key)?).ok();
        Some(Self {
            progress: number("progress"),
            total: number("total"),
            message: fields.text("message"),
        })
    }
}

/// A view of the error object of a failure response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError<'a> {
    /// `code`.
    pub code: Option<i64>,
    /// `message`.
    pub message: Option<Cow<'a, str>>,
    /// `data`, raw.
    pub data: Option<&'a [u8]>,
}

impl<'a> RpcError<'a> {
    /// Reads a raw error object. Returns `None` if it is not an object.
    pub fn of(error: &'a [u8]) -> Option<Self> {
        let fields = ObjectView::of(error)?;
        Some(Self {
            code: fields.raw("code").and_then(|code| serde_json::from_slice(code).ok()),
            message: fields.text("message"),
            data: fields.raw("data"),
        })
    }
}
