//! Records the capabilities that a call needed and its client did not declare.
//!
//! A server that asks anyway learns that the client does not support the question, and may succeed
//! without it. Only if the call fails does the client get an error about the missing capability.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::json;
use toolgate_host::{GateError, QuestionKind};
use toolgate_model::ErrorCode;
use toolgate_wire::view::RpcError;
use toolgate_wire::{Frame, scan};

/// The kinds of questions that a server asked and the client does not support.
#[derive(Debug, Default)]
pub(crate) struct MissingCapabilities(AtomicU8);

impl MissingCapabilities {
    /// Records a question that the client does not support.
    pub(crate) fn record(&self, kind: QuestionKind) {
        self.0.fetch_or(1 << kind as u8, Ordering::Relaxed);
    }

    /// Returns the error that replaces a failed answer, if the client lacked a capability.
    pub(crate) fn explain_failure(&self, answer: &Frame) -> Option<GateError> {
        let missing = self.0.load(Ordering::Relaxed);
        if missing == 0 || !is_failure(answer) {
            return None;
        }
        let mut required = json!({});
        let kinds = QuestionKind::ALL.into_iter();
        for kind in kinds.filter(|kind| missing & (1 << *kind as u8) != 0) {
            match kind {
                QuestionKind::Roots => required["roots"] = json!({}),
                QuestionKind::Sampling => required["sampling"] = json!({}),
                QuestionKind::Form => required["elicitation"]["form"] = json!({}),
                QuestionKind::Url => required["elicitation"]["url"] = json!({}),
            }
        }
        let needs =
            format!("the server needs capabilities that the client did not declare: {required}");
        let message = match failure_reason(answer) {
            Some(reason) => format!("{needs}; the server reported: {reason}"),
            None => needs,
        };
        Some(GateError {
            data: Some(json!({ "requiredCapabilities": required }).to_string().into()),
            ..GateError::new(ErrorCode::CallClientCapability, message)
        })
    }
}

fn is_failure(answer: &Frame) -> bool {
    let Some(result) = answer.result() else { return true };
    scan::member(result, "isError").is_some_and(|at| at.slice(result) == b"true")
}

/// Returns the server's own error message.
fn failure_reason(answer: &Frame) -> Option<String> {
    let Some(result) = answer.result() else {
        return RpcError::of(answer.error()?)?.message.map(Cow::into_owned);
    };
    let content = scan::member(result, "content")?.slice(result);
    let first = scan::elements(content).next()?.slice(content);
    scan::member_text(first, "text").map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use toolgate_wire::{MessageLimits, build};

    use super::*;

    fn answer(result: &str) -> Frame {
        Frame::parse(build::response("1", result.as_bytes()), &MessageLimits::default()).unwrap()
    }

    #[test]
    fn a_failure_for_want_of_something_names_it() {
        let missing = MissingCapabilities::default();
        let failed = answer(r#"{"content":[{"type":"text","text":"no model"}],"isError":true}"#);
        assert_eq!(missing.explain_failure(&failed), None, "it failed for other reasons");
        missing.record(QuestionKind::Sampling);
        missing.record(QuestionKind::Url);
        assert_eq!(missing.explain_failure(&answer("{}")), None, "it did without");
        let refusal = missing.explain_failure(&failed).unwrap();
        assert!(
            refusal.message.ends_with("; the server reported: no model"),
            "{}",
            refusal.message
        );
        let data: Value = serde_json::from_slice(&refusal.data.unwrap()).unwrap();
        let required = json!({"sampling": {}, "elicitation": {"url": {}}});
        assert_eq!(data, json!({ "requiredCapabilities": required }));
    }
}
