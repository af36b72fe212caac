//! A capability in the form in which it is indexed.

use toolgate_model::{CapabilityId, CapabilityKind, Definition, ServerName};
use toolgate_wire::words;

use crate::definition;

words! {
    /// A part of a capability that can be searched.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[repr(u8)]
    pub enum SearchField {
        /// The name, or the URI of a resource.
        Name = "name",
        /// The title.
        Title = "title",
        /// The description.
        Description = "description",
        /// The names of parameters, and their `enum` values.
        Parameter = "parameter",
        /// The descriptions of parameters.
        Detail = "parameter description",
        /// The name of the server.
        Server = "server",
        /// A tag that the operator assigned.
        Tag = "tag",
    }
}

/// A capability as it is indexed: its ID and its texts by field, with limited length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedCapability {
    pub(crate) id: CapabilityId,
    pub(crate) texts: Vec<(SearchField, Box<str>)>,
}

impl IndexedCapability {
    /// Reads a tool: name, title, description, and its parameters down to a few levels.
    pub fn from_tool(server: &ServerName, definition: &Definition, tags: &[String]) -> Self {
        let (server_name, name) = (server.clone(), definition.name.clone());
        let id = CapabilityId { server: server_name, kind: CapabilityKind::Tool, name };
        let mut texts = definition::texts(definition);
        texts.push((SearchField::Server, server.as_str().into()));
        texts.extend(tags.iter().take(definition::MOST_TAGS).map(|tag| {
            (SearchField::Tag, definition::truncate_text(tag, definition::LONGEST_NAME).into())
        }));
        Self { id, texts }
    }

    /// Returns the ID of the capability.
    pub fn id(&self) -> &CapabilityId {
        &self.id
    }
}
