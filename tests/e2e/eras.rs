//! Every released SDK that speaks both eras, as a client and as a server of each: what one side asks
//! in its era, the other answers in its own.
//!
//! The servers (`tests/peers/eras`) all have the same tool `interview`: it reports progress, asks a
//! person and a model, and says what it was told. The modern ones ask with `input_required` results,
//! the legacy ones with requests of their own. Nothing here says to the gateway which era a server is
//! of. First everybody meets the servers of its own era alone: when that fails, the gateway is not to
//! blame. What the gateway says on either side is recorded, and right in the revision it speaks there.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use toolgate_e2e::gateway::{GatewaySetup, TestServer, http_entry, sampling, stdio_entry};
use toolgate_e2e::{binaries, peers};
use toolgate_testkit::recorder::RecordedSide;

use crate::plan::{Carrier, Era, Peer, Report, names};
use crate::recorded;

const CLIENTS: [Peer; 6] = [
    Peer::TypeScript2(Era::Modern),
    Peer::TypeScript2(Era::Legacy),
    Peer::Python2(Era::Modern),
    Peer::Python2(Era::Legacy),
    Peer::Rmcp(Era::Modern),
    Peer::Rmcp(Era::Legacy),
];

const SERVERS: [Server; 6] = [
    Server { sdk: Sdk::TypeScript, era: Some(Era::Modern) },
    Server { sdk: Sdk::TypeScript, era: Some(Era::Legacy) },
    Server { sdk: Sdk::Python, era: Some(Era::Modern) },
    Server { sdk: Sdk::Python, era: Some(Era::Legacy) },
    Server { sdk: Sdk::Rmcp, era: Some(Era::Modern) },
    Server { sdk: Sdk::Rmcp, era: Some(Era::Legacy) },
];

#[derive(Clone, Copy, Debug)]
enum Sdk {
    TypeScript,
    Python,
    Rmcp,
}

#[derive(Clone, Copy, Debug)]
struct Server {
    sdk: Sdk,
    /// The only one it speaks; none, and it speaks both, as these SDKs do unless they are told.
    era: Option<Era>,
}

/// How the gateway comes to a server.
#[derive(Clone, Copy, Debug)]
enum Way {
    Started,
    Reached,
}

impl Server {
    fn name(self, way: Way) -> String {
        format!("{:?}_{}_{way:?}", self.sdk, self.era()).to_lowercase()
    }

    fn era(self) -> &'static str {
        self.era.map_or("both", Era::word)
    }

    /// The command line; a server that is reached listens.
    fn words(self, way: Way) -> Vec<String> {
        let shown = |path: std::path::PathBuf| path.display().to_string();
        let mut words = match self.sdk {
            Sdk::TypeScript => {
                vec![shown(peers::node().unwrap()), shown(peers::script("eras/server.mjs"))]
            }
            Sdk::Python => {
                let python = peers::python("eras", "python").unwrap();
                vec![shown(python), shown(peers::script("eras/server.py"))]
            }
            Sdk::Rmcp => vec![shown(binaries::find("examples/rmcp_server").unwrap())],
        };
        words.extend([self.era().to_owned(), self.name(way)]);
        if let Way::Reached = way {
            words.push("--http".to_owned());
        }
        words
    }

    fn listen(self) -> TestServer {
        let words = self.words(Way::Reached);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env("PEER_MODULES", modules());
        TestServer::run(&mut command).unwrap()
    }
}

fn modules() -> String {
    peers::root().join("npm-eras").display().to_string()
}

/// The config entry of a server that is started, with a recorder around it.
fn started_entry(server: Server, log: &Path) -> String {
    let words = recorded::around(server.words(Way::Started), log);
    sampling(&stdio_entry(&server.name(Way::Started), &words, &[("PEER_MODULES", &*modules())]))
}

fn configure(setup: &GatewaySetup, config: &str) {
    std::fs::write(setup.folder().join("toolgate.toml"), config).unwrap();
}

/// What a client does with one server; `prefix` is what the gateway puts before its names.
fn steps(name: &str, prefix: &str) -> Vec<Value> {
    let call = |tool: &str, arguments: Value| json!({"do": "call", "name": format!("{prefix}{tool}"), "arguments": arguments});
    vec![
        call("interview", json!({"topic": "bridges"})),
        call("add", json!({"a": 2, "b": 3})),
        json!({"do": "read", "uri": format!("note://{name}")}),
        json!({"do": "prompt", "name": format!("{prefix}greet"), "arguments": {"who": "Ada"}}),
    ]
}

