//! What there is beside the files: servers and tools of the embedding program, the local context, the
//! sample, and what was said in code about all of them. Kept, so that files can be applied again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use toolgate_config::{Naming, Plan, Prefix};
use toolgate_fleet::{BuiltIn, Member};
use toolgate_gate::Manner;
use toolgate_model::{
    ContextNames, Expose, Mask, Offer, Origin, SamplingLimits, ServerName, ServerSpec, ServerState,
    TransportSpec,
};
use toolgate_naming::Style;
use toolgate_pins::Lock;

use crate::setup::member;

/// What the local context is called; another name is found if a file has a server of this one.
const CONTEXT: [&str; 2] = ["context", "local-context"];
/// How many callers' models it asks at once: each of them waits for one answer.
const CONTEXT_ASKS: u32 = 8;

/// Whether the local context is there.
#[derive(Clone)]
pub(crate) enum Context {
    /// As the files say; and whether it holds something.
    Offered(Arc<dyn Fn() -> bool + Send + Sync>),
    /// Always, and alone.
    Alone,
}

/// Everything a host has that no file declares.
#[derive(Default)]
pub(crate) struct Roster {
    /// Servers from code; they win over a file's of the same name.
    pub(crate) added: Mutex<BTreeMap<ServerName, Member>>,
    /// One change of the servers at a time: what is noted here and what the fleet has are the same.
    pub(crate) turn: tokio::sync::Mutex<()>,
    /// The embedding program's own tools, as a server.
    pub(crate) embedder: Option<Member>,
    /// The local context, and when it is there.
    pub(crate) context: Option<(Arc<dyn BuiltIn>, Context)>,
    /// The same under other names, where the files say so.
    pub(crate) context_named: Vec<(ContextNames, Arc<dyn BuiltIn>)>,
    /// What is there if nothing else is.
    pub(crate) sample: Option<Member>,
    /// The one server to keep.
    pub(crate) only: Option<String>,
    /// Roots beside the files'.
    pub(crate) roots: Vec<PathBuf>,
    /// How names are made, whatever the files say.
    pub(crate) naming: Option<Naming>,
    /// When names carry their server's, whatever the files say.
    pub(crate) prefix: Option<Prefix>,
    /// Whether definitions are sent or found where a profile does not say.
    pub(crate) expose: Expose,
    /// The profile of the host's own calls.
    pub(crate) profile: Option<String>,
    /// What alone may be started or reached.
    pub(crate) lock: Option<Lock>,
    /// The secrets of every server that was reached, for whatever is written about them.
    pub(crate) secrets: Arc<ArcSwap<Mask>>,
}

impl Roster {
    fn added(&self) -> MutexGuard<'_, BTreeMap<ServerName, Member>> {
        self.added.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a server from code.
    pub(crate) fn add(&self, member: Member) {
        self.added().insert(member.spec.name.clone(), member);
    }

    /// Forgets a server from code.
    pub(crate) fn remove(&self, name: &ServerName) {
        self.added().remove(name);
    }

    /// Every server there is to be, each name once.
    pub(crate) fn members(&self, plan: &Plan) -> Vec<Member> {
        // What was added in code has no place among the files, and comes first.
        let declared = plan.entries.iter().zip(1..).map(|(entry, place)| member(entry, place));
        let declared = declared.filter(|_| !self.is_context_alone());
        let mut members: BTreeMap<_, _> =
            declared.map(|member| (member.spec.name.clone(), member)).collect();
        members.extend(self.added().iter().map(|(name, member)| (name.clone(), member.clone())));
        let idle = members.values().all(|member| !member.spec.enabled);
        let context = self.context(plan, idle, &members);
        let sample = self.sample.iter().filter(|_| idle && context.is_none());
        let built_in = sample.chain(&self.embedder).chain(&context);
        let built_in: Vec<_> = built_in.cloned().collect();
        members.extend(built_in.into_iter().map(|member| (member.spec.name.clone(), member)));
        if let Some(only) = &self.only {
            members.retain(|name, _| name.as_str() == only);
        }
        members.into_values().map(|member| self.taken(member)).collect()
    }

    /// A server as the fleet takes it.
    pub(crate) fn taken(&self, member: Member) -> Member {
        self.gathering(self.frozen(member))
    }

    fn is_context_alone(&self) -> bool {
        matches!(self.context, Some((_, Context::Alone)))
    }

