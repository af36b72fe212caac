//! Parked calls: a client without a session was asked something, and the call waits for it.
//!
//! Only the one who was asked can go on, with the very request, and once. Whatever else comes is
//! refused, and the tool never runs a second time: the fixture's `count_runs` writes down every run.
//! Everything is tried with a server of each era: a legacy one waits in the middle of its call, a
//! modern one for the next round.

use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use toolgate_e2e::gateway::{
    GatewaySetup, TestGateway, TestServer, http_entry, sampling, stdio_entry, testkit,
};
use toolgate_e2e::http::EndpointUrl;
use toolgate_e2e::stateless_client::REVISION;
use toolgate_e2e::{StatelessTestClient, TestClient, mcp, within};

const SERVERS: [&str; 2] = ["legacy", "modern"];

/// A gateway with a fixture of each era, which count in one file.
struct House {
    setup: GatewaySetup,
    gateway: TestGateway,
}

impl House {
    fn open() -> Self {
        Self::with_keys(&["ada", "eve"])
    }

    /// The same, where these callers have a key.
    fn with_keys(names: &[&str]) -> Self {
        let setup = GatewaySetup::new("").unwrap();
        let count = setup.folder().join("runs").display().to_string();
        // A server that waits for an answer is not silent, however short its patience is.
        let entry = |name: &str, era: &[&str]| {
            let words = [&["--stdio", "--count", &count], era].concat();
            let entry = stdio_entry(name, &testkit("fixture", &words).unwrap(), &[]);
            format!("{entry}timeouts = {{ call = \"5s\" }}\n")
        };
        let config = entry("legacy", &[]) + &entry("modern", &["--modern"]);
        std::fs::write(setup.folder().join("toolgate.toml"), config).unwrap();
        for name in names {
            setup.key(name).unwrap();
        }
        let gateway = Self::serve(&setup);
        Self { setup, gateway }
    }

    fn serve(setup: &GatewaySetup) -> TestGateway {
        let gateway = setup.serve().unwrap();
        gateway.client_with(&SERVERS.map(tool).each_ref().map(String::as_str)).unwrap();
        gateway
    }

    fn visitor(&self, name: &str) -> StatelessTestClient {
        let key = self.setup.key(name).unwrap();
        StatelessTestClient::new(&self.gateway.url, Some(&key), json!({"elicitation": {}})).unwrap()
    }

    /// How often the tool ran for this key, told by no one but the tool.
    fn runs(&self, key: &str) -> usize {
        let file: PathBuf = self.setup.folder().join("runs");
        let noted = std::fs::read_to_string(file).unwrap_or_default();
        noted.lines().filter(|line| *line == key).count()
    }
}

fn tool(server: &str) -> String {
    format!("{server}__count_runs")
}

/// A call that waits for its answer.
struct Parked {
    tool: String,
    arguments: Value,
    answers: Value,
    state: String,
}

impl Parked {
    /// Calls the tool, which asks.
    fn by(visitor: &StatelessTestClient, server: &str) -> Self {
        let (tool, arguments) = (tool(server), json!({"key": server}));
        let asked = visitor.call(&tool, &arguments).unwrap();
        assert_eq!(asked["result"]["resultType"], "input_required", "{server}: {asked}");
        let questions = asked["result"]["inputRequests"].as_object().unwrap();
        let accepted = json!({"action": "accept", "content": {"go": true}});
        let answers = questions.iter().map(|(key, question)| {
            assert_eq!(question["method"], "elicitation/create", "{server}: {asked}");
            (key.clone(), accepted.clone())
        });
        let answers: serde_json::Map<String, Value> = answers.collect();
        assert_eq!(answers.len(), 1, "{server}: {asked}");
        let state = asked["result"]["requestState"].as_str().unwrap().to_owned();
        Self { tool, arguments, answers: answers.into(), state }
    }

    fn answered_by(&self, visitor: &StatelessTestClient) -> Value {
        visitor.retry((&self.tool, &self.arguments), &self.answers, &self.state).unwrap()
    }
}

fn assert_done(answer: &Value) {
    assert_eq!(answer["result"]["content"][0]["text"], "1 run(s), accept", "{answer}");
}

