//! Starts an upstream and the proxies in front of it. Measuring and core binding are left to
//! others.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::binaries::BenchBinaries;
use super::eras::{BenchEra, EraPairing, PAIRINGS};
use super::measure;
use super::pinning::{BenchProcessRole, CpuCoreLayout, CpuPinning};
use super::plan::{BenchCase, BenchDimension};
use super::process::{BenchServer, rss};

/// How many upstreams the gateway has while its idle memory is read.
const IDLE_UPSTREAMS: usize = 10;
/// How long a gateway may take until it lists every tool of its upstreams.
const READY_WITHIN: Duration = Duration::from_secs(30);
/// What the gateway puts before the names of the upstream's tools.
pub const PREFIX: &str = "up__";
/// Profiles that see the same tools under four kinds of names.
const PROFILES: [(&str, &str); 4] = [
    ("one", "tags = [\"mcp\"]"),
    ("two", "naming = \"claude\""),
    ("three", "naming = \"codex\""),
    ("four", "naming = \"gemini\""),
];
/// How long a gateway is left alone before its idle memory is read.
const SETTLE: Duration = Duration::from_secs(2);

/// The programs, folders and core binding of the benchmark.
#[derive(Debug)]
pub struct BenchResources {
    /// The programs.
    pub binaries: BenchBinaries,
    /// How they are bound to cores.
    pub pinning: CpuPinning,
    /// Where results go.
    pub results: PathBuf,
    /// Homes, configs and logs of this run.
    pub scratch: PathBuf,
}

impl BenchResources {
    /// Makes the folders.
    pub fn prepare(binaries: BenchBinaries, layout: CpuCoreLayout) -> Result<Self, String> {
        let results = binaries.target.join("bench");
        let scratch = results.join(format!("run-{}", std::process::id()));
        fs::create_dir_all(&scratch)
            .map_err(|error| format!("cannot create {scratch:?}: {error}"))?;
        Ok(BenchResources { binaries, pinning: CpuPinning::find(layout), results, scratch })
    }

    /// The load generator, beside the upstream and away from what is measured.
    pub fn load(&self) -> Command {
        self.pinning.command(BenchProcessRole::Around, &self.binaries.load)
    }

    /// Removes what only a failed run is asked about.
    pub fn clean(&self) {
        // A leftover folder under `target` is harmless.
        let _ = fs::remove_dir_all(&self.scratch);
    }

    /// An upstream over HTTP.
    pub fn echo(&self, name: &str, era: BenchEra, tools: u32) -> Result<BenchServer, String> {
        let mut echo = self.pinning.command(BenchProcessRole::Around, &self.binaries.echo);
        echo.args(["--http", "127.0.0.1:0", "--tools", &tools.to_string()]).args(era.flag());
        BenchServer::start(echo, &self.log(name))
    }

    fn floor(&self, name: &str, echo: &BenchServer) -> Result<BenchServer, String> {
        let mut floor = self.pinning.command(BenchProcessRole::Measured, &self.binaries.floor);
        floor.args(["--listen", "127.0.0.1:0", "--to", &echo.url]);
        BenchServer::start(floor, &self.log(name))
    }

    /// Where a process writes what it has to say.
    pub fn log(&self, name: &str) -> PathBuf {
        self.scratch.join(format!("{name}.log"))
    }

    fn gateway(&self, name: &str, config: &str) -> Result<BenchServer, String> {
        let gateway = self.pinning.command(BenchProcessRole::Measured, &self.binaries.toolgate);
        self.gateway_in(gateway, name, config)
    }

    /// Starts a gateway with a command that may wrap it.
    pub fn gateway_in(
        &self,
        mut gateway: Command,
        name: &str,
        config: &str,
    ) -> Result<BenchServer, String> {
        let (home, file) = (self.scratch.join(name), self.scratch.join(format!("{name}.toml")));
        fs::create_dir_all(&home).map_err(|error| format!("cannot create {home:?}: {error}"))?;
        fs::write(&file, config).map_err(|error| format!("cannot write {file:?}: {error}"))?;
        gateway.arg("--home").arg(home).arg("--config").arg(file);
        gateway.args(["serve", "--listen", "127.0.0.1:0"]);
        BenchServer::start(gateway, &self.log(name))
    }

