//! What is indexed of one capability.

use std::fmt;

use toolgate_model::{CapabilityId, CapabilityKind, Definition, ServerName};

use crate::definition;

/// A part of a capability that can be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Field {
    /// Its own name, or the URI of a resource.
    Name,
    /// Its title.
    Title,
    /// Its description.
    Description,
    /// The names of its parameters, and the values they choose from.
    Parameter,
    /// The descriptions of its parameters.
    Detail,
    /// The name of its server.
    Server,
    /// A tag the operator gave it.
    Tag,
}

impl Field {
    /// Every field, in the order they are read.
    pub const ALL: [Self; 7] = [
        Self::Name,
        Self::Title,
        Self::Description,
        Self::Parameter,
        Self::Detail,
        Self::Server,
        Self::Tag,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Title => "title",
            Self::Description => "description",
            Self::Parameter => "parameter",
            Self::Detail => "parameter description",
            Self::Server => "server",
            Self::Tag => "tag",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is indexed of one capability: its identity and its texts by field, bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub(crate) id: CapabilityId,
    pub(crate) texts: Vec<(Field, Box<str>)>,
}

impl Document {
    /// Reads a tool: name, title, description, and its parameters down to a few levels.
    pub fn of_tool(server: &ServerName, definition: &Definition, tags: &[String]) -> Self {
        Self::of(server, CapabilityKind::Tool, definition, tags)
    }

    /// Reads a prompt: name, title, description and arguments.
    pub fn of_prompt(server: &ServerName, definition: &Definition, tags: &[String]) -> Self {
        Self::of(server, CapabilityKind::Prompt, definition, tags)
    }

    /// Reads a resource: URI, name, title and description.
    pub fn of_resource(server: &ServerName, definition: &Definition, tags: &[String]) -> Self {
        Self::of(server, CapabilityKind::Resource, definition, tags)
    }

    /// Reads a resource template: URI template, name, title and description.
    pub fn of_template(server: &ServerName, definition: &Definition, tags: &[String]) -> Self {
        Self::of(server, CapabilityKind::Template, definition, tags)
    }

    /// Reads a capability of any kind.
    pub fn of(
        server: &ServerName,
        kind: CapabilityKind,
        definition: &Definition,
        tags: &[String],
    ) -> Self {
        let id = CapabilityId { server: server.clone(), kind, name: definition.name.clone() };
        let mut texts = definition::texts(kind, definition);
        texts.push((Field::Server, server.as_str().into()));
        texts.extend(
            tags.iter()
                .take(definition::MOST_TAGS)
                .map(|tag| (Field::Tag, definition::bounded(tag, definition::LONGEST_NAME).into())),
        );
        Self { id, texts }
    }

    /// Which capability this is.
    pub fn id(&self) -> &CapabilityId {
        &self.id
    }
}
