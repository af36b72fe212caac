//! A server's catalog with a check result for each definition.
//!
//! Each definition is checked once, when it is discovered. It keeps its [`CheckedDefinition`] for
//! as long as the server offers it unchanged, however often the list is read again. Other code can
//! therefore cache what it derives from a definition by the identity of the `CheckedDefinition`.
//! This module does not decide who sees a definition.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use toolgate_model::{CapabilityKind, Catalog, Definition, Digest, ToolSelection};
use toolgate_pins::is_pinned_kind;
use toolgate_schema::ArgumentValidator;
use toolgate_wire::mcp_headers::{self, ArgumentHeader};
use toolgate_wire::{Era, Revision, scan};

/// Definitions of up to this many bytes are checked inline. Larger ones are checked on a blocking
/// thread.
const QUICK: usize = 16 << 10;
/// Schema keywords that can be slow at any size: regular expressions, and references, which can
/// expand. An escape sequence may hide one of them.
const SLOW_WORDS: [&[u8]; 5] = [b"attern", b"$ref", b"$dynamicRef", b"$recursiveRef", b"\\u"];

/// A catalog whose definitions have been checked.
#[derive(Debug)]
pub struct CheckedCatalog {
    /// The catalog as the server sent it.
    pub catalog: Arc<Catalog>,
    definitions: [Vec<Arc<CheckedDefinition>>; CapabilityKind::ALL.len()],
    instructions: OnceLock<Digest>,
}

/// One definition with the result of its check.
#[derive(Debug)]
pub struct CheckedDefinition {
    /// The definition as the server sent it.
    pub raw: Bytes,
    /// Why the definition cannot be used; `None` if it can.
    pub unusable: Option<String>,
    /// The arguments that modern requests repeat in headers.
    pub header_rules: Arc<[ArgumentHeader]>,
    /// True if validating small arguments is fast, including the first validation.
    pub is_cheap_to_check: bool,
    kind: CapabilityKind,
    arguments: OnceLock<Option<ArgumentValidator>>,
    digest: OnceLock<Digest>,
}

/// A definition that is pinned individually, or the instructions of a server.
#[derive(Debug, Clone, Copy)]
pub struct PinnableDefinition<'a> {
    /// The kind and name; `None` for the instructions.
    pub capability: Option<(CapabilityKind, &'a str)>,
    /// The digest of the definition.
    pub digest: Digest,
    /// The definition as the server sent it.
    pub definition: &'a [u8],
}

impl CheckedDefinition {
    fn check(kind: CapabilityKind, protocol: Revision, definition: &Definition) -> Self {
        let raw = definition.raw.clone();
        let (unusable, marks) = match kind {
            CapabilityKind::Tool => check_tool(&raw, protocol),
            _ => (None, Vec::new()),
        };
        let is_quick = raw.len() <= QUICK && !SLOW_WORDS.iter().any(|word| contains(&raw, word));
        Self {
            raw,
            unusable,
            header_rules: marks.into(),
            is_cheap_to_check: is_quick,
            kind,
            arguments: OnceLock::new(),
            digest: OnceLock::new(),
        }
    }

    /// Returns the digest of the definition. It is computed on first use and cached.
    pub fn digest(&self) -> &Digest {
        self.digest.get_or_init(|| toolgate_pins::definition_digest(self.kind, &self.raw))
    }

