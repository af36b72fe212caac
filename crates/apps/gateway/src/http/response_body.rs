//! The body of a response: empty, a JSON answer, or an event stream.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use toolgate_transport::chunked_message::ChunkedMessage;

use super::stream::EventStreamBody;

/// Up to three chunks that are sent as one body without copying them together.
#[derive(Debug, Default)]
pub(crate) struct ResponsePieces {
    pieces: [Bytes; 3],
    at: usize,
}

impl ResponsePieces {
    pub(crate) fn new(pieces: [Bytes; 3]) -> Self {
        let mut pieces = Self { pieces, at: 0 };
        pieces.skip_empty();
        pieces
    }

    fn rest(&self) -> &[Bytes] {
        self.pieces.get(self.at..).unwrap_or_default()
    }

    /// Skips the chunks that are used up.
    fn skip_empty(&mut self) {
        while self.rest().first().is_some_and(Bytes::is_empty) {
            self.at += 1;
        }
    }
}

impl From<Bytes> for ResponsePieces {
    fn from(bytes: Bytes) -> Self {
        Self::new([bytes, Bytes::new(), Bytes::new()])
    }
}

impl Buf for ResponsePieces {
    fn remaining(&self) -> usize {
        self.rest().iter().map(Bytes::len).sum()
    }

    fn chunk(&self) -> &[u8] {
        self.rest().first().map(Bytes::as_ref).unwrap_or_default()
    }

    fn advance(&mut self, mut count: usize) {
        while let Some(piece) = self.pieces.get_mut(self.at).filter(|_| count > 0) {
            let step = count.min(piece.len());
            piece.advance(step);
            count -= step;
            self.skip_empty();
        }
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let full = self.rest().iter().filter(|piece| !piece.is_empty());
        slices.iter_mut().zip(full).map(|(slice, piece)| *slice = IoSlice::new(piece)).count()
    }
}

/// The body of a response.
pub(crate) enum ResponseBody {
    /// No data, or no more data.
    Empty,
    /// A whole answer.
    Answer(ResponsePieces),
    /// A large answer, and how many bytes of it are left.
    Large(Box<ChunkedMessage>, u64),
    /// A stream of events.
    Events(Box<EventStreamBody>),
}

impl ResponseBody {
    /// Creates the body of a large answer, which is read while it is sent.
    pub(crate) fn large(message: Box<ChunkedMessage>) -> Self {
        let len = message.len();
        Self::Large(message, len)
    }
}

impl Body for ResponseBody {
    type Data = ResponsePieces;
    /// A large answer that cannot be read breaks the connection, because its length was already
    /// sent.
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<ResponsePieces>, io::Error>>> {
        match &mut *self {
            Self::Empty => Poll::Ready(None),
            Self::Answer(pieces) => {
                let pieces = std::mem::take(pieces);
                *self = Self::Empty;
                Poll::Ready(Some(Ok(Frame::data(pieces))))
            }
            Self::Large(message, left) => {
                let chunk = message.next_chunk();
                if let Ok(Some(chunk)) = &chunk {
                    *left -= (chunk.len() as u64).min(*left);
                }
                Poll::Ready(chunk.transpose().map(|chunk| Ok(Frame::data(chunk?.into()))))
            }
            Self::Events(events) => events
                .poll_next(context)
                .map(|event| event.map(|event| Ok(Frame::data(event.into())))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Empty | Self::Large(_, 0))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Empty => SizeHint::with_exact(0),
            Self::Answer(pieces) => SizeHint::with_exact(pieces.remaining() as u64),
            Self::Large(_, left) => SizeHint::with_exact(*left),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_read_as_one_however_they_are_taken() {
        let pieces =
            ["{\"id\":", "7", ",\"result\":{}}"].map(|piece| Bytes::from_static(piece.as_bytes()));
        for step in 1..20 {
            let mut rest = ResponsePieces::new(pieces.clone());
            let mut read = Vec::new();
            while rest.has_remaining() {
                let count = step.min(rest.chunk().len());
                read.extend_from_slice(&rest.chunk()[..count]);
                rest.advance(count);
            }
            assert_eq!(read, b"{\"id\":7,\"result\":{}}", "in steps of {step}");
        }
    }

    #[test]
    fn an_advance_may_cross_pieces() {
        let mut rest =
            ResponsePieces::new(["ab", "", "cd"].map(|piece| Bytes::from_static(piece.as_bytes())));
        rest.advance(3);
        assert_eq!((rest.remaining(), rest.chunk()), (1, &b"d"[..]));
        let mut slices = [IoSlice::new(b""); 4];
        assert_eq!(rest.chunks_vectored(&mut slices), 1);
    }
}