    /// The local context, if it is to be there, under a name that nobody else has. `idle`: no server
    /// is switched on.
    fn context(
        &self,
        plan: &Plan,
        idle: bool,
        others: &BTreeMap<ServerName, Member>,
    ) -> Option<Member> {
        let (server, context) = self.context.as_ref()?;
        let offered = match (context, plan.settings.context.offer) {
            (Context::Alone, _) | (_, Offer::Always) => true,
            (_, Offer::Never) => false,
            (Context::Offered(holds), Offer::Auto) => idle || holds(),
        };
        let name = context_name(|name| others.contains_key(name)).filter(|_| offered)?;
        let names = plan.settings.context.names;
        let named = self.context_named.iter().find(|(of, _)| *of == names);
        let named = named.filter(|_| !self.is_context_alone()).map(|(_, server)| server);
        let mut member = ours(name, named.unwrap_or(server).clone());
        let usual = SamplingLimits::default();
        member.spec.sampling = Some(SamplingLimits { concurrency: CONTEXT_ASKS, ..usual });
        Some(member)
    }

    /// The same server, whose secrets are known here once its variables are expanded.
    fn gathering(&self, member: Member) -> Member {
        let (resolve, secrets) = (member.resolve.clone(), self.secrets.clone());
        let resolve = Arc::new(move |spec: &ServerSpec| {
            let resolved = resolve(spec)?;
            if !resolved.mask.is_empty() {
                secrets.rcu(|known| known.joined(&resolved.mask));
            }
            Ok(resolved)
        });
        Member { resolve, ..member }
    }

    /// A server that is not as the lock file has it may not start. What lives in this program
    /// changes with it and with nothing else.
    fn frozen(&self, member: Member) -> Member {
        let locked = self.lock.as_ref().filter(|_| member.built_in.is_none());
        let may_start = member.standing == ServerState::NotStarted || member.unset;
        match locked.and_then(|lock| lock.refuses(&member.spec)).filter(|_| may_start) {
            Some(refused) => {
                let reason = format!(
                    "{}, and this gateway is frozen; `toolgate lock` writes it anew",
                    refused.text
                );
                Member { standing: ServerState::Blocked(reason), unset: false, ..member }
            }
            None => member,
        }
    }

    /// How everything is shown.
    pub(crate) fn manner(&self, plan: &Plan) -> Manner {
        let settings = &plan.settings;
        let style = Style {
            naming: self.naming.unwrap_or(settings.naming),
            prefix: self.prefix.unwrap_or(settings.prefix),
            own: self.own(plan),
            ..Style::default()
        };
        Manner { style, profiles: settings.profiles.clone(), expose: self.expose }
    }

    /// The servers whose names are shown bare.
    fn own(&self, plan: &Plan) -> Vec<ServerName> {
        let declared = |name: &ServerName| {
            !self.is_context_alone() && plan.entry(name).is_some()
                || self.added().contains_key(name)
        };
        let context = self.context.as_ref().and_then(|_| context_name(declared));
        let embedder = self.embedder.as_ref().map(|member| member.spec.name.clone());
        embedder.into_iter().chain(context).collect()
    }

    /// What `roots/list` answers.
    pub(crate) fn roots(&self, plan: &Plan) -> Vec<String> {
        plan.settings.roots.iter().chain(&self.roots).map(|path| uri(path)).collect()
    }
}

/// What the local context is called among others.
fn context_name(taken: impl Fn(&ServerName) -> bool) -> Option<ServerName> {
    let more = (2_u32..).map(|number| format!("{}-{number}", CONTEXT[1]));
    let names = CONTEXT.into_iter().map(str::to_owned).chain(more);
    names.filter_map(|name| ServerName::new(&name).ok()).find(|name| !taken(name))
}

/// A server of this program.
pub(crate) fn ours(name: ServerName, server: Arc<dyn BuiltIn>) -> Member {
    let spec = ServerSpec::new(name, TransportSpec::BuiltIn);
    Member { built_in: Some(server), ..Member::plain(spec, Origin::built_in()) }
}

/// A folder as `roots/list` names it.
fn uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(byte as char);
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_becomes_a_uri_that_means_the_same() {
        assert_eq!(uri(Path::new("/a b/ü")), "file:///a%20b/%C3%BC");
    }
}
