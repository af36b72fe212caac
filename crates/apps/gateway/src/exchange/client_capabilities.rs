//! The questions that a client declares it can answer.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use toolgate_host::QuestionKind;
use toolgate_wire::{meta, scan};

/// The kinds of questions that a client can answer, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ClientCapabilities(u8);

impl ClientCapabilities {
    /// Parses the raw `capabilities` of `initialize`.
    pub(crate) fn parse(capabilities: &[u8]) -> Self {
        let kinds = QuestionKind::ALL.into_iter();
        kinds.filter(|kind| kind.is_declared_in(capabilities)).fold(Self::default(), Self::with)
    }

    /// Adds a kind of question.
    pub(crate) fn with(self, kind: QuestionKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// Returns true if the client can answer this kind of question.
    pub(crate) fn can_answer(self, kind: QuestionKind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }

    /// Returns the capabilities for a modern server: those that work with a client of an older
    /// revision that declared these `capabilities`.
    pub(crate) fn to_modern_json(self, capabilities: &[u8]) -> Bytes {
        let declared = |key: &str| {
            let raw = scan::member(capabilities, key)?.slice(capabilities);
            serde_json::from_slice::<Value>(raw).ok().filter(Value::is_object)
        };
        let mut forwarded = Map::new();
        if self.can_answer(QuestionKind::Roots) {
            forwarded.insert("roots".into(), json!({}));
        }
        if self.can_answer(QuestionKind::Sampling) {
            forwarded.insert("sampling".into(), declared("sampling").unwrap_or_else(|| json!({})));
        }
        let modes = [("form", QuestionKind::Form), ("url", QuestionKind::Url)];
        let modes = modes.into_iter().filter(|(_, kind)| self.can_answer(*kind));
        let modes: Map<_, _> = modes.map(|(mode, _)| (mode.to_owned(), json!({}))).collect();
        if !modes.is_empty() {
            forwarded.insert("elicitation".into(), modes.into());
        }
        if let Some(Value::Object(mut extensions)) = declared("extensions") {
            // Tasks of older revisions differ, and the gate handles them.
            extensions.remove(meta::TASKS_EXTENSION);
            forwarded.insert("extensions".into(), extensions.into());
        }
        Value::from(forwarded).to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_elicitation_means_forms_only() {
        let parsed = ClientCapabilities::parse(br#"{"elicitation":{},"sampling":{}}"#);
        assert!(parsed.can_answer(QuestionKind::Form) && parsed.can_answer(QuestionKind::Sampling));
        assert!(!parsed.can_answer(QuestionKind::Url) && !parsed.can_answer(QuestionKind::Roots));
    }

    #[test]
    fn url_elicitation_is_declared_by_name() {
        let both = ClientCapabilities::parse(br#"{"elicitation":{"form":{},"url":{}},"roots":{}}"#);
        assert!(both.can_answer(QuestionKind::Form) && both.can_answer(QuestionKind::Url));
        let only = ClientCapabilities::parse(br#"{"elicitation":{"url":{}}}"#);
        assert!(only.can_answer(QuestionKind::Url) && !only.can_answer(QuestionKind::Form));
    }

    #[test]
    fn a_modern_server_is_told_what_can_be_carried_back() {
        let declared = br#"{"roots":{"listChanged":true},"sampling":{"tools":{}},"tasks":{},
            "elicitation":{},"extensions":{"a/b":{},"io.modelcontextprotocol/tasks":{}}}"#;
        let forwarded: Value =
            serde_json::from_slice(&ClientCapabilities::parse(declared).to_modern_json(declared))
                .unwrap();
        assert_eq!(
            forwarded,
            json!({
                "roots": {}, "sampling": {"tools": {}}, "elicitation": {"form": {}},
                "extensions": {"a/b": {}},
            })
        );
        let nothing: Value =
            serde_json::from_slice(&ClientCapabilities::default().to_modern_json(declared))
                .unwrap();
        assert_eq!(nothing, json!({"extensions": {"a/b": {}}}), "nothing that needs asking");
    }

    #[test]
    fn what_is_not_an_object_declares_nothing() {
        assert_eq!(
            ClientCapabilities::parse(br#"{"roots":null,"sampling":true}"#),
            ClientCapabilities::default()
        );
    }
}
