//! `--as`: which profile a verb, a client and an installed entry sees with.

use serde_json::{Value, json};

use crate::support::{Place, Running, eventually, opening, run, sample};

const PROFILES: &str = "[profiles.reader]\ninclude = [\"s/echo\"]\ntags = []\nnaming = \"claude\"\n\
                        [clients.known]\nprofile = \"reader\"\n";

fn place() -> Place {
    let place = Place::with(&format!("{}{PROFILES}", sample("s")));
    std::fs::create_dir_all(place.home()).unwrap();
    std::fs::copy(place.config(), place.home().join("config.toml")).unwrap();
    place
}

#[test]
fn a_verb_sees_what_its_profile_does() {
    let place = place();
    let said = run(&mut place.configured(&["discover", "s", "--as", "reader", "--json"]));
    let tools = said.json()["tools"].clone();
    let seen = tools.as_array().unwrap().iter().filter_map(|tool| tool["exposed"].as_str());
    assert_eq!(seen.collect::<Vec<_>>(), ["mcp__s__echo"], "{said:?}");
    let said = run(&mut place.configured(&["search", "text", "--as", "reader", "--json"]));
    assert_eq!(said.json()[0]["exposed"], "mcp__s__echo", "{said:?}");
    let said = run(&mut place.configured(&["search", "what time is it", "--as", "reader"]));
    assert_eq!(said.out, "", "{said:?}");
    let said = run(&mut place.configured(&["exposure", "--as", "reader", "--why", "s/now"]));
    assert!(said.out.contains("hidden") && said.out.contains("profile reader"), "{said:?}");
    let said = run(&mut place.configured(&["call", "s", "echo", "text=hi", "--as", "reader"]));
    assert_eq!(said.out, "hi\n", "{said:?}");
    let said = run(&mut place.configured(&["call", "s", "now", "--as", "reader"]));
    assert_eq!((said.code, said.out.as_str()), (3, ""), "{said:?}");
    let said = run(&mut place.configured(&["prompt", "s", "getting_started", "--as", "reader"]));
    assert_eq!((said.code, said.out.as_str()), (3, ""), "{said:?}");
}

#[test]
fn a_profile_that_is_none_is_bad_usage_and_names_those_there_are() {
    let place = place();
    for words in [
        &["discover", "s"][..],
        &["discover"],
        &["search", "x"],
        &["exposure"],
        &["call", "s", "echo", "text=x"],
        &["read-resource", "s", "toolgate://sample/help"],
        &["prompt", "s", "getting_started"],
        &["serve", "--listen", "127.0.0.1:0"],
        &["serve", "--stdio"],
        &["install", "codex", "--dry-run"],
    ] {
        let said = run(place.configured(words).args(["--as", "nobody"]));
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{words:?}: {said:?}");
        assert!(said.err.contains("nobody") && said.err.contains("reader"), "{words:?}: {said:?}");
    }
    let (_gateway, _) = Running::serve(&mut place.configured(&[]));
    for words in [&["search", "x"][..], &["call", "s", "echo", "text=x"], &["serve", "--stdio"]] {
        let said = run(place.configured(words).args(["--as", "nobody"]));
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{words:?}: {said:?}");
        assert!(said.err.contains("nobody") && said.err.contains("reader"), "{words:?}: {said:?}");
    }
}

/// The tools a client on stdio is shown that calls itself so, once the server is up: a list waits
/// only for a moment for one that is still starting.
fn shown(place: &Place, words: &[&str], name: &str) -> Vec<String> {
    let mut client = Running::start(&mut place.configured(words));
    let [mut first, second] = opening();
    first["params"]["clientInfo"]["name"] = name.into();
    client.send(&first);
    client.send(&second);
    client.answer(1);
    let mut tools = Vec::new();
    eventually("a list with tools", || {
        client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
        tools = client.answer(2)["result"]["tools"].as_array().unwrap().clone();
        !tools.is_empty()
    });
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_client_on_stdio_has_the_profile_it_was_started_with_or_is_known_by() {
    let place = place();
    let stdio = ["serve", "--stdio"];
    let reader = ["mcp__s__echo"];
    let mut gateway = None;
    for _ in ["alone", "as a relay"] {
        assert_eq!(shown(&place, &[&stdio[..], &["--as", "reader"]].concat(), "any"), reader);
        assert_eq!(shown(&place, &stdio, "known"), reader);
        assert_eq!(shown(&place, &[&stdio[..], &["--as", "default"]].concat(), "known").len(), 3);
        assert_eq!(shown(&place, &stdio, "any").len(), 3);
        gateway.get_or_insert_with(|| Running::serve(&mut place.configured(&[])));
    }
}

#[test]
fn what_is_served_without_a_choice_can_be_said() {
    let place = place();
    let (_gateway, _) = Running::serve(&mut place.configured(&["--as", "reader"]));
    assert_eq!(shown(&place, &["serve", "--stdio"], "any"), ["mcp__s__echo"]);
    assert_eq!(shown(&place, &["serve", "--stdio", "--as", "default"], "any").len(), 3);
    // An operator who names no profile sees everything.
    let said = run(&mut place.configured(&["call", "s", "now"]));
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn an_installed_entry_carries_the_profile() {
    let place = place();
    let installed = |words: &[&str]| {
        let mut verb = place.verb(&["install", "cursor", "--approve", "client", "--yes"]);
        let said = run(verb.args(words).env_remove("CODEX_HOME"));
        assert_eq!(said.code, 0, "{said:?}");
        let file = place.home().parent().unwrap().join(".cursor/mcp.json");
        let text = std::fs::read_to_string(file).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["mcpServers"]["toolgate"].clone()
    };
    let entry = installed(&["--as", "reader"]);
    let args: Vec<_> = entry["args"].as_array().unwrap().iter().collect();
    assert_eq!(args[args.len() - 2..], ["--as", "reader"], "{entry}");
    let entry = installed(&["--as", "reader", "--http"]);
    assert_eq!(entry["url"], "http://127.0.0.1:7420/mcp/reader", "{entry}");
    // It is still known as ours, and left out of what is served.
    let said = run(&mut place.verb(&["list", "--offline", "--json"]));
    assert_eq!(said.json()["servers"].as_array().unwrap().len(), 1, "{said:?}");
}

#[test]
fn a_changed_profile_counts_while_it_is_served() {
    let place = place();
    let (_gateway, _) = Running::serve(&mut place.verb(&[]));
    let seen = || {
        let said = run(&mut place.verb(&["exposure", "--as", "reader", "--json"]));
        let lines = said.json();
        let visible = lines.as_array().unwrap().iter().filter(|line| line["visible"] == true);
        visible.map(|line| line["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    eventually("what the server offers", || seen() == ["echo"]);
    let file = place.home().join("config.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("s/echo", "s/n*")).unwrap();
    eventually("the new word", || seen() == ["now"]);
    // A slip of the pen changes nothing.
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("tags = []", "tags = 7")).unwrap();
    eventually("the complaint", || {
        run(&mut place.verb(&["servers"])).err.contains("profile \"reader\"")
    });
    assert_eq!(seen(), ["now"]);
}
