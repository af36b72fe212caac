//! Which era a message belongs to: the body decides, and what its carrier says must agree.
//!
//! A claim to be modern is held to its word: a broken envelope is an error and never read as a
//! message of an older revision.

use toolgate_wire::{Era, Frame, Kind, Message, Revision, WireError, meta, method, scan};

use super::envelope::{Claim, Envelope, missing};
use super::{Fault, SUPPORTED};

/// The header that must agree with the body.
const HEADER: &str = "MCP-Protocol-Version";

/// What the carrier says of a message's revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label<'a> {
    /// It has no place to say it: lines.
    None,
    /// It should have said it, once and legibly, and did not.
    Unclear,
    /// This.
    Version(&'a str),
}

impl Label<'_> {
    /// Whether it names a revision without sessions.
    pub(crate) fn is_modern(self) -> bool {
        let Self::Version(version) = self else { return false };
        version.parse().is_ok_and(|revision: Revision| revision.era() == Era::Modern)
    }

    fn agrees(self, version: &str) -> bool {
        match self {
            Self::None => true,
            Self::Unclear => false,
            Self::Version(own) => own == version,
        }
    }
}

/// What a message is.
#[derive(Debug)]
pub(crate) enum Speech {
    /// Part of a session of an older revision.
    Legacy,
    /// A modern request.
    Request(Envelope),
    /// A modern notification.
    Notice,
}

impl Speech {
    /// Tells modern messages from others. Under `strict` those of the other era are refused.
    pub(crate) fn of(
        message: &Message,
        label: Label<'_>,
        strict: Option<Revision>,
    ) -> Result<Self, Fault> {
        match message {
            Message::One(frame) => classify(frame, label, strict),
            Message::Batch(messages) => {
                refuse_in_batch(messages, label, strict).map(|()| Self::Legacy)
            }
        }
    }
}

fn classify(frame: &Frame, label: Label<'_>, strict: Option<Revision>) -> Result<Speech, Fault> {
    let modern_only = strict.is_some_and(|only| only.era() == Era::Modern);
    match frame.kind() {
        Kind::Request => match Claim::of(frame) {
            Some(claim) => modern(frame, &claim, label, strict).map(Speech::Request),
            None if label.is_modern() => Err(missing(frame, meta::PROTOCOL_VERSION)),
            None if modern_only => Err(outdated(frame)),
            None => Ok(Speech::Legacy),
        },
        Kind::Notification if label.is_modern() || modern_only => Ok(Speech::Notice),
        Kind::Notification if Claim::of(frame).is_some() => Ok(Speech::Notice),
        Kind::Response | Kind::Failure if label.is_modern() || modern_only => Err(Fault::unfit(
            None,
            "answers come with the retry of the request that was asked, in inputResponses",
        )),
        _ => Ok(Speech::Legacy),
    }
}

/// Refuses an array with a modern message in it, or under a modern label.
fn refuse_in_batch(
    messages: &[Result<Frame, WireError>],
    label: Label<'_>,
    strict: Option<Revision>,
) -> Result<(), Fault> {
    let modern = messages.iter().flatten().any(|frame| Claim::of(frame).is_some());
    let modern_only = strict.is_some_and(|only| only.era() == Era::Modern);
    match modern || modern_only || label.is_modern() {
        true => Err(Fault::unfit(None, "batches are not part of 2026-07-28")),
        false => Ok(()),
    }
}

fn modern(
    frame: &Frame,
    claim: &Claim<'_>,
    label: Label<'_>,
    strict: Option<Revision>,
) -> Result<Envelope, Fault> {
    let Some(version) = claim.version() else {
        return Err(missing(frame, meta::PROTOCOL_VERSION));
    };
    if let Some(only) = strict.filter(|only| only.era() == Era::Legacy) {
        return Err(Fault::version(frame, &version, only));
    }
    if !label.agrees(&version) {
        return Err(Fault::header(frame, HEADER));
    }
    if version != SUPPORTED.as_str() {
        return Err(Fault::version(frame, &version, SUPPORTED));
    }
    claim.open(frame)
}