const STEPS: usize = 4;

/// What is wrong with the outcome of one server's steps.
fn wrong(steps: &[Value], name: &str) -> Option<String> {
    let [interview, add, read, prompt] = steps else {
        return Some(format!("{} steps", steps.len()));
    };
    let is = |step: &Value, pointer: &str, wanted: &str| {
        step.pointer(pointer).and_then(Value::as_str) == Some(wanted)
    };
    let progress = interview["progress"].as_array().map_or(&[][..], Vec::as_slice);
    let reported: Vec<_> =
        progress.iter().filter_map(|report| report["progress"].as_f64()).collect();
    let first_text = "/result/content/0/text";
    let whole = [
        (is(interview, first_text, "ada on bridges: an imagined answer"), "interview", interview),
        (reported == [1.0, 2.0, 3.0], "the interview's progress", interview),
        (is(add, first_text, "5"), "add", add),
        (is(read, "/result/contents/0/text", &format!("a note of {name}")), "read", read),
        (is(prompt, "/result/messages/0/content/text", "Greet Ada."), "prompt", prompt),
    ];
    let failed = whole.iter().find(|(fine, _, _)| !fine);
    failed.map(|(_, what, step)| format!("{what}: {step}"))
}

/// Lets a client play with these servers, and gives one line for every pairing that failed.
fn pairings(client: Peer, carrier: &Carrier, servers: &[(String, String)]) -> Vec<String> {
    let tools: Vec<_> = servers.iter().map(|(_, prefix)| format!("{prefix}interview")).collect();
    let mut plan = vec![json!({"do": "list", "until": tools})];
    plan.extend(servers.iter().flat_map(|(name, prefix)| steps(name, prefix)));
    let report = client.play(carrier, plan);
    let mut failed = common_ground(client, &report, servers);
    for ((name, _), steps) in servers.iter().zip(report.steps[1..].chunks(STEPS)) {
        failed.extend(wrong(steps, name).map(|why| format!("{client:?} to {name}: {why}")));
    }
    failed
}

/// What a client learns of all servers together.
fn common_ground(client: Peer, report: &Report, servers: &[(String, String)]) -> Vec<String> {
    let mut failed = Vec::new();
    if report.revision.as_deref() != Some(client.era().revision()) {
        failed.push(format!("{client:?} agreed on {:?}", report.revision));
    }
    let list = &report.steps[0];
    for (name, prefix) in servers {
        let listed = names(&list["resources"], &format!("note://{name}"))
            && names(&list["prompts"], &format!("{prefix}greet"))
            && names(&list["tools"], &format!("{prefix}add"));
        if !listed {
            failed.push(format!("{client:?} does not see all of {name}: {list}"));
        }
    }
    for method in ["elicitation/create", "sampling/createMessage"] {
        let asked = report.asked(method).len();
        if asked != servers.len() {
            failed.push(format!("{client:?} was asked {asked} times: {method}"));
        }
    }
    failed
}

fn assert_none(failed: &[String]) {
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
}

