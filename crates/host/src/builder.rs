//! What a host is made of, piece by piece.

use std::path::PathBuf;
use std::sync::Arc;

use toolgate_config::{Home, Naming, Prefix};
use toolgate_fleet::{DRAIN, FleetBuilder, Member};
use toolgate_gate::Gate;
use toolgate_launch::{Helper, Launcher};
use toolgate_model::{ContextNames, Expose, Origin, ServerName, ServerSpec};
use toolgate_pins::Lock;
use toolgate_session::Interactor;
use toolgate_store::{Decisions, FileResults, Journal, Quota, SqliteState, State};

use crate::local::LocalServer;
use crate::roster::{Context, Roster, ours};
use crate::{Host, HostError, Setup, SetupOptions, Tool, sample_server};

/// The server that stands for the embedding program's own tools.
const EMBEDDER: &str = "embedder";
/// The built-in server of a gateway that has no other.
const SAMPLE: &str = "sample";

/// Collects what a host needs; [`HostBuilder::start`] makes it.
#[derive(Default)]
pub struct HostBuilder {
    home: Option<Home>,
    config: Option<PathBuf>,
    project_dir: Option<PathBuf>,
    setup: Option<Setup>,
    servers: Vec<ServerSpec>,
    tools: Vec<Tool>,
    roots: Vec<PathBuf>,
    naming: Option<Naming>,
    prefix: Option<Prefix>,
    expose: Expose,
    profile: Option<String>,
    interactor: Option<Arc<dyn Interactor>>,
    helper: Option<Helper>,
    sample: bool,
    context: Option<(LocalServer, Context)>,
    context_named: Vec<(ContextNames, LocalServer)>,
    only: Option<String>,
    idle: bool,
    lock: Option<Lock>,
}

/// What a host remembers, and where.
struct Books {
    store: Arc<dyn State>,
    decisions: Arc<dyn Decisions>,
    journal: Option<Arc<Journal>>,
}

impl Books {
    /// Those of a home; without one, everything is forgotten with the host and nothing is written.
    async fn of(setup: Option<&Setup>) -> Result<Self, HostError> {
        let Some(setup) = setup else {
            let state = Arc::new(SqliteState::in_memory().await?);
            return Ok(Self { store: state.clone(), decisions: state, journal: None });
        };
        let folder = setup.home().state_dir().join("journal");
        let journal = Some(Arc::new(Journal::new(folder)));
        Ok(Self { store: setup.store(), decisions: setup.decisions(), journal })
    }
}

impl HostBuilder {
    /// Reads the configuration of this home: its user file, and the system's.
    #[must_use]
    pub fn home(mut self, home: Home) -> Self {
        self.home = Some(home);
        self
    }

    /// Reads this file, in whatever dialect, and no other. Naming it is consent to what it starts.
    #[must_use]
    pub fn config(mut self, file: impl Into<PathBuf>) -> Self {
        self.config = Some(file.into());
        self
    }

    /// Reads the files of this project too; their servers start once the user has consented.
    #[must_use]
    pub fn project(mut self, dir: impl Into<PathBuf>) -> Self {
        self.project_dir = Some(dir.into());
        self
    }

    /// Uses a plan that was loaded before.
    #[must_use]
    pub fn setup(mut self, setup: Setup) -> Self {
        self.setup = Some(setup);
        self
    }

    /// Adds a server from code.
    #[must_use]
    pub fn server(mut self, spec: ServerSpec) -> Self {
        self.servers.push(spec);
        self
    }

    /// Adds a tool of the embedding program. It passes the same gate as every server's, keeps its
    /// bare name, and wins over a server's tool of that name.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// What `roots/list` answers, beside what the configuration says.
    #[must_use]
    pub fn roots(mut self, roots: impl IntoIterator<Item = PathBuf>) -> Self {
        self.roots.extend(roots);
        self
    }

