//! Messages to send. A large message is produced chunk by chunk from its skeleton and its detached
//! values.
//!
//! Reading a chunk takes so little time that it happens on the calling task. A chunk is read only
//! when it can be written, so a slow peer costs no more than one chunk of memory.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_wire::large::{DetachedValue, DetachedValues, MessageChunk, MessageChunks};

/// How much is read at a time.
const CHUNK: usize = 64 << 10;

/// A message to send.
#[derive(Debug, Clone)]
pub enum OutgoingMessage {
    /// The message is in memory.
    Small(Bytes),
    /// Part of the message is in a file, and is read while the message is sent.
    Large(ChunkedMessage),
}

impl OutgoingMessage {
    /// Returns how many bytes of the message are in memory.
    pub fn held_bytes(&self) -> usize {
        match self {
            Self::Small(message) => message.len(),
            Self::Large(message) => message.held_bytes(),
        }
    }

    /// Returns the next bytes, or `None` at the end.
    pub fn next_chunk(&mut self) -> io::Result<Option<Bytes>> {
        match self {
            Self::Small(message) if message.is_empty() => Ok(None),
            Self::Small(message) => Ok(Some(std::mem::take(message))),
            Self::Large(message) => message.next_chunk(),
        }
    }
}

impl Default for OutgoingMessage {
    fn default() -> Self {
        Self::Small(Bytes::new())
    }
}

impl From<Bytes> for OutgoingMessage {
    fn from(message: Bytes) -> Self {
        Self::Small(message)
    }
}

/// A message that is produced chunk by chunk.
#[derive(Debug, Clone, Default)]
pub struct ChunkedMessage {
    parts: VecDeque<ChunkedPart>,
    current: Option<(Arc<DetachedValues>, DetachedValue)>,
    text: Bytes,
    /// Whether the current part loses its line breaks.
    strips_line_breaks: bool,
}

/// One text of a [`ChunkedMessage`].
#[derive(Debug, Clone)]
struct ChunkedPart {
    chunks: MessageChunks,
    strips_line_breaks: bool,
}

impl ChunkedMessage {
    /// Creates a message from a skeleton and its detached values.
    pub fn from_skeleton(skeleton: Bytes, detached: Arc<DetachedValues>) -> Self {
        let mut message = Self::default();
        message.push(skeleton, Some(&detached));
        message
    }

    /// Appends a text. With detached values, these replace the placeholders in the text.
    pub fn push(&mut self, text: Bytes, detached: Option<&Arc<DetachedValues>>) {
        let chunks = MessageChunks::new(text, detached.cloned());
        self.parts.push_back(ChunkedPart { chunks, strips_line_breaks: false });
    }

    /// Appends another message.
    pub fn append(&mut self, other: Self) {
        self.parts.extend(other.parts);
    }

    /// Replaces each raw line break in the current parts with a space. JSON has raw line breaks
    /// only between tokens, so the meaning stays the same.
    #[must_use]
    pub fn without_line_breaks(mut self) -> Self {
        self.parts.iter_mut().for_each(|part| part.strips_line_breaks = true);
        self
    }

    /// Returns the length of the whole message, before any chunk is taken.
    pub fn total_len(&self) -> u64 {
        self.parts.iter().map(|part| part.chunks.total_len()).sum()
    }

