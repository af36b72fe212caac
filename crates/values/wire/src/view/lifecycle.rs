//! Views of the opening of a legacy session.

use std::borrow::Cow;

use super::Fields;

/// Name and version of a program.
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
    fn of(fields: Option<Fields<'a>>) -> Self {
        let text = |key| fields.and_then(|fields| fields.text(key));
        Self { name: text("name"), title: text("title"), version: text("version") }
    }
}

/// The params of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initialize<'a> {
    /// `protocolVersion`, whatever it says.
    pub protocol_version: Option<Cow<'a, str>>,
    /// `capabilities`, raw.
    pub capabilities: Option<&'a [u8]>,
    /// `clientInfo`.
    pub client: Implementation<'a>,
}

impl<'a> Initialize<'a> {
    /// The view of raw params; `None` if they are no object.
    pub fn of(params: &'a [u8]) -> Option<Self> {
        let fields = Fields::of(params)?;
        Some(Self {
            protocol_version: fields.text("protocolVersion"),
            capabilities: fields.object("capabilities").map(|object| object.0),
            client: Implementation::of(fields.object("clientInfo")),
        })
    }
}

/// The result of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitializeResult<'a> {
    /// `protocolVersion`, whatever it says.
    pub protocol_version: Option<Cow<'a, str>>,
    /// `capabilities`, raw.
    pub capabilities: Option<&'a [u8]>,
    /// `serverInfo`.
    pub server: Implementation<'a>,
    /// `instructions`.
    pub instructions: Option<Cow<'a, str>>,
}

impl<'a> InitializeResult<'a> {
    /// The view of a raw result; `None` if it is no object.
    pub fn of(result: &'a [u8]) -> Option<Self> {
        let fields = Fields::of(result)?;
        Some(Self {
            protocol_version: fields.text("protocolVersion"),
            capabilities: fields.object("capabilities").map(|object| object.0),
            server: Implementation::of(fields.object("serverInfo")),
            instructions: fields.text("instructions"),
        })
    }
}
