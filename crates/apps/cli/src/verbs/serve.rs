//! `serve`: serves every server through one endpoint until a signal stops it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::net::{TcpListener, lookup_host};
use toolgate_host::{ServerState, TreeGuarantee, parse_duration};
use toolgate_wire::Revision;

use super::lock::{self, LOCK_FILE};
use super::stdio;
use crate::cli_context::CliContext;
use crate::embedded_gateway::{EmbeddedGateway, EmbeddedGatewayOptions};
use crate::exit::{CliError, Exit, Result, cli_error};
use crate::home_claim::{self, HomeClaim};
use crate::reload::ConfigReloader;
use crate::server_access::RunningGateway;
use crate::shutdown::{self, ShutdownSignal};
use crate::{context_folders, listening_process, out};

/// The arguments of `toolgate serve`.
#[derive(Debug, Args)]
#[command(after_help = "The first line on stdout is the URL of the endpoint.\n\n\
    Examples:\n  toolgate serve\n  toolgate serve --listen 127.0.0.1:0\n  toolgate serve --stdio\n  \
    toolgate serve --frozen")]
pub struct ServeArgs {
    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7420")]
    listen: String,
    /// Serve one client on stdin and stdout instead of HTTP
    #[arg(long, conflicts_with = "listen")]
    stdio: bool,
    /// Accept only this MCP revision
    #[arg(long, value_name = "REVISION", value_parser = revision)]
    protocol: Option<Revision>,
    /// How long a call waits for answers of a client without a session (MCP 2026-07-28)
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = parse_duration)]
    park: Duration,
    /// Start, list and call only what matches the lock file
    #[arg(long)]
    frozen: bool,
    /// Lock file for --frozen
    #[arg(long, value_name = "FILE", default_value = LOCK_FILE, requires = "frozen")]
    lock: PathBuf,
}

fn revision(text: &str) -> Result<Revision, String> {
    text.parse()
        .map_err(|_| format!("expected one of {}", Revision::ALL.map(Revision::as_str).join(", ")))
}

pub async fn run(context: &CliContext, options: &ServeArgs) -> Result<Exit> {
    let lock = options.frozen.then(|| lock::read_lock_file(&options.lock)).transpose()?;
    if options.stdio {
        return stdio::run(context, options.protocol, options.park, lock).await;
    }
    let address = resolve_loopback(&options.listen).await?;
    let claim = match home_claim::claim_home(&context.home)? {
        Some(claim) => claim,
        None => return Err(home_taken_error(context).await),
    };
    let listener = bind(address).await?;
    let ending = shutdown::on_signal()?;
    let address = listener.local_addr().unwrap_or(address);
    let endpoint = format!("http://{address}/mcp");
    if let Some(created) = context.ensure_config()? {
        out::note(&format!("created {}", created.display()));
    }
    let gateway_options = EmbeddedGatewayOptions {
        strict: options.protocol,
        park: Some(options.park),
        serving: true,
        profile: context.profile.as_deref(),
        endpoint: Some(endpoint.clone()),
        lock,
        ..EmbeddedGatewayOptions::default()
    };
    let reloading = ConfigReloader::new(&context.setup_options()?)?;
    let embedded = EmbeddedGateway::open(context, gateway_options).await?;
    announce(context, &embedded, address, &endpoint);
    let clients = async {
        let gateway = embedded.gateway(None, None);
        let served = gateway.serve_http(listener, ending.wait()).await;
        ending.trigger();
        served
    };
    run_gateway(&embedded, Some(&claim), reloading, &ending, clients).await?;
    Ok(Exit::Done)
}

