//! What no schema foresees passes the gateway byte for byte, over either transport.
//!
//! The weird server sends texts that break the habits of decoders; they are compared as they came.
//! The one freedom a carrier has is where lines break, because a line is a message on stdio and an
//! event's field in a stream.

use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolgate_e2e::TestClient;
use toolgate_e2e::gateway::{
    GatewaySetup, TestGateway, TestServer, http_entry, stdio_entry, testkit,
};
use toolgate_e2e::mcp::{answer_text, member};
use toolgate_testkit::rpc::stdio::on_one_line;
use toolgate_testkit::weird::texts;

/// How the weird server is reached.
#[derive(Clone, Copy)]
enum Way {
    /// Without a gateway: when this fails, the test is wrong.
    Alone,
    Stdio,
    Http,
}

/// A client of the weird server; what must live as long comes with it.
struct Weird {
    client: TestClient,
    _server: Option<TestServer>,
    _gateway: Option<(TestGateway, GatewaySetup)>,
}

fn reach(way: Way, head: &str) -> Weird {
    let server = match way {
        Way::Stdio => None,
        Way::Alone | Way::Http => Some(TestServer::start("weird").unwrap()),
    };
    let gateway = match (way, &server) {
        (Way::Alone, _) => None,
        (_, Some(server)) => Some(gateway(head, &http_entry("weird", &server.url))),
        (_, None) => {
            let words = testkit("weird", &["--stdio"]).unwrap();
            Some(gateway(head, &stdio_entry("weird", &words, &[])))
        }
    };
    let through = gateway.as_ref().map(|(gateway, _)| &gateway.url);
    let url = through.or(server.as_ref().map(|server| &server.url)).unwrap();
    let client = TestClient::connect_with(url, &json!({"elicitation": {}})).unwrap();
    let tool = if head.is_empty() { "weird__weird_echo" } else { "weird_echo" };
    client.await_tools(&[tool], Duration::from_secs(20)).unwrap();
    Weird { client, _server: server, _gateway: gateway }
}

fn gateway(head: &str, entry: &str) -> (TestGateway, GatewaySetup) {
    let setup = GatewaySetup::new(&format!("{head}\n{entry}")).unwrap();
    (setup.serve().unwrap(), setup)
}

/// Every way, with the names as the server spells them.
fn every_way(check: impl Fn(&TestClient)) {
    for way in [Way::Alone, Way::Stdio, Way::Http] {
        check(&reach(way, "prefix = \"never\"").client);
    }
}

/// A member of the answer to a request whose params are spelled by the test.
fn asked(client: &TestClient, method: &str, params: &str, wanted: &str) -> String {
    let id = client.next_id();
    let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
    let text = answer_text(client.post(&request).unwrap(), &json!(id)).unwrap();
    member(&text, wanted).unwrap_or_else(|| panic!("no {wanted} in {text}"))
}

/// The elements of an array that is a member of an object, as they are spelled.
fn elements(object: &str, list: &str) -> Vec<String> {
    let array: Vec<Box<RawValue>> = serde_json::from_str(&member(object, list).unwrap()).unwrap();
    array.iter().map(|element| on_one_line(element.get())).collect()
}

fn same(got: &str, sent: &str) {
    assert_eq!(on_one_line(got), on_one_line(sent));
}

