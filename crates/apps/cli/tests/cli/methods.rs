//! Methods of extensions: decided as such, and as everything they name; shown, bound and recorded with
//! everything they say.

use serde_json::{Value, json};

use crate::support::{Place, Running, eventually, opening, run, witness};

/// A home with a server that knows `foo/…`, under these rules.
fn under(rules: &str) -> Place {
    let place = Place::with("");
    std::fs::create_dir_all(place.home()).unwrap();
    let entry =
        witness("w", &place.work()).replace("env = {", "env = { EXTENSION = \"it has one\",");
    std::fs::write(place.home().join("config.toml"), format!("{entry}\n{rules}")).unwrap();
    place
}

struct Client {
    running: Running,
    id: u32,
}

impl Client {
    fn of(place: &Place) -> Self {
        let mut running = Running::start(&mut place.verb(&["serve", "--stdio"]));
        opening().iter().for_each(|message| running.send(message));
        running.answer(1);
        let mut client = Self { running, id: 1 };
        eventually("the tools of the server", || {
            client.request("tools/list", json!({})).to_string().contains("w__")
        });
        client
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.send(method, params);
        self.running.answer(self.id)
    }

    fn send(&mut self, method: &str, params: Value) {
        self.id += 1;
        let id = self.id;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.running.send(&message);
    }

    /// Whether a method reaches the server, and if not, what was decided.
    fn foo(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let answer = self.request(method, params);
        match answer.get("error") {
            None => Ok(answer["result"]["params"].clone()),
            Some(error) => Err(error["data"].clone()),
        }
    }
}

#[test]
fn a_denied_method_stays_denied_whatever_it_names() {
    let place = under("[policy]\ndeny = [\"mcp:w/foo/**\"]\n");
    let mut client = Client::of(&place);
    for params in [
        json!({}),
        json!({ "uri": "w://blob" }),
        json!({ "name": "w__greet" }),
        json!({ "name": "w__count" }),
        json!({ "uri": "w://blob", "name": "count" }),
    ] {
        let refused = client.foo("foo/run", params.clone()).expect_err(&params.to_string());
        assert_eq!(refused["effect"], "deny", "{params}");
        assert!(refused["because"].as_str().unwrap().contains("mcp:w/foo/**"), "{refused}");
    }
}

#[test]
fn a_method_is_held_to_the_rules_of_everything_it_names() {
    let place = under(
        "[policy]\nallow = [\"method:w/foo/run\"]\n\
         deny = [\"mcp:w/fail\", \"prompt:w/greet\", \"resource:w/w://secret/**\", \
         { about = \"mcp:w/echo\", when = [{ at = \"/text\", glob = \"bad*\" }] }]\n",
    );
    let mut client = Client::of(&place);
    for params in [
        json!({ "name": "fail" }),
        json!({ "name": "w__fail" }),
        json!({ "uri": "w://blob", "name": "fail" }),
        json!({ "ref": { "name": "fail" } }),
        json!({ "all": [{ "name": "count" }, { "name": "fail" }] }),
        json!({ "name": "greet" }),
        json!({ "name": "count", "uri": "w://secret/1" }),
        json!({ "name": "echo", "text": "bad" }),
        json!({ "name": "echo", "arguments": { "text": "bad" } }),
    ] {
        let refused = client.foo("foo/run", params.clone()).expect_err(&params.to_string());
        assert_eq!(refused["effect"], "deny", "{params}");
    }
    for params in [
        json!({}),
        json!({ "name": "count", "n": 1.5 }),
        json!({ "uri": "w://blob" }),
        json!({ "name": "nothing of the server" }),
        json!({ "name": "echo", "arguments": { "text": "good" } }),
    ] {
        assert_eq!(client.foo("foo/run", params.clone()), Ok(params));
    }
}

#[test]
fn allowing_tools_or_a_whole_server_opens_no_method() {
    let rules = |allow: &str| {
        format!("[policy]\nallow = [{allow}]\n[approvals]\nvia = \"operator\"\nwait = \"1ms\"\n")
    };
    for (allow, passes) in [
        ("\"mcp:w/count\", \"mcp:w/foo/run\"", false),
        ("\"mcp:w\"", false),
        ("\"mcp:*/*\"", false),
        ("\"tag:mcp\"", false),
        ("\"method:w/foo/go\"", false),
        ("\"method:w/foo/run\"", true),
        ("\"method:w\"", true),
    ] {
        let place = under(&rules(allow));
        let mut client = Client::of(&place);
        let outcome = client.foo("foo/run", json!({ "n": 1 }));
        assert_eq!(outcome.is_ok(), passes, "{allow}: {outcome:?}");
    }
}

