//! The context on the gateway: there from the first minute, among other servers once it holds
//! something, in both eras over HTTP.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_e2e::gateway::{stdio_entry, testkit};
use toolgate_e2e::{StatelessTestClient, TestClient, within};

use super::{House, fits, names, query};

/// A client of either era.
enum Guest {
    Legacy(TestClient),
    Modern(StatelessTestClient),
}

impl Guest {
    #[track_caller]
    fn ask(&self, method: &str, params: &Value) -> Value {
        let answer = match self {
            Self::Legacy(client) => client.request(method, params).unwrap(),
            Self::Modern(visitor) => visitor.request(method, params).unwrap(),
        };
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    #[track_caller]
    fn search(&self, text: &str) -> Value {
        let params = json!({"name": "search_local_context", "arguments": query(text)});
        self.ask("tools/call", &params)
    }
}

fn guests(url: &str) -> [Guest; 2] {
    let visitor = StatelessTestClient::new(url, None, json!({})).unwrap();
    [Guest::Legacy(TestClient::connect(url).unwrap()), Guest::Modern(visitor)]
}

#[test]
fn a_fresh_gateway_is_worth_connecting_to() {
    let house = House::empty("");
    let gateway = house.setup.serve().unwrap();
    gateway.client_with(&["search_local_context"]).unwrap();
    let command = format!("toolgate --home {} context ingest", house.setup.home().display());
    for guest in guests(&gateway.url) {
        let tools = guest.ask("tools/list", &json!({}))["tools"].clone();
        assert_eq!(names(&tools), ["search_local_context"]);
        let result = guest.search("Madeira");
        fits(&tools, "search_local_context", &result);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("nothing was ingested yet") && text.contains(&command), "{text}");
        let help = guest.ask("resources/read", &json!({"uri": "toolgate://context/help"}));
        assert_eq!(help["contents"][0]["mimeType"], "text/markdown");
        assert!(help["contents"][0]["text"].as_str().unwrap().contains(&command), "{help}");
    }
    assert!(!house.library().exists(), "looking made a library");
    let papers = house.papers().display().to_string();
    assert!(house.setup.run(&["context", "ingest", &papers]).unwrap().status.success());
    for guest in guests(&gateway.url) {
        let result = guest.search("Madeira");
        let best = &result["structuredContent"]["passages"][0];
        assert!(best["text"].as_str().unwrap().contains("1875"), "{result:#}");
    }
}

#[test]
fn everything_is_driven_over_http_in_both_eras() {
    let house = House::furnished("");
    let gateway = house.setup.serve().unwrap();
    gateway.client_with(&["search_local_context"]).unwrap();
    for guest in guests(&gateway.url) {
        let tools = guest.ask("tools/list", &json!({}))["tools"].clone();
        assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
        fits(&tools, "search_local_context", &guest.search("turned every third day"));
        let prompt = json!({
            "name": "summarize_local_context", "arguments": {"query": "cheese", "limit": "2"},
        });
        let filled = guest.ask("prompts/get", &prompt);
        let passages = filled["messages"][1]["content"]["text"].as_str().unwrap();
        assert!(passages.contains("Marta") && passages.contains("untrusted text of [1]"));
        let status = guest.ask("resources/read", &json!({"uri": "toolgate://context/status"}));
        let status = status["contents"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(status).unwrap()["documents"], 2);
        let uri = "toolgate://context/search?query=guest%20book&limit=1";
        let read = guest.ask("resources/read", &json!({"uri": uri}));
        let found = read["contents"][0]["text"].as_str().unwrap();
        let found: Value = serde_json::from_str(found).unwrap();
        assert_eq!(found["passages"][0]["trust"], "untrusted");
        let about = json!({"type": "ref/prompt", "name": "summarize_local_context"});
        let typed = json!({"ref": about, "argument": {"name": "query", "value": "gue"}});
        // What was asked before comes before titles. It is noted beside the answer, which nobody
        // waits for.
        let both = json!(["guest book", "Guests"]);
        let completed = || guest.ask("completion/complete", &typed)["completion"]["values"].clone();
        assert!(within(Duration::from_secs(10), || completed() == both), "{}", completed());
        let uri = "toolgate://context/search{?query,limit}";
        let about = json!({"type": "ref/resource", "uri": uri});
        let typed = json!({"ref": about, "argument": {"name": "limit", "value": "1"}});
        let completed = guest.ask("completion/complete", &typed);
        assert_eq!(completed["completion"]["values"], json!(["1", "12"]), "{completed}");
    }
}

#[test]
fn among_other_servers_it_is_there_as_the_configuration_says() {
    let other = stdio_entry("other", &testkit("fixture", &["--stdio"]).unwrap(), &[]);
    let shows = |house: &House| {
        let gateway = house.setup.serve().unwrap();
        let client = gateway.client_with(&["other__test_simple_text"]).unwrap();
        client.tools().unwrap().iter().any(|it| it == "search_local_context")
    };
    let offering = |offer: &str| format!("[context]\noffer = \"{offer}\"\n\n{other}");
    assert!(!shows(&House::empty(&other)), "an empty library is in the way");
    assert!(shows(&House::furnished(&other)), "a full library is hidden");
    assert!(shows(&House::empty(&offering("always"))));
    assert!(!shows(&House::furnished(&offering("never"))));
}
