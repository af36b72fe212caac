//! `servers` and `discover`.

use serde_json::json;

use crate::support::{Place, TOOLGATE, run, sample, witness};

#[test]
fn every_state_has_its_word_and_its_reason() {
    let crash = "[servers.crash]\ncommand = \"sh\"\nargs = [\"-c\", \"exit 3\"]\n";
    let off = "[servers.off]\ncommand = \"x\"\nenabled = false\n";
    let unset = "[servers.unset]\nurl = \"http://127.0.0.1:1/${env:NOT_SET_ANYWHERE}\"\n";
    let place = Place::with(&format!("{}{crash}{off}{unset}", sample("good")));
    let said = run(&mut place.configured(&["servers", "--json"]));
    assert_eq!(said.code, 0, "{said:?}");
    let overview = said.json();
    assert_eq!(overview["discovery"], "completed");
    let states: Vec<_> = overview["servers"].as_array().unwrap().iter().collect();
    let word =
        |at: usize| (states[at]["name"].as_str().unwrap(), states[at]["state"].as_str().unwrap());
    assert_eq!(word(0), ("crash", "failed"));
    assert_eq!(word(1), ("good", "connected"));
    assert_eq!(word(2), ("off", "disabled"));
    assert_eq!(word(3), ("unset", "blocked"));
    assert!(states[0]["reason"].as_str().unwrap().contains("exit status: 3"), "{overview}");
    assert!(states[3]["reason"].as_str().unwrap().contains("NOT_SET_ANYWHERE"), "{overview}");
    assert_eq!(
        states[1],
        &json!({
            "name": "good", "enabled": true, "state": "connected", "transport": "stdio",
            "command": TOOLGATE, "args": ["sample-server"], "scope": "user", "shadows": [],
            "protocol": "2025-11-25", "origin": states[1]["origin"], "tools": 3, "resources": 1,
            "prompts": 1,
        })
    );
    assert!(states[1]["origin"].as_str().unwrap().ends_with("servers.toml:1:10"), "{overview}");
}

#[test]
fn people_get_a_table() {
    let place = Place::with(&sample("good"));
    let said = run(&mut place.configured(&["servers"]));
    let lines: Vec<_> = said.out.lines().collect();
    assert!(lines[0].starts_with("NAME  STATE      TRANSPORT  TOOLS"), "{}", said.out);
    assert!(lines[1].starts_with("good  connected  stdio      3      ~/servers"), "{}", said.out);
}

#[test]
fn waiting_for_a_slow_server_ends_when_it_is_told_to() {
    let place = Place::with("[servers.slow]\ncommand = \"sleep\"\nargs = [\"600\"]\n");
    let said = run(&mut place.configured(&["servers", "--json", "--wait", "0"]));
    assert_eq!(said.json()["discovery"], "in_progress");
    assert_eq!(said.json()["servers"][0]["state"], "connecting");
}

#[test]
fn a_server_shows_what_it_offers_under_both_names() {
    let place = Place::with(&sample("good"));
    let said = run(&mut place.configured(&["discover", "good"]));
    assert_eq!(said.code, 0, "{said:?}");
    for part in ["echo (as good__echo)", "toolgate://sample/help", "getting_started"] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
}

#[test]
fn hidden_characters_are_shown_and_definitions_stay_raw() {
    let place = Place::with("");
    std::fs::write(place.config(), witness("w", &place.work())).unwrap();
    let said = run(&mut place.configured(&["discover", "w"]));
    assert!(said.out.contains("shown ⟦U+001B⟧[31mred⟦U+202E⟧\n"), "{}", said.out);
    assert!(!said.out.contains("second line"), "{}", said.out);
    let said = run(&mut place.configured(&["discover", "w", "--json"]));
    let tool = &said.json()["tools"][8];
    assert_eq!(tool["name"], "hidden");
    assert_eq!(tool["exposed"], "w__hidden");
    let description = tool["definition"]["description"].as_str().unwrap();
    assert_eq!(description, "shown \u{1b}[31mred\u{202e}\nsecond line");
    assert_eq!(said.json()["templates"][0]["name"], "w://{id}");
}

#[test]
fn an_unknown_server_is_named_beside_the_known_ones() {
    let place = Place::with(&sample("good"));
    let said = run(&mut place.configured(&["discover", "bad"]));
    assert_eq!(said.code, 1);
    assert!(said.err.contains("error[TG-SERVER-001]: no server named `bad`"), "{said:?}");
    assert!(said.err.contains("hint: declared servers are good"), "{said:?}");
}