#[test]
fn conditions_see_everything_a_method_is_told() {
    let place = under(
        "[policy]\ndeny = [{ about = \"mcp:w/foo/run\", when = [{ at = \"/a/force\", equals = true \
         }] }]\n",
    );
    let mut client = Client::of(&place);
    let forced = json!({ "a": { "force": true } });
    assert_eq!(client.foo("foo/run", forced).unwrap_err()["effect"], "deny");
    let gently = json!({ "a": { "force": false } });
    assert_eq!(client.foo("foo/run", gently.clone()), Ok(gently));
}

/// Rules under which everything waits for an operator.
const ASKING: &str =
    "[policy]\nask = [\"mcp:w\"]\n[approvals]\nvia = \"operator\"\nwait = \"25s\"\n";

fn waiting(place: &Place, count: usize) -> Vec<Value> {
    let listed = || run(&mut place.verb(&["approvals", "list", "--json"])).json();
    eventually("calls that wait", || listed().as_array().unwrap().len() == count);
    listed().as_array().unwrap().clone()
}

#[test]
fn whoever_approves_is_shown_everything_a_request_says() {
    let place = under(ASKING);
    let mut client = Client::of(&place);
    let arguments = json!({ "text": "x" });
    for (method, params, shown) in [
        ("foo/run", json!({ "n": 1 }), (json!({ "n": 1 }), Value::Null)),
        ("foo/run", json!({ "n": 2 }), (json!({ "n": 2 }), Value::Null)),
        (
            "foo/run",
            json!({ "_meta": { "progressToken": 7, "a/b": 1 } }),
            (json!({ "_meta": { "a/b": 1 } }), Value::Null),
        ),
        (
            "tools/call",
            json!({ "name": "w__echo", "arguments": arguments, "_meta": { "progressToken": 1 } }),
            (arguments.clone(), Value::Null),
        ),
        (
            "tools/call",
            json!({ "name": "w__echo", "arguments": arguments, "extra": "rm",
                "_meta": { "progressToken": 2, "a/b": 1 } }),
            (arguments.clone(), json!({ "extra": "rm", "_meta": { "a/b": 1 } })),
        ),
        (
            "resources/read",
            json!({ "uri": "w://blob", "range": 5 }),
            (json!({ "range": 5 }), Value::Null),
        ),
    ] {
        client.send(method, params.clone());
        let before = client.id as usize - 3;
        let rows = waiting(&place, before + 1);
        let row = rows.last().unwrap();
        let told = (row["arguments"].clone(), row["other_params"].clone());
        assert_eq!(told, shown, "{method} {params}");
        let digests: std::collections::BTreeSet<_> =
            rows.iter().map(|row| row["digest"].to_string()).collect();
        assert_eq!(digests.len(), rows.len(), "{method} {params}: every call is another");
        let said = run(&mut place.verb(&["approvals", "show", row["id"].as_str().unwrap()]));
        if params.get("extra").is_some() {
            assert!(said.out.contains("\"extra\": \"rm\""), "{said:?}");
        }
    }
}

#[test]
fn the_journal_has_everything_a_request_says() {
    let place = under("");
    let mut client = Client::of(&place);
    client.foo("foo/run", json!({ "n": 1, "uri": "w://blob" })).unwrap();
    client.request("tools/call", json!({ "name": "w__echo", "arguments": {}, "extra": [1] }));
    client.running.close_stdin();
    client.running.end();
    let said = run(&mut place.verb(&["audit", "export"]));
    assert_eq!(said.code, 0, "{said:?}");
    let shown = said.out.replace(' ', "");
    assert!(shown.contains(r#""arguments":{"n":1,"uri":"w://blob"}"#), "{shown}");
    assert!(shown.contains(r#""otherParams":{"extra":[1]}"#), "{shown}");
}