    /// The config of a server over stdio. The child would inherit the gateway's core otherwise.
    fn stdio_entry(&self, server: &str, tools: u32) -> String {
        let (command, mut words) =
            self.pinning.words(BenchProcessRole::Around, &self.binaries.echo);
        words.extend(["--stdio".to_owned(), "--tools".to_owned(), tools.to_string()]);
        // The variable tells ten upstreams apart: one command under ten names is one server.
        let env = format!("env = {{ ECHO_NAME = {server:?} }}");
        format!("[servers.{server}]\ncommand = {command:?}\nargs = {words:?}\n{env}\n")
    }
}

/// One endpoint that leads to the upstream: direct, floor or gateway.
#[derive(Debug)]
pub struct BenchTarget {
    /// Its name in the table.
    pub name: &'static str,
    /// Where to send the load.
    pub url: String,
    /// Where the other callers send theirs.
    pub also: Vec<String>,
    /// The process whose CPU is counted.
    pub pid: u32,
    /// What its tool names begin with.
    pub prefix: &'static str,
    /// What its client speaks.
    pub client: BenchEra,
}

impl BenchTarget {
    fn new(
        name: &'static str,
        prefix: &'static str,
        client: BenchEra,
        server: &BenchServer,
    ) -> Self {
        BenchTarget {
            name,
            prefix,
            client,
            url: server.url.clone(),
            also: Vec::new(),
            pid: server.pid(),
        }
    }
}

/// An upstream with the targets that lead to it.
#[derive(Debug)]
pub struct BenchSetup {
    tools: u32,
    kind: BenchDimension,
    /// The ways, in the order they are measured.
    pub targets: Vec<BenchTarget>,
    /// They end with the stage.
    servers: Vec<BenchServer>,
}

impl BenchSetup {
    /// Starts what the case needs and waits until every way leads there.
    pub fn start(
        site: &BenchResources,
        case: &BenchCase,
        with_gateway: bool,
    ) -> Result<Self, String> {
        let mut stage = BenchSetup {
            tools: case.tools,
            kind: case.ways,
            targets: Vec::new(),
            servers: Vec::new(),
        };
        match case.ways {
            BenchDimension::Carriers => stage.carriers(site, with_gateway)?,
            BenchDimension::Eras => stage.eras(site, with_gateway)?,
            BenchDimension::Profiles => stage.profiles(site, with_gateway)?,
        }
        for target in &stage.targets {
            for url in std::iter::once(&target.url).chain(&target.also) {
                wait_until_listed(site, url, target.client, stage.tools)?;
            }
        }
        Ok(stage)
    }

    /// Whether the case can be measured here.
    pub fn serves(&self, case: &BenchCase) -> bool {
        (self.tools, self.kind) == (case.tools, case.ways)
    }

    fn carriers(&mut self, site: &BenchResources, with_gateway: bool) -> Result<(), String> {
        let tools = self.tools;
        let named = |name: &str| format!("{name}-{tools}");
        let echo = site.echo(&named("echo"), BenchEra::Legacy, tools)?;
        let floor = site.floor(&named("floor"), &echo)?;
        let over_http = http_entry(&echo);
        self.add("direct", "", echo);
        self.add("floor", "", floor);
        if with_gateway {
            let http = site.gateway(&named("http"), &over_http)?;
            let stdio = site.gateway(&named("stdio"), &site.stdio_entry("up", tools))?;
            self.add("gateway-http", PREFIX, http);
            self.add("gateway-stdio", PREFIX, stdio);
        }
        Ok(())
    }

