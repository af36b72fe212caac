//! The builder of a host.

use std::path::PathBuf;
use std::sync::Arc;

use toolgate_config::{Home, NamingStyle, PrefixMode};
use toolgate_fleet::{BuiltInServer, DRAIN_LIMIT, FleetBuilder, FleetServer};
use toolgate_gate::Gate;
use toolgate_journal::Journal;
use toolgate_launch::{LaunchHelperProgram, Launcher};
use toolgate_model::{ContextNamingStyle, ExposureMode, Origin, ServerName, ServerSpec};
use toolgate_pins::LockFile;
use toolgate_session::Interactor;
use toolgate_store::{ResultQuota, ResultStore, StateStore};

use crate::builtin_servers::{BuiltinServers, ContextAvailability, builtin_server};
use crate::local::InProcessServer;
use crate::{ConfigSources, Host, HostError, Setup, Tool, sample_server};

/// The name of the server that provides the embedding program's own tools.
const EMBEDDER: &str = "embedder";
/// The name of the built-in sample server.
const SAMPLE: &str = "sample";

/// Builds a [`Host`]; [`HostBuilder::start`] starts it.
#[derive(Default)]
#[must_use]
pub struct HostBuilder {
    home: Option<Home>,
    config: Option<PathBuf>,
    project_dir: Option<PathBuf>,
    setup: Option<Setup>,
    builtin: BuiltinServers,
    tools: Vec<Tool>,
    interactor: Option<Arc<dyn Interactor>>,
    helper: Option<LaunchHelperProgram>,
    sample: bool,
    idle: bool,
}

impl HostBuilder {
    /// Reads the configuration of this home: its user file and the system file.
    pub fn home(mut self, home: Home) -> Self {
        self.home = Some(home);
        self
    }

    /// Reads only this file, in any dialect. Naming the file counts as consent to the servers it
    /// starts.
    pub fn config(mut self, file: impl Into<PathBuf>) -> Self {
        self.config = Some(file.into());
        self
    }

    /// Also reads the files of this project. Their servers start once the user has consented.
    pub fn project(mut self, dir: impl Into<PathBuf>) -> Self {
        self.project_dir = Some(dir.into());
        self
    }

    /// Uses a setup that was loaded before.
    pub fn setup(mut self, setup: Setup) -> Self {
        self.setup = Some(setup);
        self
    }

    /// Adds a server from code.
    pub fn server(self, spec: ServerSpec) -> Self {
        self.builtin.add(FleetServer::from_spec(spec, Origin::built_in()));
        self
    }

    /// Adds a tool of the embedding program. It passes the same gate as all other tools, keeps its
    /// name without a prefix, and takes precedence over a server's tool with the same name.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds roots for `roots/list` to those of the configuration.
    pub fn roots(mut self, roots: impl IntoIterator<Item = PathBuf>) -> Self {
        self.builtin.roots.extend(roots);
        self
    }

    /// Sets how exposed names are made, unless a profile sets it.
    pub fn naming(mut self, naming: NamingStyle) -> Self {
        self.builtin.naming = Some(naming);
        self
    }

    /// Sets whether callers get all definitions or search for them, unless a profile sets it.
    pub fn expose(mut self, expose: ExposureMode) -> Self {
        self.builtin.expose = expose;
        self
    }