    /// Returns the validator for a tool's arguments, or `None` if the schema accepts any object. It
    /// is compiled on first use and cached.
    pub fn arguments(&self) -> Option<&ArgumentValidator> {
        self.arguments.get_or_init(|| compile_arguments(&self.raw)).as_ref()
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

/// Checks a tool definition. A tool with an invalid schema is unusable, because clients reject a
/// whole list that contains one. A modern tool with invalid header marks is unusable too.
fn check_tool(raw: &Bytes, protocol: Revision) -> (Option<String>, Vec<ArgumentHeader>) {
    let unusable =
        toolgate_schema::check_definition(raw).err().map(|unusable| unusable.to_string());
    match mcp_headers::argument_headers(raw) {
        Ok(marks) => (unusable, marks),
        Err(invalid) if protocol.era() == Era::Modern => {
            (unusable.or(Some(invalid.to_string())), Vec::new())
        }
        Err(_) => (unusable, Vec::new()),
    }
}

/// Compiles the validator for a tool's arguments. Returns `None` for a schema that only requires an
/// object, since there is nothing to validate.
fn compile_arguments(raw: &[u8]) -> Option<ArgumentValidator> {
    let schema = scan::member(raw, "inputSchema")?.slice(raw);
    let says_little = |(key, value): (std::borrow::Cow<'_, str>, toolgate_wire::Span)| {
        let value = value.slice(schema);
        match key.as_ref() {
            "type" => value == b"\"object\"",
            "properties" => scan::members(value).next().is_none(),
            "required" => scan::elements(value).next().is_none(),
            "additionalProperties" => value == b"true" || value == b"{}",
            "$schema" | "title" | "description" | "$comment" | "$id" => true,
            _ => false,
        }
    };
    match scan::members(schema).all(says_little) {
        true => None,
        false => ArgumentValidator::of(raw).ok(),
    }
}

impl CheckedCatalog {
    /// Checks a catalog. Results for definitions that did not change are taken from `before`.
    pub(crate) async fn check(catalog: Arc<Catalog>, before: Option<Arc<CheckedCatalog>>) -> Self {
        let weight: usize = catalog.tools.iter().map(|tool| tool.raw.len()).sum();
        if weight > QUICK {
            let (catalog, before) = (catalog.clone(), before.clone());
            let judged = move || Self::check_blocking(catalog, before.as_deref());
            if let Ok(known) = tokio::task::spawn_blocking(judged).await {
                return known;
            }
        }
        Self::check_blocking(catalog, before.as_deref())
    }

    fn check_blocking(catalog: Arc<Catalog>, before: Option<&CheckedCatalog>) -> Self {
        let before = before.filter(|known| known.catalog.protocol == catalog.protocol);
        let facts = CapabilityKind::ALL.map(|kind| {
            let known = before.map(|known| known.by_definition(kind)).unwrap_or_default();
            let fact = |definition: &Definition| match known.get(&definition.raw) {
                Some(fact) => Arc::clone(fact),
                None => Arc::new(CheckedDefinition::check(kind, catalog.protocol, definition)),
            };
            catalog.definitions(kind).iter().map(fact).collect()
        });
        Self { catalog, definitions: facts, instructions: OnceLock::new() }
    }

    /// Returns the digest of the server's instructions.
    pub fn instructions_digest(&self) -> &Digest {
        self.instructions.get_or_init(|| {
            let text = self.catalog.instructions.as_deref().unwrap_or_default();
            toolgate_pins::instructions_digest(text)
        })
    }

    fn by_definition(&self, kind: CapabilityKind) -> HashMap<&Bytes, &Arc<CheckedDefinition>> {
        self.of_kind(kind).map(|(_, fact)| (&fact.raw, fact)).collect()
    }

    /// Returns the definitions of one kind in the server's order, each with its check result.
    pub fn of_kind(
        &self,
        kind: CapabilityKind,
    ) -> impl Iterator<Item = (&Definition, &Arc<CheckedDefinition>)> {
        let facts = self.definitions.get(kind as usize).map(Vec::as_slice).unwrap_or_default();
        self.catalog.definitions(kind).iter().zip(facts)
    }

    /// Returns what is pinned individually: the server's instructions first, then the usable
    /// definitions by kind, in the server's order.
    pub fn pinnable(&self) -> Vec<PinnableDefinition<'_>> {
        let instructions = self.catalog.instructions.as_deref().unwrap_or_default().as_bytes();
        let digest = *self.instructions_digest();
        let mut all =
            vec![PinnableDefinition { capability: None, digest, definition: instructions }];
        for kind in CapabilityKind::ALL.into_iter().filter(|kind| is_pinned_kind(*kind)) {
            let usable = self.of_kind(kind).filter(|(_, fact)| fact.unusable.is_none());
            all.extend(usable.map(|(definition, fact)| PinnableDefinition {
                capability: Some((kind, &*definition.name)),
                digest: *fact.digest(),
                definition: &fact.raw,
            }));
        }
        all
    }

    /// Counts the tools that callers can see: usable ones that the server's declaration does not
    /// hide.
    pub(crate) fn count_visible_tools(&self, selection: &ToolSelection) -> usize {
        let tools = self.of_kind(CapabilityKind::Tool);
        tools
            .filter(|(tool, fact)| fact.unusable.is_none() && selection.is_visible(&tool.name))
            .count()
    }

    /// Returns the checked definition of a capability. If two have the same name, the first counts.
    pub fn definition(&self, kind: CapabilityKind, name: &str) -> Option<&Arc<CheckedDefinition>> {
        let mut all = self.of_kind(kind);
        all.find(|(definition, _)| &*definition.name == name).map(|(_, fact)| fact)
    }

    /// Returns why the server is unusable, or `None` if it is usable. A server is unusable if no
    /// definition can be used and it declares neither list changes nor an extension. (Extension
    /// methods need no list.)
    pub(crate) fn unusable_reason(&self) -> Option<String> {
        let capabilities = &self.catalog.capabilities[..];
        let announces = |(key, value): (std::borrow::Cow<'_, str>, toolgate_wire::Span)| {
            let value = value.slice(capabilities);
            let changes = scan::member(value, "listChanged");
            key == "extensions" && scan::members(value).next().is_some()
                || changes.is_some_and(|at| at.slice(value) == b"true")
        };
        if scan::members(capabilities).any(announces) {
            return None;
        }
        let facts = || self.definitions.iter().flatten();
        if facts().any(|fact| fact.unusable.is_none()) {
            return None;
        }
        let first = self.of_kind(CapabilityKind::Tool).next();
        Some(match first.and_then(|(tool, fact)| Some((tool, fact.unusable.as_ref()?))) {
            Some((tool, why)) => format!(
                "none of its {} tool(s) can be used; the first is {:?}: {why}",
                facts().count(),
                tool.name
            ),
            None => "the server offers no tool, resource or prompt".to_owned(),
        })
    }
}
