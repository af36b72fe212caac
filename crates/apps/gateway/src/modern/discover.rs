//! `server/discover`: what the gateway is and offers, for this caller.

use std::sync::LazyLock;

use serde_json::json;
use toolgate_wire::{Revision, meta, string};

use crate::upstreams::{Caller, Upstreams};

/// The modern revision that is served.
pub(crate) const SUPPORTED: Revision = Revision::V2026_07_28;

/// What the gateway calls itself on its own results.
static OWN_META: LazyLock<String> = LazyLock::new(|| {
    let server = json!({
        "name": "toolgate", "title": "Toolgate", "version": env!("CARGO_PKG_VERSION"),
    });
    json!({ meta::SERVER_INFO: server }).to_string()
});

/// The result. Lists depend on the caller and change with the servers, so it is his alone and
/// stale at once.
pub(crate) fn result(upstreams: &dyn Upstreams, caller: &Caller) -> Vec<u8> {
    let head =
        format!(r#"{{"resultType":"complete","supportedVersions":["{SUPPORTED}"],"capabilities":"#);
    let instructions = upstreams
        .instructions(caller)
        .map(|text| format!(r#","instructions":{}"#, string::encode(&text)))
        .unwrap_or_default();
    let own = OWN_META.as_str();
    let tail = format!(r#"{instructions},"ttlMs":0,"cacheScope":"private","_meta":{own}}}"#);
    [head.as_bytes(), &upstreams.capabilities(caller), tail.as_bytes()].concat()
}
