//! The envelopes of recent clients: the next message of such a client is read faster.
//!
//! What is remembered has no say in what a message means.

use std::sync::{PoisonError, RwLock};

use bytes::Bytes;
use toolgate_wire::{Frame, Limits, Message, Remembered, WireError};

/// How many clients are remembered; beyond that the oldest is forgotten.
const CLIENTS: usize = 8;

#[derive(Default)]
pub(crate) struct Memory(RwLock<Vec<Remembered>>);

impl Memory {
    /// Reads a message.
    pub(crate) fn read(&self, bytes: Bytes, limits: &Limits) -> Result<Message, WireError> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let message = Message::parse_knowing(bytes, limits, &known)?;
        let new = match &message {
            Message::One(frame) if !is_known(&known, frame) => frame.remember(),
            _ => None,
        };
        drop(known);
        if let Some(new) = new {
            let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
            known.truncate(CLIENTS - 1);
            known.insert(0, new);
        }
        Ok(message)
    }
}

fn is_known(known: &[Remembered], frame: &Frame) -> bool {
    let Some(meta) = frame.meta_span() else { return true };
    let meta = meta.of(frame.bytes());
    known.iter().any(|known| known.bytes() == meta)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn recent_clients_are_remembered_and_no_more() {
        let memory = Memory::default();
        let held = || memory.0.read().unwrap().len();
        for client in 0..2 * CLIENTS {
            let meta = json!({ "io.modelcontextprotocol/clientInfo": { "name": client } });
            let call =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "m", "params": { "_meta": meta } });
            for _ in 0..2 {
                memory.read(call.to_string().into(), &Limits::default()).unwrap();
                assert_eq!(held(), (client + 1).min(CLIENTS));
            }
        }
    }
}
