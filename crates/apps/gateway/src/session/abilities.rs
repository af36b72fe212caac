//! What a client said it can be asked.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use toolgate_wire::{meta, scan};

use crate::upstreams::AskKind;

/// The questions a client declared it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Abilities {
    roots: bool,
    sampling: bool,
    form: bool,
    url: bool,
}

impl Abilities {
    /// Reads the raw `capabilities` of `initialize`.
    pub(crate) fn of(capabilities: &[u8]) -> Self {
        let object = |raw: &[u8], key: &str| {
            let value = scan::member(raw, key)?.of(raw).to_vec();
            value.starts_with(b"{").then_some(value)
        };
        let elicitation = object(capabilities, "elicitation");
        let mode = |key| elicitation.as_ref().is_some_and(|raw| object(raw, key).is_some());
        Self {
            roots: object(capabilities, "roots").is_some(),
            sampling: object(capabilities, "sampling").is_some(),
            // An empty declaration is that of 2025-06-18, which knew forms only.
            form: elicitation.is_some() && (mode("form") || !mode("url")),
            url: mode("url"),
        }
    }

    /// The same with roots that are configured, whatever the client would say.
    pub(crate) fn with_roots(self, configured: bool) -> Self {
        Self { roots: self.roots || configured, ..self }
    }

    /// As a modern server is told it: what can be carried back to a client of an older revision
    /// that declared these `capabilities`.
    pub(crate) fn told(self, capabilities: &[u8]) -> Bytes {
        let declared = |key: &str| {
            let raw = scan::member(capabilities, key)?.of(capabilities);
            serde_json::from_slice::<Value>(raw).ok().filter(Value::is_object)
        };
        let mut told = Map::new();
        if self.roots {
            told.insert("roots".into(), json!({}));
        }
        if self.sampling {
            told.insert("sampling".into(), declared("sampling").unwrap_or_else(|| json!({})));
        }
        let modes = [("form", self.form), ("url", self.url)];
        let modes = modes.into_iter().filter(|(_, can)| *can);
        let modes: Map<_, _> = modes.map(|(mode, _)| (mode.to_owned(), json!({}))).collect();
        if !modes.is_empty() {
            told.insert("elicitation".into(), modes.into());
        }
        if let Some(Value::Object(mut extensions)) = declared("extensions") {
            // Tasks of older revisions are another matter, and the gate's.
            extensions.remove(meta::TASKS_EXTENSION);
            told.insert("extensions".into(), extensions.into());
        }
        Value::from(told).to_string().into()
    }

    /// Whether the client can be asked this.
    pub(crate) fn answer(self, kind: AskKind) -> bool {
        match kind {
            AskKind::Roots => self.roots,
            AskKind::Sampling => self.sampling,
            AskKind::Form => self.form,
            AskKind::Url => self.url,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_elicitation_means_forms_only() {
        let abilities = Abilities::of(br#"{"elicitation":{},"sampling":{}}"#);
        assert!(abilities.answer(AskKind::Form) && abilities.answer(AskKind::Sampling));
        assert!(!abilities.answer(AskKind::Url) && !abilities.answer(AskKind::Roots));
    }

    #[test]
    fn url_elicitation_is_declared_by_name() {
        let both = Abilities::of(br#"{"elicitation":{"form":{},"url":{}},"roots":{}}"#);
        assert!(both.answer(AskKind::Form) && both.answer(AskKind::Url));
        let only = Abilities::of(br#"{"elicitation":{"url":{}}}"#);
        assert!(only.answer(AskKind::Url) && !only.answer(AskKind::Form));
    }

    #[test]
    fn a_modern_server_is_told_what_can_be_carried_back() {
        let declared = br#"{"roots":{"listChanged":true},"sampling":{"tools":{}},"tasks":{},
            "elicitation":{},"extensions":{"a/b":{},"io.modelcontextprotocol/tasks":{}}}"#;
        let told: Value = serde_json::from_slice(&Abilities::of(declared).told(declared)).unwrap();
        assert_eq!(
            told,
            json!({
                "roots": {}, "sampling": {"tools": {}}, "elicitation": {"form": {}},
                "extensions": {"a/b": {}},
            })
        );
        let nothing: Value = serde_json::from_slice(&Abilities::default().told(declared)).unwrap();
        assert_eq!(nothing, json!({"extensions": {"a/b": {}}}), "nothing that needs asking");
    }

    #[test]
    fn what_is_not_an_object_declares_nothing() {
        assert_eq!(Abilities::of(br#"{"roots":null,"sampling":true}"#), Abilities::default());
    }
}