#[test]
fn a_result_arrives_as_it_was_sent() {
    every_way(|client| {
        let call = |name| format!(r#"{{"name": "{name}", "arguments": {{}}}}"#);
        same(&asked(client, "tools/call", &call("weird_result"), "result"), texts::RESULT);
        same(&asked(client, "tools/call", &call("weird_error"), "error"), texts::ERROR);
        let prompt = r#"{"name": "weird_prompt"}"#;
        same(&asked(client, "prompts/get", prompt, "result"), texts::PROMPT);
        let resource = r#"{"uri": "weird://one"}"#;
        same(&asked(client, "resources/read", resource, "result"), texts::CONTENTS);
    });
}

#[test]
fn definitions_arrive_as_they_were_sent() {
    every_way(|client| {
        for (method, list, sent) in [
            ("tools/list", "tools", texts::TOOLS),
            ("prompts/list", "prompts", texts::PROMPTS),
            ("resources/list", "resources", texts::RESOURCES),
            ("resources/templates/list", "resourceTemplates", texts::TEMPLATES),
        ] {
            let got = elements(&asked(client, method, "{}", "result"), list);
            assert_eq!(got, elements(sent, list), "{method}");
        }
    });
}

#[test]
fn a_prefix_changes_the_name_and_nothing_else() {
    for way in [Way::Stdio, Way::Http] {
        let weird = reach(way, "");
        let got = elements(&asked(&weird.client, "tools/list", "{}", "result"), "tools");
        let sent = elements(texts::TOOLS, "tools");
        let named = |tool: &String| {
            let spelled = member(tool, "name").unwrap();
            let name: String = serde_json::from_str(&spelled).unwrap();
            tool.replacen(&spelled, &format!("\"weird__{name}\""), 1)
        };
        assert_eq!(got, sent.iter().map(named).collect::<Vec<_>>());
    }
}

#[test]
fn arguments_arrive_as_the_client_spelled_them() {
    let spelled = r#"{"z": 1e400, "a": [1.0, 1.00, -0, 1E5, 12345678901234567890123],
        "": "\u0065\/", "x-deep": {"b": {}, "a": [ ]}}"#;
    every_way(|client| {
        let params =
            format!(r#"{{"name": "weird_echo", "x-param": 1.50, "arguments": {spelled}}}"#);
        let result = asked(client, "tools/call", &params, "result");
        let shown: Value = serde_json::from_str(&result).unwrap();
        let shown = &shown["structuredContent"];
        same(shown["arguments"].as_str().unwrap(), spelled);
        assert!(shown["params"].as_str().unwrap().contains(r#""x-param": 1.50"#), "{shown}");
    });
}

#[test]
fn notifications_arrive_as_they_were_sent() {
    every_way(|client| {
        let (_, events) = client.begin("weird_notes", &json!({}), "t").unwrap();
        let notes: Vec<(String, String)> = events
            .map(|event| event.unwrap().data)
            .filter(|data| !data.is_empty())
            .filter_map(|data| {
                let method: String = serde_json::from_str(&member(&data, "method")?).unwrap();
                Some((method, on_one_line(&member(&data, "params")?)))
            })
            .collect();
        let sent = texts::NOTES.map(|(method, params)| (method.to_owned(), params.to_owned()));
        assert_eq!(notes, sent);
    });
}

#[test]
fn a_question_and_its_answer_arrive_as_they_were_sent() {
    let answer =
        r#"{"x-answer": 12345678901234567890123, "action": "accept", "content": {"n": 1.50}}"#;
    every_way(|client| {
        let (_, mut events) = client.begin("weird_ask", &json!({}), "t").unwrap();
        let question = events
            .by_ref()
            .map(|event| event.unwrap().data)
            .find(|data| data.contains("elicitation/create"))
            .expect("a question");
        // But for the name of who asks, which a gateway puts before his words.
        let params = member(&question, "params").unwrap().replacen("\"[weird] ", "\"", 1);
        same(&params, texts::QUESTION);
        let asked = member(&question, "id").unwrap();
        let reply = format!(r#"{{"jsonrpc":"2.0","id":{asked},"result":{answer}}}"#);
        assert_eq!(client.post(&reply).unwrap().status, 202);
        let result: Value = events
            .map(|event| event.unwrap().data)
            .find_map(|data| serde_json::from_str(&member(&data, "result")?).ok())
            .expect("a result");
        same(result["structuredContent"]["answer"].as_str().unwrap(), answer);
    });
}
