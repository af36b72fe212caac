//! Caches the envelopes of recent clients, which speeds up parsing their next messages.
//!
//! The cache does not change the result of parsing.

use bytes::Bytes;
use parking_lot::RwLock;
use toolgate_wire::{CachedMeta, Frame, MessageLimits, MessageOrBatch, WireError};

/// How many envelopes are kept. Beyond that, the oldest is dropped.
const MAX_ENVELOPES: usize = 8;

/// The parsed envelopes of recent clients, newest first.
#[derive(Default)]
pub(crate) struct ClientMetaCache(RwLock<Vec<CachedMeta>>);

impl ClientMetaCache {
    /// Parses a message with the cached envelopes.
    pub(crate) fn parse(
        &self,
        bytes: Bytes,
        limits: &MessageLimits,
    ) -> Result<MessageOrBatch, WireError> {
        let known = self.0.read();
        let message = MessageOrBatch::parse_with_cache(bytes, limits, &known)?;
        let new = match &message {
            MessageOrBatch::One(frame) if !is_known(&known, frame) => frame.cacheable_meta(),
            _ => None,
        };
        drop(known);
        if let Some(new) = new {
            let mut known = self.0.write();
            known.truncate(MAX_ENVELOPES - 1);
            known.insert(0, new);
        }
        Ok(message)
    }
}

fn is_known(known: &[CachedMeta], frame: &Frame) -> bool {
    let Some(meta) = frame.meta_span() else { return true };
    let meta = meta.slice(frame.bytes());
    known.iter().any(|known| known.bytes() == meta)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn recent_clients_are_remembered_and_no_more() {
        let cache = ClientMetaCache::default();
        let held = || cache.0.read().len();
        for client in 0..2 * MAX_ENVELOPES {
            let meta = json!({ "io.modelcontextprotocol/clientInfo": { "name": client } });
            let call =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "m", "params": { "_meta": meta } });
            for _ in 0..2 {
                cache.parse(call.to_string().into(), &MessageLimits::default()).unwrap();
                assert_eq!(held(), (client + 1).min(MAX_ENVELOPES));
            }
        }
    }
}
