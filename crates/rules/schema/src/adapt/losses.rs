//! Collects what an adaptation cannot keep.

use std::collections::HashMap;

use serde_json::Value;

use super::AdaptationLoss;
use super::upgrade;

/// The losses of one adaptation, without duplicates.
pub(super) struct LossCollector {
    paths: HashMap<*const Value, String>,
    found: Vec<AdaptationLoss>,
}

impl LossCollector {
    pub(super) fn of(root: &Value) -> Self {
        Self { paths: upgrade::paths(root), found: Vec::new() }
    }

    /// Returns the pointer of a schema of the document.
    pub(super) fn path(&self, schema: &Value) -> Option<&str> {
        self.paths.get(&std::ptr::from_ref(schema)).map(String::as_str)
    }

    /// Adds a loss of this schema.
    pub(super) fn add(&mut self, schema: &Value, what: impl Into<String>) {
        let path = self.path(schema).unwrap_or_default().to_owned();
        self.add_at(path, what);
    }

    /// Adds a loss at this pointer.
    pub(super) fn add_at(&mut self, path: impl Into<String>, what: impl Into<String>) {
        let loss = AdaptationLoss::new(path, what);
        if !self.found.contains(&loss) {
            self.found.push(loss);
        }
    }

    pub(super) fn into_found(self) -> Vec<AdaptationLoss> {
        self.found
    }
}
