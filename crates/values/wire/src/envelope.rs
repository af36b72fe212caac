//! The JSON-RPC envelope: which members there are, and what kind of message they make.
//!
//! Reading and judging are two steps: reading goes on after a fault it can survive, so that the
//! refusal can still name the id it answers.

use crate::{
    Fault, Id, Kind, OwnedId, Span,
    keys::Key,
    params::{Params, is_lookalike},
    scanner::{Doubtful, Scanner},
    string,
};

const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// The members of one message, wherever they stand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Envelope {
    version: Option<Span>,
    pub(crate) id: Option<Span>,
    ids: usize,
    pub(crate) method: Option<Span>,
    pub(crate) params: Option<Span>,
    pub(crate) result: Option<Span>,
    pub(crate) result_type: Option<Span>,
    pub(crate) error: Option<Span>,
    pub(crate) inside: Params,
}

impl Envelope {
    /// Reads one object. On a fault, what was read so far stays.
    pub(crate) fn read(&mut self, scanner: &mut Scanner<'_>) -> Result<Span, Fault> {
        scanner.object(Doubtful::Refused, |scanner, key| self.member(scanner, key))
    }

    fn member<'a>(&mut self, scanner: &mut Scanner<'a>, key: Key<'a>) -> Result<(), Fault> {
        let decoded = key.decoded();
        let place = match &*decoded {
            b"jsonrpc" => &mut self.version,
            b"id" => {
                self.ids += 1;
                &mut self.id
            }
            b"method" => &mut self.method,
            b"params" => {
                self.params = Some(self.inside.read(scanner)?);
                return Ok(());
            }
            b"result" => {
                self.result = Some(self.read_result(scanner)?);
                return Ok(());
            }
            b"error" => &mut self.error,
            other => {
                if is_lookalike(other, &MEMBERS) {
                    scanner.doubt(scanner.lookalike());
                }
                return scanner.value(Doubtful::Tolerated).map(drop);
            }
        };
        *place = Some(scanner.value(Doubtful::Tolerated)?);
        Ok(())
    }

    /// A result is passed on as it is; only its discriminator is decided on.
    fn read_result(&mut self, scanner: &mut Scanner<'_>) -> Result<Span, Fault> {
        if scanner.peek() != b'{' {
            return scanner.value(Doubtful::Tolerated);
        }
        scanner.object(Doubtful::Tolerated, |scanner, key| {
            let is_type = *key.decoded() == *b"resultType";
            let value = scanner.value(Doubtful::Tolerated)?;
            if is_type {
                self.result_type = Some(value);
            }
            Ok(())
        })
    }

    /// What kind of message it is, if it is one.
    pub(crate) fn kind(&self, bytes: &[u8]) -> Result<Kind, Fault> {
        let version = self.version.and_then(|span| string::decode(span.of(bytes)));
        if version.as_deref() != Some("2.0") {
            return Err(Fault::Version);
        }
        let first_of = |span: Span| span.of(bytes).first().copied().unwrap_or(0);
        match (self.method, self.result, self.error) {
            (Some(method), None, None) => {
                if first_of(method) != b'"' {
                    return Err(Fault::Method);
                }
                if self.params.is_some_and(|params| !matches!(first_of(params), b'{' | b'[')) {
                    return Err(Fault::Params);
                }
                let kind = if self.id.is_some() { Kind::Request } else { Kind::Notification };
                self.check_id(bytes, kind)
            }
            (None, Some(_), None) => self.check_id(bytes, Kind::Response),
            (None, None, Some(error)) if first_of(error) == b'{' => {
                self.check_id(bytes, Kind::Failure)
            }
            (None, None, Some(_)) => Err(Fault::Error),
            (None, None, None) => Err(Fault::Nothing),
            _ => Err(Fault::Ambiguous),
        }
    }

    fn check_id(&self, bytes: &[u8], kind: Kind) -> Result<Kind, Fault> {
        let legal = match (kind, self.id) {
            (Kind::Notification, None) | (Kind::Failure, None) => true,
            // Who could not read our id answers with null.
            (Kind::Failure, Some(id)) if id.of(bytes) == b"null" => true,
            (_, Some(id)) => Id::from_raw(id.of(bytes)).is_some(),
            (_, None) => false,
        };
        if legal { Ok(kind) } else { Err(Fault::Id) }
    }

    /// The id, if there is exactly one and it is whole.
    pub(crate) fn legible_id(&self, bytes: &[u8]) -> Option<OwnedId> {
        // The digits of a number at the very end may have been cut off.
        let span = self.id.filter(|span| self.ids == 1 && span.end() < bytes.len())?;
        Id::from_raw(span.of(bytes)).map(Id::to_owned)
    }
}
