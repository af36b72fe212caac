//! The body of a response: empty, a JSON answer, or an event stream.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::buf::Chain;
use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use toolgate_transport::chunked_message::ChunkedMessage;

use super::stream::EventStreamBody;

/// Up to three chunks that are sent as one body without copying them together.
pub(crate) type ResponsePieces = Chain<Chain<Bytes, Bytes>, Bytes>;

fn to_piece(bytes: Bytes) -> ResponsePieces {
    to_pieces([bytes, Bytes::new(), Bytes::new()])
}

fn to_pieces([head, middle, tail]: [Bytes; 3]) -> ResponsePieces {
    head.chain(middle).chain(tail)
}

/// The body of a response.
pub(crate) enum ResponseBody {
    /// No data, or no more data.
    Empty,
    /// A whole answer.
    Answer([Bytes; 3]),
    /// A large answer, which is read while it is sent, and how many bytes of it are left.
    Large(Box<ChunkedMessage>, u64),
    /// A stream of events.
    Events(Box<EventStreamBody>),
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
                let pieces = to_pieces(std::mem::take(pieces));
                *self = Self::Empty;
                Poll::Ready(Some(Ok(Frame::data(pieces))))
            }
            Self::Large(message, left) => {
                let chunk = message.next_chunk();
                if let Ok(Some(chunk)) = &chunk {
                    *left -= (chunk.len() as u64).min(*left);
                }
                Poll::Ready(chunk.transpose().map(|chunk| Ok(Frame::data(to_piece(chunk?)))))
            }
            Self::Events(events) => events
                .poll_next(context)
                .map(|event| event.map(|event| Ok(Frame::data(to_piece(event))))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Empty | Self::Large(_, 0))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Empty => SizeHint::with_exact(0),
            Self::Answer(pieces) => {
                SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum())
            }
            Self::Large(_, left) => SizeHint::with_exact(*left),
            Self::Events(_) => SizeHint::default(),
        }
    }
}
