//! Parses one received piece: a single message, or a batch (2025-03-26 only).
//!
//! This module does not decide whether a session allows batches.

use bytes::Bytes;

use crate::{
    CachedMeta, Frame, MessageLimits, WireError, WireErrorKind,
    envelope::EnvelopeSpans,
    scanner::{AmbiguousJsonHandling, JsonScanner, check_size_and_encoding},
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

fn parse_batch(
    bytes: &Bytes,
    limits: &MessageLimits,
) -> Result<Vec<Result<Frame, WireError>>, WireErrorKind> {
    let mut scanner = JsonScanner::new(bytes, limits);
    let mut messages = Vec::new();
    scanner.skip_whitespace();
    scanner.array(|scanner| {
        if messages.len() >= limits.batch {
            return Err(WireErrorKind::TooManyMessages);
        }
        messages.push(scan_element(scanner, bytes)?);
        Ok(())
    })?;
    scanner.expect_end()?;
    match messages.is_empty() {
        true => Err(WireErrorKind::EmptyBatch),
        false => Ok(messages),
    }
}

/// Scans one message of a batch. The outer error concerns the whole batch.
fn scan_element(
    scanner: &mut JsonScanner<'_>,
    batch: &Bytes,
) -> Result<Result<Frame, WireError>, WireErrorKind> {
    scanner.rebase();
    let start = scanner.position();
    let mut envelope = EnvelopeSpans::default();
    let mut error = None;
    if scanner.peek() == b'{' {
        envelope.read(scanner)?;
    } else {
        scanner.value(AmbiguousJsonHandling::Tolerated)?;
        error = Some(WireErrorKind::NotAnObject);
    }
    let bytes = batch.slice(start..scanner.position());
    Ok(match scanner.take_deferred_error().or(error) {
        None => Frame::from_envelope(bytes, &envelope),
        Some(error) => Err(WireError::new(error, envelope.legible_id(&bytes))),
    })
}