/// Runs something for all clients at once: they share the servers, not their questions.
fn each_client(play: impl Fn(usize, Peer) -> Vec<String> + Sync) -> Vec<String> {
    let play = &play;
    std::thread::scope(|scope| {
        let clients = CLIENTS.iter().enumerate();
        let running: Vec<_> =
            clients.map(|(at, client)| scope.spawn(move || play(at, *client))).collect();
        running.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

#[test]
fn every_client_meets_the_servers_of_its_era_alone() {
    let listening = SERVERS.map(Server::listen);
    let urls = listening.each_ref().map(|listening| &*listening.url);
    assert_none(&each_client(|_, client| {
        let own = SERVERS.iter().zip(urls).filter(|(server, _)| server.era == Some(client.era()));
        own.flat_map(|(server, url)| {
            let carrier = Carrier::Http(url.to_owned());
            pairings(client, &carrier, &[(server.name(Way::Reached), String::new())])
        })
        .collect()
    }));
}

/// Whether a pairing goes by a started or a reached server: for every server both, three times each,
/// and for the same and the other era about as often.
fn way(client: usize, server: usize) -> Way {
    match (client / 2 + client % 2 + server / 2) % 2 {
        0 => Way::Started,
        _ => Way::Reached,
    }
}

#[test]
fn every_client_meets_every_server() {
    let setup = GatewaySetup::new("").unwrap();
    let [upstream, downstream] = ["upstream", "downstream"].map(|log| setup.folder().join(log));
    let listening = SERVERS.map(Server::listen);
    let recorders = listening.each_ref().map(|one| recorded::before(&one.url, &upstream));
    let entries = SERVERS.iter().zip(&recorders).map(|(server, recorder)| {
        started_entry(*server, &upstream)
            + &sampling(&http_entry(&server.name(Way::Reached), &recorder.url))
    });
    configure(&setup, &entries.collect::<String>());
    let gateway = setup.serve().unwrap();
    let recorder = recorded::before(&gateway.url, &downstream);
    let carrier = Carrier::Http(recorder.url.clone());
    let mut failed = each_client(|at, client| {
        let named = SERVERS.iter().enumerate().map(|(number, server)| {
            let name = server.name(way(at, number));
            let prefix = format!("{name}__");
            (name, prefix)
        });
        pairings(client, &carrier, &named.collect::<Vec<_>>())
    });
    failed.extend(recorded::wrong(&downstream, RecordedSide::Server));
    failed.extend(recorded::wrong(&upstream, RecordedSide::Client));
    assert_none(&failed);
}

/// Each client over stdio with a server of its own era and one of the other, of two SDKs.
#[test]
fn every_client_over_stdio_meets_both_eras() {
    let listening = SERVERS.map(Server::listen);
    let urls = listening.each_ref().map(|listening| &*listening.url);
    assert_none(&each_client(|at, client| {
        let setup = GatewaySetup::new("").unwrap();
        let [upstream, downstream] = ["upstream", "downstream"].map(|log| setup.folder().join(log));
        let (started, reached) = (SERVERS[at], (at + 3) % SERVERS.len());
        let (one, other) = (started.name(Way::Started), SERVERS[reached].name(Way::Reached));
        configure(
            &setup,
            &(started_entry(started, &upstream) + &sampling(&http_entry(&other, urls[reached]))),
        );
        let words = recorded::around(setup.words(&["serve", "--stdio"]), &downstream);
        let named = [one, other].map(|name| (name.clone(), format!("{name}__")));
        let mut failed = pairings(client, &Carrier::Stdio(words), &named);
        failed.extend(recorded::wrong(&downstream, RecordedSide::Server));
        failed.extend(recorded::wrong(&upstream, RecordedSide::Client));
        failed
    }));
}

/// The era is not left to chance: a server that speaks both is not greeted with a handshake. One that
/// is started may be, when it takes longer to start than a silent legacy server is waited for.
#[test]
fn a_server_of_both_eras_is_spoken_to_in_the_modern_one() {
    let setup = GatewaySetup::new("").unwrap();
    let [by_pipe, by_http] = ["by-pipe", "by-http"].map(|log| setup.folder().join(log));
    let both = [Sdk::TypeScript, Sdk::Python, Sdk::Rmcp].map(|sdk| Server { sdk, era: None });
    let listening = both.map(Server::listen);
    let recorders = listening.each_ref().map(|one| recorded::before(&one.url, &by_http));
    let entries = both.iter().zip(&recorders).map(|(server, recorder)| {
        started_entry(*server, &by_pipe)
            + &sampling(&http_entry(&server.name(Way::Reached), &recorder.url))
    });
    configure(&setup, &entries.collect::<String>());
    let gateway = setup.serve().unwrap();
    let carrier = Carrier::Http(gateway.url.clone());
    let names = both.iter().flat_map(|it| [Way::Started, Way::Reached].map(|way| it.name(way)));
    let named: Vec<_> = names.map(|name| (name.clone(), format!("{name}__"))).collect();
    let mut failed = pairings(Peer::Rmcp(Era::Legacy), &carrier, &named);
    failed.extend(pairings(Peer::Rmcp(Era::Modern), &carrier, &named));
    let spoken = recorded::said_to_servers(&by_http);
    let greeted = spoken.iter().filter(|message| message["method"] == "initialize");
    failed.extend(greeted.map(|greeting| format!("was greeted: {greeting}")));
    failed.extend(recorded::wrong(&by_http, RecordedSide::Client));
    failed.extend(recorded::wrong(&by_pipe, RecordedSide::Client));
    assert_none(&failed);
}