fn assert_refused(answer: &Value) {
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[test]
fn an_answer_after_thirty_seconds_is_taken() {
    let house = House::open();
    let visitor = house.visitor("ada");
    let parked = SERVERS.map(|server| Parked::by(&visitor, server));
    // People take their time, and nothing else shows that it is given to them.
    std::thread::sleep(Duration::from_secs(30));
    for parked in parked {
        assert_done(&parked.answered_by(&visitor));
    }
}

#[test]
fn an_address_to_visit_has_an_elicitation_id_in_every_revision() {
    let house = House::with_keys(&[]);
    let can = json!({"elicitation": {"url": {}}});
    let visitor = StatelessTestClient::new(&house.gateway.url, None, can).unwrap();
    for server in SERVERS {
        let asked = visitor.call(&format!("{server}__test_url_elicitation"), &json!({})).unwrap();
        let questions = asked["result"]["inputRequests"].as_object().unwrap();
        let page = questions.values().next().unwrap();
        assert_eq!(page["params"]["mode"], "url", "{server}: {asked}");
        let id = page["params"]["elicitationId"].as_str();
        assert!(id.is_some_and(|id| !id.is_empty()), "{server}: {asked}");
    }
}

#[test]
fn what_a_client_cannot_be_asked_is_said_in_the_answer() {
    let fixture = testkit("fixture", &["--stdio"]).unwrap();
    let setup = GatewaySetup::new(&sampling(&stdio_entry("fixture", &fixture, &[]))).unwrap();
    let gateway = setup.serve().unwrap();
    let client = gateway.client_with(&["fixture__test_sampling"]).unwrap();
    for (tool, arguments, lacks) in [
        ("fixture__test_sampling", json!({"prompt": "?"}), "sampling"),
        ("fixture__test_elicitation", json!({"message": "?"}), "elicitation by form"),
        ("fixture__test_url_elicitation", json!({}), "elicitation by URL"),
    ] {
        let answer = client.call(tool, &arguments).unwrap();
        let content = answer["result"]["content"].as_array().unwrap();
        let said = content.last().unwrap()["text"].as_str().unwrap();
        let told = format!("does not support {lacks}");
        assert!(content.len() == 2 && said.contains(&told), "{tool}: {answer}");
    }
    // No roots is an ordinary answer.
    let answer = client.call("fixture__test_list_roots", &json!({})).unwrap();
    assert_eq!(answer["result"]["content"].as_array().unwrap().len(), 1, "{answer}");
}

#[test]
fn only_the_caller_who_was_asked_can_answer() {
    let house = House::open();
    let (ada, eve) = (house.visitor("ada"), house.visitor("eve"));
    let nobody =
        StatelessTestClient::new(&house.gateway.url, None, json!({"elicitation": {}})).unwrap();
    for server in SERVERS {
        let parked = Parked::by(&ada, server);
        assert_refused(&parked.answered_by(&eve));
        assert_refused(&parked.answered_by(&nobody));
        assert_done(&parked.answered_by(&ada));
        assert_eq!(house.runs(server), 1, "{server}");
    }
}

#[test]
fn a_changed_request_is_refused() {
    let house = House::open();
    let visitor = house.visitor("ada");
    for (server, other) in [("legacy", "modern"), ("modern", "legacy")] {
        let parked = Parked::by(&visitor, server);
        let changed = json!({"key": "changed"});
        let answers = &parked.answers;
        let refused = visitor.retry((&parked.tool, &changed), answers, &parked.state).unwrap();
        assert_refused(&refused);
        let another = tool(other);
        let refused = visitor.retry((&another, &parked.arguments), answers, &parked.state).unwrap();
        assert_refused(&refused);
        assert_eq!((house.runs("changed"), house.runs(server)), (0, 1), "{server}");
    }
}

#[test]
fn a_replayed_answer_is_refused() {
    let house = House::open();
    let visitor = house.visitor("ada");
    for server in SERVERS {
        let parked = Parked::by(&visitor, server);
        assert_done(&parked.answered_by(&visitor));
        assert_refused(&parked.answered_by(&visitor));
        assert_eq!(house.runs(server), 1, "{server}");
    }
}

#[test]
fn a_retry_that_escapes_its_strings_otherwise_is_the_same_request() {
    let house = House::with_keys(&[]);
    let can = json!({"elicitation": {}});
    let visitor = StatelessTestClient::new(&house.gateway.url, None, can.clone()).unwrap();
    let endpoint = EndpointUrl::parse(&house.gateway.url).unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": can,
        "io.modelcontextprotocol/clientInfo": {"name": "toolgate-e2e", "version": "0"},
    });
    for server in SERVERS {
        let Parked { tool, arguments, answers, state } = Parked::by(&visitor, server);
        let params = json!({"name": tool, "arguments": arguments, "inputResponses": answers,
            "requestState": state, "_meta": meta});
        let retry = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let escaped = format!("\"key\":\"\\u{:04x}{}\"", server.as_bytes()[0], &server[1..]);
        let retry = retry.to_string().replace(&format!("\"key\":\"{server}\""), &escaped);
        assert!(retry.contains("\\u00"), "{retry}");
        let headers = [
            ("Mcp-Protocol-Version", REVISION),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", tool.as_str()),
        ];
        let response = mcp::post(&endpoint, &headers, &retry).unwrap();
        assert_done(&mcp::answer(response, &json!(1)).unwrap());
        assert_eq!(house.runs(server), 1, "{server}");
    }
}

