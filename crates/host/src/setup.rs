//! What a host is started from: the plan made of all config files, and the state beside it.

use std::path::PathBuf;
use std::sync::Arc;

use toolgate_config::{
    Entry, Environment, Home, LastGood, Plan, Sources, Standing, load, load_again, watched_paths,
};
use toolgate_fleet::Member;
use toolgate_model::{Scope, ServerName, ServerState};
use toolgate_store::{Consent, ConsentSet, Decisions, SqliteState, State};

use crate::HostError;

/// Where to look.
#[derive(Debug, Clone)]
pub struct SetupOptions {
    /// Config, state and cache.
    pub home: Home,
    /// One file to read instead of all others.
    pub config: Option<PathBuf>,
    /// The project folder whose files may propose servers.
    pub project_dir: Option<PathBuf>,
    /// Addresses this program answers on: an entry that points there is left out.
    pub own_endpoints: Vec<String>,
}

impl SetupOptions {
    /// Reads the files alone: no state is opened, and every consent counts as given.
    pub fn read_files(&self) -> Result<Plan, HostError> {
        Ok(load(&self.sources(), &|_, _| true, &Environment::of_process())?)
    }

    /// Every file and folder whose change may mean something, whether it is there or not.
    pub fn files(&self) -> Vec<PathBuf> {
        watched_paths(&self.sources())
    }

    /// Where configuration is looked for.
    pub fn sources(&self) -> Sources {
        Sources {
            config: self.config.clone(),
            project_dir: self.project_dir.clone(),
            own_endpoints: self.own_endpoints.clone(),
            home: self.home.clone(),
        }
    }
}

/// The plan and the state. Cheap enough to clone; each clone reads files again for itself.
#[derive(Clone)]
pub struct Setup {
    options: SetupOptions,
    plan: Plan,
    store: Arc<dyn State>,
    decisions: Arc<dyn Decisions>,
    last_good: LastGood,
}

impl Setup {
    /// Reads the files and opens the state.
    pub async fn load(options: SetupOptions) -> Result<Self, HostError> {
        options.home.create()?;
        let state = Arc::new(SqliteState::open(options.home.state_db()).await?);
        let (store, decisions): (Arc<dyn State>, Arc<dyn Decisions>) = (state.clone(), state);
        let mut last_good = LastGood::default();
        let plan = read(&options, &*store, &mut last_good).await?;
        Ok(Self { options, plan, store, decisions, last_good })
    }

    /// Reads the files again.
    ///
    /// A file that now has an error, and lacks a server or setting it had, keeps what it said
    /// before ([`LastGood`]); one that is gone says nothing any more. If that fails altogether (a
    /// file that was named cannot be read, or the state cannot), the plan is as before.
    pub async fn reload(&mut self) -> Result<(), HostError> {
        self.plan = read(&self.options, &*self.store, &mut self.last_good).await?;
        Ok(())
    }

    /// The servers as declared, and what is wrong with the files.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Every file whose change may mean something: those that are looked for, and those whose
    /// content counts for a server.
    pub fn files(&self) -> Vec<PathBuf> {
        self.options.files().into_iter().chain(self.plan.bound_files()).collect()
    }

    /// Where everything lies.
    pub fn home(&self) -> &Home {
        &self.options.home
    }

    pub(crate) fn store(&self) -> Arc<dyn State> {
        self.store.clone()
    }

    /// What people decided: pins, grants, and what waits for an approval.
    pub fn decisions(&self) -> Arc<dyn Decisions> {
        self.decisions.clone()
    }

    /// The entry of a server.
    pub fn entry(&self, name: &str) -> Result<&Entry, HostError> {
        let known = ServerName::new(name).ok();
        let entry = known.and_then(|name| self.plan.entry(&name));
        entry.ok_or_else(|| HostError::NoServer(name.to_owned()))
    }

    /// Every consent given in this home, by server and newest first: also for servers that no file
    /// read here declares, or declares otherwise by now.
    pub async fn consents(&self) -> Result<Vec<Consent>, HostError> {
        Ok(self.store.consents().await?)
    }

    /// Records that the user lets this server start, exactly as it is declared now.
    pub async fn consent(&mut self, name: &str) -> Result<(), HostError> {
        let entry = self.entry(name)?;
        let (server, digest) = (entry.spec.name.clone(), entry.identity());
        self.store.grant(&server, &digest, &entry.consent_text()).await?;
        self.reload().await?;
        Ok(())
    }

    /// Takes a consent back. `false` if there was none.
    pub async fn revoke(&mut self, name: &str) -> Result<bool, HostError> {
        let server = ServerName::new(name)?;
        let revoked = self.store.revoke(&server).await?;
        self.reload().await?;
        Ok(revoked)
    }

    /// Records that the user does not want to be asked about this server's tools, as long as it is
    /// what it is now.
    pub async fn trust(&mut self, name: &str) -> Result<(), HostError> {
        let entry = self.entry(name)?;
        let (server, digest) = (entry.spec.name.clone(), entry.identity());
        self.store.trust(&server, &digest).await?;
        self.reload().await?;
        Ok(())
    }

    /// Takes a trust back. `false` if there was none.
    pub async fn distrust(&mut self, name: &str) -> Result<bool, HostError> {
        let server = ServerName::new(name)?;
        let taken = self.store.distrust(&server).await?;
        self.reload().await?;
        Ok(taken)
    }
}

async fn read(
    options: &SetupOptions,
    store: &dyn State,
    last_good: &mut LastGood,
) -> Result<Plan, HostError> {
    let consents: ConsentSet = store.consents().await?.into_iter().collect();
    let (sources, mut good) = (options.sources(), last_good.clone());
    // Calls go on meanwhile, however slow the disk is.
    let reading = tokio::task::spawn_blocking(move || {
        let given = |name: &ServerName, digest: &_| consents.given(name, digest);
        let plan = load_again(&sources, &given, &Environment::of_process(), &mut good)?;
        Ok::<_, HostError>((plan, good))
    });
    let (mut plan, good) = reading.await??;
    *last_good = good;
    // A project's file cannot ask for trust: only the user's word for exactly this server counts.
    let trusts = store.trusts().await?;
    for entry in plan.entries.iter_mut().filter(|entry| entry.origin.scope == Scope::Project) {
        let identity = entry.identity();
        entry.spec.trust = trusts.iter().any(|trust| trust.is_for(&entry.spec.name, &identity));
    }
    Ok(plan)
}

/// An entry of the plan, at its place there, as the fleet takes it.
pub(crate) fn member(entry: &Entry, place: usize) -> Member {
    let standing = match &entry.standing {
        Standing::Ready => ServerState::NotStarted,
        Standing::Disabled => ServerState::Disabled,
        Standing::NeedsConsent => ServerState::Blocked(format!(
            "needs consent: see what it would start and allow it with `toolgate consent {}`",
            entry.spec.name
        )),
        Standing::Blocked(reason) => ServerState::Blocked(reason.clone()),
    };
    let declared = entry.clone();
    Member {
        place,
        standing,
        unset: entry.unset,
        project: entry.around.project.clone(),
        resolve: Arc::new(move |_| {
            declared
                .resolve(&Environment::of_process())
                .map_err(|error| format!("failed to {error}"))
        }),
        ..Member::plain(entry.spec.clone(), entry.origin.clone())
    }
}
