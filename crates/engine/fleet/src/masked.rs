//! Takes what must not be shown out of errors, of a session and of a server: servers echo what they
//! were given. What a server gives as a result is data, and passes as it came.

use serde_json::Value;
use toolgate_model::Mask;
use toolgate_session::SessionError;
use toolgate_transport::TransportError;
use toolgate_wire::Frame;

/// The error, its texts masked.
pub(crate) fn error(mut error: SessionError, mask: &Mask) -> SessionError {
    if !mask.is_empty() {
        hide(&mut error, mask);
    }
    error
}

/// An answer; if it is an error, its texts masked.
pub(crate) fn answer(frame: Frame, mask: &Mask) -> Frame {
    match frame.error_span() {
        Some(_) if !mask.is_empty() => masked_error(&frame, mask).unwrap_or(frame),
        _ => frame,
    }
}

/// The answer anew, if there is something to hide in its error.
fn masked_error(frame: &Frame, mask: &Mask) -> Option<Frame> {
    let span = frame.error_span()?;
    let mut error: Value = serde_json::from_slice(span.of(frame.bytes())).ok()?;
    let hidden = hide_texts(&mut error, mask);
    hidden.then(|| frame.edit().replace(span, error.to_string()).frame().ok())?
}

/// Masks every text of a value; says whether there was something to mask.
fn hide_texts(value: &mut Value, mask: &Mask) -> bool {
    match value {
        Value::String(text) => {
            let before = text.clone();
            mask.hide_in(text);
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
        | SessionError::Refused { message: text, .. } => mask.hide_in(text),
        SessionError::NeedsAuth { challenge, .. } => {
            challenge.iter_mut().for_each(|text| mask.hide_in(text));
        }
        SessionError::Reopen { source, .. } => hide(source, mask),
        SessionError::Transport(error) => hide_carried(error, mask),
        // These hold nothing a server said, or nothing but a limit it broke.
        SessionError::Expired | SessionError::TimedOut(_) | SessionError::Wire(_) => {}
    }
}

fn hide_carried(error: &mut TransportError, mask: &Mask) {
    match error {
        TransportError::Address { url, reason } => {
            *url = toolgate_model::shown_url(url);
            [url, reason].into_iter().for_each(|text| mask.hide_in(text));
        }
        TransportError::Connect { authority, .. } => mask.hide_in(authority),
        TransportError::Refused { challenge, text, .. } => {
            [text].into_iter().chain(challenge).for_each(|text| mask.hide_in(text));
        }
        TransportError::NotEvents(text) => mask.hide_in(text),
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
            SessionError::Transport(TransportError::NotEvents(said())),
            SessionError::Transport(TransportError::Address {
                url: "http://u:canary-2@h".into(),
                reason: said(),
            }),
            SessionError::Reopen {
                era: toolgate_wire::Era::Legacy,
                source: Box::new(SessionError::Ended(said())),
            },
        ] {
            let masked = error(given, &mask);
            let shown = format!("{masked} {masked:?}");
            assert!(!shown.contains("canary"), "{shown}");
        }
    }

    #[test]
    fn the_error_of_a_server_loses_what_is_masked_and_nothing_else() {
        let mask = Mask::new(["canary-1".to_owned()]);
        let limits = toolgate_wire::Limits::default();
        let frame = |text: &str| Frame::parse(text.to_owned().into(), &limits).unwrap();
        let failed = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no: canary-1","data":{"x":["canary-1",1]}},"more":2}"#;
        let masked = answer(frame(failed), &mask);
        let text = std::str::from_utf8(masked.bytes()).unwrap();
        assert_eq!(text, failed.replace("canary-1", "***"));
        for kept in [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"n\u006f"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"text":"canary-1"}}"#,
        ] {
            assert_eq!(answer(frame(kept), &mask).bytes(), kept.as_bytes());
        }
    }
}
