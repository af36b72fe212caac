//! One list of a view, and its bytes for each revision that is asked for.
//!
//! A definition is made ready to be sent once for a revision. When a list changes, the next one
//! copies what stays the same out of the bytes of the one before, and a list in which nothing
//! changed is the same list, with the same bytes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::{BufMut, Bytes, BytesMut};
use toolgate_bridge::tasks::Form;
use toolgate_fleet::Fact;
use toolgate_model::{CapabilityId, CapabilityKind};
use toolgate_wire::{Revision, Span};

/// Prepared once for each revision that is asked for.
pub(crate) type PerRevision<T> = [T; Revision::ALL.len()];

/// One definition of a list.
pub(crate) enum Entry {
    /// Of the gate itself, as it is sent.
    Own(Bytes),
    /// Of a server.
    Offered(Box<OfferedEntry>),
}

/// A server's definition, and all that decides on how it is sent.
pub(crate) struct OfferedEntry {
    pub(crate) id: CapabilityId,
    pub(crate) fact: Arc<Fact>,
    /// The name it is listed under.
    pub(crate) shown: String,
    /// The revision its server speaks, and the form of its tasks.
    pub(crate) protocol: Revision,
    pub(crate) tasks: Option<Form>,
    /// Whether results of it may be shown in part.
    pub(crate) is_bounded: bool,
    /// The URIs in it that are shown otherwise than its server writes them.
    pub(crate) links: Vec<String>,
}

impl PartialEq for Entry {
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

/// A list of one kind.
pub(crate) struct List {
    kind: CapabilityKind,
    /// Whether everybody who asks in the same place is shown the same.
    is_public: bool,
    entries: Arc<[Entry]>,
    prepared: PerRevision<OnceLock<Arc<Prepared>>>,
    /// The bytes of the lists before it, until its own are made.
    before: Mutex<PerRevision<Option<Arc<Prepared>>>>,
}

/// The bytes of a list.
struct Prepared {
    entries: Arc<[Entry]>,
    bytes: Bytes,
    /// Where each entry stands.
    spans: Vec<Span>,
    /// Where the array of all of them ends.
    end: usize,
}

impl List {
    /// The list with these entries: the one before it, if it has the same.
    pub(crate) fn after(
        before: Option<&Arc<Self>>,
        kind: CapabilityKind,
        all: Vec<Entry>,
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
                    prepared: Default::default(),
                    before: Mutex::new(earlier),
                })
            }
        }
    }

    /// The last bytes made for each revision.
    fn latest(&self) -> PerRevision<Option<Arc<Prepared>>> {
        let mut latest = self.before.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (latest, own) in latest.iter_mut().zip(&self.prepared) {
            if let Some(own) = own.get() {
                *latest = Some(own.clone());
            }
        }
        latest
    }

    /// Whether everybody who asks in the same place is shown the same.
    pub(crate) fn is_public(&self) -> bool {
        self.is_public
    }

    /// Whether both are the same to whoever reads them.
    pub(crate) fn is_like(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        Arc::ptr_eq(self, other) || *self.entries == *other.entries
    }

    /// The bytes that are there already.
    pub(crate) fn ready(&self, to: Revision) -> Option<Bytes> {
        self.prepared[to as usize].get().map(|prepared| prepared.bytes.clone())
    }

    /// The `result` object, which ends with `tail`. Definitions that no list before it had are made
    /// by `render`.
    pub(crate) fn bytes(
        &self,
        to: Revision,
        tail: &str,
        render: impl Fn(&OfferedEntry) -> Bytes,
    ) -> Bytes {
        self.prepared(to, tail, render).bytes.clone()
    }

    /// The same with another tail, for once.
    pub(crate) fn bytes_for_once(
        &self,
        to: Revision,
        tails: [&str; 2],
        render: impl Fn(&OfferedEntry) -> Bytes,
    ) -> Bytes {
        let [lasting, once] = tails;
        let prepared = self.prepared(to, lasting, render);
        [&prepared.bytes[..prepared.end], once.as_bytes(), b"}"].concat().into()
    }

    fn prepared(
        &self,
        to: Revision,
        tail: &str,
        render: impl Fn(&OfferedEntry) -> Bytes,
    ) -> &Arc<Prepared> {
        self.prepared[to as usize].get_or_init(|| {
            let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
            let before = before[to as usize].take();
            Arc::new(self.prepare(before.as_deref(), tail, render))
        })
    }

    fn prepare(
        &self,
        before: Option<&Prepared>,
        tail: &str,
        render: impl Fn(&OfferedEntry) -> Bytes,
    ) -> Prepared {
        let known = before.map(Prepared::index).unwrap_or_default();
        let mut list = BytesMut::with_capacity(before.map_or(0, |before| before.bytes.len()));
        let mut spans = Vec::with_capacity(self.entries.len());
        list.put_slice(format!("{{\"{}\":[", self.kind.members().0).as_bytes());
        for entry in self.entries.iter() {
            if !spans.is_empty() {
                list.put_u8(b',');
            }
            let start = list.len();
            match entry {
                Entry::Own(raw) => list.put_slice(raw),
                Entry::Offered(offered) => match (before, known.get(&offered.key())) {
                    (Some(before), Some(at)) if before.entries[*at] == *entry => {
                        list.put_slice(before.spans[*at].of(&before.bytes));
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
        Prepared { entries: self.entries.clone(), bytes: list.freeze(), spans, end }
    }
}

impl OfferedEntry {
    fn key(&self) -> (*const Fact, &str) {
        (Arc::as_ptr(&self.fact), &self.shown)
    }
}

impl Prepared {
    /// Where each definition of a server stands among the entries.
    fn index(&self) -> HashMap<(*const Fact, &str), usize> {
        let entries = self.entries.iter().enumerate();
        let offered = entries.filter_map(|(at, entry)| match entry {
            Entry::Offered(offered) => Some((offered.key(), at)),
            Entry::Own(_) => None,
        });
        offered.collect()
    }
}