    /// Sets the profile of [`Host::tools`], [`Host::call`] and similar methods.
    /// [`HostBuilder::start`] fails if no profile has this name.
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.builtin.profile = Some(name.into());
        self
    }

    /// Sets when exposed names carry the server's name as a prefix, if the naming style leaves a
    /// choice.
    pub fn prefix(mut self, prefix: PrefixMode) -> Self {
        self.builtin.prefix = Some(prefix);
        self
    }

    /// Sets the interactor for calls made through [`Host::call`] and similar methods. Without one,
    /// questions are declined. Servers of 2026-07-28 ask only for what its
    /// [`capabilities`](Interactor::capabilities) declare.
    pub fn interactor(mut self, interactor: Arc<dyn Interactor>) -> Self {
        self.interactor = Some(interactor);
        self
    }

    /// Sets the program that guards process trees. The default is this program, if its `main` calls
    /// [`helper_main`](crate::helper_main).
    pub fn helper(mut self, helper: LaunchHelperProgram) -> Self {
        self.helper = Some(helper);
        self
    }

    /// Adds the built-in sample server if there is no other server.
    pub fn sample_if_empty(mut self) -> Self {
        self.sample = true;
        self
    }

    /// Adds the local context according to the configuration (`[context] offer`). By default it is
    /// offered if it holds documents, or instead of the sample if there is no other server. `holds`
    /// returns true if it holds documents; it is called whenever the configuration is applied and
    /// must not block. Its tools and prompts keep their names without a prefix, and it may use
    /// sampling.
    pub fn context(
        mut self,
        server: InProcessServer,
        holds: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        self.builtin.context =
            Some((relaying(server), ContextAvailability::Offered(Arc::new(holds))));
        self
    }

    /// Sets the server that offers the local context if the configuration selects this naming style
    /// (`[context] names`).
    pub fn context_with_names(
        mut self,
        names: ContextNamingStyle,
        server: InProcessServer,
    ) -> Self {
        self.builtin.context_named.push((names, relaying(server)));
        self
    }

    /// Offers only the local context, whatever the configuration says, and starts no declared
    /// server. The rules of the configuration still apply.
    pub fn context_only(mut self, server: InProcessServer) -> Self {
        self.builtin.context = Some((relaying(server), ContextAvailability::Alone));
        self
    }

    /// Uses only this server. [`HostBuilder::start`] fails if no server has this name.
    pub fn only_server(mut self, server: impl Into<String>) -> Self {
        self.builtin.only = Some(server.into());
        self
    }

    /// Starts each server on first use instead of at once.
    pub fn idle(mut self) -> Self {
        self.idle = true;
        self
    }

    /// Uses only servers and definitions that match this lock file exactly.
    pub fn frozen(mut self, lock: LockFile) -> Self {
        self.builtin.lock = Some(lock);
        self
    }

    /// Starts every server in the background and returns the host without waiting for them.
    pub async fn start(mut self) -> Result<Host, HostError> {
        let setup = self.take_setup().await?;
        // Without a home, the state is in memory and nothing is written.
        let store = match &setup {
            Some(setup) => setup.store(),
            None => Arc::new(StateStore::in_memory().await?),
        };
        let plan = setup.as_ref().map(|setup| setup.plan().clone()).unwrap_or_default();
        let mut roster = self.builtin;
        if !self.tools.is_empty() {
            roster.embedder =
                Some(built_in(EMBEDDER, InProcessServer::new(EMBEDDER).tools(self.tools))?);
        }
        if self.sample {
            roster.sample = Some(built_in(SAMPLE, sample_server())?);
        }
        let members = roster.all_servers(&plan);
        if let (Some(only), true) = (&roster.only, members.is_empty()) {
            return Err(HostError::NoServer(only.clone()));
        }
        let launcher = Launcher::new(self.helper.unwrap_or_else(LaunchHelperProgram::current));
        let guarantee = launcher.guarantee();
        let fleet = FleetBuilder {
            launcher,
            store: Some(store.clone()),
            roots: roster.roots(&plan),
            drain: DRAIN_LIMIT,
        };
        let fleet = Arc::new(fleet.build());
        let gate = Gate::new(fleet.clone(), roster.gateway_settings(&plan));
        gate.set_governance(&plan.settings.governance);
        gate.set_lock_file(roster.lock.clone());
        let state_dir = setup.as_ref().map(|setup| setup.home().state_dir());
        let journal = state_dir.map(|folder| Arc::new(Journal::new(folder.join("journal"))));
        if let Some(journal) = &journal {
            journal.set_mask(roster.secrets.clone());
        }
        gate.open_stores(store, journal).await?;
        if let Some(folder) = state_dir {
            let results = ResultStore::new(folder.join("results"), ResultQuota::default());
            gate.keep_results(Arc::new(results));
        }
        for member in members {
            match self.idle {
                true => drop(fleet.add_idle_server(member).await),
                false => fleet.add_server(member).await,
            }
        }
        Host::new(fleet, gate, Arc::new(roster), guarantee, self.interactor)
    }

    async fn take_setup(&mut self) -> Result<Option<Setup>, HostError> {
        if self.setup.is_some() {
            return Ok(self.setup.take());
        }
        if self.home.is_none() && self.config.is_none() && self.project_dir.is_none() {
            return Ok(None);
        }
        let home = match self.home.take() {
            Some(home) => home,
            None => Home::find(None, &|name| std::env::var(name).ok())?,
        };
        let (config, project_dir) = (self.config.take(), self.project_dir.take());
        let options = ConfigSources { home, config, project_dir, own_endpoints: Vec::new() };
        Setup::load(options).await.map(Some)
    }
}

/// Returns the local context as a server that passes on content of others.
fn relaying(context: InProcessServer) -> Arc<dyn BuiltInServer> {
    Arc::new(context.with_untrusted_content())
}

fn built_in(name: &str, server: InProcessServer) -> Result<FleetServer, HostError> {
    Ok(builtin_server(ServerName::new(name)?, Arc::new(server)))
}
