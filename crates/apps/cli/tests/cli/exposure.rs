//! `exposure` and `discover`: what is seen, and which rule of which file decided.

use serde_json::{Value, json};

use crate::support::{Place, Said, processes_with, run, sample, witness};

fn looked_at(config: &str) -> Place {
    let place = Place::with(config);
    let said = run(&mut place.configured(&["discover"]));
    assert_eq!(said.code, 0, "{said:?}");
    place
}

/// The line of a tool.
fn line(said: &Said, server: &str, name: &str) -> Value {
    let lines = said.json();
    let mut lines = lines.as_array().unwrap().iter();
    let is_it = |it: &&Value| it["server"] == server && it["name"] == name && it["kind"] == "tool";
    lines.find(is_it).unwrap_or_else(|| panic!("no {server}/{name}: {said:?}")).clone()
}

fn because(line: &Value) -> &str {
    line["because"].as_str().unwrap()
}

#[test]
fn every_capability_has_its_line_and_its_rule() {
    let place = looked_at(&format!("{}exclude = [\"now\"]\n", sample("s")));
    let said = run(&mut place.configured(&["exposure", "--json"]));
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    let echo = line(&said, "s", "echo");
    assert!(because(&echo).contains("profile default") && because(&echo).contains("built in"));
    assert!(echo["tokens"].as_u64().unwrap() > 0, "{echo}");
    let (because_echo, tokens) = (echo["because"].clone(), echo["tokens"].clone());
    let decision = json!({
        "effect": "allow", "outcome": "client_approves", "via": "client",
        "because": "mode `ask`, as no file says otherwise; its client approves by itself",
    });
    assert_eq!(
        echo,
        json!({
            "server": "s", "kind": "tool", "name": "echo", "exposed": "s__echo", "visible": true,
            "because": because_echo, "tokens": tokens, "decision": decision,
        })
    );
    let now = line(&said, "s", "now");
    assert_eq!((&now["visible"], &now["exposed"]), (&false.into(), &Value::Null));
    assert!(because(&now).contains("now") && because(&now).contains("servers.toml:1"), "{now}");
    let kinds = said.json();
    let kinds: Vec<_> = kinds.as_array().unwrap().iter().map(|it| it["kind"].clone()).collect();
    assert!(kinds.contains(&"prompt".into()) && kinds.contains(&"resource".into()), "{kinds:?}");
}

#[test]
fn people_get_a_table_and_what_it_costs() {
    let place = looked_at(&sample("s"));
    let said = run(&mut place.configured(&["exposure"]));
    assert_eq!(said.code, 0, "{said:?}");
    for part in ["SERVER", "s__echo", "profile default sees everything", "profile default (all)"] {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
    let said = run(&mut place.configured(&["exposure", "--totals", "--json"]));
    let totals = said.json();
    let (list, server) = (&totals["list"], &totals["servers"][0]);
    assert_eq!((&server["server"], &server["tools"]), (&"s".into(), &3.into()), "{totals}");
    assert_eq!((&list["all"], &list["sent"]), (&server["all"], &server["all"]), "{totals}");
    assert!(list["search"].as_u64() > Some(0), "{totals}");
}

#[test]
fn one_is_explained_by_any_of_its_names() {
    let place = looked_at(&format!("{}{}", sample("a"), sample("b").replace("\n", " #\n")));
    for name in ["a/echo", "a__echo"] {
        let said = run(&mut place.configured(&["exposure", "--why", name]));
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.out.starts_with("a/echo (tool)\n  seen     listed as a__echo\n"), "{said:?}");
        assert!(said.out.contains("because  profile default sees everything"), "{said:?}");
    }
    let said = run(&mut place.configured(&["exposure", "--why", "echoo"]));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("hint: did you mean `echo`?"), "{said:?}");
}

