//! The messages of a call that its client has not read yet.
//!
//! Progress and log messages describe the current state. So if there are too many for a modern client,
//! only the newest are kept, and a server's messages to a slow client use little memory. The messages
//! of a legacy call include questions, so none of them is dropped; its transport takes them at once.

use std::collections::VecDeque;

use bytes::Bytes;

/// How many messages may wait, and their total size. A single message may be larger.
const MAX_MESSAGES: usize = 256;
const MAX_BYTES: usize = 1 << 20;

/// The waiting messages, oldest first.
#[derive(Default)]
pub(super) struct MessageBacklog {
    messages: VecDeque<Bytes>,
    bytes: usize,
}

impl MessageBacklog {
    /// Adds a message that must not be lost.
    pub(super) fn push(&mut self, message: Bytes) {
        self.bytes += message.len();
        self.messages.push_back(message);
    }

    /// Adds a message, and drops the oldest ones if there are too many.
    pub(super) fn push_bounded(&mut self, message: Bytes) {
        self.push(message);
        while self.messages.len() > MAX_MESSAGES
            || (self.bytes > MAX_BYTES && self.messages.len() > 1)
        {
            self.pop();
        }
    }

    /// Removes the oldest message and returns it.
    pub(super) fn pop(&mut self) -> Option<Bytes> {
        let oldest = self.messages.pop_front()?;
        self.bytes -= oldest.len();
        Some(oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(mut backlog: MessageBacklog) -> Vec<Bytes> {
        std::iter::from_fn(|| backlog.pop()).collect()
    }

    #[test]
    fn of_too_many_messages_the_newest_are_kept_in_order() {
        let mut backlog = MessageBacklog::default();
        let all: Vec<Bytes> = (0..1000).map(|number| number.to_string().into()).collect();
        all.iter().for_each(|message| backlog.push_bounded(message.clone()));
        assert_eq!(rest(backlog), all[1000 - MAX_MESSAGES..]);
    }

    #[test]
    fn large_messages_are_few_but_one_is_never_too_large() {
        let mut backlog = MessageBacklog::default();
        (0..9).for_each(|_| backlog.push_bounded(vec![b'x'; MAX_BYTES / 4].into()));
        assert_eq!(backlog.messages.len(), 4);
        let huge = Bytes::from(vec![b'y'; 2 * MAX_BYTES]);
        backlog.push_bounded(huge.clone());
        assert_eq!(rest(backlog), [huge]);
    }
}
