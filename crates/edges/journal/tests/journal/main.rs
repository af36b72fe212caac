//! Tests the journal from the outside: verification finds every change, acknowledged records are on
//! disk, and write failures are reported.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod changes;
mod killed;
mod reading;
mod refused;

use std::fs;
use std::path::{Path, PathBuf};

use toolgate_journal::Journal;
use toolgate_journal::{
    JournalEvent, JournalOutcome, JournalPaths, JournalPublicKey, JournalRecord, VerifyReport,
    read, verify,
};
use toolgate_model::{CapabilityId, CapabilityKind, Effect, ServerName};

/// The times something is tried: all with `TOOLGATE_SOAK`, else a tenth.
fn counted(all: u64) -> u64 {
    if std::env::var_os("TOOLGATE_SOAK").is_some() { all } else { all / 10 }
}

fn tool() -> CapabilityId {
    let server = ServerName::new("files").unwrap();
    CapabilityId { server, kind: CapabilityKind::Tool, name: "read_file".into() }
}

/// A call that was let through.
fn intent(about: &CapabilityId, call: u64, read_only: bool) -> JournalRecord<'_> {
    JournalRecord {
        event: JournalEvent::Decided {
            effect: Effect::Allow,
            because: "rule `mcp:files/read_*` (config.toml:12)",
            method: "tools/call",
            definition: None,
            arguments_digest: None,
            arguments: br#"{"path":"/srv/a.txt","depth":2}"#,
            other_params: b"",
            read_only,
            tags: &[],
        },
        call,
        caller: "local",
        client: "some-client",
        profile: "default",
        about: Some(about),
    }
}

/// The end of a call.
fn outcome(about: &CapabilityId, call: u64) -> JournalRecord<'_> {
    let event =
        JournalEvent::Done { outcome: JournalOutcome::Ok, detail: "", micros: 1500, bytes: 812 };
    JournalRecord { event, ..intent(about, call, true) }
}

/// A journal of this many records, closed as it should be: the places of it.
async fn written(folder: &Path, records: u64) -> JournalPaths {
    let journal = Journal::new(folder.join("journal"));
    let about = tool();
    for call in 1..=records / 2 {
        journal.append(&intent(&about, call, true)).unwrap();
        let last = journal.append(&outcome(&about, call)).unwrap();
        if call % 1000 == 0 {
            journal.wait_durable(last).await.unwrap();
        }
    }
    journal.close().await.unwrap();
    journal.paths().clone()
}

/// The only segment of the only chain.
fn segment(places: &JournalPaths) -> PathBuf {
    let chain = fs::read_dir(&places.folder).unwrap().next().unwrap().unwrap().path();
    chain.join("000001.jsonl")
}

fn checked(places: &JournalPaths) -> VerifyReport {
    let key = JournalPublicKey::parse(&fs::read_to_string(&places.public_key).unwrap()).unwrap();
    verify(&places.folder, &places.checkpoints, Some(&key), &mut |_| {}).unwrap()
}

/// Returns the calls whose intent was recorded.
fn intents(places: &JournalPaths) -> Vec<u64> {
    let entries = read(&places.folder).unwrap().map(Result::unwrap);
    let decided =
        entries.filter(|entry| matches!(entry.event, toolgate_journal::EntryEvent::Decided(_)));
    decided.map(|entry| entry.call).collect()
}

/// Numbers that are the same in every run.
fn random(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as usize % below
    }
}
