//! A message: its bytes, and the places of what is decided on.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;

use crate::{
    Edit, Fault, Id, Limits, OwnedId, Remembered, Span, WireError,
    envelope::Envelope,
    large::Aside,
    meta::Claim,
    method,
    scanner::{Doubtful, Scanner, admit},
    string,
};

/// How much of an oversized message is read for its id.
const ID_PREFIX: usize = 4096;

/// The kinds of JSON-RPC messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Has a method and an id: wants an answer.
    Request,
    /// Has a method and no id.
    Notification,
    /// Has a result.
    Response,
    /// Has an error. The id may be missing or null.
    Failure,
}

/// One message that was accepted whole.
#[derive(Debug, Clone)]
pub struct Frame {
    bytes: Bytes,
    kind: Kind,
    id: Option<Span>,
    method: Option<Span>,
    /// The method, where it is one we know: it is asked for often.
    known: Option<&'static str>,
    params: Option<Span>,
    meta: Option<Span>,
    name: Option<Span>,
    progress_token: Option<Span>,
    request_ref: Option<Span>,
    result: Option<Span>,
    result_type: Option<Span>,
    error: Option<Span>,
    claim: Claim,
    is_plain: bool,
    is_retry: bool,
    /// What belongs into its placeholders, if it is a large answer's skeleton.
    aside: Option<Arc<Aside>>,
}

impl Frame {
    /// Reads a single message. An array is refused; where batches are legal, use
    /// [`Message::parse`](crate::Message::parse).
    pub fn parse(bytes: Bytes, limits: &Limits) -> Result<Frame, WireError> {
        admit(&bytes, limits).map_err(|fault| WireError::new(fault, Frame::peek_id(&bytes)))?;
        Frame::scan(bytes, limits, &[])
    }

    /// The id of a message that is cut off, too large or otherwise not acceptable, if it stands
    /// in its first 4 KiB.
    pub fn peek_id(prefix: &[u8]) -> Option<OwnedId> {
        let prefix = prefix.get(..ID_PREFIX).unwrap_or(prefix);
        let legible = match std::str::from_utf8(prefix) {
            Ok(_) => prefix,
            Err(error) => prefix.get(..error.valid_up_to())?,
        };
        let mut scanner = Scanner::new(legible, &Limits::WIDEST);
        scanner.space();
        let mut envelope = Envelope::default();
        // Where the scan ends does not matter here.
        let _ = (scanner.peek() == b'{').then(|| envelope.read(&mut scanner));
        envelope.legible_id(legible)
    }

    /// Reads a message whose size and encoding are known to be right.
    pub(crate) fn scan(
        bytes: Bytes,
        limits: &Limits,
        known: &[Remembered],
    ) -> Result<Frame, WireError> {
        let mut scanner = Scanner::new(&bytes, limits).knowing(known);
        let mut envelope = Envelope::default();
        scanner.space();
        let read = if scanner.peek() == b'{' {
            envelope.read(&mut scanner).and_then(|_| scanner.end())
        } else {
            let value = scanner.value(Doubtful::Tolerated);
            value.and_then(|_| scanner.end()).and(Err(Fault::NotAnObject))
        };
        match (read, scanner.take_doubt()) {
            (Ok(()), None) => Frame::judge(bytes, &envelope),
            (Err(fault), _) | (Ok(()), Some(fault)) => {
                Err(WireError::new(fault, envelope.legible_id(&bytes)))
            }
        }
    }

    /// Makes a frame of an envelope that was read without fault.
    pub(crate) fn judge(bytes: Bytes, envelope: &Envelope) -> Result<Frame, WireError> {
        let refused = |fault| WireError::new(fault, envelope.legible_id(&bytes));
        let kind = envelope.kind(&bytes).map_err(refused)?;
        let method = envelope.method.and_then(|span| string::decode(span.of(&bytes)));
        let method = method.as_deref().unwrap_or_default();
        let inside = &envelope.inside;
        let name = match envelope.params {
            Some(at) => inside.target(method, &bytes, at).map_err(refused)?,
            None => None,
        };
        Ok(Frame {
            kind,
            id: envelope.id.filter(|id| Id::from_raw(id.of(&bytes)).is_some()),
            method: envelope.method,
            known: method::known(method),
            params: envelope.params,
            meta: inside.meta(),
            name,
            progress_token: inside.token(method),
            request_ref: inside.cancelled(method),
            result: envelope.result,
            result_type: envelope.result_type,
            error: envelope.error,
            claim: inside.claim(),
            is_plain: inside.is_plain(),
            is_retry: inside.is_retry(),
            aside: None,
            bytes,
        })
    }

