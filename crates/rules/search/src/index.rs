//! The searchable catalog: documents by server, changed one server at a time.
//!
//! A server that comes or goes touches the postings of its own words and nothing else. What a
//! document scores depends on the set of documents alone, never on the order they came in.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use toolgate_model::{CapabilityId, ServerName};

use crate::manner::{self, Manner};
use crate::postings::{Posting, Postings};
use crate::terms::Key;
use crate::{Document, Hit, analysis, query, rank};

/// The searchable catalog of all servers.
///
/// A clone copies the postings (some milliseconds for 10,000 tools); whoever shares an index
/// between threads keeps it behind an `Arc` or a lock and clones it only to change it.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// Documents by number; a number whose document has gone is free.
    documents: Vec<Option<Arc<Indexed>>>,
    /// The number of each document's server.
    owners: Vec<u32>,
    free: Vec<u32>,
    servers: BTreeMap<ServerName, Server>,
    /// How many documents each server has, by its number.
    sizes: Vec<u32>,
    free_servers: Vec<u32>,
    postings: Postings,
}

#[derive(Debug, Clone)]
struct Server {
    number: u32,
    documents: Vec<u32>,
}

/// A document and the terms it has postings under, sorted.
#[derive(Debug)]
pub(crate) struct Indexed {
    pub(crate) document: Document,
    /// Whether it tells or does something.
    pub(crate) manner: Manner,
    keys: Box<[Key]>,
}

impl Indexed {
    /// Whether the document holds a term.
    pub(crate) fn holds(&self, key: Key) -> bool {
        self.keys.binary_search(&key).is_ok()
    }
}

impl Index {
    /// Replaces what is known of this server.
    ///
    /// Of documents with the same identity the first counts.
    pub fn set(&mut self, server: &ServerName, documents: Vec<Document>) {
        self.remove(server);
        let mut seen = HashSet::new();
        let documents: Vec<Document> =
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
        self.servers.insert(server.clone(), Server { number, documents });
    }

    /// Forgets this server.
    pub fn remove(&mut self, server: &ServerName) {
        let Some(server) = self.servers.remove(server) else {
            return;
        };
        if self.servers.is_empty() {
            *self = Self::default();
            return;
        }
        let mut keys: Vec<Key> = Vec::new();
        for &number in &server.documents {
            if let Some(document) = self.documents[number as usize].take() {
                keys.extend(&document.keys);
            }
        }
        keys.sort_unstable();
        keys.dedup();
        let documents = &self.documents;
        for key in keys {
            self.postings.sweep(key, |number| documents[number as usize].is_some());
        }
        self.free.extend(server.documents);
        self.free_servers.push(server.number);
    }

    /// The capabilities that fit a request best, at most `limit`, best first; equal ones by
    /// identity. Only those that `sees` admits are in the answer.
    pub fn search(
        &self,
        query: &str,
        limit: usize,
        sees: &dyn Fn(&CapabilityId) -> bool,
    ) -> Vec<Hit> {
        if limit == 0 || self.is_empty() {
            return Vec::new();
        }
        let query = query::read(self, query);
        rank::best(self, &query, limit, sees)
    }

    /// How many capabilities are indexed.
    pub fn len(&self) -> usize {
        self.documents.len() - self.free.len()
    }

    /// Whether nothing is indexed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every document by number, with gaps.
    pub(crate) fn documents(&self) -> &[Option<Arc<Indexed>>] {
        &self.documents
    }

    /// The number of each document's server.
    pub(crate) fn owners(&self) -> &[u32] {
        &self.owners
    }

    /// How many documents each server has, by its number.
    pub(crate) fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    pub(crate) fn postings(&self) -> &Postings {
        &self.postings
    }

    fn insert(&mut self, document: Document, server: u32) -> u32 {
        let number = self.free.pop().unwrap_or(self.documents.len() as u32);
        let mut keys = Vec::new();
        analysis::weigh(&document, |term, weight| {
            keys.push(self.postings.add(term, Posting { document: number, weight }));
        });
        keys.sort_unstable();
        let entry = Some(Arc::new(Indexed {
            manner: manner::of_document(&document),
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
