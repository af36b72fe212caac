//! Decides whether an entry may be started.

use toolgate_model::{
    ConfigScope, Digest, ErrorCode, ServerName, ServerSpec, StartBlock, TransportSpec, redact_url,
};

use crate::gateway_loop::gateway_loop_reason;
use crate::resolve::expand;
use crate::{Environment, PlanEntry, StartStatus};

/// Expands variables only to check that it works; the values are read again when the server is
/// reached. A project's entry is not expanded before the user has consented, because its variables
/// may name files.
pub(crate) fn determine(
    entry: &PlanEntry,
    consents: &dyn Fn(&ServerName, &Digest) -> bool,
    environment: &Environment,
    own_endpoints: &[String],
) -> StartStatus {
    let spec = &entry.spec;
    if !spec.enabled {
        return StartStatus::Disabled;
    }
    if let StartStatus::Blocked(block) = &entry.start_status {
        return StartStatus::Blocked(block.clone());
    }
    if entry.origin.scope == ConfigScope::Project && !consents(&spec.name, &entry.identity()) {
        return StartStatus::NeedsConsent;
    }
    match expand(spec, &environment.for_entry(entry)) {
        Ok((reached, _)) => match (gateway_loop_reason(&reached, own_endpoints), address(&reached))
        {
            (Some(why), _) => blocked(ErrorCode::ConfigGatewayLoop, format!("it {why}")),
            (None, Err(why)) => blocked(ErrorCode::ConnectAddress, why),
            (None, Ok(())) => StartStatus::Ready,
        },
        Err(error) => StartStatus::Blocked((&error.with_entry(entry)).into()),
    }
}

fn blocked(code: ErrorCode, reason: String) -> StartStatus {
    StartStatus::Blocked(StartBlock::new(code, reason))
}

fn address(spec: &ServerSpec) -> Result<(), String> {
    match &spec.transport {
        TransportSpec::Http(http) => check_address(&http.url),
        TransportSpec::Stdio(_) | TransportSpec::BuiltIn => Ok(()),
    }
}

/// Checks that the URL of a server has a usable scheme and a host. Returns what is wrong otherwise.
pub fn check_address(url: &str) -> Result<(), String> {
    let shown = redact_url(url);
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err(format!("its address {shown:?} is not a URL: write it as https://host/path"));
    };
    let scheme = scheme.to_ascii_lowercase();
    if scheme != "http" && scheme != "https" {
        return Err(format!("its address {shown:?} is neither http:// nor https://"));
    }
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, port)| match port.contains(']') {
        true => host,
        false => name,
    });
    match name.is_empty() || name.contains(char::is_whitespace) {
        true => Err(format!("its address {shown:?} has no host")),
        false => Ok(()),
    }
}