    /// One gateway in front of each upstream; either client asks either of them.
    fn eras(&mut self, site: &BenchResources, with_gateway: bool) -> Result<(), String> {
        for upstream in [BenchEra::Legacy, BenchEra::Modern] {
            let named = |name: &str| format!("{name}-{upstream:?}");
            let echo = site.echo(&named("echo"), upstream, self.tools)?;
            if upstream == BenchEra::Legacy {
                self.add("floor", "", site.floor(&named("floor"), &echo)?);
            }
            if with_gateway {
                let gateway = site.gateway(&named("gateway"), &http_entry(&echo))?;
                let here = PAIRINGS.iter().filter(|pairing| pairing.upstream == upstream);
                let target = |pairing: &EraPairing| {
                    BenchTarget::new(pairing.name, PREFIX, pairing.client, &gateway)
                };
                self.targets.extend(here.map(target));
                self.servers.push(gateway);
            }
            self.servers.push(echo);
        }
        Ok(())
    }

    /// The floor knows no profiles: all its callers ask the same.
    fn profiles(&mut self, site: &BenchResources, with_gateway: bool) -> Result<(), String> {
        let echo = site.echo("echo-profiles", BenchEra::Legacy, self.tools)?;
        self.add("floor", "", site.floor("floor-profiles", &echo)?);
        if with_gateway {
            let profiles = PROFILES.map(|(name, says)| format!("[profiles.{name}]\n{says}\n"));
            let config = http_entry(&echo) + &profiles.concat();
            let gateway = site.gateway("gateway-profiles", &config)?;
            let mut urls = PROFILES.map(|(name, _)| format!("{}/{name}", gateway.url)).into_iter();
            let mut target = BenchTarget::new("gateway-http", PREFIX, BenchEra::Legacy, &gateway);
            target.url = urls.next().unwrap_or_default();
            target.also = urls.collect();
            self.targets.push(target);
            self.servers.push(gateway);
        }
        self.servers.push(echo);
        Ok(())
    }

    fn add(&mut self, name: &'static str, prefix: &'static str, server: BenchServer) {
        self.targets.push(BenchTarget::new(name, prefix, BenchEra::Legacy, &server));
        self.servers.push(server);
    }
}

/// The config of the upstream over HTTP.
pub fn http_entry(upstream: &BenchServer) -> String {
    format!("[servers.up]\nurl = {:?}\n", upstream.url)
}

/// Asks until the endpoint lists so many tools to such a client: a gateway connects to its
/// upstreams after it listens.
pub fn wait_until_listed(
    site: &BenchResources,
    url: &str,
    client: BenchEra,
    tools: u32,
) -> Result<(), String> {
    let asked = Instant::now();
    loop {
        match measure::lists(site, url, client, tools) {
            Ok(()) => return Ok(()),
            Err(error) if asked.elapsed() > READY_WITHIN => {
                return Err(format!("{tools} tools did not appear at {url}: {error}"));
            }
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// The memory of a gateway that has ten upstreams and nothing to do.
pub fn idle_rss(site: &BenchResources) -> Result<u64, String> {
    let entries = (0..IDLE_UPSTREAMS).map(|number| site.stdio_entry(&format!("up{number}"), 3));
    let gateway = site.gateway("idle", &entries.collect::<Vec<_>>().join("\n"))?;
    wait_until_listed(site, &gateway.url, BenchEra::Legacy, 3 * IDLE_UPSTREAMS as u32)?;
    thread::sleep(SETTLE);
    rss(gateway.pid())
}

/// The largest memory of any gateway on these stages; nothing if none takes part.
pub fn gateway_rss(stages: &[BenchSetup]) -> Result<Option<u64>, String> {
    let gateways = stages.iter().flat_map(|stage| &stage.targets);
    let sizes = gateways.filter(|target| !target.prefix.is_empty()).map(|target| rss(target.pid));
    Ok(sizes.collect::<Result<Vec<_>, _>>()?.into_iter().max())
}
