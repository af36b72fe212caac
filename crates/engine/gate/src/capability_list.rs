//! One list of a view, with its rendered bytes per revision.
//!
//! A definition is rendered once per revision. A changed list copies unchanged definitions from the
//! bytes of its predecessor, and a list without changes is reused with its bytes.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use bytes::{BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use toolgate_bridge::tasks::TaskFormat;
use toolgate_fleet::CheckedDefinition;
use toolgate_model::{CapabilityId, CapabilityKind};
use toolgate_wire::{Revision, Span};

/// One value per revision, created on first use.
pub(crate) type PerRevision<T> = [T; Revision::ALL.len()];

/// One entry of a list.
pub(crate) enum ListEntry {
    /// A definition of the gate itself, as sent.
    Own(Bytes),
    /// A definition of a server.
    Offered(Box<ServerDefinitionEntry>),
}

/// A server's definition, and everything that determines how it is rendered.
pub(crate) struct ServerDefinitionEntry {
    pub(crate) id: CapabilityId,
    pub(crate) fact: Arc<CheckedDefinition>,
    /// The exposed name.
    pub(crate) shown: String,
    /// The server's revision and the format of its tasks.
    pub(crate) protocol: Revision,
    pub(crate) tasks: Option<TaskFormat>,
    /// Whether results of the tool may be shortened.
    pub(crate) is_bounded: bool,
    /// The URIs in it that are exposed differently from how the server writes them.
    pub(crate) links: Vec<String>,
}

impl PartialEq for ListEntry {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Own(one), Self::Own(other)) => one == other,
            (Self::Offered(one), Self::Offered(other)) => {
                Arc::ptr_eq(&one.fact, &other.fact)
                    && one.shown == other.shown
                    && (one.protocol, one.tasks) == (other.protocol, other.tasks)
                    && one.is_bounded == other.is_bounded
                    && one.links == other.links
            }
            _ => false,
        }
    }
}

/// A list of capabilities of one kind.
pub(crate) struct CapabilityList {
    kind: CapabilityKind,
    /// Whether all callers with this profile see the same list.
    is_public: bool,
    entries: Arc<[ListEntry]>,
    rendered: PerRevision<OnceLock<Arc<RenderedList>>>,
    /// The bytes of earlier lists, until this list has its own.
    before: Mutex<PerRevision<Option<Arc<RenderedList>>>>,
}

/// The rendered bytes of a list.
pub(crate) struct RenderedList {
    entries: Arc<[ListEntry]>,
    /// The `result` object.
    pub(crate) bytes: Bytes,
    /// The position of each entry.
    spans: Vec<Span>,
    /// The end of the array of entries.
    end: usize,
}

impl CapabilityList {
    /// Returns a list with these entries; its predecessor, if that has the same ones.
    pub(crate) fn from_previous(
        before: Option<&Arc<Self>>,
        kind: CapabilityKind,
        all: Vec<ListEntry>,
        is_public: bool,
    ) -> Arc<Self> {
        match before {
            Some(before) if before.is_public == is_public && *before.entries == *all => {
                before.clone()
            }
            _ => {
                let earlier = before.map(|before| before.latest()).unwrap_or_default();
                Arc::new(Self {
                    kind,
                    is_public,
                    entries: all.into(),
                    rendered: Default::default(),
                    before: Mutex::new(earlier),
                })
            }
        }
    }

    /// Returns the last bytes rendered for each revision.
    fn latest(&self) -> PerRevision<Option<Arc<RenderedList>>> {
        let mut latest = self.before.lock().clone();
        for (latest, own) in latest.iter_mut().zip(&self.rendered) {
            if let Some(own) = own.get() {
                *latest = Some(own.clone());
            }
        }
        latest
    }

    /// Returns true if all callers with this profile see the same list.
    pub(crate) fn is_public(&self) -> bool {
        self.is_public
    }

    /// Returns true if both lists have the same entries.
    pub(crate) fn has_same_entries(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        Arc::ptr_eq(self, other) || *self.entries == *other.entries
    }

    /// Returns the list with its bytes, rendered on first use. Calls `render` for definitions that
    /// no earlier list had.
    pub(crate) fn rendered(
        &self,
        to: Revision,
        tail: impl FnOnce() -> String,
        render: impl Fn(&ServerDefinitionEntry) -> Bytes,
    ) -> &RenderedList {
        self.rendered[to as usize].get_or_init(|| {
            let mut before = self.before.lock();
            let before = before[to as usize].take();
            Arc::new(self.prepare(before.as_deref(), &tail(), render))
        })
    }

    fn prepare(
        &self,
        before: Option<&RenderedList>,
        tail: &str,
        render: impl Fn(&ServerDefinitionEntry) -> Bytes,
    ) -> RenderedList {
        let known = before.map(RenderedList::index).unwrap_or_default();
        let mut list = BytesMut::with_capacity(before.map_or(0, |before| before.bytes.len()));
        let mut spans = Vec::with_capacity(self.entries.len());
        list.put_slice(format!("{{\"{}\":[", self.kind.json_keys().0).as_bytes());
        for entry in self.entries.iter() {
            if !spans.is_empty() {
                list.put_u8(b',');
            }
            let start = list.len();
            match entry {
                ListEntry::Own(raw) => list.put_slice(raw),
                ListEntry::Offered(offered) => match (before, known.get(&offered.key())) {
                    (Some(before), Some(at)) if before.entries[*at] == *entry => {
                        list.put_slice(before.spans[*at].slice(&before.bytes));
                    }
                    _ => list.put_slice(&render(offered)),
                },
            }
            spans.push(Span::new(start, list.len()));
        }
        list.put_u8(b']');
        let end = list.len();
        list.put_slice(tail.as_bytes());
        list.put_u8(b'}');
        RenderedList { entries: self.entries.clone(), bytes: list.freeze(), spans, end }
    }
}

impl ServerDefinitionEntry {
    fn key(&self) -> (*const CheckedDefinition, &str) {
        (Arc::as_ptr(&self.fact), &self.shown)
    }
}

impl RenderedList {
    /// Returns the `result` object with another tail.
    pub(crate) fn with_tail(&self, tail: &str) -> Bytes {
        [&self.bytes[..self.end], tail.as_bytes(), b"}"].concat().into()
    }

    /// Maps each server definition to its position among the entries.
    fn index(&self) -> HashMap<(*const CheckedDefinition, &str), usize> {
        let entries = self.entries.iter().enumerate();
        let offered = entries.filter_map(|(at, entry)| match entry {
            ListEntry::Offered(offered) => Some((offered.key(), at)),
            ListEntry::Own(_) => None,
        });
        offered.collect()
    }
}
