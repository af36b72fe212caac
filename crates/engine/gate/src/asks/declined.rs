//! What a server asked during one call and the client cannot be asked: the call's answer says so.
//!
//! The gateway declares every kind of question to servers that all callers share, so a server asks
//! also where the client has no way to show it. The server hears a refusal, as if a person had said
//! no; whoever reads the answer should know that nobody was asked.

use std::sync::atomic::{AtomicU8, Ordering};

use toolgate_session::{Answer, AskKind};
use toolgate_wire::{Edit, Frame, Kind, Span, method, scan, string};

/// The kinds of questions, with what a client that takes them declares.
const KINDS: [(AskKind, &str); 4] = [
    (AskKind::Form, "elicitation by form"),
    (AskKind::Url, "elicitation by URL"),
    (AskKind::Sampling, "sampling"),
    (AskKind::Roots, "roots"),
];

/// The kinds of questions that were declined because the client does not support them.
#[derive(Default)]
pub(crate) struct Declined(AtomicU8);

impl Declined {
    /// Takes note of an answer.
    pub(super) fn note(&self, kind: AskKind, answer: &Answer) {
        if *answer == Answer::Unsupported {
            self.0.fetch_or(bit(kind), Ordering::Relaxed);
        }
    }

    /// An answer to this request with what was declined on the way.
    pub(crate) fn explain(&self, request: &Frame, answer: Frame) -> Frame {
        match self.0.load(Ordering::Relaxed) {
            0 => answer,
            kinds => explained(kinds, request, &answer).unwrap_or(answer),
        }
    }
}

fn bit(kind: AskKind) -> u8 {
    KINDS.iter().zip(0..).find(|((known, _), _)| *known == kind).map_or(0, |(_, at)| 1 << at)
}

fn explained(kinds: u8, request: &Frame, answer: &Frame) -> Option<Frame> {
    if answer.kind() == Kind::Failure {
        return in_error(&text(kinds), answer)?.frame().ok();
    }
    let result = answer.result_span().filter(|_| request.is(method::TOOLS_CALL))?;
    let raw = result.of(answer.bytes());
    let failed = scan::member(raw, "isError").is_some_and(|at| at.of(raw) == b"true");
    // No roots is an ordinary answer, and most servers go on with it.
    let kinds = if failed { kinds } else { kinds & !bit(AskKind::Roots) };
    if kinds == 0 {
        return None;
    }
    in_content(&text(kinds), answer, result)?.frame().ok()
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

fn in_error<'a>(text: &str, answer: &'a Frame) -> Option<Edit<'a>> {
    let error = answer.error_span()?;
    let message = scan::text(error.of(answer.bytes()), "message").unwrap_or_default();
    let message = string::encode(&format!("{message} {text}"));
    Some(answer.edit().set_member(error, "message", message))
}

fn in_content<'a>(text: &str, answer: &'a Frame, result: Span) -> Option<Edit<'a>> {
    let at = scan::member(result.of(answer.bytes()), "content")?.within(result);
    let blocks = at.of(answer.bytes());
    let comma = if scan::elements(blocks).next().is_some() { "," } else { "" };
    let block = format!(r#"{comma}{{"type":"text","text":{}}}]"#, string::encode(text));
    let content = [blocks.strip_suffix(b"]")?, block.as_bytes()].concat();
    Some(answer.edit().replace(at, content))
}
