//! An ingest that is killed at any moment: the library opens, holds whole documents only, and the next
//! run completes it.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Place, run};

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

#[test]
fn whole_documents_only_and_the_next_run_completes_it() {
    let mut random = random(20_261_116);
    let place = Place::new();
    fill(&place, &mut random);
    let begun = Instant::now();
    assert_eq!(ingest(&place)["added"], FILES);
    let whole = begun.elapsed();
    let undisturbed = exported(&place);
    assert_eq!(undisturbed.len(), FILES);
    let mut torn = 0;
    for round in 0..rounds() {
        fs::remove_dir_all(place.home()).unwrap();
        // Somewhere in each part of it.
        let part = whole / rounds() as u32;
        let within = Duration::from_micros(random(1 + part.as_micros() as u64));
        let after = part * round as u32 + within;
        let mut verb = place.verb(&["context", "ingest", "in"]);
        let mut child = verb.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(after);
        child.kill().unwrap();
        child.wait().unwrap();
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
