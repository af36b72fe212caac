//! Views of the `initialize` exchange of a legacy session.

use std::borrow::Cow;

use super::ObjectView;

/// The name and version of a client or server program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Implementation<'a> {
    /// `name`.
    pub name: Option<Cow<'a, str>>,
    /// `title`.
    pub title: Option<Cow<'a, str>>,
    /// `version`.
    pub version: Option<Cow<'a, str>>,
}

impl<'a> Implementation<'a> {
    fn of(fields: Option<ObjectView<'a>>) -> Self {
        let text = |key| fields.and_then(|fields| fields.text(key));
        Self { name: text("name"), title: text("title"), version: text("version") }
    }
}

/// A view of the params of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitializeParams<'a> {
    /// `protocolVersion`, not validated.
    pub protocol_version: Option<Cow<'a, str>>,
    /// `capabilities`, raw.
    pub capabilities: Option<&'a [u8]>,
    /// `clientInfo`.
    pub client: Implementation<'a>,
}

impl<'a> InitializeParams<'a> {
    /// Reads raw params. Returns `None` if they are not an object.
    pub fn of(params: &'a [u8]) -> Option<Self> {
        let fields = ObjectView::of(params)?;
        Some(Self {
            protocol_version: fields.text("protocolVersion"),
            capabilities: fields.object("capabilities").map(|object| object.0),
            client: Implementation::of(fields.object("clientInfo")),
        })
    }
}

/// A view of the result of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitializeResult<'a> {
    /// `protocolVersion`, not validated.
    pub protocol_version: Option<Cow<'a, str>>,
    /// `capabilities`, raw.
    pub capabilities: Option<&'a [u8]>,
    /// `serverInfo`.
    pub server: Implementation<'a>,
    /// `instructions`.
    pub instructions: Option<Cow<'a, str>>,
}

impl<'a> InitializeResult<'a> {
    /// Reads a raw result. Returns `None` if it is not an object.
    pub fn of(result: &'a [u8]) -> Option<Self> {
        let fields = ObjectView::of(result)?;
        Some(Self {
            protocol_version: fields.text("protocolVersion"),
            capabilities: fields.object("capabilities").map(|object| object.0),
            server: Implementation::of(fields.object("serverInfo")),
            instructions: fields.text("instructions"),
        })
    }
}
