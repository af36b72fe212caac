//! `context ingest` as people run it: what it says, how it ends, and what it goes on doing.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use rustix::process::Signal;

use crate::support::{Place, Running, eventually, run};

fn notes(place: &Place) {
    let folder = place.work().join("notes");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("keys.md"), "# Keys\n\nThey are rotated in spring.").unwrap();
    fs::write(folder.join("plan.txt"), "We ship in May.").unwrap();
    fs::write(folder.join("picture.bin"), b"\0\x01\x02\0").unwrap();
}

#[test]
fn a_folder_goes_in_and_the_second_time_nothing_does() {
    let place = Place::new();
    notes(&place);
    let said = run(&mut place.verb(&["context", "ingest", "notes"]));
    assert_eq!(said.code, 0, "{said:?}");
    let summary = "2 added, 0 changed, 0 unchanged, 0 removed, 0 skipped; 1 file without";
    assert!(said.out.starts_with(summary), "{said:?}");
    let said = run(&mut place.verb(&["--json", "context", "ingest", "notes"]));
    let report = said.json();
    assert_eq!((&report["added"], &report["unchanged"]), (&0.into(), &2.into()), "{said:?}");
    assert_eq!(report["skipped"]["total"], 0, "{said:?}");
    let found = run(&mut place.verb(&["context", "search", "rotated"]));
    assert!(found.out.contains("keys.md"), "{found:?}");
}

#[test]
fn a_path_that_cannot_be_read_fails_and_the_others_go_in() {
    let place = Place::new();
    notes(&place);
    let said = run(&mut place.verb(&["context", "ingest", "nowhere", "notes"]));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("error[TG-CONTEXT-001]: cannot read `nowhere`"), "{said:?}");
    assert!(said.out.starts_with("2 added"), "{said:?}");
    let said = run(&mut place.verb(&["--json", "context", "ingest", "nowhere"]));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.json()["failed"][0].as_str().unwrap().contains("nowhere"), "{said:?}");
}

#[test]
fn standard_input_is_a_note() {
    let place = Place::new();
    let words = ["context", "ingest", "-", "--name", "minutes.md", "--trust"];
    let mut child = place.verb(&words).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"# Minutes\n\nAda will ask Bob.").unwrap();
    assert!(child.wait().unwrap().success());
    let found = run(&mut place.verb(&["--json", "context", "search", "Ada"])).json();
    let found = found.to_string();
    assert!(found.contains("note:minutes.md") && found.contains(r#""trust":"trusted""#), "{found}");
    let said = run(&mut place.verb(&["context", "ingest", "-", "--watch"]));
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn trusted_folders_of_the_users_file_are_trusted() {
    let place = Place::new();
    notes(&place);
    fs::create_dir_all(place.home()).unwrap();
    let config = format!("[context]\ntrusted = [{:?}]\n", place.work().join("notes"));
    fs::write(place.home().join("config.toml"), config).unwrap();
    run(&mut place.verb(&["context", "ingest", "notes"]));
    let found = run(&mut place.verb(&["--json", "context", "search", "rotated"])).json();
    assert!(found.to_string().contains(r#""trust":"trusted""#), "{found}");
}

#[test]
fn what_is_watched_is_taken_in_until_somebody_ends_it() {
    let place = Place::new();
    notes(&place);
    let running = Running::start(&mut place.verb(&["context", "ingest", "notes", "--watch"]));
    assert!(running.line().contains("2 added"));
    fs::write(place.work().join("notes/new.md"), "Something new").unwrap();
    assert!(running.line().contains("1 added"));
    fs::remove_file(place.work().join("notes/keys.md")).unwrap();
    assert!(running.line().contains("1 removed"));
    running.signal(Signal::INT);
    let (code, err) = running.end();
    assert_eq!(code, 0, "{err}");
}

#[test]
fn at_a_terminal_there_is_a_bar() {
    let place = Place::new();
    let folder = place.work().join("notes");
    fs::create_dir(&folder).unwrap();
    for number in 0..2000 {
        fs::write(folder.join(format!("{number}.md")), "many words ".repeat(200)).unwrap();
    }
    let said = run(&mut place.typed(&[], &["context", "ingest", "notes"]));
    assert!(said.out.contains("2000 added"), "{said:?}");
    assert!(said.out.contains("of 2000 files") && said.out.contains(" left"), "{said:?}");
    let piped = run(&mut place.verb(&["context", "ingest", "notes"]));
    assert!(piped.err.is_empty(), "{piped:?}");
}

#[test]
fn an_interrupted_ingest_ends_in_good_order_and_the_next_takes_the_rest() {
    let place = Place::new();
    let folder = place.work().join("notes");
    fs::create_dir(&folder).unwrap();
    for number in 0..3000 {
        fs::write(folder.join(format!("{number}.md")), "many words ".repeat(500)).unwrap();
    }
    let running = Running::start(&mut place.verb(&["--json", "context", "ingest", "notes"]));
    let documents =
        || run(&mut place.verb(&["--json", "context", "status"])).json()["documents"].as_u64();
    eventually("the first documents", || documents().unwrap() > 0);
    running.signal(Signal::INT);
    let (code, err) = running.end();
    // A fast machine may have been done before.
    assert!(code == 0 || code == 130 && err.contains("interrupted"), "{code}: {err}");
    let kept = documents().unwrap();
    let rest = run(&mut place.verb(&["--json", "context", "ingest", "notes"])).json();
    let (added, unchanged) = (rest["added"].as_u64().unwrap(), rest["unchanged"].as_u64().unwrap());
    assert_eq!((added, unchanged), (3000 - kept, kept), "{rest}");
}
