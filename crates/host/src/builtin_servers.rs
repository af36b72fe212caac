//! Everything a host has that no configuration file declares: servers and tools of the embedding
//! program, the local context, the sample server, and options set in code. It is kept so that the
//! configuration can be applied again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use toolgate_config::{NamingStyle, Plan, PrefixMode};
use toolgate_exposure::NamingOptions;
use toolgate_fleet::{BuiltInServer, FleetServer};
use toolgate_gate::GatewaySettings;
use toolgate_model::{
    ContextNamingStyle, ContextOfferMode, ErrorCode, ExposureMode, Mask, Origin, SamplingLimits,
    ServerName, ServerSpec, ServerState, StartBlock, TransportSpec,
};
use toolgate_pins::LockFile;

use crate::setup::fleet_server;

/// The preferred names of the local context. If both are taken, a number is added.
const CONTEXT: [&str; 2] = ["context", "local-context"];
/// The maximum number of concurrent sampling requests of the local context.
const CONTEXT_ASKS: u32 = 8;

/// The characters of a path that are encoded in a URI.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// When the local context is offered.
#[derive(Clone)]
pub(crate) enum ContextAvailability {
    /// As configured. The function returns true if the context holds documents.
    Offered(Arc<dyn Fn() -> bool + Send + Sync>),
    /// Always, and as the only server.
    Alone,
}

/// Everything a host has that no file declares.
#[derive(Default)]
pub(crate) struct BuiltinServers {
    /// Servers added in code. They take precedence over declared servers with the same name.
    pub(crate) added: Mutex<BTreeMap<ServerName, FleetServer>>,
    /// Held during a change, so that this value and the fleet stay consistent.
    pub(crate) change_lock: tokio::sync::Mutex<()>,
    /// The server of the embedding program's own tools.
    pub(crate) embedder: Option<FleetServer>,
    /// The local context, and when it is offered.
    pub(crate) context: Option<(Arc<dyn BuiltInServer>, ContextAvailability)>,
    /// The local context in other naming styles.
    pub(crate) context_named: Vec<(ContextNamingStyle, Arc<dyn BuiltInServer>)>,
    /// The sample server, offered if there is no other.
    pub(crate) sample: Option<FleetServer>,
    /// The only server to use.
    pub(crate) only: Option<String>,
    /// Roots in addition to the configured ones.
    pub(crate) roots: Vec<PathBuf>,
    /// Overrides the configured naming style.
    pub(crate) naming: Option<NamingStyle>,
    /// Overrides the configured prefix mode.
    pub(crate) prefix: Option<PrefixMode>,
    /// The exposure mode of profiles that do not set one.
    pub(crate) expose: ExposureMode,
    /// The profile of the host's own calls.
    pub(crate) profile: Option<String>,
    /// If set, only servers in this lock file may be used.
    pub(crate) lock: Option<LockFile>,
    /// The secrets of all servers that were resolved, masked in the journal.
    pub(crate) secrets: Arc<ArcSwap<Mask>>,
}

impl BuiltinServers {
    /// Adds a server from code.
    pub(crate) fn add(&self, member: FleetServer) {
        self.added.lock().insert(member.spec.name.clone(), member);
    }

    /// Returns all servers of a plan and of this value, each name once.
    pub(crate) fn all_servers(&self, plan: &Plan) -> Vec<FleetServer> {
        // Servers added in code keep position 0 and come first.
        let declared =
            plan.entries.iter().zip(1..).map(|(entry, place)| fleet_server(entry, place));
        let declared = declared.filter(|_| !self.is_context_alone());
        let mut members: BTreeMap<_, _> =
            declared.map(|member| (member.spec.name.clone(), member)).collect();
        members
            .extend(self.added.lock().iter().map(|(name, member)| (name.clone(), member.clone())));
        let idle = members.values().all(|member| !member.spec.enabled);
        let context = self.context(plan, idle, &members);
        let sample = self.sample.iter().filter(|_| idle && context.is_none());
        let built_in = sample.chain(&self.embedder).chain(&context);
        let built_in: Vec<_> = built_in.cloned().collect();
        members.extend(built_in.into_iter().map(|member| (member.spec.name.clone(), member)));
        if let Some(only) = &self.only {
            members.retain(|name, _| name.as_str() == only);
        }
        members.into_values().map(|member| self.prepare_server(member)).collect()
    }

    /// Applies the lock file and the collection of secrets to a server.
    pub(crate) fn prepare_server(&self, member: FleetServer) -> FleetServer {
        self.collect_secrets(self.apply_lock_file(member))
    }

    fn is_context_alone(&self) -> bool {
        matches!(self.context, Some((_, ContextAvailability::Alone)))
    }

