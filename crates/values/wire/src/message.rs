//! Parses one received piece: a single message, or a batch (2025-03-26 only).
//!
//! This module does not decide whether a session allows batches.

use bytes::Bytes;

use crate::{
    CachedMeta, Frame, MessageLimits, WireError, WireErrorKind,
    envelope::EnvelopeSpans,
    scanner::{AmbiguityHandling, JsonScanner, check_size_and_encoding},
};

/// A single message or a batch.
#[derive(Debug, Clone)]
pub enum MessageOrBatch {
    /// A single message.
    One(Frame),
    /// A batch, never empty. Each message is accepted or rejected on its own. The bytes of each
    /// message are a slice of the batch, not a copy.
    Batch(Vec<Result<Frame, WireError>>),
}

impl MessageOrBatch {
    /// Parses a message or a batch. Rejects the whole input if it is not JSON or exceeds a limit.
    pub fn parse(bytes: Bytes, limits: &MessageLimits) -> Result<MessageOrBatch, WireError> {
        Self::parse_with_cache(bytes, limits, &[])
    }

    /// Parses like [`parse`](Self::parse), but skips the scan of a `_meta` that `known` contains.
    pub fn parse_with_cache(
        bytes: Bytes,
        limits: &MessageLimits,
        known: &[CachedMeta],
    ) -> Result<MessageOrBatch, WireError> {
        check_size_and_encoding(&bytes, limits)
            .map_err(|fault| WireError::new(fault, Frame::peek_id(&bytes)))?;
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if first == Some(&b'[') {
            Ok(MessageOrBatch::Batch(parse_batch(&bytes, limits)?))
        } else {
            Frame::scan(bytes, limits, known).map(MessageOrBatch::One)
        }
    }
}

/// One message of a batch: its byte range and what the scan found in it.
struct BatchElement {
    start: usize,
    end: usize,
    envelope: EnvelopeSpans,
    error: Option<WireErrorKind>,
}

fn parse_batch(
    bytes: &Bytes,
    limits: &MessageLimits,
) -> Result<Vec<Result<Frame, WireError>>, WireErrorKind> {
    let mut scanner = JsonScanner::new(bytes, limits);
    let mut elements = Vec::new();
    scanner.skip_whitespace();
    scanner.array(|scanner| {
        if elements.len() >= limits.batch {
            return Err(WireErrorKind::TooManyMessages);
        }
        elements.push(scan_element(scanner)?);
        Ok(())
    })?;
    scanner.expect_end()?;
    if elements.is_empty() {
        return Err(WireErrorKind::EmptyBatch);
    }
    Ok(elements.into_iter().map(|element| element.into_frame(bytes)).collect())
}

fn scan_element(scanner: &mut JsonScanner<'_>) -> Result<BatchElement, WireErrorKind> {
    scanner.rebase();
    let start = scanner.position();
    let mut envelope = EnvelopeSpans::default();
    let mut fault = None;
    if scanner.peek() == b'{' {
        envelope.read(scanner)?;
    } else {
        scanner.value(AmbiguityHandling::Tolerated)?;
        fault = Some(WireErrorKind::NotAnObject);
    }
    let fault = scanner.take_deferred_error().or(fault);
    Ok(BatchElement { start, end: scanner.position(), envelope, error: fault })
}

impl BatchElement {
    fn into_frame(self, batch: &Bytes) -> Result<Frame, WireError> {
        let bytes = batch.slice(self.start..self.end);
        match self.error {
            None => Frame::from_envelope(bytes, &self.envelope),
            Some(fault) => Err(WireError::new(fault, self.envelope.legible_id(&bytes))),
        }
    }
}
