//! Where questions are answered: beside the host they are about.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::watch;
use toolgate_host::approvals::Broker;
use toolgate_host::{
    Applied, Host, ServerName, ServerState, ServerStatus, Setup, SetupOptions, json,
};
use toolgate_model::ContextSettings;

use super::{
    Compiling, Exposed, Finding, Finds, Inventory, Overview, Owner, Question, Told, checkup, pins,
};
use crate::exit::Failure;
use crate::operator::{Identified, OperatorRules, Operators, Requester};
use crate::stock::Stock;

/// Answers questions about one host.
pub struct Desk {
    host: Host,
    options: SetupOptions,
    /// The files as they were last read. Whoever holds it is the one who reads them again.
    setup: tokio::sync::Mutex<Setup>,
    findings: RwLock<Arc<[Finding]>>,
    endpoint: Option<String>,
    stock: Stock,
    /// What the files say of the local context.
    context: watch::Sender<ContextSettings>,
    operators: Operators,
}

/// What came of reading the files again.
#[derive(Debug, Default)]
pub struct Reloaded {
    /// What became of the servers.
    pub applied: Applied,
    /// Whether something changed that holds for all of them.
    pub settings: bool,
    /// Those of the new and changed ones that may not start, and why.
    pub blocked: Vec<(ServerName, String)>,
    /// What is wrong with the files and was not before.
    pub news: Vec<Finding>,
}

impl Reloaded {
    /// Whether everything is as before.
    pub fn is_nothing(&self) -> bool {
        self.applied.is_nothing() && !self.settings && self.news.is_empty()
    }
}

impl Desk {
    /// A desk beside a host that was started from these files, with this local context.
    pub fn new(
        host: Host,
        setup: Setup,
        options: SetupOptions,
        endpoint: Option<String>,
        stock: Stock,
        operators: Operators,
    ) -> Self {
        let findings = RwLock::new(findings(&setup).into());
        let context = watch::Sender::new(setup.plan().settings.context.clone());
        let setup = setup.into();
        Self { host, options, setup, findings, endpoint, stock, context, operators }
    }

    /// Who may change something here.
    pub fn operators(&self) -> &Operators {
        &self.operators
    }

    /// Identifies an operator, or says why it is none.
    pub async fn identify(&self, asker: &Requester) -> Result<Identified, Failure> {
        let rules = OperatorRules::from(self.setup.lock().await.plan());
        self.operators.identify(rules, asker).await
    }

    /// The local context.
    pub fn stock(&self) -> &Stock {
        &self.stock
    }

    /// What the files say of it, now and after each change.
    pub fn context_settings(&self) -> watch::Receiver<ContextSettings> {
        self.context.subscribe()
    }

