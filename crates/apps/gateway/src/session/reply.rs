//! A response on its way to the client, in pieces.
//!
//! The prepared lists and large results are shared bytes; putting the client's id before or into
//! them makes three pieces, not a copy. Carriers that need one line join them. What lies beside a
//! large answer is not read before it is written.

use bytes::Bytes;
use toolgate_transport::refill::Refill;
use toolgate_wire::view::RpcError;
use toolgate_wire::{Frame, OwnedId, WireError, build, code, line};

use crate::upstreams::Refusal;

/// The response to one request, or to a batch of them.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    parts: [Bytes; 3],
    /// All of it, if some of it is not in memory; there are no parts then.
    large: Option<Box<Refill>>,
    /// The code, if it is an error that came of a request.
    code: Option<i32>,
}

/// A response as a carrier writes it.
pub(crate) enum Written<T> {
    /// From memory.
    Small(T),
    /// From where it lies.
    Large(Refill),
}

impl Reply {
    /// Bytes that are a response already.
    pub(crate) fn whole(message: Bytes) -> Self {
        Self { parts: [message, Bytes::new(), Bytes::new()], large: None, code: None }
    }

    /// A short result of our own.
    pub(crate) fn result(id: &OwnedId, result: &[u8]) -> Self {
        Self::whole(build::response(id.raw(), result))
    }

    /// A prepared result that many share.
    pub(crate) fn shared(id: &OwnedId, result: Bytes) -> Self {
        let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":", id.raw());
        let parts = [head.into(), result, Bytes::from_static(b"}")];
        Self { parts, large: None, code: None }
    }

    /// A server's answer, under the client's id.
    pub(crate) fn passed(answer: &Frame, id: &OwnedId) -> Self {
        let Some(place) = answer.id_span() else {
            return Self::failure(id, code::INTERNAL_ERROR, "the server's answer has no id");
        };
        let bytes = answer.bytes();
        let spelled = Bytes::copy_from_slice(id.raw().as_bytes());
        let parts = [bytes.slice(..place.start()), spelled, bytes.slice(place.end()..)];
        if let Some(aside) = answer.aside() {
            let [head, id, tail] = parts;
            let mut refill = Refill::of(head, aside.clone());
            refill.push(id, None);
            refill.push(tail, Some(aside));
            return Self::large(refill);
        }
        Self { parts, large: None, code: answer.error().and_then(code_of) }
    }

    /// A response that is not in memory.
    fn large(refill: Refill) -> Self {
        Self { parts: Default::default(), large: Some(Box::new(refill)), code: None }
    }

    /// The responses to a batch in one.
    pub(crate) fn batch(replies: Vec<Self>) -> Self {
        let mut lines = Vec::new();
        let mut refill = Refill::default();
        let mut any_large = false;
        for reply in replies {
            let before: &'static [u8] = if refill.is_untouched() { b"[" } else { b"," };
            refill.push(Bytes::from_static(before), None);
            match reply.into_line() {
                Written::Small(line) => {
                    refill.push(line.clone(), None);
                    lines.push(line);
                }
                Written::Large(line) => {
                    any_large = true;
                    refill.append(line);
                }
            }
        }
        refill.push(Bytes::from_static(b"]"), None);
        if any_large { Self::large(refill) } else { Self::whole(build::batch(&lines)) }
    }

    /// What the gate says instead of a server.
    pub(crate) fn refused(refusal: &Refusal, id: &OwnedId) -> Self {
        let Refusal { code, message, data } = refusal;
        let failure = build::failure(Some(id.raw()), *code, message, data.as_deref());
        Self { code: Some(*code), ..Self::whole(failure) }
    }

    /// An error of our own.
    pub(crate) fn failure(id: &OwnedId, code: i32, message: &str) -> Self {
        let failure = build::failure(Some(id.raw()), code, message, None);
        Self { code: Some(code), ..Self::whole(failure) }
    }

    /// What is said to a message that could not be read.
    pub(crate) fn unreadable(error: &WireError) -> Self {
        let id = error.id().map(OwnedId::raw);
        Self::whole(build::failure(id, error.code(), &error.message(), None))
    }

    /// The code of the error it is; none for a result.
    pub(crate) fn code(&self) -> Option<i32> {
        self.code
    }

    /// The pieces, in order; some may be empty.
    pub(crate) fn into_parts(self) -> Written<[Bytes; 3]> {
        match self.large {
            None => Written::Small(self.parts),
            Some(refill) => Written::Large(*refill),
        }
    }

    /// One piece without line breaks, for events and lines.
    pub(crate) fn into_line(self) -> Written<Bytes> {
        if let Some(refill) = self.large {
            return Written::Large(refill.flat());
        }
        let [head, middle, tail] = &self.parts;
        if middle.is_empty() && tail.is_empty() {
            return Written::Small(line(head));
        }
        Written::Small(line(&[head.as_ref(), middle, tail].concat().into()))
    }
}

fn code_of(error: &[u8]) -> Option<i32> {
    RpcError::of(error)?.code?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_wire::Limits;

    fn small<T>(written: Written<T>) -> T {
        match written {
            Written::Small(small) => small,
            Written::Large(_) => panic!("it is small"),
        }
    }

    #[test]
    fn a_prepared_list_is_framed_without_a_copy() {
        let list = Bytes::from_static(br#"{"tools":[]}"#);
        let reply = Reply::shared(&OwnedId::text("a"), list.clone());
        let [_, middle, _] = small(reply.clone().into_parts());
        assert_eq!(middle.as_ptr(), list.as_ptr());
        let line = r#"{"jsonrpc":"2.0","id":"a","result":{"tools":[]}}"#;
        assert_eq!(small(reply.into_line()), line);
    }

    #[test]
    fn an_answer_keeps_its_spelling_under_the_clients_id() {
        let bytes = Bytes::from_static(
            b"{\"result\": {\"n\": 1.50, \"id\": 4},\n \"id\": 77, \"jsonrpc\": \"2.0\"}",
        );
        let answer = Frame::parse(bytes, &Limits::default()).unwrap();
        assert_eq!(
            small(Reply::passed(&answer, &OwnedId::text("x")).into_line()),
            "{\"result\": {\"n\": 1.50, \"id\": 4},  \"id\": \"x\", \"jsonrpc\": \"2.0\"}"
        );
    }
}