    /// How exposed names are made, where a profile does not say.
    #[must_use]
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = Some(naming);
        self
    }

    /// Whether callers are sent definitions or find them, where a profile does not say.
    #[must_use]
    pub fn expose(mut self, expose: Expose) -> Self {
        self.expose = expose;
        self
    }

    /// What [`Host::tools`], [`Host::call`] and their like see; [`HostBuilder::start`] fails if
    /// there is no profile of this name.
    #[must_use]
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Some(name.into());
        self
    }

    /// When exposed names carry their server's name, where the naming leaves a choice.
    #[must_use]
    pub fn prefix(mut self, prefix: Prefix) -> Self {
        self.prefix = Some(prefix);
        self
    }

    /// Who is told and asked during calls made through [`Host::call`] and its like. Without one,
    /// questions are declined. Servers of 2026-07-28 ask only for what its
    /// [`capabilities`](Interactor::capabilities) declare.
    #[must_use]
    pub fn interactor(mut self, interactor: Arc<dyn Interactor>) -> Self {
        self.interactor = Some(interactor);
        self
    }

    /// Which program guards process trees; by default this one, if its `main` calls
    /// [`helper_main`](crate::helper_main).
    #[must_use]
    pub fn helper(mut self, helper: Helper) -> Self {
        self.helper = Some(helper);
        self
    }

    /// Adds the built-in sample server if nothing else is there to offer.
    #[must_use]
    pub fn sample_if_empty(mut self) -> Self {
        self.sample = true;
        self
    }

    /// Adds the local context as the configuration says (`[context] offer`): by default if it holds
    /// something, which `holds` is asked whenever files are applied and must say at once, or if no
    /// other server is there, in the place of the sample. Its tools and prompts keep their bare
    /// names, and it may ask callers' models.
    #[must_use]
    pub fn context(
        mut self,
        server: LocalServer,
        holds: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        self.context = Some((server, Context::Offered(Arc::new(holds))));
        self
    }

    /// Offers the local context by another server where the configuration says so
    /// (`[context] names`).
    #[must_use]
    pub fn context_named(mut self, names: ContextNames, server: LocalServer) -> Self {
        self.context_named.push((names, server));
        self
    }

    /// Has the local context, whatever the configuration says of it, and no server that files
    /// declare: what they say of decisions holds, and nothing is started.
    #[must_use]
    pub fn context_alone(mut self, server: LocalServer) -> Self {
        self.context = Some((server, Context::Alone));
        self
    }

    /// Keeps this server and forgets every other; [`HostBuilder::start`] fails if there is none of
    /// this name.
    #[must_use]
    pub fn only(mut self, server: impl Into<String>) -> Self {
        self.only = Some(server.into());
        self
    }

    /// Starts no server until it is used: for whoever wants to look first.
    #[must_use]
    pub fn idle(mut self) -> Self {
        self.idle = true;
        self
    }

    /// Uses nothing that this lock file does not have exactly so.
    #[must_use]
    pub fn frozen(mut self, lock: Lock) -> Self {
        self.lock = Some(lock);
        self
    }

    /// Starts every server in the background and gives the host at once.
    pub async fn start(mut self) -> Result<Host, HostError> {
        let setup = self.take_setup().await?;
        let books = Books::of(setup.as_ref()).await?;
        let plan = setup.as_ref().map(|setup| setup.plan().clone()).unwrap_or_default();
        let roster = self.roster()?;
        let members = roster.members(&plan);
        if let (Some(only), true) = (&roster.only, members.is_empty()) {
            return Err(HostError::NoServer(only.clone()));
        }
        let launcher = Launcher::new(self.helper.clone().unwrap_or_else(Helper::current));
        let guarantee = launcher.guarantee();
        let (store, roots) = (Some(books.store), roster.roots(&plan));
        let fleet = Arc::new(FleetBuilder { launcher, store, roots, drain: DRAIN }.build());
        let gate = Gate::new(fleet.clone(), roster.manner(&plan));
        gate.govern(&plan.settings.governance);
        gate.freeze(self.lock.take());
        if let Some(journal) = &books.journal {
            journal.mask(roster.secrets.clone());
        }
        gate.keep_books(books.decisions, books.journal).await?;
        if let Some(setup) = &setup {
            let folder = setup.home().state_dir().join("results");
            gate.keep_results(Arc::new(FileResults::new(folder, Quota::default())));
        }
        for member in members {
            match self.idle {
                true => drop(fleet.enlist_idle(member).await),
                false => fleet.enlist(member).await,
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
        let options = SetupOptions { home, config, project_dir, own_endpoints: Vec::new() };
        Setup::load(options).await.map(Some)
    }

    fn roster(&mut self) -> Result<Roster, HostError> {
        let tools = std::mem::take(&mut self.tools);
        let embedder = (!tools.is_empty()).then(|| LocalServer::new(EMBEDDER).tools(tools));
        let context = self.context.take();
        let context = context.map(|(server, offer)| (Arc::new(server.relaying()) as _, offer));
        let named = std::mem::take(&mut self.context_named).into_iter();
        let named = named.map(|(names, server)| (names, Arc::new(server.relaying()) as _));
        let roster = Roster {
            context,
            context_named: named.collect(),
            embedder: embedder.map(|server| built_in(EMBEDDER, server)).transpose()?,
            sample: self.sample.then(|| built_in(SAMPLE, sample_server())).transpose()?,
            only: self.only.take(),
            roots: std::mem::take(&mut self.roots),
            naming: self.naming,
            prefix: self.prefix,
            expose: self.expose,
            profile: self.profile.take(),
            lock: self.lock.clone(),
            ..Roster::default()
        };
        for spec in self.servers.drain(..) {
            roster.add(Member::plain(spec, Origin::built_in()));
        }
        Ok(roster)
    }
}

fn built_in(name: &str, server: LocalServer) -> Result<Member, HostError> {
    Ok(ours(ServerName::new(name)?, Arc::new(server)))
}