/// Runs until `clients` are served and the shutdown has started. Meanwhile it reloads the config
/// files and, if this process owns the home, serves attached verbs and follows the folders of the
/// local context. Stops all servers at the end.
pub(super) async fn run_gateway<T>(
    embedded: &Arc<EmbeddedGateway>,
    claim: Option<&HomeClaim>,
    reloading: ConfigReloader,
    ending: &ShutdownSignal,
    clients: impl Future<Output = T>,
) -> T {
    let attached = async {
        let Some(claim) = claim else { return };
        let follows = context_folders::follow_folders(&embedded.control);
        let follows = ending.run_until_shutdown(follows);
        tokio::join!(home_claim::serve_control_socket(claim, embedded, ending), follows);
    };
    let reloads = ending.run_until_shutdown(reloading.run(&embedded.control));
    let (served, (), ()) = tokio::join!(clients, attached, reloads);
    embedded.close().await;
    served
}

/// Resolves the listen address. Only loopback is allowed, because keys are sent unencrypted.
async fn resolve_loopback(listen: &str) -> Result<SocketAddr> {
    let example = "use a loopback address, for example --listen 127.0.0.1:7420";
    let unknown =
        |why: &str| cli_error!(GatewayAddress, "cannot listen on {listen}: {why}").hint(example);
    let mut found = lookup_host(listen).await.map_err(|error| unknown(&error.to_string()))?;
    let address = found.next().ok_or_else(|| unknown("it is not an address"))?;
    if !address.ip().is_loopback() {
        let why = "only loopback addresses are allowed, because access keys are sent unencrypted";
        return Err(unknown(why));
    }
    Ok(address)
}

async fn bind(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            let by = match listening_process::find(address) {
                Some((program, pid)) => format!("by {program} (process {pid})"),
                None => "by another process".to_owned(),
            };
            cli_error!(GatewayPort, "cannot listen on {address}: the port is used {by}")
                .hint("use --listen 127.0.0.1:0 for a free port, or connect to the running gateway")
        }
        _ => cli_error!(GatewayPort, "cannot listen on {address}: {error}"),
    })
}

/// Returns the error for a home that another process serves.
async fn home_taken_error(context: &CliContext) -> CliError {
    let home = context.home.state_dir().display();
    let owner = RunningGateway::find_any(context).await;
    let who = match owner.map(|gateway| (gateway.info.pid, gateway.info.endpoint)) {
        Some((pid, Some(endpoint))) => format!("process {pid} serves it at {endpoint}"),
        Some((pid, None)) => format!("process {pid} serves it on its stdin and stdout"),
        None => "another toolgate process serves it".to_owned(),
    };
    cli_error!(GatewayHome, "cannot serve {home}: {who}")
        .hint("connect to that gateway, or use another home with --home DIR")
}

/// Prints the endpoint on stdout for scripts, and everything else on stderr.
fn announce(context: &CliContext, embedded: &EmbeddedGateway, address: SocketAddr, endpoint: &str) {
    // The gateway serves even if stdout is closed.
    let _ = out::line(endpoint);
    let control = &embedded.control;
    out::print_findings_summary(&control.findings(), context.verbose);
    let servers = control.host.servers();
    let (built_in, declared): (Vec<_>, Vec<_>) =
        servers.iter().partition(|status| status.origin.file.is_none());
    let idle = declared.iter().all(|status| !status.spec.enabled);
    out::note(&match built_in.first().filter(|_| idle) {
        Some(only) => {
            format!("no server is enabled yet: serving the built-in `{}`", only.spec.name)
        }
        None => {
            let starting = declared.iter().filter(|status| !status.state.is_settled()).count();
            format!("serving {starting} of {}", out::count(declared.len(), "declared server"))
        }
    });
    for status in &servers {
        if let ServerState::Blocked(block) = &status.state {
            out::note(&format!("  {}: blocked: {block}", status.spec.name));
        }
    }
    if !toolgate_gateway::can_identify_peer(address) {
        out::remark(
            "this system does not identify connecting users, so every user of this machine can \
             use the gateway; set `posture = \"governed\"` to require a key",
        );
    }
    let guarantee = control.host.guarantee();
    if guarantee < TreeGuarantee::Namespace {
        out::remark(&guarantee.to_string());
    }
    out::hint(
        "run `toolgate install claude-code --http` to connect a client (--list shows others)",
    );
}