/// A message of an older revision, where none is served.
fn outdated(frame: &Frame) -> Fault {
    match frame.is(method::INITIALIZE) {
        true => {
            let asked = scan::text(frame.params().unwrap_or_default(), "protocolVersion");
            Fault::version(frame, &asked.unwrap_or_default(), SUPPORTED)
        }
        false => missing(frame, meta::PROTOCOL_VERSION),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolgate_wire::Limits;

    use super::*;

    const MODERN: Label<'_> = Label::Version("2026-07-28");
    const OLD: Label<'_> = Label::Version("2025-11-25");

    fn judged(message: &Value, label: Label<'_>, strict: Option<Revision>) -> String {
        let bytes = message.to_string().into();
        let frame = Frame::parse(bytes, &Limits::default()).unwrap();
        match classify(&frame, label, strict) {
            Ok(Speech::Legacy) => "legacy".into(),
            Ok(Speech::Request(_)) => "request".into(),
            Ok(Speech::Notice) => "notice".into(),
            Err(fault) => fault.code().to_string(),
        }
    }

    fn request(method: &str, envelope: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": envelope}})
    }

    fn envelope(version: Value) -> Value {
        json!({meta::PROTOCOL_VERSION: version, meta::CLIENT_CAPABILITIES: {}})
    }

    #[test]
    fn the_body_decides_and_the_label_must_agree() {
        let whole = request("tools/list", envelope("2026-07-28".into()));
        let bare = request("tools/list", json!({"progressToken": 1}));
        let rows = [
            (&whole, MODERN, "request"),
            (&whole, Label::None, "request"),
            (&whole, Label::Unclear, "-32020"),
            (&whole, OLD, "-32020"),
            (&bare, MODERN, "-32602"),
            (&bare, OLD, "legacy"),
            (&bare, Label::Unclear, "legacy"),
            (&bare, Label::None, "legacy"),
        ];
        for (message, label, expected) in rows {
            assert_eq!(judged(message, label, None), expected, "{message} {label:?}");
        }
    }

    #[test]
    fn every_method_with_an_envelope_is_modern() {
        for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "x/y"] {
            let message = request(method, envelope("2026-07-28".into()));
            assert_eq!(judged(&message, Label::None, None), "request", "{method}");
        }
    }

    #[test]
    fn a_broken_envelope_is_an_error_and_never_legacy() {
        let with = |key: &str, value: Value| {
            let mut broken = envelope("2026-07-28".into());
            broken[key] = value;
            broken
        };
        let rows = [
            (envelope(json!(7)), "-32602"),
            (envelope(Value::Null), "-32602"),
            (json!({meta::CLIENT_CAPABILITIES: {}}), "-32602"),
            (json!({meta::LOG_LEVEL: "info"}), "-32602"),
            (json!({meta::PROTOCOL_VERSION: "2026-07-28"}), "-32602"),
            (with(meta::CLIENT_CAPABILITIES, json!([])), "-32602"),
            (with(meta::CLIENT_INFO, json!("me")), "-32602"),
            (with(meta::LOG_LEVEL, json!("loud")), "-32602"),
            (envelope("2099-01-01".into()), "-32022"),
            (envelope("2025-11-25".into()), "-32022"),
        ];
        for (broken, expected) in rows {
            let message = request("tools/list", broken);
            assert_eq!(judged(&message, Label::None, None), expected, "{message}");
        }
    }

    #[test]
    fn a_strict_gateway_serves_one_era() {
        let modern = request("tools/list", envelope("2026-07-28".into()));
        let old = request("initialize", json!({}));
        let other = request("tools/list", json!({}));
        let old_only = Some(Revision::V2025_11_25);
        let modern_only = Some(Revision::V2026_07_28);
        assert_eq!(judged(&modern, MODERN, old_only), "-32022");
        assert_eq!(judged(&old, OLD, old_only), "legacy");
        assert_eq!(judged(&modern, MODERN, modern_only), "request");
        assert_eq!(judged(&old, Label::Unclear, modern_only), "-32022");
        assert_eq!(judged(&other, Label::None, modern_only), "-32602");
    }

    #[test]
    fn modern_clients_send_notices_and_no_answers() {
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/cancelled"});
        assert_eq!(judged(&answer, MODERN, None), "-32600");
        assert_eq!(judged(&answer, OLD, None), "legacy");
        assert_eq!(judged(&notice, MODERN, None), "notice");
        assert_eq!(judged(&notice, Label::None, None), "legacy");
    }

    #[test]
    fn an_array_with_a_modern_message_is_refused_whole() {
        let frames = |messages: Vec<Value>| -> Vec<Result<Frame, WireError>> {
            let parse =
                |message: Value| Frame::parse(message.to_string().into(), &Limits::default());
            messages.into_iter().map(parse).collect()
        };
        let old = request("ping", json!({}));
        let modern = request("tools/list", envelope("2026-07-28".into()));
        let mixed = frames(vec![old.clone(), modern]);
        let legacy = frames(vec![old.clone(), old]);
        assert!(refuse_in_batch(&mixed, OLD, None).is_err());
        assert!(refuse_in_batch(&legacy, OLD, None).is_ok());
        assert!(refuse_in_batch(&legacy, MODERN, None).is_err());
    }
}
