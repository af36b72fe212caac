//! A large answer on its way out: its skeleton and what lies beside it, a chunk at a time.
//!
//! Reading a chunk is so short that it is done where it is needed. Nothing is read before it can be
//! written, so a slow reader costs no more than a chunk.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_wire::large::{Aside, Hole, Piece, Pieces};

/// How much is read at a time.
const CHUNK: usize = 64 << 10;

/// What is still to be written.
#[derive(Debug, Clone, Default)]
pub struct Refill {
    parts: VecDeque<Part>,
    current: Option<(Arc<Aside>, Hole)>,
    text: Bytes,
    /// Whether what is current loses its line breaks.
    flat: bool,
}

#[derive(Debug, Clone)]
struct Part {
    text: Text,
    flat: bool,
}

#[derive(Debug, Clone)]
enum Text {
    Plain(Bytes),
    Filled(Pieces),
}

impl Text {
    fn next(&mut self) -> Option<Piece> {
        match self {
            Self::Plain(text) if text.is_empty() => None,
            Self::Plain(text) => Some(Piece::Text(std::mem::take(text))),
            Self::Filled(pieces) => pieces.next(),
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::Plain(text) => text.len() as u64,
            Self::Filled(pieces) => pieces.clone().map(|piece| len(&piece)).sum(),
        }
    }

    fn held(&self) -> usize {
        match self {
            Self::Plain(text) => text.len(),
            Self::Filled(pieces) => pieces.held(),
        }
    }
}

fn len(piece: &Piece) -> u64 {
    match piece {
        Piece::Text(text) => text.len() as u64,
        Piece::Kept(hole) => u64::from(hole.len),
    }
}

impl Refill {
    /// A skeleton and what lies beside it.
    pub fn of(skeleton: Bytes, aside: Arc<Aside>) -> Self {
        let mut refill = Self::default();
        refill.push(skeleton, Some(&aside));
        refill
    }

    /// Adds a text behind the others, with what belongs into its placeholders.
    pub fn push(&mut self, text: Bytes, aside: Option<&Arc<Aside>>) {
        let text = match aside {
            Some(aside) => Text::Filled(aside.pieces(text)),
            None => Text::Plain(text),
        };
        self.parts.push_back(Part { text, flat: false });
    }

    /// Adds what another would give.
    pub fn append(&mut self, other: Self) {
        self.parts.extend(other.parts);
    }

    /// The same without the raw line breaks there are so far, each replaced by a space: JSON has
    /// them between tokens only.
    #[must_use]
    pub fn flat(mut self) -> Self {
        self.parts.iter_mut().for_each(|part| part.flat = true);
        self
    }

    /// How many bytes there are before anything was taken.
    pub fn len(&self) -> u64 {
        self.parts.iter().map(|part| part.text.len()).sum()
    }

    /// Whether nothing was added.
    pub fn is_untouched(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How much of it is in memory.
    pub fn held(&self) -> usize {
        self.parts.iter().map(|part| part.text.held()).sum()
    }

    /// The next bytes; `None` at the end.
    pub fn chunk(&mut self) -> io::Result<Option<Bytes>> {
        let mut chunk = Vec::with_capacity(CHUNK);
        self.fill(&mut chunk, CHUNK)?;
        Ok((!chunk.is_empty()).then(|| chunk.into()))
    }

    /// All of it at once.
    pub fn to_vec(mut self) -> io::Result<Vec<u8>> {
        let room = usize::try_from(self.len()).unwrap_or_default();
        let mut all = Vec::with_capacity(room);
        self.fill(&mut all, room)?;
        Ok(all)
    }

    fn fill(&mut self, out: &mut Vec<u8>, room: usize) -> io::Result<()> {
        while out.len() < room {
            let (from, left) = (out.len(), room - out.len());
            if !self.text.is_empty() {
                out.extend_from_slice(&self.text.split_to(left.min(self.text.len())));
            } else if let Some((aside, hole)) = &mut self.current {
                let step = u32::try_from(left).unwrap_or(u32::MAX).min(hole.len);
                out.resize(from + step as usize, 0);
                aside.kept().read_at(u64::from(hole.start), &mut out[from..])?;
                hole.start += step;
                hole.len -= step;
                if hole.len == 0 {
                    self.current = None;
                }
            } else if !self.advance() {
                break;
            }
            if self.flat {
                flatten(&mut out[from..]);
            }
        }
        Ok(())
    }

    /// On to the next piece; `false` at the end.
    fn advance(&mut self) -> bool {
        while let Some(part) = self.parts.front_mut() {
            self.flat = part.flat;
            match part.text.next() {
                None => {
                    self.parts.pop_front();
                }
                Some(Piece::Text(text)) => {
                    self.text = text;
                    return true;
                }
                Some(Piece::Kept(hole)) => {
                    if let Text::Filled(pieces) = &part.text {
                        self.current = Some((pieces.aside().clone(), hole));
                    }
                    return true;
                }
            }
        }
        false
    }
}

fn flatten(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
}

#[cfg(test)]
mod tests {
    use toolgate_wire::Limits;
    use toolgate_wire::large::{Sieve, Token};

    use super::*;
    use crate::spool::{Body, BodyLimits, Spool};

    /// A message as it is kept, and its skeleton.
    fn kept(message: &str) -> (Bytes, Arc<Aside>) {
        let token = Token::new([7; 12]);
        let mut sieve = Sieve::new(&Limits::WIDEST, token.clone());
        sieve.push(message.as_bytes()).unwrap();
        let sifted = sieve.finish().unwrap();
        let mut spool = Spool::new(BodyLimits { memory: 10, total: 1 << 20 });
        spool.push(message.as_bytes()).unwrap();
        let Body::File(spooled) = spool.body() else { panic!("it is large") };
        (sifted.skeleton, Arc::new(Aside::new(token, sifted.holes, Arc::new(spooled))))
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
        let mut refill = Refill::default();
        refill.push(Bytes::from_static(b"["), None);
        refill.push(skeleton, Some(&aside));
        refill.push(Bytes::from_static(b"]"), None);
        assert_eq!(refill.len(), message.len() as u64 + 2);
        let mut chunked = refill.clone().flat();
        chunked.push(Bytes::from_static(b"\n\n"), None);
        let mut all = Vec::new();
        while let Some(chunk) = chunked.chunk().unwrap() {
            assert!(chunk.len() <= CHUNK);
            all.extend_from_slice(&chunk);
        }
        let flat = message.replace(['\n', '\r'], " ");
        assert_eq!(String::from_utf8(all).unwrap(), format!("[{flat}]\n\n"));
        assert_eq!(refill.to_vec().unwrap(), format!("[{message}]").into_bytes());
    }
}
