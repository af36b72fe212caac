//! `audit`: what was done is on record, and whoever changes it is found.

use std::path::PathBuf;

use serde_json::Value;
use toolgate_model::Digest;

use crate::support::{Place, Running, run, sample};

/// A home in which three calls were made.
fn used() -> Place {
    let place = Place::with(&sample("s"));
    for text in ["one", "two", "password=canary-1"] {
        let said = run(place.configured(&["call", "s", "echo"]).arg(format!("text={text}")));
        assert_eq!(said.code, 0, "{said:?}");
    }
    place
}

fn segments(place: &Place) -> Vec<PathBuf> {
    let chains = std::fs::read_dir(place.home().join("journal")).unwrap();
    let mut found: Vec<_> =
        chains.map(|chain| chain.unwrap().path().join("000001.jsonl")).collect();
    found.sort();
    found
}

#[test]
fn calls_are_on_record_and_their_secrets_are_not() {
    let place = used();
    let said = run(&mut place.verb(&["audit", "tail"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("allow") && said.out.contains("s/echo"), "{said:?}");
    assert_eq!(said.out.lines().filter(|line| line.contains(" ok ")).count(), 3, "{said:?}");
    let said = run(&mut place.verb(&["audit", "export", "--server", "s"]));
    let lines: Vec<Value> =
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["about"]["server"] == "s" && line["chain"].is_string()));
    let decided: Vec<_> = lines.iter().filter(|it| it["event"]["type"] == "decided").collect();
    assert_eq!(decided.len(), 3, "{said:?}");
    assert_eq!(decided[0]["event"]["arguments"]["text"], "one");
    assert_eq!(decided[2]["event"]["arguments"]["text"], "password=***");
    assert!(!said.out.contains("canary"));
}

#[test]
fn an_export_is_for_a_time_and_a_spreadsheet() {
    let place = used();
    let file = place.work().join("calls.csv");
    let words = ["audit", "export", "--format", "csv", "--since", "2020-01-01", "-o"];
    let said = run(place.verb(&words).arg(&file));
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("time,chain,seq,"), "{text}");
    assert!(text.contains(",tool,echo,decided,allow,"), "{text}");
    let said = run(&mut place.verb(&["audit", "export", "--until", "2020-01-01"]));
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    let said = run(&mut place.verb(&["audit", "export", "--since", "yesterday"]));
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn a_changed_journal_is_found_with_file_and_line() {
    let place = used();
    let said = run(&mut place.verb(&["audit", "verify"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("the journal is intact"), "{said:?}");
    let path = segments(&place).remove(0);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"one\"", "\"won\"", 1)).unwrap();
    let said = run(&mut place.verb(&["audit", "verify"]));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("000001.jsonl:") && said.out.contains("not what was written"));
    let said = run(&mut place.verb(&["audit", "verify", "--json"]));
    let report = said.json();
    assert_eq!((said.code, &report["problems"][0]["fault"]), (1, &"edited".into()), "{report}");
    // The proof is elsewhere: the end is cut off, and here nobody can prove anything.
    let kept = place.work().join("kept");
    std::fs::create_dir(&kept).unwrap();
    for entry in std::fs::read_dir(place.home().join("checkpoints")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), kept.join(entry.file_name())).unwrap();
        std::fs::remove_file(entry.path()).unwrap();
    }
    let lines: Vec<_> = text.lines().collect();
    std::fs::write(&path, lines[..lines.len() - 2].join("\n") + "\n").unwrap();
    assert_eq!(run(&mut place.verb(&["audit", "verify"])).code, 1);
    let said = run(place.verb(&["audit", "verify", "--json", "--checkpoints"]).arg(&kept));
    assert_eq!(said.json()["problems"][0]["fault"], "truncated", "{said:?}");
    let said = run(place.verb(&["audit", "verify", "--key"]).arg(&path));
    assert_eq!(said.code, 2, "{said:?}");
}

/// The records of a chain without one call, in a chain that hangs together.
fn without_the_call(chain: &str, text: &str) -> String {
    let hex = |hash: &[u8]| hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut prev = Digest::of(format!("toolgate/{chain}").as_bytes());
    let (mut out, mut seq) = (String::new(), 0);
    for line in text.lines().filter(|line| line.starts_with("{\"call\":0,")) {
        seq += 1;
        let (body, rest) = line.rsplit_once(",\"hash\":\"").unwrap();
        let (time, ts) =
            (&rest[65..rest.find(",\"prev\"").unwrap()], rest.rsplit_once(',').unwrap().1);
        let rest = format!("{time},\"prev\":\"{}\",\"seq\":{seq},{ts}", hex(prev.as_bytes()));
        prev = Digest::of(&[prev.as_bytes(), body.as_bytes(), rest.as_bytes()].concat());
        out.push_str(&format!("{body},\"hash\":\"{}\"{rest}\n", hex(prev.as_bytes())));
    }
    out
}

#[test]
fn a_journal_rewritten_without_its_key_is_found() {
    let place = used();
    let path = segments(&place).remove(0);
    let chain = path.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    let checkpoints = place.home().join("checkpoints").join(format!("{chain}.ckpt"));
    let (text, notes) =
        (std::fs::read_to_string(&path).unwrap(), std::fs::read(&checkpoints).unwrap());
    let faults = |words: &[&str]| {
        let said = run(&mut place.verb(&[&["audit", "verify", "--json"], words].concat()));
        let report = said.json();
        let problems = report["problems"].as_array().unwrap().clone();
        let faults: Vec<_> =
            problems.iter().map(|it| it["fault"].as_str().unwrap().to_owned()).collect();
        (said.code, faults)
    };
    assert_eq!(faults(&[]), (0, vec![]));

    // The call is gone, and so is what was signed: the chain itself holds.
    std::fs::write(&path, without_the_call(&chain, &text)).unwrap();
    std::fs::remove_file(&checkpoints).unwrap();
    assert_eq!(faults(&[]), (1, vec!["missing-checkpoint".to_owned()]));
    // Everything is as it was, but there is no key that proves it.
    std::fs::write(&path, &text).unwrap();
    std::fs::write(&checkpoints, notes).unwrap();
    assert_eq!(faults(&[]), (0, vec![]));
    let public = place.home().join("journal.pub");
    let kept = place.work().join("kept.pub");
    std::fs::rename(&public, &kept).unwrap();
    assert_eq!(faults(&[]), (1, vec!["missing-key".to_owned()]));
    assert_eq!(faults(&["--key", kept.to_str().unwrap()]), (0, vec![]));
}

#[test]
fn what_is_to_come_is_shown_as_it_comes() {
    let place = used();
    let tail = Running::start(&mut place.verb(&["audit", "tail", "-n", "1", "-f", "--json"]));
    let first = tail.line();
    assert!(first.contains("\"end\":true"), "{first}");
    let said = run(place.configured(&["call", "s", "echo"]).arg("text=three"));
    assert_eq!(said.code, 0, "{said:?}");
    let mut found = false;
    for _ in 0..10 {
        found |= tail.line().contains("\"text\":\"three\"");
        if found {
            break;
        }
    }
    assert!(found);
}

#[test]
fn an_empty_home_has_nothing_to_prove() {
    let place = Place::new();
    for verb in ["tail", "export", "verify"] {
        let said = run(&mut place.verb(&["audit", verb]));
        assert_eq!(said.code, 0, "{said:?}");
    }
}
