//! `initialize`: the revision is agreed, and the session begins.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use toolgate_wire::view::{Implementation, Initialize};
use toolgate_wire::{Era, Frame, OwnedId, Revision, build, code, string};

use super::{Outlet, Peer, Reply, Session};
use crate::principal::Principal;
use crate::upstreams::{Caller, CallerId, Client, Upstreams};

/// What becomes of an `initialize`.
pub(crate) enum Opening {
    /// A session, and the answer that tells the client of it.
    Session(Arc<Session>, Reply),
    /// An error, and no session.
    Refused(Reply),
}

/// What is asked of a session beside what its client says.
#[derive(Debug, Clone)]
pub(crate) struct Terms<'a> {
    /// Speak this revision and refuse every other.
    pub(crate) strict: Option<Revision>,
    /// The profile that was asked for.
    pub(crate) profile: Option<&'a str>,
    /// Whoever opens it.
    pub(crate) principal: Principal,
}

/// Answers an `initialize` request.
///
/// A version we do not know is answered with the newest we do, as the specification wants; under
/// `strict` any other version than that one is refused, not coerced.
pub(crate) fn open(
    upstreams: &Arc<dyn Upstreams>,
    terms: Terms<'_>,
    request: &Frame,
    outlet: Arc<dyn Outlet>,
) -> Opening {
    let Some(id) = request.id().map(|id| id.to_owned()) else {
        return Opening::Refused(nameless());
    };
    let asked = Initialize::of(request.params().unwrap_or_default());
    let Some((view, version)) =
        asked.and_then(|view| view.protocol_version.clone().map(|version| (view, version)))
    else {
        let error = "initialize names no protocolVersion";
        return Opening::Refused(Reply::failure(&id, code::INVALID_PARAMS, error));
    };
    let revision = match agree(&version, terms.strict) {
        Ok(revision) => revision,
        Err(only) => return Opening::Refused(unsupported(&id, &version, only)),
    };
    let client = client(&view.client);
    let profile = match upstreams.choose(terms.profile, &client) {
        Ok(profile) => profile,
        Err(refusal) => return Opening::Refused(Reply::refused(&refusal, &id)),
    };
    let who = Who { client, profile, revision, principal: terms.principal };
    let session = begin(upstreams, who, &view, outlet);
    let result = welcome(upstreams.as_ref(), &session.caller);
    Opening::Session(session, Reply::result(&id, &result))
}

/// The revision both sides speak, or the only one we would.
fn agree(asked: &str, strict: Option<Revision>) -> Result<Revision, Revision> {
    let known = asked.parse().ok().filter(|revision: &Revision| revision.era() == Era::Legacy);
    match strict {
        Some(only) if known == Some(only) => Ok(only),
        Some(only) => Err(only),
        None => Ok(known.unwrap_or(Revision::LATEST_LEGACY)),
    }
}

/// A client, and how it is spoken to.
struct Who {
    client: Client,
    profile: Arc<str>,
    revision: Revision,
    principal: Principal,
}

fn begin(
    upstreams: &Arc<dyn Upstreams>,
    Who { client, profile, revision, principal }: Who,
    view: &Initialize<'_>,
    outlet: Arc<dyn Outlet>,
) -> Arc<Session> {
    let capabilities = view.capabilities.unwrap_or(b"{}");
    let id = CallerId::fresh();
    let peer = Arc::new(Peer::new(id.scope(), revision, capabilities, upstreams.roots(), outlet));
    let capabilities = Bytes::copy_from_slice(capabilities);
    let caller = Caller::new(id, client, revision, capabilities, peer.clone())
        .seeing(profile)
        .keeping_for(principal.at_the_gate())
        .known_as(principal.person());
    tracing::debug!(
        target: "toolgate::gateway",
        client = %caller.client.name, version = %caller.client.version, %revision,
        profile = %caller.profile,
        "session begins"
    );
    Arc::new(Session::new(upstreams.clone(), caller, peer))
}

fn client(view: &Implementation<'_>) -> Client {
    let text = |value: &Option<Cow<'_, str>>| value.as_deref().unwrap_or_default().to_owned();
    Client { name: text(&view.name), version: text(&view.version) }
}

fn welcome(upstreams: &dyn Upstreams, caller: &Caller) -> Vec<u8> {
    let mut server = json!({ "name": "toolgate", "version": env!("CARGO_PKG_VERSION") });
    if caller.revision.titles() {
        server["title"] = "Toolgate".into();
    }
    let head = format!(r#"{{"protocolVersion":"{}","capabilities":"#, caller.revision);
    let instructions = upstreams
        .instructions(caller)
        .map(|text| format!(r#","instructions":{}"#, string::encode(&text)))
        .unwrap_or_default();
    let tail = format!(r#","serverInfo":{server}{instructions}}}"#);
    [head.as_bytes(), &upstreams.capabilities(caller), tail.as_bytes()].concat()
}

fn unsupported(id: &OwnedId, asked: &str, only: Revision) -> Reply {
    let message = format!("Unsupported protocol version: this gateway speaks {only} only");
    let data = json!({ "supported": [only.as_str()], "requested": asked }).to_string();
    let data = Some(data.as_bytes());
    Reply::whole(build::failure(Some(id.raw()), code::INVALID_PARAMS, &message, data))
}

fn nameless() -> Reply {
    Reply::whole(build::failure(None, code::INVALID_REQUEST, "initialize has no id", None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_version_is_taken_and_an_unknown_one_answered_with_the_latest() {
        assert_eq!(agree("2024-11-05", None), Ok(Revision::V2024_11_05));
        assert_eq!(agree("1999-01-01", None), Ok(Revision::LATEST_LEGACY));
        assert_eq!(agree("2026-07-28", None), Ok(Revision::LATEST_LEGACY));
    }

    #[test]
    fn a_strict_gateway_takes_one_version_only() {
        let strict = Some(Revision::V2025_11_25);
        assert_eq!(agree("2025-11-25", strict), Ok(Revision::V2025_11_25));
        assert_eq!(agree("2025-06-18", strict), Err(Revision::V2025_11_25));
        assert_eq!(agree("nonsense", strict), Err(Revision::V2025_11_25));
    }
}
