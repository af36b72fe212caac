//! A host and the gateway before it, in this process.

use std::sync::Arc;
use std::time::Duration;

use toolgate_context::Names;
use toolgate_gateway::{ClientProcesses, Gateway, Health, Options};
use toolgate_host::pins::Lock;
use toolgate_host::{Diagnostic, Host, HostError, Plan, Scope, ServerState, Setup, Severity, json};
use toolgate_wire::Revision;

use crate::context::Context;
use crate::control::{Desk, Finding, no_server};
use crate::exit::Failure;
use crate::operator::Operators;
use crate::stock::Stock;
use crate::{out, profiles};

/// How a station is opened.
#[derive(Debug, Default)]
pub struct Terms<'a> {
    /// Have this server and no other.
    pub only: Option<&'a str>,
    /// Start no server before it is used.
    pub idle: bool,
    /// Speak this revision and refuse every other.
    pub strict: Option<Revision>,
    /// How long a call waits for a client that was asked something.
    pub park: Option<Duration>,
    /// Say nothing about the files: whoever asks tells it himself.
    pub quiet: bool,
    /// Clients are to be served: not with something else than the files meant.
    pub serving: bool,
    /// What clients see that choose no profile.
    pub profile: Option<&'a str>,
    /// The address clients reach it at.
    pub endpoint: Option<String>,
    /// What alone may be started, listed and called.
    pub lock: Option<Lock>,
}

impl<'a> Terms<'a> {
    /// With one server: nobody asked for the others.
    pub fn only(server: &'a str) -> Self {
        Self { only: Some(server), ..Self::default() }
    }
}

/// A host that is up, and how clients get to it.
pub struct Station {
    desk: Desk,
    gateway: Gateway,
    park: Option<Duration>,
    profile: Option<String>,
}

impl Station {
    /// Reads the plan and starts what it says, in the background.
    pub async fn open(context: &Context, terms: Terms<'_>) -> Result<Arc<Self>, Failure> {
        let mut options = context.options()?;
        options.own_endpoints.extend(terms.endpoint.clone());
        let setup = Setup::load(options.clone()).await?;
        if terms.serving {
            usable(setup.plan())?;
        }
        if let Some(profile) = terms.profile {
            profiles::known(setup.plan(), profile)?;
        }
        let findings: Vec<_> = setup.plan().diagnostics.iter().map(Finding::from).collect();
        // A server that is not there may be one of these.
        let stock = Stock::of(context);
        let host = start(setup.clone(), &terms, &stock)
            .await
            .inspect_err(|_| out::faults(&findings, context.verbose))?;
        let (strict, park) = (terms.strict, terms.park);
        let operators = Operators::of(&context.home, ClientProcesses::default());
        let clients = operators.clients();
        let gateway = gateway(&host, strict, park, clients);
        let profile = terms.profile.map(str::to_owned);
        let desk = Desk::new(host, setup, options, terms.endpoint, stock, operators);
        Ok(Arc::new(Self { desk, gateway, park, profile }))
    }

    /// Where questions about it are answered.
    pub fn desk(&self) -> &Desk {
        &self.desk
    }

    /// The gateway, for a client that is strict about its revision or not, and wants to see with
    /// this profile or has no wish.
    pub fn gateway(&self, strict: Option<Revision>, profile: Option<&str>) -> Gateway {
        let gateway = match strict {
            Some(_) => {
                let clients = self.desk.operators().clients();
                gateway(self.desk.host(), strict, self.park, clients)
            }
            None => self.gateway.clone(),
        };
        gateway.showing(profile.or(self.profile.as_deref()))
    }

    /// Ends every server.
    pub async fn close(&self) {
        self.desk.host().close().await;
    }
}

fn gateway(
    host: &Host,
    strict: Option<Revision>,
    park: Option<Duration>,
    clients: &ClientProcesses,
) -> Gateway {
    let counted = host.clone();
    let health = Health::new(move || {
        let servers = counted.servers().servers;
        let up = servers.iter().filter(|status| status.state == ServerState::Connected).count();
        json!({ "declared": servers.len(), "connected": up })
    });
    let usual = Options::default();
    let park = park.unwrap_or(usual.park);
    Gateway::new(
        host.gate().clone(),
        Options { strict, health, park, clients: clients.clone(), ..usual },
    )
}

/// Fails where the user's own files declare servers and not one of them can be understood: the
/// built-in servers are for those who declared none. A project's files only propose.
fn usable(plan: &Plan) -> Result<(), Failure> {
    let is_fault = |found: &&Diagnostic| {
        found.severity == Severity::Error && found.origin.scope != Scope::Project
    };
    match plan.diagnostics.iter().find(is_fault) {
        Some(fault) if plan.entries.is_empty() => {
            let what = format!("use the configuration: {}: {}", fault.origin, fault.message);
            Err(Failure { hint: fault.hint.clone(), ..Failure::usage(what) })
        }
        _ => Ok(()),
    }
}

async fn start(setup: Setup, terms: &Terms<'_>, stock: &Stock) -> Result<Host, Failure> {
    let entries = setup.plan().entries.iter();
    let names: Vec<_> = entries.map(|entry| entry.spec.name.clone()).collect();
    let mut builder = Host::builder().setup(setup).sample_if_empty();
    // Who wants one declared server has no use for what the local context holds.
    if terms.only.is_none_or(|only| names.iter().all(|name| name.as_str() != only)) {
        stock.look().await;
    }
    let held = stock.clone();
    builder = builder
        .context(stock.server(Names::Toolgate), move || held.holds())
        .context_named(Names::SecondBrain, stock.server(Names::SecondBrain));
    if let Some(name) = terms.only {
        builder = builder.only(name);
    }
    if terms.idle {
        builder = builder.idle();
    }
    if let Some(lock) = &terms.lock {
        builder = builder.frozen(lock.clone());
    }
    builder.start().await.map_err(|error| match error {
        HostError::NoServer(name) => no_server(&name, names.iter().map(|name| name.as_str())),
        error => error.into(),
    })
}
