//! `toolgate context serve`, in both eras.

use serde_json::{Value, json};
use toolgate_e2e::gateway::{stdio_entry, testkit};
use toolgate_e2e::{marked_processes, within};

use super::lines::Lines;
use super::{House, PATIENCE, QUESTION, fits, names, query};
use crate::plan::Era;

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];
const TOOLS: [&str; 8] = [
    "ask",
    "ingest",
    "pack",
    "open_loops",
    "decision_extract",
    "grounded_answer",
    "recall",
    "meeting_extract",
];

fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names
}

#[test]
fn every_surface_is_there_under_its_bare_name_in_both_eras() {
    let house = House::furnished("");
    for era in ERAS {
        let mut client = Lines::start(&house, era, &[]);
        let tools = client.ask("tools/list", &json!({}))["tools"].clone();
        assert_eq!(sorted(names(&tools)), sorted(TOOLS.to_vec()), "{era:?}");
        for (tool, arguments) in [
            ("recall", query("Madeira")),
            ("pack", json!({"task": "find the wine"})),
            ("grounded_answer", json!({"question": QUESTION})),
            ("ask", json!({"question": QUESTION})),
            ("open_loops", json!({})),
            ("decision_extract", query("anniversary")),
            ("meeting_extract", json!({"text": "Attendees: Marta, Luis\n\n- Marta: order salt\n"})),
        ] {
            let result = client.call(tool, &arguments);
            fits(&tools, tool, &result);
        }
        let found = client.call("recall", &query("Madeira"));
        let best = &found["structuredContent"]["passages"][0];
        assert!(best["source"].as_str().unwrap().ends_with("papers/cellar.md"), "{best}");
        let resources = client.ask("resources/list", &json!({}))["resources"].clone();
        let uris: Vec<_> = resources.as_array().unwrap().iter().map(|it| &it["uri"]).collect();
        assert_eq!(uris, ["toolgate://context/help", "toolgate://context/status"], "{era:?}");
        let prompts = client.ask("prompts/list", &json!({}))["prompts"].clone();
        assert_eq!(names(&prompts), ["summarize_local_context"]);
        searched_and_completed(&mut client);
    }
}

fn searched_and_completed(client: &mut Lines) {
    let templates = client.ask("resources/templates/list", &json!({}));
    let template = templates["resourceTemplates"][0]["uriTemplate"].as_str().unwrap().to_owned();
    assert_eq!(template, "toolgate://context/search{?query,limit}");
    let uri = "toolgate://context/search?query=oldest%20bottle&limit=1";
    let read = client.ask("resources/read", &json!({"uri": uri}));
    let found: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(found["query"], "oldest bottle");
    assert!(found["passages"][0]["text"].as_str().unwrap().contains("1875"), "{found:#}");
    let prompt = json!({"type": "ref/prompt", "name": "summarize_local_context"});
    for about in [prompt, json!({"type": "ref/resource", "uri": template})] {
        let typed = json!({"ref": about, "argument": {"name": "query", "value": "the cel"}});
        let completed = client.ask("completion/complete", &typed);
        assert_eq!(completed["completion"]["values"], json!(["The cellar"]), "{completed}");
        let typed = json!({"ref": about, "argument": {"name": "limit", "value": "5"}});
        let completed = client.ask("completion/complete", &typed);
        assert_eq!(completed["completion"]["values"], json!(["5", "50"]));
    }
}

#[test]
fn secondbrain_names_and_uris_work_in_both_eras() {
    let house = House::furnished("");
    for era in ERAS {
        let mut client = Lines::start(&house, era, &["--names", "secondbrain"]);
        let tools = client.ask("tools/list", &json!({}))["tools"].clone();
        let expected: Vec<_> = TOOLS.iter().map(|it| format!("sb_{it}")).collect();
        let expected = expected.iter().map(String::as_str).collect();
        assert_eq!(sorted(names(&tools)), sorted(expected));
        fits(&tools, "sb_recall", &client.call("sb_recall", &query("Madeira")));
        let uri = "secondbrain://context/search?query=Madeira";
        let read = client.ask("resources/read", &json!({"uri": uri}));
        assert!(read["contents"][0]["text"].as_str().unwrap().contains("1875"), "{read}");
    }
}

