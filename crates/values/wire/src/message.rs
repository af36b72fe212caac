//! What arrives in one piece: a message, or a batch of them (2025-03-26 only).
//!
//! Whether batches are legal in a session is not decided here.

use bytes::Bytes;

use crate::{
    Fault, Frame, Limits, Remembered, WireError,
    envelope::Envelope,
    scanner::{Doubtful, Scanner, admit},
};

/// One message or a batch.
#[derive(Debug, Clone)]
pub enum Message {
    /// A single message.
    One(Frame),
    /// A batch, never empty. A message in it may be refused without the others; the bytes of each
    /// are a part of the batch's, not a copy.
    Batch(Vec<Result<Frame, WireError>>),
}

impl Message {
    /// Reads a message or a batch. What is not JSON, or exceeds a limit, is refused as a whole.
    pub fn parse(bytes: Bytes, limits: &Limits) -> Result<Message, WireError> {
        Self::parse_knowing(bytes, limits, &[])
    }

    /// The same, faster where the message carries an envelope that is remembered.
    pub fn parse_knowing(
        bytes: Bytes,
        limits: &Limits,
        known: &[Remembered],
    ) -> Result<Message, WireError> {
        admit(&bytes, limits).map_err(|fault| WireError::new(fault, Frame::peek_id(&bytes)))?;
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if first == Some(&b'[') {
            Ok(Message::Batch(batch(&bytes, limits)?))
        } else {
            Frame::scan(bytes, limits, known).map(Message::One)
        }
    }
}

/// A message of a batch: where it stands and what was found there.
struct Element {
    start: usize,
    end: usize,
    envelope: Envelope,
    fault: Option<Fault>,
}

fn batch(bytes: &Bytes, limits: &Limits) -> Result<Vec<Result<Frame, WireError>>, Fault> {
    let mut scanner = Scanner::new(bytes, limits);
    let mut elements = Vec::new();
    scanner.space();
    scanner.array(|scanner| {
        if elements.len() >= limits.batch {
            return Err(Fault::TooManyMessages);
        }
        elements.push(element(scanner)?);
        Ok(())
    })?;
    scanner.end()?;
    if elements.is_empty() {
        return Err(Fault::EmptyBatch);
    }
    Ok(elements.into_iter().map(|element| element.judge(bytes)).collect())
}

fn element(scanner: &mut Scanner<'_>) -> Result<Element, Fault> {
    scanner.rebase();
    let start = scanner.position();
    let mut envelope = Envelope::default();
    let mut fault = None;
    if scanner.peek() == b'{' {
        envelope.read(scanner)?;
    } else {
        scanner.value(Doubtful::Tolerated)?;
        fault = Some(Fault::NotAnObject);
    }
    let fault = scanner.take_doubt().or(fault);
    Ok(Element { start, end: scanner.position(), envelope, fault })
}

impl Element {
    fn judge(self, batch: &Bytes) -> Result<Frame, WireError> {
        let bytes = batch.slice(self.start..self.end);
        match self.fault {
            None => Frame::judge(bytes, &self.envelope),
            Some(fault) => Err(WireError::new(fault, self.envelope.legible_id(&bytes))),
        }
    }
}
