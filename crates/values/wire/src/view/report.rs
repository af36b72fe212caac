//! Views of what a peer reports: log messages, progress, errors.

use std::borrow::Cow;

use super::{Fields, LogLevel};

/// The params of `notifications/message`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogMessage<'a> {
    /// `level`, if it is one.
    pub level: Option<LogLevel>,
    /// `logger`.
    pub logger: Option<Cow<'a, str>>,
    /// `data`, raw.
    pub data: Option<&'a [u8]>,
}

impl<'a> LogMessage<'a> {
    /// The view of raw params; `None` if they are no object.
    pub fn of(params: &'a [u8]) -> Option<Self> {
        let fields = Fields::of(params)?;
        Some(Self {
            level: fields.text("level").and_then(|level| level.parse().ok()),
            logger: fields.text("logger"),
            data: fields.raw("data"),
        })
    }
}

/// The params of `notifications/progress`, but for the token, which the frame knows.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress<'a> {
    /// `progress`.
    pub progress: Option<f64>,
    /// `total`.
    pub total: Option<f64>,
    /// `message`.
    pub message: Option<Cow<'a, str>>,
}

impl<'a> Progress<'a> {
    /// The view of raw params; `None` if they are no object.
    pub fn of(params: &'a [u8]) -> Option<Self> {
        let fields = Fields::of(params)?;
        let number = |key| serde_json::from_slice(fields.raw(key)?).ok();
        Some(Self {
            progress: number("progress"),
            total: number("total"),
            message: fields.text("message"),
        })
    }
}

/// The error object of a failure.
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
    /// The view of a raw error; `None` if it is no object.
    pub fn of(error: &'a [u8]) -> Option<Self> {
        let fields = Fields::of(error)?;
        Some(Self {
            code: fields.raw("code").and_then(|code| serde_json::from_slice(code).ok()),
            message: fields.text("message"),
            data: fields.raw("data"),
        })
    }
}
