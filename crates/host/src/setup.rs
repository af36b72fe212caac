//! What a host is started from: the plan made of all config files, and the state beside it.

use std::path::PathBuf;
use std::sync::Arc;

use toolgate_config::{Entry, Home, Plan, Sources, Standing, load};
use toolgate_fleet::Member;
use toolgate_model::{ServerName, ServerState};
use toolgate_store::{Consent, ConsentSet, SqliteState, State};

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

/// The plan and the state, before anything is started.
pub struct Setup {
    options: SetupOptions,
    plan: Plan,
    store: Arc<dyn State>,
}

impl Setup {
    /// Reads the files and opens the state.
    pub async fn load(options: SetupOptions) -> Result<Self, HostError> {
        options.home.create()?;
        let store: Arc<dyn State> = Arc::new(SqliteState::open(options.home.state_db()).await?);
        let plan = read(&options, &*store).await?;
        Ok(Self { options, plan, store })
    }

    /// The servers as declared, and what is wrong with the files.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Where everything lies.
    pub fn home(&self) -> &Home {
        &self.options.home
    }

    pub(crate) fn store(&self) -> Arc<dyn State> {
        self.store.clone()
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
        self.plan = read(&self.options, &*self.store).await?;
        Ok(())
    }

    /// Takes a consent back. `false` if there was none.
    pub async fn revoke(&mut self, name: &str) -> Result<bool, HostError> {
        let server = ServerName::new(name)?;
        let revoked = self.store.revoke(&server).await?;
        self.plan = read(&self.options, &*self.store).await?;
        Ok(revoked)
    }
}

async fn read(options: &SetupOptions, store: &dyn State) -> Result<Plan, HostError> {
    let consents: ConsentSet = store.consents().await?.into_iter().collect();
    let sources = Sources {
        config: options.config.clone(),
        project_dir: options.project_dir.clone(),
        own_endpoints: options.own_endpoints.clone(),
        home: options.home.clone(),
    };
    let given = |name: &ServerName, digest: &_| consents.given(name, digest);
    Ok(load(&sources, &given, &environment)?)
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// An entry of the plan as the fleet takes it.
pub(crate) fn member(entry: &Entry) -> Member {
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
        standing,
        resolve: Arc::new(move |_| {
            declared.resolve(&environment).map_err(|error| format!("failed to {error}"))
        }),
        ..Member::plain(entry.spec.clone(), entry.origin.clone())
    }
}