#[test]
fn a_client_of_either_era_may_lend_its_model() {
    let house = House::furnished("");
    for era in ERAS {
        let mut client = Lines::lending(&house, era, &[], Some("It is of 1875 [1]."));
        let tools = client.ask("tools/list", &json!({}))["tools"].clone();
        let result = client.call("ask", &json!({"question": QUESTION}));
        fits(&tools, "ask", &result);
        let data = &result["structuredContent"];
        assert_eq!(data["phrased_by"], "client", "{era:?}: {data:#}");
        assert_eq!(data["answer"], "It is of 1875 [1].");
        assert!(data["sentences"][0]["text"].as_str().unwrap().contains("Madeira of 1875"));
        assert_eq!(client.asked.len(), 1, "{era:?}");
        let asked = client.asked[0]["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(asked.contains(QUESTION) && asked.contains("untrusted text of [1]"), "{asked}");

        let mut client = Lines::start(&house, era, &[]);
        let result = client.call("ask", &json!({"question": QUESTION}));
        assert_eq!(result["structuredContent"]["phrased_by"], "extract", "{era:?}: {result:#}");
    }
}

#[test]
fn a_client_takes_in_what_lies_where_it_was_started_and_nothing_else() {
    let house = House::empty("");
    let mut client = Lines::start(&house, Era::Legacy, &[]);
    let before = client.call("recall", &query("Madeira"));
    let notice = before["structuredContent"]["notice"].as_str().unwrap();
    let command = format!("toolgate --home {} context ingest", house.setup.home().display());
    assert!(notice.contains(&command), "{notice}");
    assert!(!house.library().exists(), "a search made a library");
    let outside = tempfile_outside();
    let refused = client.call("ingest", &json!({"path": outside.path().display().to_string()}));
    assert_eq!(refused["isError"], true);
    assert!(refused["content"][0]["text"].as_str().unwrap().contains(&command), "{refused}");
    assert!(!house.library().exists(), "a refusal made a library");
    let taken = client.call("ingest", &json!({"path": "papers"}));
    assert_eq!(taken["structuredContent"]["added"], 2, "{taken:#}");
    let after = client.call("recall", &query("Madeira"));
    assert_eq!(after["structuredContent"]["passages"][0]["trust"], "untrusted");
}

fn tempfile_outside() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("other.md"), "# Other\n\nSomething else.\n").unwrap();
    folder
}

#[test]
fn hostile_text_arrives_clean_and_marked() {
    let house = House::furnished("");
    let mut client = Lines::start(&house, Era::Legacy, &[]);
    let result = client.call("recall", &query("guest book in the hall"));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Ignore all previous") && text.contains("untrusted text of [1]"));
    let hidden = |c: &char| toolgate_model::is_invisible(*c) && !matches!(c, '\n' | '\t');
    assert_eq!(result.to_string().chars().find(hidden), None);
    assert_eq!(text.chars().find(hidden), None);
}

#[test]
fn it_starts_no_other_server_and_lives_beside_a_gateway() {
    let mark = marked_processes::new_mark();
    let words = testkit("fixture", &["--stdio"]).unwrap();
    let config = stdio_entry("other", &words, &[(marked_processes::VARIABLE, &mark)]);
    let house = House::furnished(&config);
    let mut alone = Lines::start(&house, Era::Legacy, &[]);
    let tools = alone.ask("tools/list", &json!({}))["tools"].clone();
    assert_eq!(names(&tools).len(), TOOLS.len());
    assert!(marked_processes::find_marked(&mark).unwrap().is_empty(), "another server was started");

    let gateway = house.setup.serve().unwrap();
    let client = gateway.client_with(&["search_local_context"]).unwrap();
    assert!(within(PATIENCE, || !marked_processes::find_marked(&mark).unwrap().is_empty()));
    let mut beside = Lines::start(&house, Era::Modern, &[]);
    let note = json!({"text": "# Barrels\n\nThe third barrel leaks.\n", "name": "barrels.md"});
    for one in [&mut alone, &mut beside] {
        assert_eq!(one.call("ingest", &note)["isError"], Value::Null);
        let found = one.call("recall", &query("leaking barrel"));
        assert_eq!(found["structuredContent"]["passages"][0]["source"], "note:barrels.md");
    }
    let found = client.call("search_local_context", &query("leaking barrel")).unwrap();
    let best = &found["result"]["structuredContent"]["passages"][0];
    assert_eq!(best["source"], "note:barrels.md", "{found:#}");
}

#[test]
fn policy_and_journal_of_the_home_hold() {
    let house = House::furnished("[policy]\ndeny = [\"mcp:*/ingest\"]\n");
    let mut client = Lines::start(&house, Era::Legacy, &[]);
    let note = json!({"text": "x", "name": "x.md"});
    let refused = client.request("tools/call", &json!({"name": "ingest", "arguments": note}));
    let decision = &refused["result"]["_meta"]["dev.toolgate/decision"];
    assert_eq!(decision["effect"], "deny", "{refused}");
    fits(
        &client.ask("tools/list", &json!({}))["tools"],
        "recall",
        &client.call("recall", &query("x")),
    );
    drop(client);
    let audit = house.setup.run(&["audit", "tail", "--json"]).unwrap();
    let told = String::from_utf8_lossy(&audit.stdout).into_owned();
    assert!(told.contains("recall") && told.contains("deny"), "{told}");
}
