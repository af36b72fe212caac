//! What an adaptation could not keep.

use std::collections::HashMap;

use serde_json::Value;

use super::Loss;
use super::modern;

/// Collects losses, each once.
pub(super) struct Losses {
    paths: HashMap<*const Value, String>,
    found: Vec<Loss>,
}

impl Losses {
    pub(super) fn of(root: &Value) -> Self {
        Self { paths: modern::paths(root), found: Vec::new() }
    }

    /// Where a schema of the document stands.
    pub(super) fn path(&self, schema: &Value) -> Option<&str> {
        self.paths.get(&std::ptr::from_ref(schema)).map(String::as_str)
    }

    /// Something of this schema is lost.
    pub(super) fn add(&mut self, schema: &Value, what: impl Into<String>) {
        let path = self.path(schema).unwrap_or_default().to_owned();
        self.at(path, what);
    }

    /// Something at this place is lost.
    pub(super) fn at(&mut self, path: impl Into<String>, what: impl Into<String>) {
        let loss = Loss { path: path.into(), what: what.into() };
        if !self.found.contains(&loss) {
            self.found.push(loss);
        }
    }

    pub(super) fn into_found(self) -> Vec<Loss> {
        self.found
    }
}
