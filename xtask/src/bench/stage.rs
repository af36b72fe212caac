//! What is measured, started: an upstream and the ways that lead to it.
//!
//! It does NOT measure, nor decide which core a process runs on.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::binaries::Binaries;
use super::measure;
use super::pinning::{Layout, Pinning, Side};
use super::process::{Server, rss};

/// How many upstreams the gateway has while its idle memory is read.
const IDLE_UPSTREAMS: usize = 10;
/// How long a gateway may take until it lists every tool of its upstreams.
const READY_WITHIN: Duration = Duration::from_secs(30);
/// How long a gateway is left alone before its idle memory is read.
const SETTLE: Duration = Duration::from_secs(2);

/// Where the benchmark works.
#[derive(Debug)]
pub struct Site {
    /// The programs.
    pub binaries: Binaries,
    /// How they are bound to cores.
    pub pinning: Pinning,
    /// Where results go.
    pub results: PathBuf,
    /// Homes, configs and logs of this run.
    pub scratch: PathBuf,
}

impl Site {
    /// Makes the folders.
    pub fn prepare(binaries: Binaries, layout: Layout) -> Result<Self, String> {
        let results = binaries.target.join("bench");
        let scratch = results.join(format!("run-{}", std::process::id()));
        fs::create_dir_all(&scratch).map_err(|error| format!("make {scratch:?}: {error}"))?;
        Ok(Site { binaries, pinning: Pinning::find(layout), results, scratch })
    }

    /// The load generator, beside the upstream and away from what is measured.
    pub fn load(&self) -> Command {
        self.pinning.command(Side::Around, &self.binaries.load)
    }

    /// Removes what only a failed run is asked about.
    pub fn clean(&self) {
        // A folder that stays behind under `target` harms nobody.
        let _ = fs::remove_dir_all(&self.scratch);
    }

    fn log(&self, name: &str) -> PathBuf {
        self.scratch.join(format!("{name}.log"))
    }

    fn gateway(&self, name: &str, config: &str) -> Result<Server, String> {
        let (home, file) = (self.scratch.join(name), self.scratch.join(format!("{name}.toml")));
        fs::create_dir_all(&home).map_err(|error| format!("make {home:?}: {error}"))?;
        fs::write(&file, config).map_err(|error| format!("write {file:?}: {error}"))?;
        let mut gateway = self.pinning.command(Side::Measured, &self.binaries.toolgate);
        gateway.arg("--home").arg(home).arg("--config").arg(file);
        gateway.args(["serve", "--listen", "127.0.0.1:0"]);
        Server::start(gateway, &self.log(name))
    }

    /// The config of a server over stdio. The child would inherit the gateway's core otherwise.
    fn stdio_entry(&self, server: &str, tools: u32) -> String {
        let (command, mut words) = self.pinning.words(Side::Around, &self.binaries.echo);
        words.extend(["--stdio".to_owned(), "--tools".to_owned(), tools.to_string()]);
        // The variable tells ten upstreams apart: one command under ten names is one server.
        let env = format!("env = {{ ECHO_NAME = {server:?} }}");
        format!("[servers.{server}]\ncommand = {command:?}\nargs = {words:?}\n{env}\n")
    }
}

/// One way to the upstream.
#[derive(Debug)]
pub struct Target {
    /// Its name in the table.
    pub name: &'static str,
    /// Where to send the load.
    pub url: String,
    /// The process whose CPU is counted.
    pub pid: u32,
    /// What its tool names begin with.
    pub prefix: &'static str,
}

/// An upstream with the ways to it.
#[derive(Debug)]
pub struct Stage {
    /// How many tools the upstream has.
    pub tools: u32,
    /// The ways, in the order they are measured.
    pub targets: Vec<Target>,
    _servers: Vec<Server>,
}

impl Stage {
    /// Starts everything and waits until every way leads there.
    pub fn start(site: &Site, tools: u32, with_gateway: bool) -> Result<Self, String> {
        let named = |name: &str| format!("{name}-{tools}");
        let mut echo = site.pinning.command(Side::Around, &site.binaries.echo);
        echo.args(["--http", "127.0.0.1:0", "--tools", &tools.to_string()]);
        let echo = Server::start(echo, &site.log(&named("echo")))?;
        let mut floor = site.pinning.command(Side::Measured, &site.binaries.floor);
        floor.args(["--listen", "127.0.0.1:0", "--to", &echo.url]);
        let floor = Server::start(floor, &site.log(&named("floor")))?;
        let mut ways = vec![("floor", "", floor)];
        if with_gateway {
            let over_http = format!("[servers.up]\nurl = {:?}\n", echo.url);
            let over_stdio = site.stdio_entry("up", tools);
            let http = site.gateway(&named("http"), &over_http)?;
            let stdio = site.gateway(&named("stdio"), &over_stdio)?;
            ways.extend([("gateway-http", "up__", http), ("gateway-stdio", "up__", stdio)]);
        }
        ways.insert(0, ("direct", "", echo));
        let target = |&(name, prefix, ref server): &(&'static str, &'static str, Server)| Target {
            name,
            prefix,
            url: server.url.clone(),
            pid: server.pid(),
        };
        let targets: Vec<Target> = ways.iter().map(target).collect();
        for target in &targets {
            until_listed(site, &target.url, tools)?;
        }
        Ok(Stage { tools, targets, _servers: ways.into_iter().map(|way| way.2).collect() })
    }
}

/// Asks until the endpoint lists so many tools: a gateway connects to its upstreams after it
/// listens.
fn until_listed(site: &Site, url: &str, tools: u32) -> Result<(), String> {
    let asked = Instant::now();
    loop {
        match measure::lists(site, url, tools) {
            Ok(()) => return Ok(()),
            Err(error) if asked.elapsed() > READY_WITHIN => {
                return Err(format!("see {tools} tools at {url}: {error}"));
            }
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// The memory of a gateway that has ten upstreams and nothing to do.
pub fn idle_rss(site: &Site) -> Result<u64, String> {
    let entries = (0..IDLE_UPSTREAMS).map(|number| site.stdio_entry(&format!("up{number}"), 3));
    let gateway = site.gateway("idle", &entries.collect::<Vec<_>>().join("\n"))?;
    until_listed(site, &gateway.url, 3 * IDLE_UPSTREAMS as u32)?;
    thread::sleep(SETTLE);
    rss(gateway.pid())
}

/// The largest memory of any gateway on these stages; nothing if none takes part.
pub fn gateway_rss(stages: &[Stage]) -> Result<Option<u64>, String> {
    let gateways = stages.iter().flat_map(|stage| &stage.targets);
    let sizes = gateways.filter(|target| !target.prefix.is_empty()).map(|target| rss(target.pid));
    Ok(sizes.collect::<Result<Vec<_>, _>>()?.into_iter().max())
}
