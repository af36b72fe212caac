//! What a call would have needed of its client: kinds of questions the client did not declare.
//!
//! A server that asks nevertheless hears that nobody answers, and may well do without. Only if its
//! call then fails is the lack what the client must hear of.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::json;
use toolgate_wire::view::RpcError;
use toolgate_wire::{Frame, code, scan};

use crate::upstreams::{AskKind, Refusal};

/// All kinds, each with its bit.
const KINDS: [(AskKind, u8); 4] =
    [(AskKind::Roots, 1), (AskKind::Sampling, 2), (AskKind::Form, 4), (AskKind::Url, 8)];

/// The kinds that were asked for in vain.
#[derive(Debug, Default)]
pub(crate) struct Lacking(AtomicU8);

impl Lacking {
    /// Somebody asked for this in vain.
    pub(crate) fn note(&self, kind: AskKind) {
        let bit = KINDS.iter().find(|(known, _)| *known == kind).map_or(0, |(_, bit)| *bit);
        self.0.fetch_or(bit, Ordering::Relaxed);
    }

    /// What is said in place of this answer, if it failed for want of something.
    pub(crate) fn behind(&self, answer: &Frame) -> Option<Refusal> {
        let lacking = self.0.load(Ordering::Relaxed);
        if lacking == 0 || !failed(answer) {
            return None;
        }
        let mut required = json!({});
        for (kind, _) in KINDS.into_iter().filter(|(_, bit)| lacking & bit != 0) {
            match kind {
                AskKind::Roots => required["roots"] = json!({}),
                AskKind::Sampling => required["sampling"] = json!({}),
                AskKind::Form => required["elicitation"]["form"] = json!({}),
                AskKind::Url => required["elicitation"]["url"] = json!({}),
            }
        }
        let needs = format!("the server needs what the client did not declare: {required}");
        Some(Refusal {
            code: code::MISSING_CLIENT_CAPABILITY,
            message: match reason(answer) {
                Some(reason) => format!("{needs}; it says: {reason}"),
                None => needs,
            },
            data: Some(json!({ "requiredCapabilities": required }).to_string().into()),
        })
    }
}

fn failed(answer: &Frame) -> bool {
    let Some(result) = answer.result() else { return true };
    scan::member(result, "isError").is_some_and(|at| at.of(result) == b"true")
}

/// Why it failed, in the server's own words.
fn reason(answer: &Frame) -> Option<String> {
    let Some(result) = answer.result() else {
        return RpcError::of(answer.error()?)?.message.map(Cow::into_owned);
    };
    let content = scan::member(result, "content")?.of(result);
    let first = scan::elements(content).next()?.of(content);
    scan::text(first, "text").map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use toolgate_wire::{Limits, build};

    use super::*;

    fn answer(result: &str) -> Frame {
        Frame::parse(build::response("1", result.as_bytes()), &Limits::default()).unwrap()
    }

    #[test]
    fn a_failure_for_want_of_something_names_it() {
        let lacking = Lacking::default();
        let failed = answer(r#"{"content":[{"type":"text","text":"no model"}],"isError":true}"#);
        assert_eq!(lacking.behind(&failed), None, "it failed for other reasons");
        lacking.note(AskKind::Sampling);
        lacking.note(AskKind::Url);
        assert_eq!(lacking.behind(&answer("{}")), None, "it did without");
        let refusal = lacking.behind(&failed).unwrap();
        assert!(refusal.message.ends_with("; it says: no model"), "{}", refusal.message);
        let data: Value = serde_json::from_slice(&refusal.data.unwrap()).unwrap();
        let required = json!({"sampling": {}, "elicitation": {"url": {}}});
        assert_eq!(data, json!({ "requiredCapabilities": required }));
    }
}
