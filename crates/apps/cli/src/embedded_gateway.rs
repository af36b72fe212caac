//! A host with its gateway, embedded in this process.

use std::sync::Arc;
use std::time::Duration;

use toolgate_context::Names;
use toolgate_gateway::{ClientProcesses, Gateway, Options};
use toolgate_host::pins::LockFile;
use toolgate_host::{
    ConfigScope, Diagnostic, DiagnosticSeverity, Host, HostError, Plan, ServerState, Setup, json,
};
use toolgate_wire::Revision;

use crate::cli_context::CliContext;
use crate::control::{ConfigFinding, ControlHandler};
use crate::exit::{CliError, Result};
use crate::local_context::LocalContext;
use crate::operator::OperatorVerifier;
use crate::out;
use crate::suggest::{check_profile, unknown_server_error};

/// Options for opening an [`EmbeddedGateway`].
#[derive(Debug, Default)]
pub struct EmbeddedGatewayOptions<'a> {
    /// Load only this server.
    pub only: Option<&'a str>,
    /// Start each server only when it is first used.
    pub idle: bool,
    /// Accept only this revision.
    pub strict: Option<Revision>,
    /// How long a parked call waits for its client's answer.
    pub park: Option<Duration>,
    /// Do not print the findings about the config files; the verb prints them itself.
    pub quiet: bool,
    /// The gateway serves clients, so refuse to open if none of the declared servers is usable.
    pub serving: bool,
    /// The profile of clients that choose none.
    pub profile: Option<&'a str>,
    /// The URL at which clients reach the gateway.
    pub endpoint: Option<String>,
    /// The lock file that restricts what may be started, listed and called.
    pub lock: Option<LockFile>,
}

impl<'a> EmbeddedGatewayOptions<'a> {
    /// Returns options that start no server, for requests about what is known.
    pub fn idle() -> Self {
        Self { idle: true, ..Self::default() }
    }

    /// Returns options that start no server and print no findings.
    pub fn idle_and_quiet() -> Self {
        Self { quiet: true, ..Self::idle() }
    }

    /// Returns options that load only this server.
    pub fn single_server(server: &'a str) -> Self {
        Self { only: Some(server), ..Self::default() }
    }
}

/// A running host with its gateway and control handler.
pub struct EmbeddedGateway {
    /// The handler of control requests.
    pub control: ControlHandler,
    gateway: Gateway,
    park: Option<Duration>,
    profile: Option<String>,
}

impl EmbeddedGateway {
    /// Reads the config files and starts the servers in the background.
    pub async fn open(
        context: &CliContext,
        options: EmbeddedGatewayOptions<'_>,
    ) -> Result<Arc<Self>> {
        let mut setup_options = context.setup_options()?;
        setup_options.own_endpoints.extend(options.endpoint.clone());
        let setup = Setup::load(setup_options.clone()).await?;
        if options.serving {
            check_usable(setup.plan())?;
        }
        if let Some(profile) = options.profile {
            check_profile(setup.plan(), profile)?;
        }
        let findings: Vec<_> = setup.plan().diagnostics.iter().map(ConfigFinding::from).collect();
        let local_context = LocalContext::of(context);
        // If the named server is missing, a finding may explain why.
        let host = start_host(setup.clone(), &options, &local_context)
            .await
            .inspect_err(|_| out::print_findings_summary(&findings, context.verbose))?;
        let EmbeddedGatewayOptions { strict, park, profile, endpoint, .. } = options;
        let operators = OperatorVerifier::of(&context.home, ClientProcesses::default());
        let gateway = build_gateway(&host, strict, park, &operators.clients);
        let control =
            ControlHandler::new(host, setup, setup_options, endpoint, local_context, operators);
        Ok(Arc::new(Self { control, gateway, park, profile: profile.map(str::to_owned) }))
    }

    /// Returns the gateway for a client. `strict` restricts it to one revision; without `profile`
    /// the client gets the default profile.
    pub fn gateway(&self, strict: Option<Revision>, profile: Option<&str>) -> Gateway {
        let gateway = match strict {
            Some(_) => {
                let ControlHandler { host, operators, .. } = &self.control;
                build_gateway(host, strict, self.park, &operators.clients)
            }
            None => self.gateway.clone(),
        };
        gateway.with_default_profile(profile.or(self.profile.as_deref()))
    }

    /// Stops every server.
    pub async fn close(&self) {
        self.control.host.close().await;
    }
}

fn build_gateway(
    host: &Host,
    strict: Option<Revision>,
    park: Option<Duration>,
    clients: &ClientProcesses,
) -> Gateway {
    let health_host = host.clone();
    let health = Arc::new(move || {
        let servers = health_host.servers();
        let up = servers.iter().filter(|status| status.state == ServerState::Connected).count();
        json!({ "declared": servers.len(), "connected": up })
    });
    let defaults = Options::default();
    let park = park.unwrap_or(defaults.park_timeout);
    Gateway::new(
        host.gate().clone(),
        Options { strict, health, park_timeout: park, clients: clients.clone(), ..defaults },
    )
}

/// Fails if a user or system file has an error and no server can be loaded: the built-in servers
/// are only for users who declare none. Errors in project files do not count, because these files
/// only propose servers.
fn check_usable(plan: &Plan) -> Result<()> {
    let is_fault = |found: &&Diagnostic| {
        found.severity == DiagnosticSeverity::Error && found.origin.scope != ConfigScope::Project
    };
    match plan.diagnostics.iter().find(is_fault) {
        Some(fault) if plan.entries.is_empty() => {
            let message = format!("invalid configuration: {}: {}", fault.origin, fault.message);
            Err(CliError { code: fault.code, message, hint: fault.hint.clone() })
        }
        _ => Ok(()),
    }
}

async fn start_host(
    setup: Setup,
    options: &EmbeddedGatewayOptions<'_>,
    local_context: &LocalContext,
) -> Result<Host> {
    let entries = setup.plan().entries.iter();
    let names: Vec<_> = entries.map(|entry| entry.spec.name.clone()).collect();
    let mut builder = Host::builder().setup(setup).sample_if_empty();
    // A run with a single declared server does not use the local context.
    if options.only.is_none_or(|only| names.iter().all(|name| name.as_str() != only)) {
        local_context.refresh().await;
    }
    let checked = local_context.clone();
    builder = builder
        .context(local_context.server(Names::Toolgate), move || checked.has_documents())
        .context_with_names(Names::SecondBrain, local_context.server(Names::SecondBrain));
    if let Some(name) = options.only {
        builder = builder.only_server(name);
    }
    if options.idle {
        builder = builder.idle();
    }
    if let Some(lock) = &options.lock {
        builder = builder.frozen(lock.clone());
    }
    builder.start().await.map_err(|error| match error {
        HostError::NoServer(name) => {
            unknown_server_error(&name, names.iter().map(|name| name.as_str()))
        }
        error => error.into(),
    })
}
