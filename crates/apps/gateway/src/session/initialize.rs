//! `initialize`: negotiates the revision and creates the session.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use toolgate_host::{Caller, CallerId, Client, GateError};
use toolgate_model::ErrorCode;
use toolgate_wire::{Era, Frame, OwnedRequestId, Revision, code, scan, string};

use super::{LegacySession, LegacySessionClient};
use crate::Gate;
use crate::exchange::{MessageSink, RpcResponse};
use crate::gateway::GatewayState;
use crate::principal::ClientIdentity;

impl GatewayState {
    /// Answers an `initialize` request: a new session with its response, or an error response. The
    /// transport must close the session.
    ///
    /// An unknown version is answered with the newest supported one, as the specification requires.
    /// Under [`Options::strict`](crate::Options::strict), any other version is rejected.
    pub(crate) fn open_session(
        &self,
        request: &Frame,
        identity: &ClientIdentity,
        sink: Arc<dyn MessageSink>,
    ) -> Result<(Arc<LegacySession>, RpcResponse), RpcResponse> {
        let gate = &self.gate;
        let Some(id) = request.id().map(|id| id.to_owned()) else {
            return Err(RpcResponse::invalid("initialize has no id"));
        };
        let params = request.params().unwrap_or_default();
        let Some(version) = scan::member_text(params, "protocolVersion") else {
            let error = "initialize has no protocolVersion";
            return Err(RpcResponse::failure(&id, code::INVALID_PARAMS, error));
        };
        let revision = negotiate_revision(&version, self.options.strict)
            .map_err(|only| unsupported_version(&id, &version, only))?;
        let object = |key| {
            let raw = scan::member(params, key)?.slice(params);
            raw.starts_with(b"{").then_some(raw)
        };
        let client = parse_client(object("clientInfo").unwrap_or_default());
        let profile = gate
            .choose_profile(identity.profile.as_deref(), &client)
            .map_err(|refusal| RpcResponse::from_gate_error(&refusal, &id))?;
        let (principal, caller_id) = (&identity.principal, CallerId::fresh());
        let capabilities = Bytes::copy_from_slice(object("capabilities").unwrap_or(b"{}"));
        let session_client = Arc::new(LegacySessionClient::new(
            caller_id,
            revision,
            &capabilities,
            gate.roots(),
            sink,
        ));
        let caller = Caller::new(caller_id, client, revision, capabilities, session_client.clone())
            .with_profile(profile)
            .with_result_owner(principal.to_gate_principal())
            .with_person(principal.approval_name());
        tracing::debug!(
            target: "toolgate::gateway",
            client = %caller.client.name, version = %caller.client.version, %revision,
            profile = %caller.profile,
            "session started"
        );
        let result = initialize_result(gate, &caller);
        let session = Arc::new(LegacySession::new(gate.clone(), caller, session_client));
        self.sessions.insert(session.clone());
        Ok((session, RpcResponse::result(&id, &result)))
    }
}

/// Returns the revision to use, or the only supported one as the error.
fn negotiate_revision(asked: &str, strict: Option<Revision>) -> Result<Revision, Revision> {
    let known = asked.parse().ok().filter(|revision: &Revision| revision.era() == Era::Legacy);
    match strict {
        Some(only) if known == Some(only) => Ok(only),
        Some(only) => Err(only),
        None => Ok(known.unwrap_or(Revision::LATEST_LEGACY)),
    }
}

/// Returns the member with the instructions for a caller, to append to a result, or nothing.
pub(crate) fn instructions_member(gate: &Gate, caller: &Caller) -> String {
    let instructions = gate.instructions(caller);
    let member = instructions.map(|text| format!(r#","instructions":{}"#, string::encode(&text)));
    member.unwrap_or_default()
}

/// Reads a `clientInfo` object.
pub(crate) fn parse_client(info: &[u8]) -> Client {
    let text = |key| scan::member_text(info, key).unwrap_or_default().into_owned();
    Client { name: text("name"), version: text("version") }
}

fn initialize_result(gate: &Gate, caller: &Caller) -> Vec<u8> {
    let mut server = json!({ "name": "toolgate", "version": env!("CARGO_PKG_VERSION") });
    if caller.revision.has_titles() {
        server["title"] = "Toolgate".into();
    }
    let head = format!(r#"{{"protocolVersion":"{}","capabilities":"#, caller.revision);
    let tail = format!(r#","serverInfo":{server}{}}}"#, instructions_member(gate, caller));
    [head.as_bytes(), &gate.capabilities(caller), tail.as_bytes()].concat()
}

fn unsupported_version(id: &OwnedRequestId, asked: &str, only: Revision) -> RpcResponse {
    let message = format!("Unsupported protocol version: this gateway supports only {only}");
    let data = json!({ "supported": [only.as_str()], "requested": asked }).to_string();
    let error = GateError::new(ErrorCode::GatewayRequest, message);
    let error = GateError { rpc_code: code::INVALID_PARAMS, data: Some(data.into()), ..error };
    RpcResponse::from_gate_error(&error, id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_version_is_taken_and_an_unknown_one_answered_with_the_latest() {
        assert_eq!(negotiate_revision("2024-11-05", None), Ok(Revision::V2024_11_05));
        assert_eq!(negotiate_revision("1999-01-01", None), Ok(Revision::LATEST_LEGACY));
        assert_eq!(negotiate_revision("2026-07-28", None), Ok(Revision::LATEST_LEGACY));
    }

    #[test]
    fn a_strict_gateway_takes_one_version_only() {
        let strict = Some(Revision::V2025_11_25);
        assert_eq!(negotiate_revision("2025-11-25", strict), Ok(Revision::V2025_11_25));
        assert_eq!(negotiate_revision("2025-06-18", strict), Err(Revision::V2025_11_25));
        assert_eq!(negotiate_revision("nonsense", strict), Err(Revision::V2025_11_25));
    }
}
