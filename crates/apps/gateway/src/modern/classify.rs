//! Decides which era a message belongs to. The body decides, and the version header must agree.
//!
//! A message with any part of a modern envelope is modern. If the envelope is broken, the message
//! is rejected and never treated as a legacy message.

use toolgate_wire::{Era, Frame, MessageKind, MessageOrBatch, Revision, meta, method, scan};

use super::SUPPORTED_REVISION;
use super::envelope::{ClientMeta, envelope_version, has_envelope, missing_member};
use crate::rejection::Rejection;

/// The header that must agree with the body.
const HEADER: &str = "MCP-Protocol-Version";

/// The protocol version that the transport declares for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VersionHeader<'a> {
    /// The transport has no headers (lines).
    None,
    /// The header is missing, repeated or not text.
    Unclear,
    /// The header names this version.
    Version(&'a str),
}

impl VersionHeader<'_> {
    /// Returns true if the header names a revision without sessions.
    pub(crate) fn is_modern(self) -> bool {
        let Self::Version(version) = self else { return false };
        version.parse().is_ok_and(|revision: Revision| revision.era() == Era::Modern)
    }

    fn matches_version(self, version: &str) -> bool {
        match self {
            Self::None => true,
            Self::Unclear => false,
            Self::Version(own) => own == version,
        }
    }
}

/// The kind of a message, by era.
#[derive(Debug)]
pub(crate) enum MessageEra {
    /// A message of a legacy session.
    Legacy,
    /// A modern request.
    ModernRequest(ClientMeta),
    /// A modern notification.
    ModernNotification,
}

impl MessageEra {
    /// Classifies a message. Under `strict`, messages of the other era are rejected.
    pub(crate) fn from_message(
        message: &MessageOrBatch,
        header: VersionHeader<'_>,
        strict: Option<Revision>,
    ) -> Result<Self, Rejection> {
        let modern_only = strict.is_some_and(|only| only.era() == Era::Modern);
        let is_modern = || modern_only || header.is_modern();
        let frame = match message {
            MessageOrBatch::One(frame) => frame,
            MessageOrBatch::Batch(messages) => {
                return match is_modern() || messages.iter().flatten().any(has_envelope) {
                    true => {
                        Err(Rejection::invalid_request(None, "batches are not part of 2026-07-28"))
                    }
                    false => Ok(Self::Legacy),
                };
            }
        };
        match frame.kind() {
            MessageKind::Request if has_envelope(frame) => {
                modern_envelope(frame, header, strict).map(Self::ModernRequest)
            }
            MessageKind::Request if header.is_modern() => {
                Err(missing_member(frame, meta::PROTOCOL_VERSION))
            }
            MessageKind::Request if modern_only => Err(legacy_rejected(frame)),
            MessageKind::Notification if is_modern() || has_envelope(frame) => {
                Ok(Self::ModernNotification)
            }
            MessageKind::Response | MessageKind::Failure if is_modern() => {
                Err(Rejection::invalid_request(
                    None,
                    "2026-07-28 takes no responses; send answers as inputResponses in a retry",
                ))
            }
            _ => Ok(Self::Legacy),
        }
    }
}

fn modern_envelope(
    frame: &Frame,
    header: VersionHeader<'_>,
    strict: Option<Revision>,
) -> Result<ClientMeta, Rejection> {
    let Some(version) = envelope_version(frame) else {
        return Err(missing_member(frame, meta::PROTOCOL_VERSION));
    };
    if let Some(only) = strict.filter(|only| only.era() == Era::Legacy) {
        return Err(Rejection::unsupported_version(frame, &version, only));
    }
    if !header.matches_version(&version) {
        return Err(Rejection::header_mismatch(frame, HEADER));
    }
    if version != SUPPORTED_REVISION.as_str() {
        return Err(Rejection::unsupported_version(frame, &version, SUPPORTED_REVISION));
    }
    ClientMeta::parse(frame)
}

/// Returns the error for a legacy message where only modern ones are supported.
fn legacy_rejected(frame: &Frame) -> Rejection {
    match frame.is(method::INITIALIZE) {
        true => {
            let asked = scan::member_text(frame.params().unwrap_or_default(), "protocolVersion");
            Rejection::unsupported_version(frame, &asked.unwrap_or_default(), SUPPORTED_REVISION)
        }
        false => missing_member(frame, meta::PROTOCOL_VERSION),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolgate_wire::MessageLimits;

    use super::*;

    const MODERN: VersionHeader<'_> = VersionHeader::Version("2026-07-28");
    const OLD: VersionHeader<'_> = VersionHeader::Version("2025-11-25");

    fn judged(message: &Value, header: VersionHeader<'_>, strict: Option<Revision>) -> String {
        let bytes = message.to_string().into();
        let frame = Frame::parse(bytes, &MessageLimits::default()).unwrap();
        match MessageEra::from_message(&MessageOrBatch::One(frame), header, strict) {
            Ok(MessageEra::Legacy) => "legacy".into(),
            Ok(MessageEra::ModernRequest(_)) => "request".into(),
            Ok(MessageEra::ModernNotification) => "notice".into(),
            Err(error) => error.error.rpc_code.to_string(),
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
            (&whole, VersionHeader::None, "request"),
            (&whole, VersionHeader::Unclear, "-32020"),
            (&whole, OLD, "-32020"),
            (&bare, MODERN, "-32602"),
            (&bare, OLD, "legacy"),
            (&bare, VersionHeader::Unclear, "legacy"),
            (&bare, VersionHeader::None, "legacy"),
        ];
        for (message, header, expected) in rows {
            assert_eq!(judged(message, header, None), expected, "{message} {header:?}");
        }
    }

    #[test]
    fn every_method_with_an_envelope_is_modern() {
        for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "x/y"] {
            let message = request(method, envelope("2026-07-28".into()));
            assert_eq!(judged(&message, VersionHeader::None, None), "request", "{method}");
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
            assert_eq!(judged(&message, VersionHeader::None, None), expected, "{message}");
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
        assert_eq!(judged(&old, VersionHeader::Unclear, modern_only), "-32022");
        assert_eq!(judged(&other, VersionHeader::None, modern_only), "-32602");
    }

    #[test]
    fn modern_clients_send_notices_and_no_answers() {
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/cancelled"});
        assert_eq!(judged(&answer, MODERN, None), "-32600");
        assert_eq!(judged(&answer, OLD, None), "legacy");
        assert_eq!(judged(&notice, MODERN, None), "notice");
        assert_eq!(judged(&notice, VersionHeader::None, None), "legacy");
    }

    #[test]
    fn an_array_with_a_modern_message_is_refused_whole() {
        let frames = |messages: Vec<Value>| -> MessageOrBatch {
            let parse = |message: Value| {
                Frame::parse(message.to_string().into(), &MessageLimits::default())
            };
            MessageOrBatch::Batch(messages.into_iter().map(parse).collect())
        };
        let old = request("ping", json!({}));
        let modern = request("tools/list", envelope("2026-07-28".into()));
        let mixed = frames(vec![old.clone(), modern]);
        let legacy = frames(vec![old.clone(), old]);
        assert!(MessageEra::from_message(&mixed, OLD, None).is_err());
        assert!(MessageEra::from_message(&legacy, OLD, None).is_ok());
        assert!(MessageEra::from_message(&legacy, MODERN, None).is_err());
    }
}
