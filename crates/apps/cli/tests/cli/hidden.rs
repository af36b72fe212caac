//! Nothing a server hides in its texts reaches a terminal as it is: not in names, descriptions,
//! schemas, results, errors, log lines, standard error, questions, or addresses.

use toolgate_model::is_invisible;

use crate::support::{Place, Said, run};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/furtive.py");

fn furtive() -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.home()).unwrap();
    let entry = format!("[servers.w]\ncommand = \"python3\"\nargs = [{SERVER:?}]\n");
    std::fs::write(place.home().join("config.toml"), entry).unwrap();
    place
}

/// What a terminal was sent, without what we send ourselves: line ends, colours, and the spinner's
/// erasing.
fn foreign(said: &Said) -> String {
    let mut rest = said.out.replace("\r\n", "\n").replace("\r\u{1b}[K", "");
    while let Some(at) = rest.find("\u{1b}[") {
        let end = rest[at + 2..].find(|c: char| !c.is_ascii_digit() && c != ';');
        let end = end.map_or(rest.len(), |end| at + 2 + end);
        assert!(rest[end..].starts_with('m'), "no colour: {:?}", &rest[at..end]);
        rest.replace_range(at..=end, "");
    }
    rest
}

fn shows_all(said: &Said, what: &[&str]) -> String {
    let shown = foreign(said);
    let raw = shown.chars().find(|c| is_invisible(*c) && !matches!(c, '\n' | '\t'));
    assert_eq!(raw, None, "{what:?} wrote U+{:04X}: {shown:?}", raw.unwrap_or(' ') as u32);
    assert!(!said.out.contains('\u{fffd}'), "{what:?}: {shown:?}");
    shown
}

#[test]
fn no_verb_writes_what_a_terminal_would_obey_or_hide() {
    let place = furtive();
    let verbs: [&[&str]; 16] = [
        &["discover", "w"],
        &["discover", "w", "--json"],
        &["servers"],
        &["get", "w"],
        &["list"],
        &["doctor", "w"],
        &["exposure"],
        &["exposure", "--json"],
        &["search", "seen"],
        &["call", "w", "hide"],
        &["call", "w", "hide", "--json"],
        &["call", "w", "fail"],
        &["call", "w", "broken"],
        &["read-resource", "w", "x://r"],
        &["prompt", "w", "p"],
        &["-v", "--debug=all", "call", "w", "hide"],
    ];
    for verb in verbs {
        let shown = shows_all(&run(&mut place.typed(&[], verb)), verb);
        assert!(!shown.trim().is_empty(), "{verb:?} said nothing");
    }
    let logged = shows_all(&run(&mut place.typed(&[], verbs[15])), verbs[15]);
    assert!(logged.contains("⟦U+202E⟧"), "standard error and log lines are shown: {logged:?}");
}

#[test]
fn what_is_asked_hides_nothing() {
    let place = furtive();
    let ask: &[&str] = &["call", "w", "ask"];
    let script = [("(y/n)", "y"), (":", "one"), (":", "1")];
    let shown = shows_all(&run(&mut place.typed(&script, ask)), ask);
    assert!(shown.contains("w asks: seen"), "{shown:?}");
    let visit: &[&str] = &["call", "w", "visit"];
    let shown = shows_all(&run(&mut place.typed(&[("(y/n)", "n")], visit)), visit);
    assert!(shown.contains("https://xn--"), "the host is shown as it is reached: {shown:?}");
}