#[test]
fn a_tool_answers_to_its_alias() {
    let alias = "tools.echo = { alias = \"say\", tags = [\"voice\"] }\n";
    let place = looked_at(&format!("{}{alias}[profiles.p]\nnaming = \"claude\"\n", sample("s")));
    for name in ["say", "s/say", "mcp__s__say", "echo", "s/echo"] {
        let said = run(&mut place.configured(&["exposure", "--as", "p", "--why", name]));
        let begins = "s/echo (tool)\n  seen     listed as mcp__s__say\n";
        assert!(said.out.starts_with(begins), "{name}: {said:?}");
        assert!(said.out.contains("\n  alias    say\n  tags     voice\n"), "{name}: {said:?}");
    }
    let said = run(&mut place.configured(&["exposure", "--why", "say", "--json"]));
    let line = said.json()[0].clone();
    assert_eq!((&line["alias"], &line["listed"]), (&"say".into(), &true.into()), "{line}");
    assert_eq!(line["tags"], json!(["voice"]));
    let said = run(&mut place.configured(&["call", "s", "say", "text=hi", "--as", "p"]));
    assert_eq!(said.out, "hi\n", "{said:?}");
}

#[test]
fn what_may_not_be_used_is_hidden_with_its_reason() {
    let place = looked_at(&sample("s"));
    let off = format!("{}enabled = false\n", sample("s"));
    std::fs::write(place.config(), off).unwrap();
    let said = run(&mut place.configured(&["exposure", "--json"]));
    let echo = line(&said, "s", "echo");
    assert_eq!(echo["visible"], false);
    assert!(because(&echo).contains("its server is disabled"), "{echo}");
    assert!(because(&echo).contains("servers.toml:1"), "{echo}");
    let said = run(&mut place.configured(&["search", "what time is it", "--json"]));
    assert_eq!(said.out, "[]\n", "{said:?}");
}

#[test]
fn nothing_is_started() {
    let place = Place::with("");
    std::fs::write(place.config(), witness("w", &place.work())).unwrap();
    let mark = format!("WITNESS={}", place.work().display());
    let said = run(&mut place.configured(&["exposure", "--json"]));
    assert_eq!((said.code, said.out.as_str()), (0, "[]\n"), "{said:?}");
    assert!(said.err.contains("the capabilities of w are not known yet"), "{said:?}");
    assert_eq!(processes_with(&mark), 0);
}

#[test]
fn what_is_listed_and_absent_is_told() {
    let place = looked_at(&format!("{}only_listed = true\ntools.ecoh = {{}}\n", sample("s")));
    let said = run(&mut place.configured(&["exposure", "--json"]));
    assert!(said.err.contains("\"ecoh\", which the server does not offer"), "{said:?}");
    assert_eq!(line(&said, "s", "ecoh")["visible"], false);
    assert_eq!(line(&said, "s", "echo")["visible"], false);
    let said = run(&mut place.configured(&["servers", "--json"]));
    let notes = said.json()["notes"][0].as_str().unwrap().to_owned();
    assert!(notes.contains("ecoh"), "{said:?}");
}

#[test]
fn discover_shows_all_servers_and_one_that_fails_hides_no_other() {
    let crash = "[servers.crash]\ncommand = \"sh\"\nargs = [\"-c\", \"exit 3\"]\n";
    let off = "[servers.off]\ncommand = \"x\"\nenabled = false\n";
    let place = Place::with(&format!("{}{crash}{off}", sample("good")));
    let said = run(&mut place.configured(&["discover", "--json"]));
    assert_eq!(said.code, 0, "{said:?}");
    let all = said.json();
    let states: Vec<_> = all.as_array().unwrap().iter().map(|it| it["state"].clone()).collect();
    assert_eq!(states, ["failed", "connected", "disabled"]);
    assert_eq!(all[1]["tools"].as_array().unwrap().len(), 3);
    let said = run(&mut place.configured(&["discover"]));
    assert!(
        said.out.contains("crash: failed\n    ") && said.out.contains("good__echo"),
        "{said:?}"
    );
}

#[test]
fn discover_shows_schemas_and_what_is_hidden() {
    let place = Place::with(&format!("{}exclude = [\"now\", \"help\"]\n", sample("s")));
    let said = run(&mut place.configured(&["discover", "s", "--schema"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("      input {\n") && said.out.contains("\"required\""), "{said:?}");
    assert!(said.out.contains("  hidden: help\n") || said.out.contains("hidden: help, now"));
    let said = run(&mut place.configured(&["discover", "s", "--json"]));
    let tools = said.json()["tools"].clone();
    let now = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "now").unwrap().clone();
    assert_eq!(now["exposed"], Value::Null);
    assert!(now["hidden"].as_str().unwrap().contains("servers.toml:1"), "{now}");
    let said = run(&mut place.configured(&["call", "s", "now"]));
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("cannot use `now`: it is hidden: "), "{said:?}");
}
