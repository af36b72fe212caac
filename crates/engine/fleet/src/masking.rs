//! Masks secrets in the errors of sessions and servers, because servers echo what they receive.
//! Results are data and pass unchanged.

use serde_json::Value;
use toolgate_model::Mask;
use toolgate_session::SessionError;
use toolgate_transport::TransportError;
use toolgate_wire::Frame;

/// Masks the texts of an error.
pub(crate) fn mask_error(mut error: SessionError, mask: &Mask) -> SessionError {
    if !mask.is_empty() {
        hide(&mut error, mask);
    }
    error
}

/// Masks the texts of a response if it is an error. Returns a result unchanged.
pub(crate) fn mask_response(frame: Frame, mask: &Mask) -> Frame {
    match frame.error_span() {
        Some(_) if !mask.is_empty() => masked_error(&frame, mask).unwrap_or(frame),
        _ => frame,
    }
}

/// Rebuilds an error response with its texts masked. Returns `None` if there is nothing to mask.
fn masked_error(frame: &Frame, mask: &Mask) -> Option<Frame> {
    let span = frame.error_span()?;
    let mut error: Value = serde_json::from_slice(span.slice(frame.bytes())).ok()?;
    let hidden = hide_texts(&mut error, mask);
    hidden.then(|| frame.edit().replace(span, error.to_string()).finish_frame().ok())?
}

/// Masks every string of a value. Returns true if any changed.
fn hide_texts(value: &mut Value, mask: &Mask) -> bool {
    match value {
        Value::String(text) => {
            let before = text.clone();
            mask.apply_in_place(text);
            *text != before
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, it| hide_texts(it, mask) | any),
        Value::Object(members) => {
            members.iter_mut().fold(false, |any, (_, it)| hide_texts(it, mask) | any)
        }
        _ => false,
    }
}

fn hide(error: &mut SessionError, mask: &Mask) {
    match error {
        SessionError::Ended(text)
        | SessionError::Protocol(text)
        | SessionError::Status { text, .. }
        | SessionError::Refused { message: text, .. } => mask.apply_in_place(text),
        SessionError::NeedsAuth { challenge, .. } => {
            challenge.iter_mut().for_each(|text| mask.apply_in_place(text));
        }
        SessionError::Reopen { source, .. } => hide(source, mask),
        SessionError::Transport(error) => hide_carried(error, mask),
        // These contain no text from the server.
        SessionError::Expired | SessionError::TimedOut(_) | SessionError::Wire(_) => {}
    }
}

fn hide_carried(error: &mut TransportError, mask: &Mask) {
    match error {
        TransportError::Address { url, reason } => {
            *url = toolgate_model::redact_url(url);
            [url, reason].into_iter().for_each(|text| mask.apply_in_place(text));
        }
        TransportError::Connect { authority, .. } => mask.apply_in_place(authority),
        TransportError::Refused { challenge, text, .. } => {
            [text].into_iter().chain(challenge).for_each(|text| mask.apply_in_place(text));
        }
        TransportError::NotEventStream(text) => mask.apply_in_place(text),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_nothing_that_is_masked() {
        let mask = Mask::new(["canary-1".to_owned()]);
        let said = || "got canary-1".to_owned();
        let refused = |text, challenge| TransportError::Refused { status: 400, challenge, text };
        for given in [
            SessionError::Ended(said()),
            SessionError::Protocol(said()),
            SessionError::Status { status: 500, text: said() },
            SessionError::Refused { code: 1, message: said() },
            SessionError::NeedsAuth { status: 401, challenge: Some(said()) },
            SessionError::Transport(refused(said(), Some(said()))),
            SessionError::Transport(TransportError::NotEventStream(said())),
            SessionError::Transport(TransportError::Address {
                url: "http://u:canary-2@h".into(),
                reason: said(),
            }),
            SessionError::Reopen {
                era: toolgate_wire::Era::Legacy,
                source: Box::new(SessionError::Ended(said())),
            },
        ] {
            let masked = mask_error(given, &mask);
            let shown = format!("{masked} {masked:?}");
            assert!(!shown.contains("canary"), "{shown}");
        }
    }

    #[test]
    fn the_error_of_a_server_loses_what_is_masked_and_nothing_else() {
        let mask = Mask::new(["canary-1".to_owned()]);
        let limits = toolgate_wire::MessageLimits::default();
        let frame = |text: &str| Frame::parse(text.to_owned().into(), &limits).unwrap();
        let failed = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no: canary-1","data":{"x":["canary-1",1]}},"more":2}"#;
        let masked = mask_response(frame(failed), &mask);
        let text = std::str::from_utf8(masked.bytes()).unwrap();
        assert_eq!(text, failed.replace("canary-1", "***"));
        for kept in [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"n\u006f"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"text":"canary-1"}}"#,
        ] {
            assert_eq!(mask_response(frame(kept), &mask).bytes(), kept.as_bytes());
        }
    }
}
