//! Whether an entry may be started, and why not.

use toolgate_model::{Digest, Scope, ServerName, ServerSpec, TransportSpec, shown_url};

use crate::gateway::leads_back;
use crate::resolve::expand;
use crate::{Entry, Environment, Standing};

/// Expands variables only to find out whether it would work; the values are taken when the server
/// is reached. A project's entry is not looked at before the user has agreed to it: its variables
/// may name files.
pub(crate) fn of(
    entry: &Entry,
    consents: &dyn Fn(&ServerName, &Digest) -> bool,
    environment: &Environment,
    own_endpoints: &[String],
) -> Standing {
    let spec = &entry.spec;
    if !spec.enabled {
        return Standing::Disabled;
    }
    if let Standing::Blocked(reason) = &entry.standing {
        return Standing::Blocked(reason.clone());
    }
    if entry.origin.scope == Scope::Project && !consents(&spec.name, &entry.identity()) {
        return Standing::NeedsConsent;
    }
    match expand(spec, &entry.environment(environment)) {
        Ok((reached, _)) => match (leads_back(&reached, own_endpoints), address(&reached)) {
            (Some(why), _) => Standing::Blocked(format!("it {why}")),
            (None, Err(why)) => Standing::Blocked(why),
            (None, Ok(())) => Standing::Ready,
        },
        Err(error) => {
            let error = error.about(entry);
            Standing::Blocked(format!("failed to {error}"))
        }
    }
}

fn address(spec: &ServerSpec) -> Result<(), String> {
    match &spec.transport {
        TransportSpec::Http(http) => check_address(&http.url),
        TransportSpec::Stdio(_) | TransportSpec::BuiltIn => Ok(()),
    }
}

/// Whether the address of a server names a host that can be asked; if not, what is wrong with it.
pub fn check_address(url: &str) -> Result<(), String> {
    let shown = shown_url(url);
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err(format!("its address {shown:?} is no URL: write it as https://host/path"));
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
        true => Err(format!("its address {shown:?} names no host")),
        false => Ok(()),
    }
}
