//! An ingest that is killed at any moment: the library opens, holds whole documents only, and the next
//! run completes it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Place, TOOLGATE, eventually, run};

const FILES: usize = 400;

/// A tenth of them in the normal run.
fn rounds() -> usize {
    if std::env::var_os("TOOLGATE_SOAK").is_some() { 100 } else { 10 }
}

/// Numbers that are the same in every run.
fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    }
}

fn fill(place: &Place, random: &mut impl FnMut(u64) -> u64) {
    let folder = place.work().join("in");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..FILES {
        let sections = 1 + random(60);
        let text: String = (0..sections)
            .map(|section| format!("# Part {section} of {number}\n\n{}\n\n", "word ".repeat(100)))
            .collect();
        fs::write(folder.join(format!("{number}.md")), text).unwrap();
    }
}

/// Every document with its passages, as export writes them, without what differs between runs.
fn exported(place: &Place) -> BTreeMap<String, Vec<Value>> {
    let said = run(&mut place.verb(&["context", "export"]));
    assert_eq!(said.code, 0, "{said:?}");
    let mut documents = BTreeMap::new();
    for line in said.out.lines() {
        let document: Value = serde_json::from_str(line).unwrap();
        let Some(key) = document["key"].as_str() else { continue };
        let passages = document["passages"].as_array().unwrap();
        let strip = |passage: &Value| {
            let mut passage = passage.clone();
            passage.as_object_mut().unwrap().remove("id");
            passage
        };
        documents.insert(key.to_owned(), passages.iter().map(strip).collect());
    }
    documents
}

fn ingest(place: &Place) -> Value {
    let said = run(&mut place.verb(&["--json", "context", "ingest", "in"]));
    assert_eq!(said.code, 0, "{said:?}");
    said.json()
}

/// How much the library weighs on disk, with the log beside it.
fn weight(place: &Place) -> u64 {
    let file = place.home().join("context.db");
    [file.with_extension("db-wal"), file]
        .iter()
        .filter_map(|it| Some(fs::metadata(it).ok()?.len()))
        .sum()
}

/// Kills an ingest once the library weighs so much, unless it ends before.
fn kill_at(place: &Place, bytes: u64) {
    let mut verb = place.verb(&["context", "ingest", "in"]);
    let mut child = verb.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("a library of this weight", || {
        weight(place) >= bytes || child.try_wait().unwrap().is_some()
    });
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Has the system kill an ingest that writes beyond this place in a file: it cannot end before.
fn kill_beyond(place: &Place, bytes: u64) {
    let script = format!("ulimit -c 0; ulimit -f {}; exec \"$0\" context ingest in", bytes / 512);
    let mut shell = place.command("sh", &["-c", &script, TOOLGATE]);
    let status = shell.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.signal(), Some(Signal::XFSZ.as_raw()), "{status:?}");
}

#[test]
fn whole_documents_only_and_the_next_run_completes_it() {
    let mut random = random(20_261_116);
    let place = Place::new();
    fill(&place, &mut random);
    assert_eq!(ingest(&place)["added"], FILES);
    let whole = weight(&place);
    let undisturbed = exported(&place);
    assert_eq!(undisturbed.len(), FILES);
    let mut torn = 0;
    for round in 0..rounds() {
        fs::remove_dir_all(place.home()).unwrap();
        // Somewhere in each part of it; in the middle where it surely has something to lose.
        let part = whole / rounds() as u64;
        match round == rounds() / 2 {
            true => kill_beyond(&place, part * round as u64),
            false => kill_at(&place, part * round as u64 + random(1 + part)),
        }
        let there = exported(&place);
        for (key, passages) in &there {
            assert_eq!(passages, &undisturbed[key], "{key} is not whole");
        }
        torn += usize::from(!there.is_empty() && there.len() < FILES);
        let rest = ingest(&place);
        let (added, unchanged) = (&rest["added"], &rest["unchanged"]);
        assert_eq!(added.as_u64().unwrap() as usize, FILES - there.len(), "{rest}");
        assert_eq!(unchanged.as_u64().unwrap() as usize, there.len(), "{rest}");
        assert_eq!(exported(&place), undisturbed);
    }
    println!("{torn} of {} were killed half way", rounds());
    assert!(torn > 0, "no kill came while there was something to lose");
}
