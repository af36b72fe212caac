//! The setup of a host: the plan made from all configuration files, and the state.

use std::path::PathBuf;
use std::sync::Arc;

use toolgate_config::{
    ConfigSources, Environment, Home, LastGoodFiles, Plan, PlanEntry, StartStatus, load, reload,
    watched_paths,
};
use toolgate_fleet::FleetServer;
use toolgate_model::{CapabilityKind, ConfigScope, ErrorCode, ServerName, ServerState, StartBlock};
use toolgate_store::{Consent, ConsentSet, StateStore};

use crate::HostError;

/// Reads only the files. The state is not opened, and every consent counts as given.
pub fn read_files(sources: &ConfigSources) -> Result<Plan, HostError> {
    Ok(load(sources, &|_, _| true, &Environment::of_process())?)
}

/// The plan and the state. Each clone reloads the files independently.
#[derive(Clone)]
pub struct Setup {
    options: ConfigSources,
    plan: Plan,
    store: Arc<StateStore>,
    last_good: LastGoodFiles,
}

impl Setup {
    /// Reads the files and opens the state.
    pub async fn load(options: ConfigSources) -> Result<Self, HostError> {
        options.home.create()?;
        let store = Arc::new(StateStore::open(options.home.state_db()).await?);
        let mut last_good = LastGoodFiles::default();
        let plan = read(&options, &store, &mut last_good).await?;
        Ok(Self { options, plan, store, last_good })
    }

    /// Reads the files again.
    ///
    /// If a file now has an error and lacks a server or setting it had before, its last good
    /// content stays in force ([`LastGoodFiles`]). A deleted file no longer counts. If reloading
    /// fails altogether, the plan does not change.
    pub async fn reload(&mut self) -> Result<(), HostError> {
        self.plan = read(&self.options, &self.store, &mut self.last_good).await?;
        Ok(())
    }

    /// Returns the plan: the declared servers, the settings and the problems in the files.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns every file to watch for changes: the configuration files, and files whose content is
    /// part of a server's identity.
    pub fn files(&self) -> Vec<PathBuf> {
        watched_paths(&self.options).into_iter().chain(self.plan.bound_files()).collect()
    }

    /// Returns the home.
    pub fn home(&self) -> &Home {
        &self.options.home
    }

    /// Returns the state of the home.
    pub fn store(&self) -> Arc<StateStore> {
        self.store.clone()
    }

    /// Returns the names of a server's tools from its cached catalog, without starting it.
    pub async fn cached_tools(&self, server: &str) -> Result<Vec<String>, HostError> {
        let entry = self.entry(server)?;
        let cached = self.store.catalog(&entry.spec.name, &entry.spec.digest()).await?;
        let tools = cached.iter().flat_map(|it| it.catalog.definitions(CapabilityKind::Tool));
        Ok(tools.map(|tool| tool.name.to_string()).collect())
    }

    /// Returns the entry of a server.
    pub fn entry(&self, name: &str) -> Result<&PlanEntry, HostError> {
        let known = ServerName::new(name).ok();
        let entry = known.and_then(|name| self.plan.entry(&name));
        entry.ok_or_else(|| HostError::NoServer(name.to_owned()))
    }

    /// Returns every consent given in this home, by server and newest first. This includes consents
    /// for servers that are no longer declared, or whose declaration changed.
    pub async fn consents(&self) -> Result<Vec<Consent>, HostError> {
        Ok(self.store.consents().await?)
    }

    /// Records the consent to start this server, exactly as declared now.
    pub async fn consent(&mut self, name: &str) -> Result<(), HostError> {
        let entry = self.entry(name)?;
        let (server, digest) = (entry.spec.name.clone(), entry.identity());
        self.store.give_consent(&server, &digest, &entry.consent_text()).await?;
        self.reload().await
    }

    /// Revokes the consent for a server. Returns false if there was none.
    pub async fn revoke(&mut self, name: &str) -> Result<bool, HostError> {
        let server = ServerName::new(name)?;
        let revoked = self.store.revoke_consents(&server).await?;
        self.reload().await?;
        Ok(revoked)
    }

    /// Records that the user trusts this server, as declared now: its tools need no approval.
    pub async fn trust(&mut self, name: &str) -> Result<(), HostError> {
        let entry = self.entry(name)?;
        let (server, digest) = (entry.spec.name.clone(), entry.identity());
        self.store.save_trust(&server, &digest).await?;
        self.reload().await
    }

    /// Revokes the trust for a server. Returns false if there was none.
    pub async fn distrust(&mut self, name: &str) -> Result<bool, HostError> {
        let server = ServerName::new(name)?;
        let taken = self.store.revoke_trust(&server).await?;
        self.reload().await?;
        Ok(taken)
    }
}

async fn read(
    options: &ConfigSources,
    store: &StateStore,
    last_good: &mut LastGoodFiles,
) -> Result<Plan, HostError> {
    let consents: ConsentSet = store.consents().await?.into_iter().collect();
    let (sources, mut good) = (options.clone(), last_good.clone());
    // Read on a blocking thread, so that a slow disk does not delay calls.
    let reading = tokio::task::spawn_blocking(move || {
        let given = |name: &ServerName, digest: &_| consents.contains(name, digest);
        let plan = reload(&sources, &given, &Environment::of_process(), &mut good)?;
        Ok::<_, HostError>((plan, good))
    });
    let (mut plan, good) = reading.await??;
    *last_good = good;
    // A project file cannot grant trust. Only the user's recorded trust for exactly this server
    // counts.
    let trusts = store.trusts().await?;
    for entry in plan.entries.iter_mut().filter(|entry| entry.origin.scope == ConfigScope::Project)
    {
        let identity = entry.identity();
        entry.spec.trust = trusts.iter().any(|trust| trust.is_for(&entry.spec.name, &identity));
    }
    Ok(plan)
}

/// Converts a plan entry at position `place` into a server for the fleet.
pub(crate) fn fleet_server(entry: &PlanEntry, place: usize) -> FleetServer {
    let initial_state = match &entry.start_status {
        StartStatus::Ready => ServerState::NotStarted,
        StartStatus::Disabled => ServerState::Disabled,
        StartStatus::NeedsConsent => ServerState::Blocked(StartBlock {
            hint: Some(format!(
                "run `toolgate consent {}` to review and allow it",
                entry.spec.name
            )),
            ..StartBlock::new(ErrorCode::ConsentNeeded, "needs consent")
        }),
        StartStatus::Blocked(block) => ServerState::Blocked(block.clone()),
    };
    let declared = entry.clone();
    FleetServer {
        place,
        initial_state,
        has_unset_variable: entry.has_unset_variable,
        project: entry.variable_context.project.clone(),
        resolve: Arc::new(move |_| {
            declared.resolve(&Environment::of_process()).map_err(|error| (&error).into())
        }),
        ..FleetServer::from_spec(entry.spec.clone(), entry.origin.clone())
    }
}
