//! The JSON-RPC envelope: which members a message has, and which kind of message they make.
//!
//! Reading and checking are two steps. Reading continues after an error where possible, so that the
//! rejection can still name the id it answers.

use crate::{
    MessageKind, OwnedRequestId, RequestId, Span, WireErrorKind,
    keys::JsonKey,
    params::{ParamsSpans, is_lookalike},
    scanner::{AmbiguousJsonHandling, JsonScanner},
    string,
};

const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// The spans of the members of one message.
#[derive(Debug, Clone, Default)]
pub(crate) struct EnvelopeSpans {
    version: Option<Span>,
    pub(crate) id: Option<Span>,
    id_count: usize,
    pub(crate) method: Option<Span>,
    pub(crate) params: Option<Span>,
    pub(crate) result: Option<Span>,
    pub(crate) result_type: Option<Span>,
    pub(crate) error: Option<Span>,
    pub(crate) params_spans: ParamsSpans,
}

impl EnvelopeSpans {
    /// Scans one object. On an error, the spans found so far remain.
    pub(crate) fn read(&mut self, scanner: &mut JsonScanner<'_>) -> Result<Span, WireErrorKind> {
        scanner.object(AmbiguousJsonHandling::Refused, |scanner, key| self.member(scanner, key))
    }

    fn member<'a>(
        &mut self,
        scanner: &mut JsonScanner<'a>,
        key: JsonKey<'a>,
    ) -> Result<(), WireErrorKind> {
        let decoded = key.decode();
        let place = match &*decoded {
            b"jsonrpc" => &mut self.version,
            b"id" => {
                self.id_count += 1;
                &mut self.id
            }
            b"method" => &mut self.method,
            b"params" => {
                self.params = Some(self.params_spans.read(scanner)?);
                return Ok(());
            }
            b"result" => {
                self.result = Some(self.read_result(scanner)?);
                return Ok(());
            }
            b"error" => &mut self.error,
            other => {
                if is_lookalike(other, &MEMBERS) {
                    scanner.defer_error(scanner.lookalike_error());
                }
                return scanner.value(AmbiguousJsonHandling::Tolerated).map(drop);
            }
        };
        *place = Some(scanner.value(AmbiguousJsonHandling::Tolerated)?);
        Ok(())
    }

    /// Scans a result. Results are forwarded unchanged; decisions depend only on `resultType`.
    fn read_result(&mut self, scanner: &mut JsonScanner<'_>) -> Result<Span, WireErrorKind> {
        if scanner.peek() != b'{' {
            return scanner.value(AmbiguousJsonHandling::Tolerated);
        }
        scanner.object(AmbiguousJsonHandling::Tolerated, |scanner, key| {
            let is_type = *key.decode() == *b"resultType";
            let value = scanner.value(AmbiguousJsonHandling::Tolerated)?;
            if is_type {
                self.result_type = Some(value);
            }
            Ok(())
        })
    }

    /// Returns the kind of the message, or an error if it is not a valid one.
    pub(crate) fn kind(&self, bytes: &[u8]) -> Result<MessageKind, WireErrorKind> {
        let version = self.version.and_then(|span| string::decode(span.slice(bytes)));
        if version.as_deref() != Some("2.0") {
            return Err(WireErrorKind::Version);
        }
        let first_of = |span: Span| span.slice(bytes).first().copied().unwrap_or(0);
        match (self.method, self.result, self.error) {
            (Some(method), None, None) => {
                if first_of(method) != b'"' {
                    return Err(WireErrorKind::Method);
                }
                if self.params.is_some_and(|params| !matches!(first_of(params), b'{' | b'[')) {
                    return Err(WireErrorKind::Params);
                }
                let kind = if self.id.is_some() {
                    MessageKind::Request
                } else {
                    MessageKind::Notification
                };
                self.check_id(bytes, kind)
            }
            (None, Some(_), None) => self.check_id(bytes, MessageKind::Response),
            (None, None, Some(error)) if first_of(error) == b'{' => {
                self.check_id(bytes, MessageKind::Failure)
            }
            (None, None, Some(_)) => Err(WireErrorKind::Error),
            (None, None, None) => Err(WireErrorKind::Nothing),
            _ => Err(WireErrorKind::Ambiguous),
        }
    }

    fn check_id(&self, bytes: &[u8], kind: MessageKind) -> Result<MessageKind, WireErrorKind> {
        let legal = match (kind, self.id) {
            (MessageKind::Notification, None) | (MessageKind::Failure, None) => true,
            // A peer that could not read our id answers with null.
            (MessageKind::Failure, Some(id)) if id.slice(bytes) == b"null" => true,
            (_, Some(id)) => RequestId::from_raw(id.slice(bytes)).is_some(),
            (_, None) => false,
        };
        if legal { Ok(kind) } else { Err(WireErrorKind::Id) }
    }

    /// Returns the id if there is exactly one and it is complete.
    pub(crate) fn legible_id(&self, bytes: &[u8]) -> Option<OwnedRequestId> {
        // A number at the very end may be truncated.
        let span = self.id.filter(|span| self.id_count == 1 && span.end() < bytes.len())?;
        RequestId::from_raw(span.slice(bytes)).map(RequestId::to_owned)
    }
}
