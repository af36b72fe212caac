//! What a person at a terminal sees and is asked.

use crate::support::{Place, run, witness};

fn witnessed() -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.home()).unwrap();
    std::fs::write(place.home().join("config.toml"), witness("w", &place.work())).unwrap();
    place
}

#[test]
fn a_form_is_filled_in_and_a_wrong_answer_asked_again() {
    let place = witnessed();
    let script = [("(y/n)", "y"), ("name:", ""), ("name:", "Ada"), ("[30]:", "x"), ("[30]:", "41")];
    let said = run(&mut place.typed(&script, &["call", "w", "ask"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("w asks: Who are you?"), "{said:?}");
    assert!(said.out.contains(r#""content": {"name": "Ada", "age": 41}"#), "{said:?}");
}

#[test]
fn what_the_gateway_says_of_its_session_is_not_taken_for_the_servers_words() {
    let place = witnessed();
    let said = run(&mut place.typed(&[], &["call", "w", "echo", "text=hi"]));
    assert!(said.code == 0 && said.out.contains("hi"), "{said:?}");
    assert!(!said.out.contains("session-ready"), "{said:?}");
    let said = run(&mut place.typed(&[], &["-v", "call", "w", "echo", "text=hi"]));
    assert!(!said.out.contains("w: info: {\"event\""), "{said:?}");
}

#[test]
fn a_form_can_be_declined() {
    let place = witnessed();
    let said = run(&mut place.typed(&[("(y/n)", "n")], &["call", "w", "ask"]));
    assert!(said.out.contains(r#"{"action": "decline"}"#), "{said:?}");
}

#[test]
fn an_address_is_shown_whole_before_it_is_agreed_to() {
    let place = witnessed();
    let said = run(&mut place.typed(&[("(y/n)", "y")], &["call", "w", "visit"]));
    assert!(said.out.contains("https://x.test/a"), "{said:?}");
    assert!(said.out.contains(r#"{"action": "accept"}"#), "{said:?}");
}

#[test]
fn progress_is_shown_and_ctrl_c_cancels_only_the_call() {
    let place = witnessed();
    let script = [("1/4 a quarter", "\u{3}")];
    let said = run(&mut place.typed(&script, &["call", "w", "slow"]));
    assert_eq!(said.code, 130, "{said:?}");
    assert!(said.out.contains("error[TG-CLI-010]:\u{1b}[0m interrupted"), "{said:?}");
    assert!(place.work().join("cancelled").exists(), "the server was not told");
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let place = witnessed();
    let wrong = ["discover", "nobody"];
    let coloured = run(&mut place.typed(&[], &wrong));
    assert!(coloured.out.contains("\u{1b}[31;1merror[TG-SERVER-001]:"), "{coloured:?}");
    let plain = run(place.typed(&[], &wrong).env("NO_COLOR", "1"));
    assert!(!plain.out.contains("\u{1b}[31"), "{plain:?}");
    let piped = run(&mut place.verb(&wrong));
    assert!(piped.err.starts_with("error[TG-"), "{piped:?}");
}

#[test]
fn a_long_wait_shows_that_something_happens() {
    let place = Place::new();
    std::fs::create_dir_all(place.home()).unwrap();
    let slow = "[servers.slow]\ncommand = \"sleep\"\nargs = [\"600\"]\n";
    std::fs::write(place.home().join("config.toml"), slow).unwrap();
    let said = run(&mut place.typed(&[], &["servers", "--wait", "2"]));
    assert!(said.out.contains("⠋ waiting for servers"), "{said:?}");
    assert!(said.out.contains("\r\u{1b}[K"), "it is wiped away: {said:?}");
    let piped = run(&mut place.verb(&["servers", "--wait", "2"]));
    assert!(!piped.err.contains("waiting"), "{piped:?}");
}