    /// The kind of message.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The message as it came.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The message as it came.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// The id; none in a notification, and in a failure whose sender could not tell it.
    pub fn id(&self) -> Option<Id<'_>> {
        self.id_at(self.id)
    }

    /// The method, decoded.
    pub fn method(&self) -> Option<Cow<'_, str>> {
        match self.known {
            Some(known) => Some(Cow::Borrowed(known)),
            None => self.text_at(self.method),
        }
    }

    /// Whether this is a request or notification of that method.
    pub fn is(&self, method: &str) -> bool {
        self.method().is_some_and(|own| own == method)
    }

    /// What the method is about, decoded: the tool or prompt name, the resource URI, the task id,
    /// or the name or URI a completion refers to ([`method::Target`](crate::method::Target)).
    /// None if the method has no such thing or it is not a string.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        self.text_at(self.name)
    }

    /// The progress token: `params._meta.progressToken`, or `params.progressToken` in
    /// `notifications/progress`. None if it is neither a string nor an integer.
    pub fn progress_token(&self) -> Option<Id<'_>> {
        self.id_at(self.progress_token)
    }

    /// The request that `notifications/cancelled` is about.
    pub fn request_ref(&self) -> Option<Id<'_>> {
        self.id_at(self.request_ref)
    }

    /// The raw `params`.
    pub fn params(&self) -> Option<&[u8]> {
        self.params.map(|span| span.of(&self.bytes))
    }

    /// The raw `result`.
    pub fn result(&self) -> Option<&[u8]> {
        self.result.map(|span| span.of(&self.bytes))
    }

    /// What kind of result it is, decoded (from 2026-07-28); none where it does not say.
    pub fn result_type(&self) -> Option<Cow<'_, str>> {
        match self.result_type?.of(&self.bytes) {
            b"\"complete\"" => Some(Cow::Borrowed("complete")),
            _ => self.text_at(self.result_type),
        }
    }

    /// What `params._meta` says of the sender, by its places in the message.
    pub fn claim(&self) -> Claim {
        self.claim
    }

    /// Its envelope, for reading the next message of the same client; none if its `_meta` says
    /// something that will hardly be said again.
    pub fn remember(&self) -> Option<Remembered> {
        let place = self.meta.filter(|_| self.is_plain)?;
        Remembered::of(&self.bytes, place, self.claim)
    }

    /// Whether it brings answers or a state, as only the retry of a modern request does.
    pub fn is_retry(&self) -> bool {
        self.is_retry
    }

    /// The same message, with what belongs into its placeholders.
    pub fn beside(self, aside: Option<Arc<Aside>>) -> Self {
        Self { aside, ..self }
    }

    /// What belongs into its placeholders, if it is the skeleton of a large answer
    /// ([`large`](crate::large)).
    pub fn aside(&self) -> Option<&Arc<Aside>> {
        self.aside.as_ref()
    }

    /// The raw `error`.
    pub fn error(&self) -> Option<&[u8]> {
        self.error.map(|span| span.of(&self.bytes))
    }

    /// Place of the id, quotes included.
    pub fn id_span(&self) -> Option<Span> {
        self.id
    }

    /// Place of what [`Frame::name`] says, quotes included.
    pub fn name_span(&self) -> Option<Span> {
        self.name
    }

    /// Place of `params`.
    pub fn params_span(&self) -> Option<Span> {
        self.params
    }

    /// Place of `params._meta`.
    pub fn meta_span(&self) -> Option<Span> {
        self.meta
    }

    /// Place of `result`.
    pub fn result_span(&self) -> Option<Span> {
        self.result
    }

    /// Place of `error`.
    pub fn error_span(&self) -> Option<Span> {
        self.error
    }

    /// Place of the progress token, of whatever type it is.
    pub fn progress_token_span(&self) -> Option<Span> {
        self.progress_token
    }

    /// Place of the request id in `notifications/cancelled`.
    pub fn request_ref_span(&self) -> Option<Span> {
        self.request_ref
    }

    /// The whole message, as a place to edit.
    pub fn span(&self) -> Span {
        let start = self.bytes.iter().position(|&byte| byte == b'{').unwrap_or(0);
        let end = self.bytes.iter().rposition(|&byte| byte == b'}').map_or(0, |last| last + 1);
        Span::new(start, end)
    }

    /// Begins to change the message.
    pub fn edit(&self) -> Edit<'_> {
        Edit::new(self)
    }

    fn id_at(&self, span: Option<Span>) -> Option<Id<'_>> {
        Id::from_raw(span?.of(&self.bytes))
    }

    fn text_at(&self, span: Option<Span>) -> Option<Cow<'_, str>> {
        string::decode(span?.of(&self.bytes))
    }
}
