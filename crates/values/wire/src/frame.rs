//! A message: its bytes, and the spans of the parts that decisions depend on.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;

use crate::{
    CachedMeta, JsonEdit, MessageLimits, OwnedRequestId, RequestId, Span, WireError, WireErrorKind,
    envelope::EnvelopeSpans,
    large::DetachedValues,
    meta::ClientMetaSpans,
    method,
    scanner::{AmbiguousJsonHandling, JsonScanner, check_size_and_encoding},
    string,
};

/// The number of bytes of an oversized message that are searched for its id.
const ID_PREFIX: usize = 4096;

/// The kind of a JSON-RPC message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// Has a method and an id, and expects a response.
    Request,
    /// Has a method and no id.
    Notification,
    /// Has a result.
    Response,
    /// Has an error. The id may be missing or null.
    Failure,
}

/// One accepted message.
#[derive(Debug, Clone)]
pub struct Frame {
    bytes: Bytes,
    kind: MessageKind,
    id: Option<Span>,
    method: Option<Span>,
    /// The static name of a known method, because it is read often.
    known_method: Option<&'static str>,
    params: Option<Span>,
    meta: Option<Span>,
    name: Option<Span>,
    progress_token: Option<Span>,
    request_ref: Option<Span>,
    result: Option<Span>,
    result_type: Option<Span>,
    error: Option<Span>,
    client_meta: ClientMetaSpans,
    has_only_client_meta: bool,
    is_retry: bool,
    /// The removed values, if this frame is the skeleton of a large response.
    detached: Option<Arc<DetachedValues>>,
}

impl Frame {
    /// Parses a single message and rejects an array. Use
    /// [`MessageOrBatch::parse`](crate::MessageOrBatch::parse) where batches are allowed.
    pub fn parse(bytes: Bytes, limits: &MessageLimits) -> Result<Frame, WireError> {
        check_size_and_encoding(&bytes, limits)
            .map_err(|fault| WireError::new(fault, Frame::peek_id(&bytes)))?;
        Frame::scan(bytes, limits, &[])
    }

    /// Returns the id of a truncated, oversized or otherwise invalid message, if it is in its first
    /// 4 KiB.
    pub fn peek_id(prefix: &[u8]) -> Option<OwnedRequestId> {
        let prefix = prefix.get(..ID_PREFIX).unwrap_or(prefix);
        let legible = match std::str::from_utf8(prefix) {
            Ok(_) => prefix,
            Err(error) => prefix.get(..error.valid_up_to())?,
        };
        let mut scanner = JsonScanner::new(legible, &MessageLimits::MAX);
        scanner.skip_whitespace();
        let mut envelope = EnvelopeSpans::default();
        // Errors do not matter here; the spans found so far suffice.
        let _ = (scanner.peek() == b'{').then(|| envelope.read(&mut scanner));
        envelope.legible_id(legible)
    }

    /// Scans a message whose size and encoding were checked before.
    pub(crate) fn scan(
        bytes: Bytes,
        limits: &MessageLimits,
        known: &[CachedMeta],
    ) -> Result<Frame, WireError> {
        let mut scanner = JsonScanner::new(&bytes, limits).with_cached_meta(known);
        let mut envelope = EnvelopeSpans::default();
        scanner.skip_whitespace();
        let read = if scanner.peek() == b'{' {
            envelope.read(&mut scanner).and_then(|_| scanner.expect_end())
        } else {
            let value = scanner.value(AmbiguousJsonHandling::Tolerated);
            value.and_then(|_| scanner.expect_end()).and(Err(WireErrorKind::NotAnObject))
        };
        match (read, scanner.take_deferred_error()) {
            (Ok(()), None) => Frame::from_envelope(bytes, &envelope),
            (Err(fault), _) | (Ok(()), Some(fault)) => {
                Err(WireError::new(fault, envelope.legible_id(&bytes)))
            }
        }
    }

    /// Makes a frame from an envelope that was scanned without errors.
    pub(crate) fn from_envelope(
        bytes: Bytes,
        envelope: &EnvelopeSpans,
    ) -> Result<Frame, WireError> {
        let refused = |fault| WireError::new(fault, envelope.legible_id(&bytes));
        let kind = envelope.kind(&bytes).map_err(refused)?;
        let method = envelope.method.and_then(|span| string::decode(span.slice(&bytes)));
        let method = method.as_deref().unwrap_or_default();
        let inside = &envelope.params_spans;
        let name = match envelope.params {
            Some(at) => inside.target_span(method, &bytes, at).map_err(refused)?,
            None => None,
        };
        Ok(Frame {
            kind,
            id: envelope.id.filter(|id| RequestId::from_raw(id.slice(&bytes)).is_some()),
            method: envelope.method,
            known_method: method::static_name(method),
            params: envelope.params,
            meta: inside.meta,
            name,
            progress_token: inside.progress_token_span(method),
            request_ref: inside.cancelled_request_span(method),
            result: envelope.result,
            result_type: envelope.result_type,
            error: envelope.error,
            client_meta: inside.client_meta,
            has_only_client_meta: inside.has_only_client_meta(),
            is_retry: inside.is_retry,
            detached: None,
            bytes,
        })
    }

