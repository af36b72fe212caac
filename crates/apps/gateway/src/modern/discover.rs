//! `server/discover`: what the gateway is and offers, for this caller.

use toolgate_host::SERVER_INFO;
use toolgate_wire::{Revision, meta, string};

use crate::upstreams::{Caller, Upstreams};

/// The modern revision that is served.
pub(crate) const SUPPORTED: Revision = Revision::V2026_07_28;

/// The result. Lists depend on the caller and change with the servers, so it is his alone and
/// stale at once.
pub(crate) fn result(upstreams: &dyn Upstreams, caller: &Caller) -> Vec<u8> {
    let head =
        format!(r#"{{"resultType":"complete","supportedVersions":["{SUPPORTED}"],"capabilities":"#);
    let instructions = upstreams
        .instructions(caller)
        .map(|text| format!(r#","instructions":{}"#, string::encode(&text)))
        .unwrap_or_default();
    let own = format!(r#"{{"{}":{SERVER_INFO}}}"#, meta::SERVER_INFO);
    let tail = format!(r#"{instructions},"ttlMs":0,"cacheScope":"private","_meta":{own}}}"#);
    [head.as_bytes(), &upstreams.capabilities(caller), tail.as_bytes()].concat()
}
