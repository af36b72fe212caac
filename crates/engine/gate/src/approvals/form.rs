//! The form a person is asked with through the caller's client, and how an answer to it is read.
//!
//! No choice is preselected, and only one of those offered approves: a client that accepts a form
//! without filling it in has declined it.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_model::{CapabilityKind, visible};
use toolgate_session::{Answer, AskKind, Interactor, Question};
use toolgate_store::{Choice, PendingCall};
use toolgate_wire::{Frame, Limits, build, method, scan, string};

use super::shown;

/// The longest question. A person who is to read the whole cannot read more, and clients need not
/// take more; whoever runs the gateway can look at it with other means.
const LONGEST: usize = 64 * 1024;

/// What the choices are called.
const CHOICES: [(&str, Choice); 4] = [
    ("once", Choice::Once),
    ("always this tool", Choice::Tool),
    ("always this server", Choice::Server),
    ("deny", Choice::Deny),
];

/// What came of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    /// A choice was made, or the form was declined.
    Chose(Choice),
    /// The form was put away without an answer.
    Cancelled,
    /// The client cannot show it.
    Unable,
}

/// Whether a client says it can show forms.
pub(super) fn can_show(port: &dyn Interactor) -> bool {
    let capabilities = port.capabilities();
    let object = |raw: &[u8], key: &str| {
        let at = scan::member(raw, key)?;
        at.of(raw).starts_with(b"{").then_some(at)
    };
    let Some(at) = object(&capabilities, "elicitation") else { return false };
    let modes = at.of(&capabilities);
    // An empty declaration is that of the revision which knew forms only.
    object(modes, "form").is_some() || object(modes, "url").is_none()
}

/// The question about a call; none if it would be too long to be asked whole.
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
    let frame = Frame::parse(request, &Limits::default()).ok()?;
    let server = call.bound.tool.server.clone();
    Some(Question { server, kind: AskKind::Form, key: Some(key), frame })
}

/// Everything there is to know about a call, in words.
fn message(call: &PendingCall) -> String {
    let bound = &call.bound;
    let (what, title) = match bound.tool.kind {
        CapabilityKind::Tool => ("tool call", "Tool"),
        CapabilityKind::Prompt => ("prompt", "Prompt"),
        CapabilityKind::Method => ("request of an extension", "Method"),
        CapabilityKind::Resource | CapabilityKind::Template => ("resource", "Resource"),
    };
    format!(
        "A {what} waits for your decision.\n\nServer: {}\n{title}: {}\nClient: {} (caller {})\n\
         Why you are asked: {}\n\nArguments, complete:\n{}",
        visible(bound.tool.server.as_str()),
        visible(&bound.tool.name),
        visible(&bound.client),
        visible(&bound.caller),
        visible(&call.because),
        shown::params(&call.arguments, &call.other_params),
    )
}

/// Asks, and reads the answer.
pub(super) async fn ask(port: &Arc<dyn Interactor>, question: Question) -> Reply {
    // Together with nothing else: it is put to the client at once.
    let answers = port.ask_all(vec![question]).await;
    match answers.into_iter().next() {
        Some(Answer::Result(result)) => read(&result),
        _ => Reply::Unable,
    }
}

fn read(result: &Bytes) -> Reply {
    match scan::text(result, "action").as_deref() {
        Some("accept") => Reply::Chose(chosen(result).unwrap_or(Choice::Deny)),
        Some("cancel") => Reply::Cancelled,
        // Whatever is no acceptance is none.
        _ => Reply::Chose(Choice::Deny),
    }
}

fn chosen(result: &[u8]) -> Option<Choice> {
    let content = scan::member(result, "content")?.of(result);
    let label = scan::text(content, "choice")?;
    CHOICES.into_iter().find(|(known, _)| *known == label).map(|(_, choice)| choice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &'static str) -> Reply {
        read(&Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn only_an_offered_choice_approves() {
        for (label, choice) in CHOICES {
            let text = format!(r#"{{"action":"accept","content":{{"choice":"{label}"}}}}"#);
            assert_eq!(read(&text.into()), Reply::Chose(choice));
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
            assert_eq!(reply(text), Reply::Chose(Choice::Deny), "{text}");
        }
        assert_eq!(reply(r#"{"action":"cancel","content":{"choice":"once"}}"#), Reply::Cancelled);
    }
}