    /// The host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// What is wrong with the files.
    pub fn findings(&self) -> Arc<[Finding]> {
        self.findings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Every file whose change may mean something.
    pub async fn files(&self) -> Vec<PathBuf> {
        self.setup.lock().await.files()
    }

    /// Reads the files again and takes over what they say now. One at a time: who comes later
    /// reads later, so the newest word is the last.
    pub async fn reload(&self) -> Result<Reloaded, Failure> {
        let mut setup = self.setup.lock().await;
        let settings = setup.plan().settings.clone();
        if let Err(error) = setup.reload().await {
            let failure = Failure::from(error);
            self.refused(&failure);
            return Err(failure);
        }
        self.stock.look().await;
        let applied = self.host.apply(setup.plan()).await;
        let context = &setup.plan().settings.context;
        self.context.send_if_modified(|known| {
            let news = known != context;
            known.clone_from(context);
            news
        });
        let (before, now) = (self.findings(), findings(&setup));
        let is_new = |it: &&Finding| !before.iter().any(|old| old.text == it.text);
        let news = now.iter().filter(is_new).cloned().collect();
        self.found(now);
        let (blocked, settings) = (self.blocked(&applied), settings != setup.plan().settings);
        Ok(Reloaded { applied, settings, blocked, news })
    }

    fn blocked(&self, applied: &Applied) -> Vec<(ServerName, String)> {
        let touched =
            |name: &ServerName| applied.added.contains(name) || applied.changed.contains(name);
        let servers = self.host.servers().servers.into_iter();
        let reason = |status: ServerStatus| match status.state {
            ServerState::Blocked(reason) => Some((status.spec.name, reason)),
            _ => None,
        };
        servers.filter(|status| touched(&status.spec.name)).filter_map(reason).collect()
    }

    /// Files that could not be read again are wrong until they can be.
    fn refused(&self, failure: &Failure) {
        let text =
            format!("the files cannot be read again, the old ones count: failed to {failure}");
        let mut findings = self.findings().to_vec();
        if !findings.iter().any(|finding| finding.text == text) {
            findings.push(Finding::error(text));
        }
        self.found(findings);
    }

    fn found(&self, findings: Vec<Finding>) {
        *self.findings.write().unwrap_or_else(PoisonError::into_inner) = findings.into();
    }

    /// Answers, as JSON. What changes something is for operators only.
    pub async fn answer(
        &self,
        question: &Question,
        asker: &Requester,
    ) -> Result<Box<RawValue>, Failure> {
        let by = match question {
            Question::SetPassphrase { new } => {
                let rules = OperatorRules::from(self.setup.lock().await.plan());
                let identified = self.operators.set_passphrase(rules, asker, new.clone()).await?;
                self.note("passphrase", identified);
                return raw(&self.operators.has_passphrase());
            }
            question if question.is_for_operators() => {
                let identified = self.identify(asker).await?;
                if let Question::Authorize { change } = question {
                    self.note(change, identified);
                }
                identified.by()
            }
            _ => String::new(),
        };
        match question {
            Question::MayChange | Question::Authorize { .. } | Question::SetPassphrase { .. } => {
                raw(&true)
            }
            Question::Owner => raw(&self.owner()),
            Question::Servers { wait_ms } => {
                let wait = Duration::from_millis(*wait_ms);
                // Whoever is still on his way then is shown on his way.
                let _ = tokio::time::timeout(wait, self.host.settled()).await;
                raw(&Overview::of(&self.host, &self.findings()))
            }
            Question::Profile { name } => {
                self.host.knows_profile(name)?;
                raw(&true)
            }
            Question::Discover { server, profile } => {
                self.host.knows_profile(profile)?;
                let status = self.host.settled_one(server).await.map_err(|_| self.no(server))?;
                raw(&Inventory::of(&*self.host.exposure(profile)?, &status))
            }
            Question::DiscoverAll { profile, wait_ms } => {
                self.host.knows_profile(profile)?;
                let wait = Duration::from_millis(*wait_ms);
                let _ = tokio::time::timeout(wait, self.host.settled()).await;
                let exposure = self.host.exposure(profile)?;
                let servers = self.host.servers().servers;
                let all = servers.iter().map(|status| Inventory::of(&exposure, status));
                raw(&all.collect::<Vec<_>>())
            }
            Question::Exposure { profile } => raw(&Exposed::of(&self.host, profile)?),
            Question::Search { profile, query, limit } => {
                raw(&Finds::of(&self.host, profile, query, *limit).await?)
            }
            Question::Uri { server, uri } => raw(&self.host.uri_for(server, uri)),
            Question::Compile { server } => {
                let servers = self.host.servers().servers;
                let meant = servers.iter().find(|status| status.spec.name.as_str() == server);
                raw(&Compiling::of(meant.ok_or_else(|| self.no(server))?))
            }
            Question::Doctor { server } => {
                let mut servers = self.host.servers().servers;
                if let Some(name) = server {
                    servers.retain(|status| status.spec.name.as_str() == name);
                    if servers.is_empty() {
                        return Err(self.no(name));
                    }
                }
                raw(&checkup::of(&self.host, &servers, &self.findings()).await)
            }
            Question::Standings => raw(&self.host.standings()),
            Question::Approvals { asked } => asked.answer(self.broker()?, &by).await,
            Question::Untaint { caller } => {
                let cleared = self.host.gate().clear_taint(caller.as_deref());
                let detail = serde_json::json!({ "callers": cleared, "by": by }).to_string();
                self.host.gate().note("taint-cleared", None, &detail);
                raw(&cleared)
            }
            Question::Explain(supposed) => {
                let told = Told::of(&self.host, supposed)?;
                raw(&told.ok_or_else(|| self.no(&supposed.server))?)
            }
            Question::Pins { asked } => {
                let setup = self.setup.lock().await.clone();
                pins::answer(&self.host, &setup, asked, &by).await
            }
            Question::Keys { asked } => {
                let gate = self.host.gate();
                let keys = gate.keys();
                let keys =
                    keys.ok_or_else(|| Failure::failed("find keys: this host keeps none"))?;
                asked.answer(keys, |kind, detail| gate.note(kind, None, detail)).await
            }
            Question::Reconsider { server } => raw(&self.reconsider(server).await?),
        }
    }

    /// Puts on record what an operator does elsewhere.
    fn note(&self, change: &str, identified: Identified) {
        let detail = json!({ "change": change, "by": identified.by() }).to_string();
        self.host.gate().note("operator", None, &detail);
    }

    fn broker(&self) -> Result<&Broker, Failure> {
        let broker = self.host.gate().approvals().map(|broker| &**broker);
        broker.ok_or_else(|| Failure::failed("find approvals: this host keeps none"))
    }

    /// Reads the files again, with the consents given by now. `false` if they do not have this
    /// server.
    async fn reconsider(&self, server: &str) -> Result<bool, Failure> {
        self.reload().await?;
        Ok(self.setup.lock().await.entry(server).is_ok())
    }

    fn owner(&self) -> Owner {
        Owner {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            endpoint: self.endpoint.clone(),
            config: self.options.config.clone(),
            project: self.options.project_dir.clone(),
            passphrase: self.operators.has_passphrase(),
        }
    }

    fn no(&self, server: &str) -> Failure {
        let servers = self.host.servers().servers;
        no_server(server, servers.iter().map(|status| status.spec.name.as_str()))
    }
}

fn findings(setup: &Setup) -> Vec<Finding> {
    setup.plan().diagnostics.iter().map(Finding::from).collect()
}

/// There is no server of this name among these.
pub fn no_server<'n>(server: &str, names: impl Iterator<Item = &'n str>) -> Failure {
    let names: Vec<_> = names.collect();
    let hint = match &names[..] {
        [] => "none is declared, only the built-in `context` is there; `toolgate serve` writes a config \
              to begin with"
            .to_owned(),
        names => {
            format!("there are {}; `toolgate servers` says how they stand", names.join(", "))
        }
    };
    Failure::failed(format!("find a server named `{server}`")).hint(hint)
}

pub(super) fn raw(answer: &impl Serialize) -> Result<Box<RawValue>, Failure> {
    serde_json::value::to_raw_value(answer)
        .map_err(|error| Failure::failed(format!("write the answer: {error}")))
}