    /// Returns the kind of the message.
    pub fn kind(&self) -> MessageKind {
        self.kind
    }

    /// Returns the message as received.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns the message as received.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// Returns the id. A notification has none, and neither has a failure whose sender could not
    /// read the id.
    pub fn id(&self) -> Option<RequestId<'_>> {
        self.id_at(self.id)
    }

    /// Returns the method, decoded.
    pub fn method(&self) -> Option<Cow<'_, str>> {
        match self.known_method {
            Some(known) => Some(Cow::Borrowed(known)),
            None => self.text_at(self.method),
        }
    }

    /// Returns true if this is a request or notification with that method.
    pub fn is(&self, method: &str) -> bool {
        self.method().is_some_and(|own| own == method)
    }

    /// Returns the target of the method, decoded: the tool or prompt name, the resource URI, the
    /// task id, or the name or URI that a completion refers to
    /// ([`MethodTarget`](crate::method::MethodTarget)). Returns `None` if the method has no target
    /// or the target is not a string.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        self.text_at(self.name)
    }

    /// Returns the progress token: `params._meta.progressToken`, or `params.progressToken` in
    /// `notifications/progress`. Returns `None` if it is neither a string nor an integer.
    pub fn progress_token(&self) -> Option<RequestId<'_>> {
        self.id_at(self.progress_token)
    }

    /// Returns the id of the request that `notifications/cancelled` refers to.
    pub fn request_ref(&self) -> Option<RequestId<'_>> {
        self.id_at(self.request_ref)
    }

    /// Returns the raw `params`.
    pub fn params(&self) -> Option<&[u8]> {
        self.params.map(|span| span.slice(&self.bytes))
    }

    /// Returns the raw `result`.
    pub fn result(&self) -> Option<&[u8]> {
        self.result.map(|span| span.slice(&self.bytes))
    }

    /// Returns the `resultType`, decoded (from 2026-07-28), if the result has one.
    pub fn result_type(&self) -> Option<Cow<'_, str>> {
        match self.result_type?.slice(&self.bytes) {
            b"\"complete\"" => Some(Cow::Borrowed("complete")),
            _ => self.text_at(self.result_type),
        }
    }

    /// Returns the spans of what `params._meta` says about the sender.
    pub fn client_meta_spans(&self) -> ClientMetaSpans {
        self.client_meta
    }

    /// Returns the `_meta` for parsing the next message of the same client. Returns `None` if the
    /// `_meta` has other members, which are unlikely to repeat.
    pub fn cacheable_meta(&self) -> Option<CachedMeta> {
        let place = self.meta.filter(|_| self.has_only_client_meta)?;
        CachedMeta::from_message(&self.bytes, place, self.client_meta)
    }

    /// Returns true if the message carries input responses or a request state, as only the retry of
    /// a modern request does.
    pub fn is_retry(&self) -> bool {
        self.is_retry
    }

    /// Attaches the removed values of a large response.
    pub fn with_detached(self, detached: Option<Arc<DetachedValues>>) -> Self {
        Self { detached, ..self }
    }

    /// Returns the removed values, if this frame is the skeleton of a large response
    /// ([`large`](crate::large)).
    pub fn detached_values(&self) -> Option<&Arc<DetachedValues>> {
        self.detached.as_ref()
    }

    /// Returns the raw `error`.
    pub fn error(&self) -> Option<&[u8]> {
        self.error.map(|span| span.slice(&self.bytes))
    }

    /// Returns the span of the id, quotes included.
    pub fn id_span(&self) -> Option<Span> {
        self.id
    }

    /// Returns the span of [`Frame::name`], quotes included.
    pub fn name_span(&self) -> Option<Span> {
        self.name
    }

    /// Returns the span of `params`.
    pub fn params_span(&self) -> Option<Span> {
        self.params
    }

    /// Returns the span of `params._meta`.
    pub fn meta_span(&self) -> Option<Span> {
        self.meta
    }

    /// Returns the span of `result`.
    pub fn result_span(&self) -> Option<Span> {
        self.result
    }

    /// Returns the span of `error`.
    pub fn error_span(&self) -> Option<Span> {
        self.error
    }

    /// Returns the span of the progress token, whatever its type.
    pub fn progress_token_span(&self) -> Option<Span> {
        self.progress_token
    }

    /// Returns the span of the whole message, for edits.
    pub fn span(&self) -> Span {
        Span::of_object(&self.bytes)
    }

    /// Starts to edit the message.
    pub fn edit(&self) -> JsonEdit<'_> {
        JsonEdit::of_frame(self)
    }

    fn id_at(&self, span: Option<Span>) -> Option<RequestId<'_>> {
        RequestId::from_raw(span?.slice(&self.bytes))
    }

    fn text_at(&self, span: Option<Span>) -> Option<Cow<'_, str>> {
        string::decode(span?.slice(&self.bytes))
    }
}
