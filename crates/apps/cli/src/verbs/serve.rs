//! `serve`: every server behind one endpoint, until a signal ends it.

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
use crate::context::Context;
use crate::ending::{self, Ending, Stop};
use crate::exit::{Exit, Failure, chain};
use crate::owner::{self, Claim};
use crate::reach::Living;
use crate::reload::Reloading;
use crate::station::{Station, Terms};
use crate::{following, holder, out};

#[derive(Debug, Args)]
#[command(after_help = "The first line on stdout is the endpoint's address.\n\n\
    Examples:\n  toolgate serve\n  toolgate serve --listen 127.0.0.1:0\n  toolgate serve --stdio\n  \
    toolgate serve --frozen")]
pub struct Serve {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7420")]
    listen: String,
    /// Serve one client on stdin and stdout instead
    #[arg(long, conflicts_with = "listen")]
    stdio: bool,
    /// Speak this MCP revision and refuse every other
    #[arg(long, value_name = "REVISION", value_parser = revision)]
    protocol: Option<Revision>,
    /// How long a call waits for the answers of a client without a session (2026-07-28)
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = parse_duration)]
    park: Duration,
    /// Start, list and call nothing that is not in the lock file exactly so
    #[arg(long)]
    frozen: bool,
    /// The lock file
    #[arg(long, value_name = "FILE", default_value = LOCK_FILE, requires = "frozen")]
    lock: PathBuf,
}

fn revision(text: &str) -> Result<Revision, String> {
    text.parse()
        .map_err(|_| format!("there are {}", Revision::ALL.map(Revision::as_str).join(", ")))
}

pub async fn run(context: &Context, options: &Serve) -> Result<Exit, Failure> {
    let lock = options.frozen.then(|| lock::read(&options.lock)).transpose()?;
    if options.stdio {
        return stdio::run(context, options.protocol, options.park, lock).await;
    }
    let address = loopback(&options.listen).await?;
    let claim = match owner::claim(&context.home)? {
        Some(claim) => claim,
        None => return Err(taken(context).await),
    };
    let listener = bind(address).await?;
    let (stop, ending) = ending::on_signal()?;
    let address = listener.local_addr().unwrap_or(address);
    let endpoint = format!("http://{address}/mcp");
    if let Some(created) = context.first_run()? {
        out::note(&format!("created {}", created.display()));
    }
    let terms = Terms {
        strict: options.protocol,
        park: Some(options.park),
        serving: true,
        profile: context.profile.as_deref(),
        endpoint: Some(endpoint.clone()),
        lock,
        ..Terms::default()
    };
    let reloading = Reloading::new(&context.options()?)?;
    let station = Station::open(context, terms).await?;
    announce(context, &station, address, &endpoint);
    let reloads = ending.clone().or(reloading.run(station.desk()));
    let follows = ending.clone().or(following::follow(station.desk()));
    let served = serve(&station, &claim, listener, (stop, ending));
    let (served, (), ()) = tokio::join!(served, reloads, follows);
    served?;
    Ok(Exit::Done)
}

async fn serve(
    station: &Arc<Station>,
    claim: &Claim,
    listener: TcpListener,
    (stop, ending): (Stop, Ending),
) -> Result<(), Failure> {
    let clients = async {
        let gateway = station.gateway(None, None);
        let served = gateway.serve_http(listener, ending.clone().reached()).await;
        stop.now();
        served
    };
    let (served, ()) = tokio::join!(clients, owner::serve(claim, station, &ending));
    station.close().await;
    served.map_err(|error| Failure::failed(chain(&error)))
}

/// Where to listen. Only this machine may come in: keys would pass other networks in the clear.
async fn loopback(listen: &str) -> Result<SocketAddr, Failure> {
    let example = "for example --listen 127.0.0.1:7420";
    let unknown = |why: String| Failure::usage(format!("listen on {listen}: {why}")).hint(example);
    let mut found = lookup_host(listen).await.map_err(|error| unknown(error.to_string()))?;
    let address = found.next().ok_or_else(|| unknown("it is no address".to_owned()))?;
    if !address.ip().is_loopback() {
        return Err(Failure::usage(format!(
            "listen on {listen}: other machines could use every server, and there is no \
             authorization yet"
        ))
        .hint(format!("listen on this machine alone, {example}")));
    }
    Ok(address)
}

async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            let by = match holder::of(address) {
                Some(holder) => format!("by {} (process {})", holder.program, holder.pid),
                None => "by another process".to_owned(),
            };
            Failure::failed(format!("listen on {address}: the port is taken {by}")).hint(
                "take a free port with --listen 127.0.0.1:0, or use what serves there already",
            )
        }
        _ => Failure::failed(format!("listen on {address}: {error}")),
    })
}

/// Somebody else owns the home.
async fn taken(context: &Context) -> Failure {
    let home = context.home.state_dir().display();
    let who = match Living::at(context).await.map(|living| living.owner) {
        Some(owner) => match owner.endpoint {
            Some(endpoint) => format!("process {} serves it at {endpoint}", owner.pid),
            None => format!("process {} serves it on its stdin and stdout", owner.pid),
        },
        None => "another toolgate owns it".to_owned(),
    };
    Failure::failed(format!("serve {home}: {who}"))
        .hint("connect to that one, or name another home with --home DIR")
}

/// The endpoint on stdout, for scripts; the rest on stderr, for people.
fn announce(context: &Context, station: &Station, address: SocketAddr, endpoint: &str) {
    // Nobody reading it is no reason not to serve.
    let _ = out::line(endpoint);
    let desk = station.desk();
    out::faults(&desk.findings(), context.verbose);
    let servers = desk.host().servers().servers;
    let (built_in, declared): (Vec<_>, Vec<_>) =
        servers.iter().partition(|status| status.origin.file.is_none());
    let idle = declared.iter().all(|status| !status.spec.enabled);
    out::note(&match built_in.first().filter(|_| idle) {
        Some(only) => {
            format!("no server is enabled yet: serving the built-in `{}`", only.spec.name)
        }
        None => {
            let starting = declared.iter().filter(|status| !status.state.is_settled()).count();
            format!("serving {starting} of {} declared servers", declared.len())
        }
    });
    for status in &servers {
        if let ServerState::Blocked(reason) = &status.state {
            out::note(&format!("  {}: blocked: {}", status.spec.name, out::visible(reason)));
        }
    }
    if !toolgate_gateway::tells_who_connects(address) {
        out::note(&format!(
            "{} this system does not tell who connects: every user of this machine can use the \
             gateway; `posture = \"governed\"` requires a key",
            out::cyan("note:")
        ));
    }
    let guarantee = desk.host().guarantee();
    if guarantee < TreeGuarantee::Namespace {
        out::note(&format!("{} {guarantee}", out::cyan("note:")));
    }
    out::note(&format!(
        "{} connect a client, for example: toolgate install claude-code --http (--list has the others)",
        out::cyan("hint:")
    ));
}
