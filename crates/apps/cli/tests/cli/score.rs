//! `score` and `report`: what the journal adds up to, and what `exposure` and `doctor` say of
//! decisions.

use serde_json::{Value, json};

use crate::support::{Place, Running, opening, run, sample, witness};

/// A place where a few calls were made: two that went well, one that was refused.
fn eventful() -> Place {
    let place = Place::with(&format!("{}[policy]\ndeny = [\"mcp:s/now\"]\n", sample("s")));
    for words in [["call", "s", "echo", "text=one"], ["call", "s", "echo", "text=two"]] {
        let said = run(&mut place.configured(&words));
        assert_eq!(said.code, 0, "{said:?}");
    }
    let said = run(&mut place.configured(&["call", "s", "now"]));
    assert_eq!(said.code, 3, "{said:?}");
    place
}

fn json_of(place: &Place, words: &[&str]) -> Value {
    let said = run(&mut place.configured(words));
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    said.json()
}

#[test]
fn a_score_has_its_parts() {
    let place = eventful();
    let scores = json_of(&place, &["score", "--json"]);
    let score = &scores[0];
    assert_eq!((&score["server"], &score["score"]), (&json!("s"), &json!(100)), "{scores}");
    assert_eq!(score["parts"]["success"]["score"], 100);
    assert_eq!(score["parts"]["latency"]["score"], Value::Null);
    assert_eq!(
        score["parts"]["drift"],
        json!({
            "score": 100, "weight": 15, "detail": "no definition changed",
        })
    );
    let table = run(&mut place.configured(&["score", "s"]));
    assert!(table.out.contains("2 of 2 calls answered with a result"), "{}", table.out);
    let said = run(&mut place.configured(&["score", "nobody"]));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("declared servers are s"), "{said:?}");
}

#[test]
fn a_report_counts_what_happened_in_every_format() {
    let place = eventful();
    let report = json_of(&place, &["report", "--json"]);
    let totals = &report["totals"];
    assert_eq!((&totals["calls"], &totals["ok"]), (&json!(2), &json!(2)), "{report}");
    assert_eq!((&totals["allowed"], &totals["denied"]), (&json!(2), &json!(1)), "{report}");
    let denied = report["reasons"].as_array().unwrap().iter().find(|it| it["effect"] == "deny");
    assert!(denied.unwrap()["because"].as_str().unwrap().contains("mcp:s/now"), "{report}");
    let text = run(&mut place.configured(&["report"])).out;
    assert!(text.starts_with("# Toolgate report\n") && text.contains("| s | echo | 2 |"), "{text}");
    let said = run(&mut place.configured(&["report", "-o", "report.html"]));
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    let page = std::fs::read_to_string(place.work().join("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"), "{page}");
    assert!(!place.work().join("report.html.part").exists());
    let none = json_of(&place, &["report", "--json", "--since", "2999-01-01"]);
    assert_eq!((&none["records"], &none["from"]), (&json!(0), &Value::Null), "{none}");
    let said = run(&mut place.configured(&["report", "--since", "yesterday"]));
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn a_home_in_which_nothing_happened_has_an_empty_report() {
    let place = Place::with(&sample("s"));
    let report = run(&mut place.configured(&["report", "--json"])).json();
    assert_eq!(report["records"], 0);
    let scores = run(&mut place.configured(&["score", "--json"])).json();
    assert_eq!((&scores[0]["server"], &scores[0]["score"]), (&json!("s"), &Value::Null));
}

#[test]
fn exposure_and_doctor_say_what_would_be_decided() {
    let place = eventful();
    let lines = json_of(&place, &["exposure", "--json"]);
    let line = |name: &str| {
        let lines = lines.as_array().unwrap();
        lines.iter().find(|it| it["name"] == name && it["kind"] == "tool").unwrap().clone()
    };
    assert_eq!(line("now")["decision"]["effect"], "deny", "{lines}");
    assert!(line("now")["decision"]["because"].as_str().unwrap().contains("servers.toml:"));
    assert_eq!(line("echo")["decision"]["via"], "client");
    let why = run(&mut place.configured(&["exposure", "--why", "s/now"])).out;
    assert!(why.contains("calls    deny: rule `mcp:s/now`"), "{why}");
    let said = run(&mut place.configured(&["doctor", "s", "--json"]));
    let phases = said.json()[0]["phases"].as_array().unwrap().clone();
    let step = |name: &str| phases.iter().find(|it| it["name"] == name).cloned();
    let pins = step("pins").unwrap_or_else(|| panic!("{phases:?}"));
    assert_eq!(pins["ok"], true, "{pins}");
    let decisions = step("decisions").unwrap();
    assert!(decisions["detail"].as_str().unwrap().contains("1 deny"), "{decisions}");
}

#[test]
fn arguments_that_do_not_fit_are_nobodys_refusal_and_cost_a_server_nothing() {
    let place = Place::with("");
    std::fs::write(place.config(), witness("w", &place.work())).unwrap();
    let mut client = Running::start(&mut place.configured(&["serve", "--stdio"]));
    opening().iter().for_each(|message| client.send(message));
    client.answer(1);
    client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    client.answer(2);
    for (id, arguments) in
        [(3, json!({})), (4, json!({ "count": "many" })), (5, json!({ "reject": true }))]
    {
        let params = json!({ "name": "w__echo", "arguments": arguments });
        client
            .send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
        let answer = client.answer(id);
        let failed = answer["result"]["isError"] == true || answer.get("error").is_some();
        assert_eq!(failed, id > 3, "{answer}");
    }
    client.close_stdin();
    client.end();
    let totals = json_of(&place, &["report", "--json"])["totals"].clone();
    assert_eq!((&totals["denied"], &totals["errors"]), (&json!(0), &json!(0)), "{totals}");
    assert_eq!(totals["bad_arguments"], 2, "{totals}");
    let scores = json_of(&place, &["score", "--json"]);
    assert_eq!(scores[0]["parts"]["success"]["score"], 100, "{scores}");
}
