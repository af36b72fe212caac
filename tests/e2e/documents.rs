//! The documents are right: every command in them runs, every configuration is accepted, every link
//! leads somewhere, and the README is short.
//!
//! A fenced block says what it is by the words after its backticks. Other words are a failure.
//!
//! | words | what the test does |
//! |---|---|
//! | `sh` | runs it in the page's scratch folder; `exit=N` is the expected exit code |
//! | `sh background` | starts it, waits for its first line, and stops it at the end of the page |
//! | `sh no-run reason="…"` | checks its `toolgate` commands against the definitions, without running |
//! | `toml`, `json` | reads it as a configuration with `toolgate config check` |
//! | `json output` | checks that it is JSON |
//! | `KIND file=NAME` | writes it to this file, for the commands of the page |
//! | `text` | nothing: output, or a picture |
//!
//! A comment `<!-- setup … -->` holds commands that prepare the page's scratch folder.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests: a broken expectation ends the test at once, and programs are started to test"
)]

#[path = "documents/links.rs"]
mod links;
#[path = "documents/page.rs"]
mod page;
#[path = "documents/scratch.rs"]
mod scratch;

use page::{Block, BlockKind, Page, pages};
use scratch::Scratch;

/// Runs a check on every block of every page, and fails with all complaints at once.
fn every_block(check: impl Fn(&Page, &Block) -> Result<(), String>) {
    let mut faults = Vec::new();
    for page in pages() {
        for block in &page.blocks {
            let outcome =
                block.kind.as_ref().map_err(Clone::clone).and_then(|_| check(&page, block));
            faults.extend(outcome.err().map(|why| format!("{}:{}: {why}", page.name, block.line)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_block_says_what_it_is() {
    every_block(|_, _| Ok(()));
}

/// One test for all pages, so that a page which is added is tested; each has a folder of its own.
#[test]
fn every_command_runs_in_the_order_of_its_page() {
    let pages: Vec<_> = pages().into_iter().filter(Page::has_commands).collect();
    let mut faults = Vec::new();
    for few in pages.chunks(4) {
        std::thread::scope(|scope| {
            let running: Vec<_> =
                few.iter().map(|page| scope.spawn(|| Scratch::play(page))).collect();
            faults.extend(running.into_iter().filter_map(|page| page.join().unwrap().err()));
        });
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn commands_that_cannot_run_here_fit_the_definitions() {
    let scratch = Scratch::new();
    every_block(|_, block| match &block.kind {
        Ok(BlockKind::NotRun) => scratch.parse_commands(&block.text),
        _ => Ok(()),
    });
}

#[test]
fn every_configuration_is_accepted() {
    let scratch = Scratch::new();
    every_block(|_, block| match &block.kind {
        Ok(BlockKind::Config(extension)) => scratch.check_config(&block.text, extension),
        Ok(BlockKind::JsonOutput) => serde_json::from_str::<serde_json::Value>(&block.text)
            .map(drop)
            .map_err(|error| error.to_string()),
        _ => Ok(()),
    });
}

#[test]
fn every_link_leads_somewhere() {
    let faults = links::faults(&pages());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_error_code_is_explained() {
    let faults = links::unexplained_codes(&pages());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_document_that_the_code_names_exists() {
    let faults = links::faults_in_sources();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Two minutes at 250 words a minute.
#[test]
fn the_readme_reads_in_two_minutes() {
    let pages = pages();
    let readme = pages.iter().find(|page| page.name == "README.md").unwrap();
    let words = readme.prose.split_whitespace().count();
    assert!(words <= 500, "{words} words");
}
