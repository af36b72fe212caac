//! The approval form shown by the caller's client, and how its answer is read.
//!
//! No choice is preselected, and only one of the offered choices approves. A client that accepts
//! the form without filling it in has declined it.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_model::{CapabilityKind, escape_invisible};
use toolgate_session::{Answer, Interactor, Question, QuestionKind};
use toolgate_store::{ApprovalChoice, PendingCall};
use toolgate_wire::{Frame, MessageLimits, build, method, scan, string};

use super::display;

/// The longest question, in bytes. A person cannot review more in a form, and clients need not
/// accept more. The operator can review longer calls by other means.
const LONGEST: usize = 64 * 1024;

/// The labels of the choices.
const CHOICES: [(&str, ApprovalChoice); 4] = [
    ("once", ApprovalChoice::Once),
    ("always this tool", ApprovalChoice::Tool),
    ("always this server", ApprovalChoice::Server),
    ("deny", ApprovalChoice::Deny),
];

/// The outcome of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormOutcome {
    /// The user made a choice or declined the form.
    Chose(ApprovalChoice),
    /// The user closed the form without an answer.
    Cancelled,
    /// The client cannot show the form.
    Unsupported,
}

/// Returns the question about a call, or `None` if it is too long to show whole.
pub(super) fn question(call: &PendingCall, key: String) -> Option<Question> {
    let message = message(call);
    if message.len() > LONGEST {
        return None;
    }
    let choices = CHOICES.map(|(label, _)| string::encode(label)).join(",");
    let what = string::encode(
        "once: exactly this call; always this tool: as it is defined now; always this server: every \
         tool it has now; deny: the call is not made",
    );
    let params = format!(
        r#"{{"message":{},"requestedSchema":{{"type":"object","properties":{{"choice":{{"type":"string","title":"Decision","description":{what},"enum":[{choices}]}}}},"required":["choice"]}}}}"#,
        string::encode(&message),
    );
    let request =
        build::request("\"approval\"", method::ELICITATION_CREATE, Some(params.as_bytes()));
    let frame = Frame::parse(request, &MessageLimits::default()).ok()?;
    let server = call.binding.tool.server.clone();
    Some(Question { server, kind: QuestionKind::Form, key: Some(key), frame })
}

/// Describes the call in full.
fn message(call: &PendingCall) -> String {
    let bound = &call.binding;
    let (what, title) = match bound.tool.kind {
        CapabilityKind::Tool => ("tool call", "Tool"),
        CapabilityKind::Prompt => ("prompt", "Prompt"),
        CapabilityKind::Method => ("request of an extension", "Method"),
        CapabilityKind::Resource | CapabilityKind::Template => ("resource", "Resource"),
    };
    format!(
        "A {what} waits for your decision.\n\nServer: {}\n{title}: {}\nClient: {} (caller {})\n\
         Why you are asked: {}\n\nArguments, complete:\n{}",
        escape_invisible(bound.tool.server.as_str()),
        escape_invisible(&bound.tool.name),
        escape_invisible(&bound.client),
        escape_invisible(&bound.caller),
        escape_invisible(&call.because),
        display::format_params(&call.arguments, &call.other_params),
    )
}

/// Shows the form, if there is one, and reads the answer.
pub(super) async fn ask(port: &Arc<dyn Interactor>, question: Option<Question>) -> FormOutcome {
    let Some(question) = question else { return FormOutcome::Unsupported };
    // As a round of its own, so the client gets it at once.
    let answers = port.ask_all(vec![question]).await;
    match answers.into_iter().next() {
        Some(Answer::Result(result)) => read(&result),
        _ => FormOutcome::Unsupported,
    }
}

fn read(result: &Bytes) -> FormOutcome {
    match scan::member_text(result, "action").as_deref() {
        Some("accept") => FormOutcome::Chose(parse_choice(result).unwrap_or(ApprovalChoice::Deny)),
        Some("cancel") => FormOutcome::Cancelled,
        // Anything that is not an acceptance is a denial.
        _ => FormOutcome::Chose(ApprovalChoice::Deny),
    }
}

fn parse_choice(result: &[u8]) -> Option<ApprovalChoice> {
    let content = scan::member(result, "content")?.slice(result);
    let label = scan::member_text(content, "choice")?;
    CHOICES.into_iter().find(|(known, _)| *known == label).map(|(_, choice)| choice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &'static str) -> FormOutcome {
        read(&Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn only_an_offered_choice_approves() {
        for (label, choice) in CHOICES {
            let text = format!(r#"{{"action":"accept","content":{{"choice":"{label}"}}}}"#);
            assert_eq!(read(&text.into()), FormOutcome::Chose(choice));
        }
        for text in [
            r#"{"action":"accept"}"#,
            r#"{"action":"accept","content":{}}"#,
            r#"{"action":"accept","content":null}"#,
            r#"{"action":"accept","content":{"choice":""}}"#,
            r#"{"action":"accept","content":{"choice":true}}"#,
            r#"{"action":"accept","content":{"choice":"Once"}}"#,
            r#"{"action":"accept","content":{"choice":["once"]}}"#,
            r#"{"action":"decline","content":{"choice":"once"}}"#,
            r#"{"content":{"choice":"once"}}"#,
            r#"{"action":"yes"}"#,
            "[]",
        ] {
            assert_eq!(reply(text), FormOutcome::Chose(ApprovalChoice::Deny), "{text}");
        }
        assert_eq!(
            reply(r#"{"action":"cancel","content":{"choice":"once"}}"#),
            FormOutcome::Cancelled
        );
    }
}
