//! Findings on released servers: they are honest, so what is found is a false alarm, and there must
//! be few. And on descriptions of ours that are not: those must be found.
//!
//! A program of its own, so that working on findings builds little.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests: a broken expectation ends the test at once"
)]

use std::collections::{BTreeMap, BTreeSet};

use toolgate_e2e::corpus;
use toolgate_findings::{Finding, FindingSeverity, find_across_servers, find_in_server};
use toolgate_model::{Catalog, Definition, ServerName};

/// Servers the corpus must have for this to say anything.
const FEWEST_SERVERS: usize = 10;

fn catalogs() -> BTreeMap<ServerName, Catalog> {
    let mut catalogs = BTreeMap::new();
    for tool in corpus::tools().unwrap() {
        let server = ServerName::new(&tool.server).unwrap();
        let catalog =
            catalogs.entry(server).or_insert_with(|| Catalog::empty("2025-11-25".parse().unwrap()));
        let definition = Definition { name: tool.name.as_str().into(), raw: tool.raw.into() };
        catalog.tools.push(definition);
    }
    assert!(catalogs.len() >= FEWEST_SERVERS, "only {} servers", catalogs.len());
    catalogs
}

/// How many tools something is found of, and what.
fn told(found: &[Finding], at_least: FindingSeverity) -> (usize, Vec<String>) {
    let heavy = || found.iter().filter(|it| it.severity >= at_least);
    let tools: BTreeSet<_> = heavy().filter_map(|it| it.capability.as_ref()).collect();
    (tools.len(), heavy().map(ToString::to_string).collect())
}

#[test]
fn honest_servers_give_few_false_alarms() {
    let catalogs = catalogs();
    let tools: usize = catalogs.values().map(|catalog| catalog.tools.len()).sum();
    let alone: Vec<_> =
        catalogs.iter().flat_map(|(server, catalog)| find_in_server(server, catalog)).collect();
    let pairs: Vec<_> = catalogs.iter().collect();
    let beside = find_across_servers(&pairs);
    let (any, _) = told(&alone, FindingSeverity::Low);
    let (heavy, listed) = told(&alone, FindingSeverity::Medium);
    let (mentions, all) = told(&beside, FindingSeverity::Low);
    println!(
        "{} servers, {tools} tools: {any} with a finding, {heavy} of weight; {mentions} beside others",
        catalogs.len()
    );
    alone.iter().chain(&beside).for_each(|it| println!("  {} {it}", it.severity));
    assert!(heavy * 100 <= tools, "more than one in a hundred:\n{}", listed.join("\n"));
    assert!(any * 100 <= tools * 2, "more than two in a hundred");
    assert!(mentions * 100 <= tools * 3, "more than three in a hundred:\n{}", all.join("\n"));
}
