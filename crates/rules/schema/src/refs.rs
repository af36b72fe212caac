//! Resolves references within a schema document.
//!
//! Embedded resources (an `$id` below the root) would change the base of references. `bounds`
//! refuses schemas that have both, so this module can ignore them.

use std::collections::HashMap;

use jsonschema::Draft;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::subschemas::direct_subschemas;

/// The reference keywords. In a document with one resource, all three mean the same.
pub(crate) const REFERENCE_KEYWORDS: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// A resolver for the references of one document.
pub(crate) struct ReferenceResolver<'a> {
    root: &'a Value,
    pub(crate) id: Option<&'a str>,
    pub(crate) anchors: HashMap<&'a str, &'a Value>,
}

impl<'a> ReferenceResolver<'a> {
    pub(crate) fn of(root: &'a Value, draft: Draft) -> Self {
        let id = root.as_object().and_then(|map| own_id(map, draft));
        let mut refs = Self { root, id, anchors: HashMap::new() };
        refs.gather(root);
        refs
    }

    /// Returns the target of a reference, or `None` if this document does not contain it.
    pub(crate) fn resolve(&self, reference: &str) -> Option<&'a Value> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !document.is_empty() && self.id != Some(document) {
            return None;
        }
        let fragment = percent_decode_str(fragment).decode_utf8().ok()?;
        if fragment.is_empty() {
            return Some(self.root);
        }
        if fragment.starts_with('/') {
            return self.root.pointer(&fragment);
        }
        self.anchors.get(&*fragment).copied()
    }

    /// Returns the references of a schema itself, each with its target.
    pub(crate) fn targets<'s>(
        &self,
        schema: &'s Map<String, Value>,
    ) -> Vec<(&'s str, Option<&'a Value>)> {
        REFERENCE_KEYWORDS
            .iter()
            .filter_map(|keyword| schema.get(*keyword)?.as_str())
            .map(|reference| (reference, self.resolve(reference)))
            .collect()
    }

    fn gather(&mut self, schema: &'a Value) {
        let Some(map) = schema.as_object() else {
            return;
        };
        let text = |keyword: &str| map.get(keyword).and_then(Value::as_str);
        let plain = [text("$anchor"), text("$dynamicAnchor")];
        let old = [text("$id"), text("id")].map(|id| id?.strip_prefix('#'));
        for name in plain.into_iter().chain(old).flatten().filter(|name| !name.is_empty()) {
            self.anchors.entry(name).or_insert(schema);
        }
        for child in direct_subschemas(map) {
            self.gather(child.schema);
        }
    }
}

/// Returns the identifier of a schema if it makes the schema a separate resource.
pub(crate) fn own_id(schema: &Map<String, Value>, draft: Draft) -> Option<&str> {
    let id = schema.get(draft.id_keyword())?.as_str()?;
    let id = id.strip_suffix('#').unwrap_or(id);
    (!id.is_empty() && !id.starts_with('#')).then_some(id)
}
