//! Four profiles of one gateway in use at once: each client sees what its profile says, under the
//! names it says, and reaches the server that is meant, whichever way it came in.
//!
//! Two released file servers have the same tools and differ in the folder they tell, so that an
//! answer says who gave it.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_e2e::gateway::{GatewaySetup, TestGateway, stdio_entry, testkit};
use toolgate_e2e::process::TestProcess;
use toolgate_e2e::{StatelessTestClient, TestClient, counts, mcp, peers};

use crate::plan::{Carrier, Era, Peer, text};

const PATIENCE: Duration = Duration::from_secs(60);

/// What a profile is to show.
struct Shows {
    profile: &'static str,
    /// Names, and the folder that the server behind each tells.
    tools: &'static [(&'static str, &'static str)],
    /// Another profile's name for one of them.
    foreign: &'static str,
    /// Whether its tools are found rather than listed.
    searching: bool,
    prompt: Option<&'static str>,
}

const PROFILES: [Shows; 4] = [
    Shows {
        profile: "tagged",
        tools: &[("mcp__one__where", "first"), ("mcp__two__list_allowed_directories", "second")],
        foreign: "two__list_allowed_directories",
        searching: false,
        prompt: None,
    },
    Shows {
        profile: "second",
        tools: &[("list_allowed_directories", "second")],
        foreign: "where",
        searching: false,
        prompt: None,
    },
    Shows {
        profile: "bare",
        tools: &[("where", "first"), ("list_allowed_directories", "second")],
        foreign: "mcp__one__where",
        searching: false,
        prompt: Some("test_simple_prompt"),
    },
    Shows {
        profile: "finder",
        tools: &[("mcp_one_where", "first"), ("mcp_two_list_allowed_directories", "second")],
        foreign: "where",
        searching: true,
        prompt: Some("mcp_fixture_test_simple_prompt"),
    },
];

const CONFIG: &str = r#"
[profiles.tagged]
tags = ["mcp"]
naming = "claude"

[profiles.second]
tags = ["mcp.files.second"]
naming = "sidekick"

[profiles.bare]
exclude = ["fixture/test_error*"]
naming = "llxprt"

[profiles.finder]
naming = "gemini"
expose = "search"
"#;

fn files(folder: &Path, name: &str, shared: &str) -> String {
    let shared = folder.join(shared);
    std::fs::create_dir(&shared).unwrap();
    let server = peers::npm("@modelcontextprotocol/server-filesystem/dist/index.js").unwrap();
    let words = [peers::node().unwrap(), server, shared].map(|path| path.display().to_string());
    stdio_entry(name, &words, &[])
}

/// A gateway with three servers that are all up.
fn serve() -> (GatewaySetup, TestGateway) {
    let setup = GatewaySetup::new("").unwrap();
    let (one, two) =
        (files(setup.folder(), "one", "first"), files(setup.folder(), "two", "second"));
    let fixture = stdio_entry("fixture", &testkit("fixture", &["--stdio"]).unwrap(), &[]);
    let config = format!(
        "{one}tags = [\"mcp.files\"]\ntools.list_allowed_directories = {{ alias = \"where\" }}\n\
         {two}tags = [\"mcp.files.second\"]\n{fixture}tags = [\"lab\"]\n{CONFIG}"
    );
    std::fs::write(setup.folder().join("toolgate.toml"), config).unwrap();
    let gateway = setup.serve().unwrap();
    let all = ["one__where", "two__list_allowed_directories", "fixture__test_simple_text"];
    gateway.client_with(&all).unwrap();
    (setup, gateway)
}

/// What can be asked of a gateway, whichever way a client came in.
trait Asks {
    fn ask(&mut self, method: &str, params: &Value) -> Value;
}

impl Asks for TestClient {
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.request(method, params).unwrap()
    }
}

impl Asks for StatelessTestClient {
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.request(method, params).unwrap()
    }
}

/// A client that starts its server.
struct Starter {
    process: TestProcess,
    next: u64,
}

impl Starter {
    fn start(setup: &GatewaySetup, profile: &str) -> Self {
        let verb = ["serve", "--stdio", "--as", profile];
        let process = TestProcess::start(&mut setup.command(&verb)).unwrap();
        let mut starter = Self { process, next: 1 };
        starter.process.send(&mcp::initialize(mcp::REVISION, &json!({}))).unwrap();
        starter.answer(0);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        starter.process.send(&ready.to_string()).unwrap();
        starter
    }

    fn answer(&self, id: u64) -> Value {
        loop {
            let line = self.process.line(PATIENCE).unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }
}

impl Asks for Starter {
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.process.send(&message.to_string()).unwrap();
        self.answer(id)
    }
}

fn call(client: &mut dyn Asks, name: &str, arguments: &Value) -> Value {
    client.ask("tools/call", &json!({"name": name, "arguments": arguments}))
}

fn listed(client: &mut dyn Asks, method: &str, member: &str, key: &str) -> BTreeSet<String> {
    let answer = client.ask(method, &json!({}));
    let all = answer["result"][member].as_array().unwrap_or_else(|| panic!("{answer}"));
    all.iter().map(|it| it[key].as_str().unwrap().to_owned()).collect()
}

