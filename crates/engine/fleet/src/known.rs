//! What is known of a server: its catalog, and a verdict on each definition in it.
//!
//! A definition is judged once, when it is discovered, and keeps its [`Fact`] for as long as the
//! server goes on offering it unchanged, however often the list around it is read again. So whatever
//! is made of a definition elsewhere can be told by that fact, by identity. Who sees a definition is
//! not decided here.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use toolgate_model::{CapabilityKind, Catalog, Definition, Digest, Selection};
use toolgate_schema::Arguments;
use toolgate_wire::mirror::{self, Rule};
use toolgate_wire::{Era, Revision, scan};

/// Definitions of so many bytes are judged at once, and held to at once; more takes its time, and
/// nobody waits for it who need not.
const QUICK: usize = 16 << 10;
/// Words of schemas that may take long whatever their size: regular expressions, and references,
/// which make much of little. Whatever is escaped may be one of them.
const SLOW_WORDS: [&[u8]; 5] = [b"attern", b"$ref", b"$dynamicRef", b"$recursiveRef", b"\\u"];

/// A catalog whose definitions have been judged.
#[derive(Debug)]
pub struct Known {
    /// As the server sent it.
    pub catalog: Arc<Catalog>,
    facts: [Vec<Arc<Fact>>; CapabilityKind::ALL.len()],
    instructions: OnceLock<Digest>,
}

/// One definition, and what is known of it.
#[derive(Debug)]
pub struct Fact {
    /// The definition, as its server wrote it.
    pub raw: Bytes,
    /// Why it cannot be used, if it cannot.
    pub unusable: Option<String>,
    /// The arguments that modern requests repeat in headers.
    pub marks: Arc<[Rule]>,
    /// Whether small arguments are checked in no time, the first of them too.
    pub is_quick: bool,
    kind: CapabilityKind,
    arguments: OnceLock<Option<Arguments>>,
    digest: OnceLock<Digest>,
}

impl Fact {
    fn judge(kind: CapabilityKind, protocol: Revision, definition: &Definition) -> Self {
        let raw = definition.raw.clone();
        let (unusable, marks) = match kind {
            CapabilityKind::Tool => judge_tool(&raw, protocol),
            _ => (None, Vec::new()),
        };
        let is_quick = raw.len() <= QUICK && !SLOW_WORDS.iter().any(|word| contains(&raw, word));
        Self {
            raw,
            unusable,
            marks: marks.into(),
            is_quick,
            kind,
            arguments: OnceLock::new(),
            digest: OnceLock::new(),
        }
    }

    /// The digest of the definition: made when it is first asked for, and kept with the fact.
    pub fn digest(&self) -> &Digest {
        self.digest.get_or_init(|| toolgate_pins::digest(self.kind, &self.raw))
    }

