//! Notes which questions a client could not show during a call, and says so in the call's answer.
//!
//! The gateway declares every kind of question to servers that callers share, so a server may ask
//! even if the client cannot show it. The server gets a refusal, as if a person had declined. The
//! reader of the answer should know that no person was asked.

use std::sync::atomic::{AtomicU8, Ordering};

use toolgate_session::{Answer, QuestionKind};
use toolgate_wire::{Frame, JsonEdit, MessageKind, Span, method, scan, string};

/// The kinds of questions, with the capability that a client needs for each.
const KINDS: [(QuestionKind, &str); 4] = [
    (QuestionKind::Form, "elicitation by form"),
    (QuestionKind::Url, "elicitation by URL"),
    (QuestionKind::Sampling, "sampling"),
    (QuestionKind::Roots, "roots"),
];

/// The kinds of questions that were declined because the client does not support them.
#[derive(Default)]
pub(crate) struct DeclinedQuestions(AtomicU8);

impl DeclinedQuestions {
    /// Notes an answer.
    pub(super) fn note(&self, kind: QuestionKind, answer: &Answer) {
        if *answer == Answer::Unsupported {
            self.0.fetch_or(bit(kind), Ordering::Relaxed);
        }
    }

    /// Adds a note about the declined questions to the answer.
    pub(crate) fn explain(&self, request: &Frame, answer: Frame) -> Frame {
        match self.0.load(Ordering::Relaxed) {
            0 => answer,
            kinds => add_explanation(kinds, request, &answer).unwrap_or(answer),
        }
    }
}

fn bit(kind: QuestionKind) -> u8 {
    KINDS.iter().zip(0..).find(|((known, _), _)| *known == kind).map_or(0, |(_, at)| 1 << at)
}

fn add_explanation(kinds: u8, request: &Frame, answer: &Frame) -> Option<Frame> {
    if answer.kind() == MessageKind::Failure {
        return in_error(&text(kinds), answer)?.finish_frame().ok();
    }
    let result = answer.result_span().filter(|_| request.is(method::TOOLS_CALL))?;
    let raw = result.slice(answer.bytes());
    let failed = scan::member(raw, "isError").is_some_and(|at| at.slice(raw) == b"true");
    // Without roots most servers go on as usual.
    let kinds = if failed { kinds } else { kinds & !bit(QuestionKind::Roots) };
    if kinds == 0 {
        return None;
    }
    in_content(&text(kinds), answer, result)?.finish_frame().ok()
}

fn text(kinds: u8) -> String {
    let missing = KINDS.iter().filter(|(kind, _)| kinds & bit(*kind) != 0);
    let missing: Vec<_> = missing.map(|(_, name)| *name).collect();
    format!(
        "[toolgate] The server asked a question that this client cannot show: it does not support \
         {}. Nobody saw the question; it was declined.",
        missing.join(" or ")
    )
}

fn in_error<'a>(text: &str, answer: &'a Frame) -> Option<JsonEdit<'a>> {
    let error = answer.error_span()?;
    let message = scan::member_text(error.slice(answer.bytes()), "message").unwrap_or_default();
    let message = string::encode(&format!("{message} {text}"));
    Some(answer.edit().set_member(error, "message", message))
}

fn in_content<'a>(text: &str, answer: &'a Frame, result: Span) -> Option<JsonEdit<'a>> {
    let at = scan::member(result.slice(answer.bytes()), "content")?.within(result);
    let blocks = at.slice(answer.bytes());
    let comma = if scan::elements(blocks).next().is_some() { "," } else { "" };
    let block = format!(r#"{comma}{{"type":"text","text":{}}}]"#, string::encode(text));
    let content = [blocks.strip_suffix(b"]")?, block.as_bytes()].concat();
    Some(answer.edit().replace(at, content))
}