    /// Returns the local context under an unused name, if it is to be offered. `idle` is true if no
    /// server is enabled.
    fn context(
        &self,
        plan: &Plan,
        idle: bool,
        others: &BTreeMap<ServerName, FleetServer>,
    ) -> Option<FleetServer> {
        let (server, context) = self.context.as_ref()?;
        let offered = match (context, plan.settings.context.offer) {
            (ContextAvailability::Alone, _) | (_, ContextOfferMode::Always) => true,
            (_, ContextOfferMode::Never) => false,
            (ContextAvailability::Offered(holds), ContextOfferMode::Auto) => idle || holds(),
        };
        let name = context_name(|name| others.contains_key(name)).filter(|_| offered)?;
        let names = plan.settings.context.names;
        let named = self.context_named.iter().find(|(of, _)| *of == names);
        let named = named.filter(|_| !self.is_context_alone()).map(|(_, server)| server);
        let mut member = builtin_server(name, named.unwrap_or(server).clone());
        let usual = SamplingLimits::default();
        member.spec.sampling = Some(SamplingLimits { concurrency: CONTEXT_ASKS, ..usual });
        Some(member)
    }

    /// Wraps the resolver of a server, so that its secrets are collected when variables are
    /// expanded.
    fn collect_secrets(&self, member: FleetServer) -> FleetServer {
        let (resolve, secrets) = (member.resolve.clone(), self.secrets.clone());
        let resolve = Arc::new(move |spec: &ServerSpec| {
            let resolved = resolve(spec)?;
            if !resolved.mask.is_empty() {
                secrets.rcu(|known| known.merge(&resolved.mask));
            }
            Ok(resolved)
        });
        FleetServer { resolve, ..member }
    }

    /// Blocks a server that does not match the lock file. Built-in servers are not checked, because
    /// they change only together with this program.
    fn apply_lock_file(&self, member: FleetServer) -> FleetServer {
        let locked = self.lock.as_ref().filter(|_| member.built_in.is_none());
        let may_start =
            member.initial_state == ServerState::NotStarted || member.has_unset_variable;
        let refused = locked.and_then(|lock| lock.check_server(&member.spec));
        let Some(refused) = refused.filter(|_| may_start) else { return member };
        let reason = format!("{}, and this gateway is frozen", refused.text);
        let initial_state = ServerState::Blocked(StartBlock {
            hint: Some("run `toolgate lock` to update the lock file".into()),
            ..StartBlock::new(ErrorCode::PinLockMismatch, reason)
        });
        FleetServer { initial_state, has_unset_variable: false, ..member }
    }

    /// Returns the settings of the gate: naming, profiles and exposure.
    pub(crate) fn gateway_settings(&self, plan: &Plan) -> GatewaySettings {
        let settings = &plan.settings;
        let style = NamingOptions {
            naming: self.naming.unwrap_or(settings.naming),
            prefix: self.prefix.unwrap_or(settings.prefix),
            own: self.unprefixed_servers(plan),
            ..NamingOptions::default()
        };
        GatewaySettings { style, profiles: settings.profiles.clone(), expose: self.expose }
    }

    /// Returns the servers whose capabilities get no prefix.
    fn unprefixed_servers(&self, plan: &Plan) -> Vec<ServerName> {
        let declared = |name: &ServerName| {
            !self.is_context_alone() && plan.entry(name).is_some()
                || self.added.lock().contains_key(name)
        };
        let context = self.context.as_ref().and_then(|_| context_name(declared));
        let embedder = self.embedder.as_ref().map(|member| member.spec.name.clone());
        embedder.into_iter().chain(context).collect()
    }

    /// Returns the URIs to answer `roots/list` with.
    pub(crate) fn roots(&self, plan: &Plan) -> Vec<String> {
        plan.settings.roots.iter().chain(&self.roots).map(|path| uri(path)).collect()
    }
}

/// Returns a name for the local context that is not taken.
fn context_name(taken: impl Fn(&ServerName) -> bool) -> Option<ServerName> {
    let more = (2_u32..).map(|number| format!("{}-{number}", CONTEXT[1]));
    let names = CONTEXT.into_iter().map(str::to_owned).chain(more);
    names.filter_map(|name| ServerName::new(&name).ok()).find(|name| !taken(name))
}

/// Creates a built-in server.
pub(crate) fn builtin_server(name: ServerName, server: Arc<dyn BuiltInServer>) -> FleetServer {
    let spec = ServerSpec::new(name, TransportSpec::BuiltIn);
    FleetServer { built_in: Some(server), ..FleetServer::from_spec(spec, Origin::built_in()) }
}

/// Returns the `file:` URI of a folder.
fn uri(path: &Path) -> String {
    format!("file://{}", utf8_percent_encode(&path.to_string_lossy(), ENCODED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_becomes_a_uri_that_means_the_same() {
        assert_eq!(uri(Path::new("/a b/ü")), "file:///a%20b/%C3%BC");
    }
}