/// What a client of a profile meets.
fn meets(client: &mut dyn Asks, shows: &Shows) {
    let tools = listed(client, "tools/list", "tools", "name");
    for (name, folder) in shows.tools {
        assert_eq!(tools.contains(*name), !shows.searching, "{}: {tools:?}", shows.profile);
        let answer = call(client, name, &json!({}));
        let told = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(told.ends_with(folder), "{}: {name}: {answer}", shows.profile);
    }
    let answer = call(client, shows.foreign, &json!({}));
    assert_eq!(answer["error"]["code"], -32602, "{}: {answer}", shows.profile);
    let own = ["tool_search", "call_tool", "call_read_only_tool"].map(str::to_owned);
    assert_eq!(own.iter().all(|name| tools.contains(name)), shows.searching, "{tools:?}");
    assert!(!shows.searching || tools.len() == own.len(), "{tools:?}");
    let prompts = listed(client, "prompts/list", "prompts", "name");
    match shows.prompt {
        Some(prompt) => {
            let answer = client.ask("prompts/get", &json!({"name": prompt}));
            assert!(answer["result"]["messages"].is_array(), "{}: {answer}", shows.profile);
        }
        None => assert!(prompts.is_empty(), "{}: {prompts:?}", shows.profile),
    }
}

#[test]
fn four_profiles_are_in_use_at_once_over_http_and_stdio() {
    let (setup, gateway) = serve();
    let (setup, gateway) = (&setup, &gateway);
    thread::scope(|scope| {
        for shows in &PROFILES {
            let url = format!("{}/{}", gateway.url, shows.profile);
            let visited = url.clone();
            let rounds = counts(10, 200);
            scope.spawn(move || {
                let mut client = TestClient::connect(&url).unwrap();
                (0..rounds).for_each(|_| meets(&mut client, shows));
            });
            scope.spawn(move || {
                let mut client = StatelessTestClient::new(&visited, None, json!({})).unwrap();
                (0..rounds).for_each(|_| meets(&mut client, shows));
            });
            scope.spawn(move || {
                let mut client = Starter::start(setup, shows.profile);
                (0..rounds).for_each(|_| meets(&mut client, shows));
            });
        }
    });
}

/// What `exposure` prints of a kind, as far as it is listed.
fn printed(setup: &GatewaySetup, profile: &str, kind: &str) -> BTreeSet<String> {
    let said = setup.run(&["exposure", "--json", "--as", profile]).unwrap();
    let lines: Value = serde_json::from_slice(&said.stdout).unwrap();
    let is_listed = |line: &&Value| {
        let because = line["because"].as_str().unwrap();
        line["kind"] == kind && line["visible"] == true && !because.starts_with("deferred")
    };
    let exposed = |line: &Value| line["exposed"].as_str().unwrap().to_owned();
    lines.as_array().unwrap().iter().filter(is_listed).map(exposed).collect()
}

#[test]
fn what_exposure_prints_is_what_clients_are_sent() {
    let (setup, gateway) = serve();
    for profile in ["default", "root", "research", "tagged", "second", "bare", "finder"] {
        let mut client = TestClient::connect(&format!("{}/{profile}", gateway.url)).unwrap();
        let lists = [
            ("tool", "tools/list", "tools", "name"),
            ("prompt", "prompts/list", "prompts", "name"),
            ("resource", "resources/list", "resources", "uri"),
            ("template", "resources/templates/list", "resourceTemplates", "uriTemplate"),
        ];
        for (kind, method, member, key) in lists {
            let mut sent = listed(&mut client, method, member, key);
            sent.retain(|name| {
                !["tool_search", "call_tool", "call_read_only_tool"].contains(&name.as_str())
            });
            assert_eq!(sent, printed(&setup, profile, kind), "{profile}: {kind}");
        }
    }
}

#[test]
fn released_clients_of_both_eras_come_in_by_the_path_of_a_profile() {
    let (_setup, gateway) = serve();
    let peers = [
        Peer::TypeScript2(Era::Modern),
        Peer::TypeScript2(Era::Legacy),
        Peer::Python2(Era::Modern),
        Peer::Python2(Era::Legacy),
    ];
    for (peer, shows) in peers.iter().flat_map(|peer| PROFILES.iter().map(move |it| (peer, it))) {
        let url = format!("{}/{}", gateway.url, shows.profile);
        let first = if shows.searching { "tool_search" } else { shows.tools[0].0 };
        let mut steps = vec![json!({"do": "list", "until": [first]})];
        for (name, _) in shows.tools {
            steps.push(match shows.searching {
                false => json!({"do": "call", "name": name, "arguments": {}}),
                true => json!({"do": "call", "name": "call_tool", "arguments": {"name": name}}),
            });
        }
        steps.push(json!({"do": "call", "name": shows.foreign, "arguments": {}}));
        let report = peer.play(&Carrier::Http(url), steps);
        let case = format!("{peer:?} {}", shows.profile);
        assert_eq!(report.revision.as_deref(), Some(peer.era().revision()), "{case}: {report:?}");
        for ((name, folder), step) in shows.tools.iter().zip(&report.steps[1..]) {
            assert!(text(step).ends_with(folder), "{case}: {name}: {step}");
        }
        let last = report.steps.last().unwrap();
        assert_eq!(last["error"]["code"], -32602, "{case}: {last}");
    }
}
