//! The local context on a gateway: when it is offered, and folders that `serve` follows.

use std::path::Path;

use serde_json::Value;

use crate::support::{Place, Running, eventually, run, sample};

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The names of all servers there are, and how each stands.
fn servers(place: &Place) -> Vec<(String, String)> {
    let said = run(&mut place.configured(&["servers", "--json"])).json();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows = said["servers"].as_array().unwrap().iter();
    rows.map(|row| (text(row, "name"), text(row, "state"))).collect()
}

fn names(place: &Place) -> Vec<String> {
    servers(place).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn it_is_offered_once_it_holds_something_and_never_where_files_say_so() {
    let place = Place::with(&sample("s"));
    let (_gateway, _) = Running::serve(&mut place.configured(&[]));
    assert_eq!(names(&place), ["s"]);
    assert!(!place.home().join("context.db").exists(), "nothing was taken in");

    // Another process fills it.
    write(&place.work().join("notes/keys.md"), "# Keys\n\nThe vault keys rotate every March.\n");
    let said = run(&mut place.verb(&["context", "ingest", "notes"]));
    assert_eq!(said.code, 0, "{said:?}");
    eventually("the context", || names(&place) == ["context", "s"]);
    let words = ["call", "context", "search_local_context", "query=vault keys"];
    let found = run(&mut place.configured(&words));
    assert!(found.code == 0 && found.out.contains("rotate every March"), "{found:?}");

    let never = format!("{}[context]\noffer = \"never\"\n", sample("s"));
    std::fs::write(place.config(), never).unwrap();
    eventually("its end", || names(&place) == ["s"]);
}

#[test]
fn folders_that_files_name_are_taken_in_and_followed() {
    let place = Place::with("");
    let note = place.work().join("notes/plan.md");
    write(&note, "# Plan\n\nThe harbour bridge opens in spring.\n");
    let folder = place.work().join("notes").display().to_string();
    let config = format!("{}[context]\nfolders = [{folder:?}]\n", sample("s"));
    std::fs::write(place.config(), config).unwrap();
    let (_gateway, _) = Running::serve(&mut place.configured(&[]));
    let finds = |query: &str, text: &str| {
        let query = format!("query={query}");
        let words = ["call", "context", "search_local_context", &query];
        run(&mut place.configured(&words)).out.contains(text)
    };
    eventually("the folder", || finds("harbour bridge", "opens in spring"));
    write(&note, "# Plan\n\nThe harbour bridge opens in autumn.\n");
    eventually("the change", || finds("harbour bridge", "opens in autumn"));
}

#[test]
fn a_damaged_context_is_told_and_harms_nobody() {
    let place = Place::with(&sample("s"));
    write(&place.home().join("context.db"), "this is no database, whatever it is called");
    let said = run(&mut place.configured(&["servers", "--json"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("context.db"), "{said:?}");
    let (gateway, _) = Running::serve(&mut place.configured(&[]));
    let called = run(&mut place.configured(&["call", "s", "echo", "text=hi"]));
    assert_eq!(called.out, "hi\n", "{called:?}");
    assert_eq!(servers(&place), [("s".to_owned(), "connected".to_owned())]);
    gateway.signal(rustix::process::Signal::TERM);
    let (code, err) = gateway.end();
    assert!(code == 0 && err.contains("context.db"), "{err}");
}
