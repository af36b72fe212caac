//! What is said in a call and not yet read by its client.
//!
//! Progress and log lines tell how things stand, so of too many only the newest are kept: a client
//! that does not read costs a server's chatter no memory.

use std::collections::VecDeque;

use bytes::Bytes;

/// How many messages may wait, and how large they may be together. One alone may be larger.
const MESSAGES: usize = 256;
const ROOM: usize = 1 << 20;

/// Messages in the order they were said.
#[derive(Default)]
pub(crate) struct Backlog {
    messages: VecDeque<Bytes>,
    bytes: usize,
}

impl Backlog {
    pub(crate) fn push(&mut self, message: Bytes) {
        self.bytes += message.len();
        self.messages.push_back(message);
        while self.messages.len() > MESSAGES || (self.bytes > ROOM && self.messages.len() > 1) {
            self.pop();
        }
    }

    /// Takes the oldest.
    pub(crate) fn pop(&mut self) -> Option<Bytes> {
        let oldest = self.messages.pop_front()?;
        self.bytes -= oldest.len();
        Some(oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(mut backlog: Backlog) -> Vec<Bytes> {
        std::iter::from_fn(|| backlog.pop()).collect()
    }

    #[test]
    fn of_too_many_messages_the_newest_are_kept_in_order() {
        let mut backlog = Backlog::default();
        let all: Vec<Bytes> = (0..1000).map(|number| number.to_string().into()).collect();
        all.iter().for_each(|message| backlog.push(message.clone()));
        assert_eq!(rest(backlog), all[1000 - MESSAGES..]);
    }

    #[test]
    fn large_messages_are_few_but_one_is_never_too_large() {
        let mut backlog = Backlog::default();
        (0..9).for_each(|_| backlog.push(vec![b'x'; ROOM / 4].into()));
        assert_eq!(backlog.messages.len(), 4);
        let huge = Bytes::from(vec![b'y'; 2 * ROOM]);
        backlog.push(huge.clone());
        assert_eq!(rest(backlog), [huge]);
    }
}
