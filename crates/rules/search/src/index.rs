//! The searchable index of all capabilities, updated one server at a time.
//!
//! Adding or removing a server touches only the postings of its own words. The score of a document
//! depends on the set of documents, never on the order in which they were added.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use toolgate_model::{CapabilityId, ServerName};

use crate::intent::{self, ReadWriteIntent};
use crate::postings::{Posting, PostingLists};
use crate::terms::TermKey;
use crate::{CapabilityHit, IndexedCapability, analysis, query, rank};

/// The searchable index of the capabilities of all servers.
///
/// A clone copies the postings (some milliseconds for 10,000 tools). To share an index between
/// threads, keep it behind an `Arc` or a lock and clone it only to change it.
#[derive(Debug, Clone, Default)]
pub struct CapabilityIndex {
    /// Documents by number; `None` for a free number.
    pub(crate) documents: Vec<Option<Arc<IndexEntry>>>,
    /// The number of each document's server.
    pub(crate) owners: Vec<u32>,
    free: Vec<u32>,
    servers: BTreeMap<ServerName, ServerDocuments>,
    /// The number of documents of each server, by the server's number.
    pub(crate) sizes: Vec<u32>,
    free_servers: Vec<u32>,
    pub(crate) postings: PostingLists,
}

/// The documents of one server.
#[derive(Debug, Clone)]
struct ServerDocuments {
    number: u32,
    documents: Vec<u32>,
}

/// A document with the sorted keys of its terms.
#[derive(Debug)]
pub(crate) struct IndexEntry {
    pub(crate) document: IndexedCapability,
    /// Whether it reads or writes.
    pub(crate) intent: ReadWriteIntent,
    keys: Box<[TermKey]>,
}

impl IndexEntry {
    /// Returns true if the document contains a term.
    pub(crate) fn has_term(&self, key: TermKey) -> bool {
        self.keys.binary_search(&key).is_ok()
    }
}

impl CapabilityIndex {
    /// Replaces all documents of this server.
    ///
    /// If several documents have the same ID, the first one is kept.
    pub fn set(&mut self, server: &ServerName, documents: Vec<IndexedCapability>) {
        self.remove(server);
        let mut seen = HashSet::new();
        let documents: Vec<IndexedCapability> =
            documents.into_iter().filter(|document| seen.insert(document.id.clone())).collect();
        if documents.is_empty() {
            return;
        }
        let number = self.free_servers.pop().unwrap_or(self.sizes.len() as u32);
        match self.sizes.get_mut(number as usize) {
            Some(size) => *size = documents.len() as u32,
            None => self.sizes.push(documents.len() as u32),
        }
        let documents =
            documents.into_iter().map(|document| self.insert(document, number)).collect();
        self.servers.insert(server.clone(), ServerDocuments { number, documents });
    }

    /// Removes all documents of this server.
    pub fn remove(&mut self, server: &ServerName) {
        let Some(server) = self.servers.remove(server) else {
            return;
        };
        if self.servers.is_empty() {
            *self = Self::default();
            return;
        }
        let mut keys: Vec<TermKey> = Vec::new();
        for &number in &server.documents {
            if let Some(document) = self.documents[number as usize].take() {
                keys.extend(&document.keys);
            }
        }
        keys.sort_unstable();
        keys.dedup();
        let documents = &self.documents;
        for key in keys {
            self.postings.remove_stale(key, |number| documents[number as usize].is_some());
        }
        self.free.extend(server.documents);
        self.free_servers.push(server.number);
    }

    /// Returns the capabilities that match a request best, at most `limit`, best first; ties are
    /// ordered by ID. Only capabilities for which `sees` returns true are included.
    pub fn search(
        &self,
        query: &str,
        limit: usize,
        sees: &dyn Fn(&CapabilityId) -> bool,
    ) -> Vec<CapabilityHit> {
        if limit == 0 || self.is_empty() {
            return Vec::new();
        }
        let query = query::read(self, query);
        rank::best_hits(self, &query, limit, sees)
    }

    /// Returns the number of indexed capabilities.
    pub fn len(&self) -> usize {
        self.documents.len() - self.free.len()
    }

    /// Returns true if nothing is indexed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn insert(&mut self, document: IndexedCapability, server: u32) -> u32 {
        let number = self.free.pop().unwrap_or(self.documents.len() as u32);
        let mut keys = Vec::new();
        analysis::weigh(&document, |term, weight| {
            keys.push(self.postings.add(term, Posting { document: number, weight }));
        });
        keys.sort_unstable();
        let entry = Some(Arc::new(IndexEntry {
            intent: intent::capability_intent(&document),
            document,
            keys: keys.into(),
        }));
        if number as usize == self.documents.len() {
            self.documents.push(None);
            self.owners.push(server);
        }
        self.documents[number as usize] = entry;
        self.owners[number as usize] = server;
        number
    }
}