    /// Returns true if no text was added.
    pub fn has_no_parts(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns how many bytes of the message are in memory.
    pub fn held_bytes(&self) -> usize {
        self.parts.iter().map(|part| part.chunks.remaining_len()).sum()
    }

    /// Returns the next bytes, or `None` at the end.
    pub fn next_chunk(&mut self) -> io::Result<Option<Bytes>> {
        let mut chunk = Vec::with_capacity(CHUNK);
        self.fill(&mut chunk, CHUNK)?;
        Ok((!chunk.is_empty()).then(|| chunk.into()))
    }

    /// Reads the whole message into memory.
    pub fn to_vec(mut self) -> io::Result<Vec<u8>> {
        let room = usize::try_from(self.total_len()).unwrap_or_default();
        let mut all = Vec::with_capacity(room);
        self.fill(&mut all, room)?;
        Ok(all)
    }

    fn fill(&mut self, out: &mut Vec<u8>, room: usize) -> io::Result<()> {
        while out.len() < room {
            let (from, left) = (out.len(), room - out.len());
            if !self.text.is_empty() {
                out.extend_from_slice(&self.text.split_to(left.min(self.text.len())));
            } else if let Some((detached, hole)) = &mut self.current {
                let step = u32::try_from(left).unwrap_or(u32::MAX).min(hole.len);
                out.resize(from + step as usize, 0);
                detached.source().read_at(u64::from(hole.start), &mut out[from..])?;
                hole.start += step;
                hole.len -= step;
                if hole.len == 0 {
                    self.current = None;
                }
            } else if !self.advance() {
                break;
            }
            if self.strips_line_breaks {
                replace_line_breaks(&mut out[from..]);
            }
        }
        Ok(())
    }

    /// Moves to the next piece. Returns false at the end.
    fn advance(&mut self) -> bool {
        while let Some(part) = self.parts.front_mut() {
            self.strips_line_breaks = part.strips_line_breaks;
            match part.chunks.next() {
                None => {
                    self.parts.pop_front();
                }
                Some(MessageChunk::Text(text)) => {
                    self.text = text;
                    return true;
                }
                Some(MessageChunk::Detached(hole)) => {
                    self.current = part.chunks.detached_values().cloned().zip(Some(hole));
                    return true;
                }
            }
        }
        false
    }
}

fn replace_line_breaks(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
}

#[cfg(test)]
mod tests {
    use toolgate_wire::MessageLimits;
    use toolgate_wire::large::{PlaceholderToken, SkeletonParser};

    use super::*;
    use crate::spool::{BodyLimits, BodySpool, ReceivedBody};

    /// A message as it is kept, and its skeleton.
    fn kept(message: &str) -> (Bytes, Arc<DetachedValues>) {
        let token = PlaceholderToken::new([7; 12]);
        let mut sieve = SkeletonParser::new(&MessageLimits::MAX, token.clone());
        sieve.push(message.as_bytes()).unwrap();
        let sifted = sieve.finish().unwrap();
        let mut spool = BodySpool::new(BodyLimits { memory: 10, total: 1 << 20 });
        spool.push(message.as_bytes()).unwrap();
        let ReceivedBody::File(spooled) = spool.into_body() else { panic!("it is large") };
        (sifted.skeleton, Arc::new(DetachedValues::new(token, sifted.detached, Arc::new(spooled))))
    }

    #[test]
    fn chunks_make_the_message_that_was_kept() {
        let long = "text ".repeat(40_000);
        let message = format!(
            "{{\n \"id\": 1, \"result\": {{\"content\":[{{\"type\":\"text\",\"text\":\"{long}\"}},\r\n\
             {{\"text\":\"{long}end\"}}]}}}}"
        );
        let (skeleton, aside) = kept(&message);
        assert!(skeleton.len() < 300);
        let mut refill = ChunkedMessage::default();
        refill.push(Bytes::from_static(b"["), None);
        refill.push(skeleton, Some(&aside));
        refill.push(Bytes::from_static(b"]"), None);
        assert_eq!(refill.total_len(), message.len() as u64 + 2);
        let mut chunked = refill.clone().without_line_breaks();
        chunked.push(Bytes::from_static(b"\n\n"), None);
        let mut all = Vec::new();
        while let Some(chunk) = chunked.next_chunk().unwrap() {
            assert!(chunk.len() <= CHUNK);
            all.extend_from_slice(&chunk);
        }
        let flat = message.replace(['\n', '\r'], " ");
        assert_eq!(String::from_utf8(all).unwrap(), format!("[{flat}]\n\n"));
        assert_eq!(refill.to_vec().unwrap(), format!("[{message}]").into_bytes());
    }
}
