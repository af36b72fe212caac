//! `doctor`: every step, and what is wrong.

use serde_json::json;

use crate::support::{Place, TOOLGATE, run, sample};

#[test]
fn a_healthy_server_shows_every_step() {
    let place = Place::with(&sample("s"));
    let said = run(&mut place.configured(&["doctor", "s", "--json"]));
    assert_eq!(said.code, 0, "{said:?}");
    let checkup = &said.json()[0];
    let steps = checkup["phases"].as_array().unwrap();
    let names: Vec<_> = steps.iter().map(|step| step["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["resolve", "launch", "initialize", "list"]);
    assert!(steps.iter().all(|step| step["ok"] == true && step["ms"].is_u64()), "{checkup}");
    assert_eq!(checkup["server"], "s");
}

#[test]
fn a_missing_program_fails_to_launch() {
    let place = Place::with("[servers.gone]\ncommand = \"/nonexistent/program\"\n");
    let said = run(&mut place.configured(&["doctor", "--json"]));
    assert_eq!(said.code, 1, "{said:?}");
    let checkup = &said.json()[0];
    let launch = &checkup["phases"][1];
    assert_eq!((&launch["name"], &launch["ok"]), (&json!("launch"), &json!(false)));
    assert!(launch["detail"].as_str().unwrap().contains("/nonexistent/program"), "{checkup}");
    assert_eq!(checkup.get("withheld"), None, "it never ran: {checkup}");
}

#[test]
fn a_crash_shows_its_last_words_and_what_it_was_not_given() {
    let script = "printf 'no MY_TOKEN \\033[31m\\n' >&2; exit 4";
    let config = format!("[servers.crash]\ncommand = \"sh\"\nargs = [\"-c\", {script:?}]\n");
    let place = Place::with(&config);
    let mut verb = place.configured(&["doctor", "crash"]);
    let said = run(verb.env("MY_TOKEN", "not to be shown").env("MY_OTHER", ""));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("initialize FAILED"), "{}", said.out);
    assert!(said.out.contains("exit status: 4"), "{}", said.out);
    assert!(said.out.contains("    | no MY_TOKEN ⟦U+001B⟧[31m\n"), "{}", said.out);
    let mentioned = "variables it mentions but does not get: MY_TOKEN\n";
    assert!(said.out.contains(mentioned), "{}", said.out);
    assert!(said.out.contains("MY_OTHER"), "{}", said.out);
    assert!(!said.out.contains("not to be shown"), "{}", said.out);
    assert!(said.out.contains("hint: run it by hand"), "{}", said.out);
    assert!(said.out.contains("processes: "), "{}", said.out);
}

/// Writes its key to standard error in forms that other programs decode, and ends.
const TELLS: &str = r#"
import os, sys
key = os.environ["API_KEY"]
of_bytes = lambda form: "".join(form % byte for byte in key.encode())
of_text = lambda form: "".join(form % ord(char) for char in key)
for form in ["%02x", "%02X", "%%%02x", "%%%02X"]:
    print("key:", of_bytes(form), file=sys.stderr)
for form in ["\\u%04x", "\\u%04X"]:
    print("key:", of_text(form), file=sys.stderr)
sys.exit(3)
"#;

#[test]
fn a_secret_is_hidden_in_every_form_it_is_written_in() {
    let place = Place::with(&format!(
        "[servers.tells]\ncommand = \"python3\"\nargs = [\"-c\", {TELLS:?}]\n\
         env = {{ API_KEY = \"kanarie/zz\" }}\n"
    ));
    let said = run(&mut place.configured(&["--debug", "doctor", "tells"]));
    assert_eq!(said.code, 1, "{said:?}");
    let hidden = said.out.lines().filter(|line| line.ends_with("| key: ***")).count();
    assert_eq!(hidden, 6, "{}", said.out);
    assert!(!said.err.contains("6b616e61") && !said.err.contains("6B616E61"), "{}", said.err);
}

#[test]
fn a_server_without_consent_is_not_started_to_find_out_why() {
    let place = Place::new();
    let started = place.work().join("started");
    let touch = json!({ "command": "touch", "args": [started] });
    let off = json!({ "command": TOOLGATE, "disabled": true });
    let file = json!({ "mcpServers": { "p": touch, "off": off } });
    std::fs::write(place.work().join(".mcp.json"), file.to_string()).unwrap();
    let said = run(&mut place.verb(&["doctor", "p", "--json"]));
    assert_eq!(said.code, 1, "{said:?}");
    let step = &said.json()[0]["phases"][0];
    assert_eq!((&step["name"], &step["ok"]), (&json!("standing"), &json!(false)));
    assert!(step["detail"].as_str().unwrap().contains("needs consent"), "{step}");
    assert!(!started.exists());
}

#[test]
fn an_examined_server_is_started_once() {
    let script = format!("echo x >> starts; exec {TOOLGATE:?} sample-server");
    let config = format!("[servers.s]\ncommand = \"sh\"\nargs = [\"-c\", {script:?}]\n");
    let place = Place::with(&config);
    for words in [&["doctor"][..], &["doctor", "s"]] {
        let said = run(&mut place.configured(words));
        assert_eq!(said.code, 0, "{said:?}");
        let starts = place.work().join("starts");
        assert_eq!(std::fs::read_to_string(&starts).unwrap(), "x\n", "{words:?}");
        std::fs::remove_file(starts).unwrap();
    }
}
