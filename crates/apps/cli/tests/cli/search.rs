//! `search`: from what is known, without starting anything.

use std::process::Stdio;

use serde_json::Value;

use crate::support::{Place, Running, processes_with, run, sample, witness};

/// A place where everything was looked at once.
fn looked_at(config: &str) -> Place {
    let place = Place::with(config);
    let said = run(&mut place.configured(&["discover", "--json"]));
    assert_eq!(said.code, 0, "{said:?}");
    place
}

fn names(found: &Value) -> Vec<String> {
    let found = found.as_array().unwrap().iter();
    found.map(|it| it["exposed"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_best_comes_first_in_the_shape_that_is_promised() {
    let place = looked_at(&sample("s"));
    let said = run(&mut place.configured(&["search", "what", "time", "is", "it", "--json"]));
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    let found = said.json();
    let best = &found[0];
    assert_eq!(
        (&best["server"], &best["name"], &best["exposed"]),
        (&"s".into(), &"now".into(), &"s__now".into())
    );
    assert!(best["score"].as_f64().unwrap() > 0.0, "{found}");
    assert!(!best["why"].as_array().unwrap().is_empty(), "{found}");
    assert_eq!(best.as_object().unwrap().len(), 5, "{found}");
    let said = run(&mut place.configured(&["search", "what time is it"]));
    assert!(said.out.starts_with("NAME") && said.out.contains("current time"), "{said:?}");
    let said = run(&mut place.configured(&["search", "--limit", "1", "--json", "time or text"]));
    assert_eq!(said.json().as_array().unwrap().len(), 1, "{said:?}");
}

#[test]
fn nothing_is_started_and_what_is_not_known_is_named() {
    let place = Place::with("");
    let other = "[servers.other]\ncommand = \"sh\"\nargs = [\"-c\", \"touch started; exit 1\"]\n";
    let off = "[servers.off]\ncommand = \"x\"\nenabled = false\n";
    let config = format!("{}{other}{off}", witness("w", &place.work()));
    std::fs::write(place.config(), config).unwrap();
    let mark = format!("WITNESS={}", place.work().display());
    let said = run(&mut place.configured(&["search", "echo", "--json"]));
    assert_eq!((said.code, said.out.as_str()), (0, "[]\n"), "{said:?}");
    assert!(said.err.contains("the capabilities of other, w are not known yet"), "{said:?}");
    assert!(said.err.contains("`toolgate discover other`"), "{said:?}");
    assert!(!place.work().join("started").exists());
    run(&mut place.configured(&["discover", "w"]));
    let said = run(&mut place.configured(&["search", "echo", "--json"]));
    assert_eq!(names(&said.json()), ["w__echo"], "{said:?}");
    assert!(said.err.contains("the capabilities of other are not known yet"), "{said:?}");
    assert!(!place.work().join("started").exists());
    assert_eq!(processes_with(&mark), 0);
}

#[test]
fn nothing_that_fits_is_an_empty_answer_and_no_failure() {
    let place = looked_at(&sample("s"));
    let said = run(&mut place.configured(&["search", "qqqqzzzz", "--json"]));
    assert_eq!((said.code, said.out.as_str()), (0, "[]\n"), "{said:?}");
    let said = run(&mut place.configured(&["search", "qqqqzzzz"]));
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    assert!(said.err.contains("no tools match"), "{said:?}");
    for words in [&["search"][..], &["search", "--limit", "0", "x"], &["search", "--stdin", "x"]] {
        assert_eq!(run(&mut place.configured(words)).code, 2, "{words:?}");
    }
}

#[test]
fn queries_from_stdin_are_answered_line_by_line() {
    let place = looked_at(&sample("s"));
    let file = place.work().join("queries");
    std::fs::write(&file, "what time is it\nqqqqzzzz\n\ngive back some text\n").unwrap();
    let mut verb = place.configured(&["search", "--stdin", "--json"]);
    let said = run(verb.stdin(Stdio::from(std::fs::File::open(file).unwrap())));
    assert_eq!(said.code, 0, "{said:?}");
    let answers: Vec<Value> =
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 4, "{said:?}");
    assert_eq!((&answers[0][0]["name"], &answers[3][0]["name"]), (&"now".into(), &"echo".into()));
    assert_eq!((&answers[1], &answers[2]), (&Value::Array(vec![]), &Value::Array(vec![])));
}

#[test]
fn the_living_owner_is_asked() {
    let place = Place::with("");
    std::fs::create_dir_all(place.home()).unwrap();
    let file = place.home().join("config.toml");
    std::fs::write(&file, sample("s")).unwrap();
    let (_gateway, _) = Running::serve(&mut place.verb(&[]));
    // Only the owner still knows what this file said, and has looked at its servers.
    std::fs::write(&file, "[servers.other\n").unwrap();
    run(&mut place.verb(&["discover", "s"]));
    let said = run(&mut place.verb(&["search", "what time is it", "--json"]));
    assert_eq!(names(&said.json())[0], "s__now", "{said:?}");
    let said = run(&mut place.verb(&["exposure", "--json"]));
    assert_eq!(said.json()[0]["server"], "s", "{said:?}");
}
