//! `server/discover`: describes the gateway and its capabilities to one caller.

use toolgate_host::{Caller, SERVER_INFO};
use toolgate_wire::{Revision, meta};

use crate::Gate;
use crate::session::instructions_member;

/// The modern revision that the gateway supports.
pub(crate) const SUPPORTED_REVISION: Revision = Revision::V2026_07_28;

/// Returns the result. It depends on the caller and changes with the servers, so it is private and
/// must not be cached.
pub(crate) fn discover_result(gate: &Gate, caller: &Caller) -> Vec<u8> {
    let head = format!(
        r#"{{"resultType":"complete","supportedVersions":["{SUPPORTED_REVISION}"],"capabilities":"#
    );
    let instructions = instructions_member(gate, caller);
    let own = format!(r#"{{"{}":{SERVER_INFO}}}"#, meta::SERVER_INFO);
    let tail = format!(r#"{instructions},"ttlMs":0,"cacheScope":"private","_meta":{own}}}"#);
    [head.as_bytes(), &gate.capabilities(caller), tail.as_bytes()].concat()
}