    /// What checks the arguments of a tool: made when it is first called. `None` if everything fits.
    pub fn arguments(&self) -> Option<&Arguments> {
        self.arguments.get_or_init(|| restricting(&self.raw)).as_ref()
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

/// A modern tool whose marks for headers cannot be followed must not be used, and no tool whose
/// schema cannot: clients refuse a whole list for one of those.
fn judge_tool(raw: &Bytes, protocol: Revision) -> (Option<String>, Vec<Rule>) {
    let unusable = toolgate_schema::check(raw).err().map(|unusable| unusable.to_string());
    match mirror::rules(raw) {
        Ok(marks) => (unusable, marks),
        Err(invalid) if protocol.era() == Era::Modern => {
            (unusable.or(Some(invalid.to_string())), Vec::new())
        }
        Err(_) => (unusable, Vec::new()),
    }
}

/// A schema that says no more than that arguments are an object checks nothing worth a look.
fn restricting(raw: &[u8]) -> Option<Arguments> {
    let schema = scan::member(raw, "inputSchema")?.of(raw);
    let says_little = |(key, value): (std::borrow::Cow<'_, str>, toolgate_wire::Span)| {
        let value = value.of(schema);
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
        false => Arguments::of(raw).ok(),
    }
}

impl Known {
    /// Judges a catalog. What was known before of definitions that are still the same is kept.
    pub(crate) async fn of(catalog: Arc<Catalog>, before: Option<Arc<Known>>) -> Self {
        let weight: usize = catalog.tools.iter().map(|tool| tool.raw.len()).sum();
        if weight > QUICK {
            let (catalog, before) = (catalog.clone(), before.clone());
            let judged = move || Self::judged(catalog, before.as_deref());
            if let Ok(known) = tokio::task::spawn_blocking(judged).await {
                return known;
            }
        }
        Self::judged(catalog, before.as_deref())
    }

    fn judged(catalog: Arc<Catalog>, before: Option<&Known>) -> Self {
        let before = before.filter(|known| known.catalog.protocol == catalog.protocol);
        let facts = CapabilityKind::ALL.map(|kind| {
            let known = before.map(|known| known.by_definition(kind)).unwrap_or_default();
            let fact = |definition: &Definition| match known.get(&definition.raw) {
                Some(fact) => Arc::clone(fact),
                None => Arc::new(Fact::judge(kind, catalog.protocol, definition)),
            };
            catalog.of(kind).iter().map(fact).collect()
        });
        Self { catalog, facts, instructions: OnceLock::new() }
    }

    /// The digest of what the server wants models to know.
    pub fn instructions_digest(&self) -> &Digest {
        self.instructions.get_or_init(|| {
            let text = self.catalog.instructions.as_deref().unwrap_or_default();
            toolgate_pins::instructions_digest(text)
        })
    }

    fn by_definition(&self, kind: CapabilityKind) -> HashMap<&Bytes, &Arc<Fact>> {
        self.of_kind(kind).map(|(_, fact)| (&fact.raw, fact)).collect()
    }

    /// The definitions of one kind in the server's order, each with what is known of it.
    pub fn of_kind(&self, kind: CapabilityKind) -> impl Iterator<Item = (&Definition, &Arc<Fact>)> {
        let facts = self.facts.get(kind as usize).map(Vec::as_slice).unwrap_or_default();
        self.catalog.of(kind).iter().zip(facts)
    }

    /// How many tools callers can see: usable ones that the declaration of the server shows.
    pub(crate) fn shown_tools(&self, selection: &Selection) -> usize {
        let tools = self.of_kind(CapabilityKind::Tool);
        tools.filter(|(tool, fact)| fact.unusable.is_none() && selection.shows(&tool.name)).count()
    }

    /// What is known of a capability; of two with the same name the first counts.
    pub fn fact(&self, kind: CapabilityKind, name: &str) -> Option<&Arc<Fact>> {
        let mut all = self.of_kind(kind);
        all.find(|(definition, _)| &*definition.name == name).map(|(_, fact)| fact)
    }

    /// Why nothing here is of use to anybody and never will be, if so: no definition can be used,
    /// and the server announced neither that its lists change nor an extension, whose methods need
    /// no list.
    pub(crate) fn useless(&self) -> Option<String> {
        let capabilities = &self.catalog.capabilities[..];
        let announces = |(key, value): (std::borrow::Cow<'_, str>, toolgate_wire::Span)| {
            let value = value.of(capabilities);
            let changes = scan::member(value, "listChanged");
            key == "extensions" && scan::members(value).next().is_some()
                || changes.is_some_and(|at| at.of(value) == b"true")
        };
        if scan::members(capabilities).any(announces) {
            return None;
        }
        let facts = || self.facts.iter().flatten();
        if facts().any(|fact| fact.unusable.is_none()) {
            return None;
        }
        let first = self.of_kind(CapabilityKind::Tool).next();
        Some(match first.and_then(|(tool, fact)| Some((tool, fact.unusable.as_ref()?))) {
            Some((tool, why)) => format!(
                "none of its {} tool(s) can be used; the first, {:?}: {why}",
                facts().count(),
                tool.name
            ),
            None => "it offers no tool, resource or prompt".to_owned(),
        })
    }
}