#[test]
fn a_tampered_state_is_refused() {
    let house = House::open();
    let visitor = house.visitor("ada");
    for server in SERVERS {
        let parked = Parked::by(&visitor, server);
        let length = parked.state.len();
        for at in [0, length / 2, length - 1] {
            let mut state = parked.state.clone().into_bytes();
            state[at] = if state[at] == b'A' { b'B' } else { b'A' };
            let state = String::from_utf8(state).unwrap();
            let request = (&*parked.tool, &parked.arguments);
            assert_refused(&visitor.retry(request, &parked.answers, &state).unwrap());
        }
        assert_done(&parked.answered_by(&visitor));
        assert_eq!(house.runs(server), 1, "{server}");
    }
}

/// A gateway that was killed knows nothing of what was parked, and does not run it again to find out.
#[test]
fn a_gateway_killed_while_calls_are_parked_runs_none_of_them_again() {
    let mut house = House::open();
    let visitor = house.visitor("ada");
    let parked = SERVERS.map(|server| Parked::by(&visitor, server));
    house.gateway.process.signal(Signal::KILL).unwrap();
    house.gateway.process.wait(Duration::from_secs(10)).unwrap();
    house.gateway = House::serve(&house.setup);
    let visitor = house.visitor("ada");
    for (parked, server) in parked.iter().zip(SERVERS) {
        assert_refused(&parked.answered_by(&visitor));
        assert_eq!(house.runs(server), 1, "{server}");
    }
}

/// The longest a call may take counts for parked ones too: then its server is told that nobody waits.
#[test]
fn a_caller_who_never_comes_back_is_not_waited_for_beyond_the_limit() {
    let folder = tempfile::TempDir::new().unwrap();
    let count = folder.path().join("runs").display().to_string();
    let fixture = TestServer::start_with("fixture", "127.0.0.1:0", &["--count", &count]).unwrap();
    let limits = "timeouts = { call = \"1s\", max = \"3s\" }\n";
    let setup = GatewaySetup::new(&(http_entry("legacy", &fixture.url) + limits)).unwrap();
    let gateway = setup.serve().unwrap();
    gateway.client_with(&["legacy__count_runs"]).unwrap();
    let visitor = StatelessTestClient::new(&gateway.url, None, json!({"elicitation": {}})).unwrap();
    let parked = Parked::by(&visitor, "legacy");
    let server = TestClient::connect(&fixture.url).unwrap();
    let told = within(Duration::from_secs(20), || {
        let counted = server.call("test_cancelled_count", &json!({})).unwrap();
        counted["result"]["structuredContent"]["cancelled"] == 1
    });
    assert!(told, "the server was never told");
    let late = parked.answered_by(&visitor);
    assert!(late.get("error").is_some() || late["result"]["isError"] == true, "{late}");
    assert_eq!(std::fs::read_to_string(&count).unwrap(), "legacy\n", "{late}");
}

/// Who is asked and never returns costs nothing after the limit: every call is cancelled at its
/// server, and the connections it held are gone.
#[test]
fn callers_who_never_come_back_free_everything_after_the_limit() {
    const CALLS: usize = 12;
    let folder = tempfile::TempDir::new().unwrap();
    let count = folder.path().join("runs").display().to_string();
    let fixture = TestServer::start_with("fixture", "127.0.0.1:0", &["--count", &count]).unwrap();
    let setup = GatewaySetup::new(&http_entry("legacy", &fixture.url)).unwrap();
    let gateway = setup.serve_with(&["--park", "3s"]).unwrap();
    gateway.client_with(&["legacy__count_runs"]).unwrap();
    let visitor = StatelessTestClient::new(&gateway.url, None, json!({"elicitation": {}})).unwrap();
    assert_done(&Parked::by(&visitor, "legacy").answered_by(&visitor));
    let open = || {
        let folder = format!("/proc/{}/fd", gateway.process.pid());
        std::fs::read_dir(folder).unwrap().count()
    };
    let before = open();
    let parked: Vec<Parked> = (0..CALLS).map(|_| Parked::by(&visitor, "legacy")).collect();
    // A parked call holds its stream; some connections were there before, idle.
    assert!(open() >= before + CALLS / 2, "{before}, {}", open());
    let server = TestClient::connect(&fixture.url).unwrap();
    let told = within(Duration::from_secs(20), || {
        let counted = server.call("test_cancelled_count", &json!({})).unwrap();
        counted["result"]["structuredContent"]["cancelled"] == CALLS
    });
    assert!(told, "the server was not told of every call");
    assert!(within(Duration::from_secs(10), || open() <= before + 2), "{before}, {}", open());
    for parked in &parked {
        assert_refused(&parked.answered_by(&visitor));
    }
    let runs = std::fs::read_to_string(&count).unwrap().lines().count();
    assert_eq!(runs, CALLS + 1);
}
