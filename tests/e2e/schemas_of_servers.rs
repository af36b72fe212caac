//! The schemas of released servers: usable, adapted for every provider within what it accepts, no
//! narrower than they were, and arguments checked against the original.
//!
//! A program of its own, so that working on schemas builds little. What must hold is written with
//! the tests of `toolgate-schema`, which put generated schemas to it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests: a broken expectation ends the test at once"
)]

use std::collections::BTreeMap;

use serde_json::json;
use toolgate_e2e::corpus::{self, CorpusTool};
use toolgate_schema::{ArgumentValidator, ModelProvider, adapt, check_definition};
use toolgate_testkit::provider_schemas::check_accepted;

#[path = "../../crates/rules/schema/tests/generate/mod.rs"]
mod generate;
#[path = "../../crates/rules/schema/tests/hold/mod.rs"]
mod hold;

/// Servers the corpus must have for these tests to say anything.
const FEWEST_SERVERS: usize = 10;

fn by_server() -> BTreeMap<String, Vec<CorpusTool>> {
    let mut servers = BTreeMap::<String, Vec<CorpusTool>>::new();
    for tool in corpus::tools().unwrap() {
        servers.entry(tool.server.clone()).or_default().push(tool);
    }
    assert!(servers.len() >= FEWEST_SERVERS, "only {} servers", servers.len());
    servers
}

#[test]
fn every_tool_of_a_released_server_is_usable() {
    for tool in by_server().values().flatten() {
        if let Err(unusable) = check_definition(tool.raw.as_bytes()) {
            panic!("{}/{}: {unusable}", tool.server, tool.name);
        }
    }
}

#[test]
fn adapted_schemas_admit_what_the_originals_admit() {
    let servers = by_server();
    let mut all = hold::Counts::default();
    for (server, tools) in &servers {
        for (seed, tool) in tools.iter().enumerate() {
            let schema = &tool.definition().unwrap()["inputSchema"];
            hold::check(schema, seed.try_into().unwrap(), &mut all);
        }
        println!("{} tools of {server}; so far {all}", tools.len());
    }
    println!("{} servers, {} providers: {all}", servers.len(), ModelProvider::ALL.len());
    assert_eq!(all.unusable, 0, "{all}");
    assert!(all.barren * 50 < all.schemas, "too many schemas that nothing fits: {all}");
    assert!(all.strict > 0, "{all}");
}

/// What is refused without adaptation, so that the adaptation is known to do something.
#[test]
fn what_is_not_adapted_is_often_refused() {
    let servers = by_server();
    let mut refused = BTreeMap::<String, usize>::new();
    let mut tools = 0;
    for tool in servers.values().flatten() {
        tools += 1;
        let schema = &tool.definition().unwrap()["inputSchema"];
        for provider in ModelProvider::ALL {
            let as_it_is = check_accepted(&format!("{provider:?}"), schema).is_err();
            *refused.entry(format!("{provider:?}")).or_default() += usize::from(as_it_is);
        }
    }
    println!("of {tools} schemas as they are, refused by: {refused:?}");
    assert!(refused["Gemini"] > 0 && refused["OpenAiStrict"] > 0, "{refused:?}");
}

/// A wrong argument is told with its path, for every tool that has a typed one.
#[test]
fn a_wrong_argument_is_told_with_its_path() {
    let mut told = 0;
    for tool in by_server().values().flatten() {
        let schema = &tool.definition().unwrap()["inputSchema"];
        let arguments = ArgumentValidator::of(tool.raw.as_bytes()).unwrap();
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        let typed = properties.iter().find(|(_, one)| one["type"] == "string");
        let Some((name, _)) = typed else { continue };
        let misfit = arguments.check(json!({ name: [7] }).to_string().as_bytes()).unwrap_err();
        let path = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        let fault = misfit.faults.iter().find(|fault| fault.path == path);
        let fault = fault.unwrap_or_else(|| panic!("{}/{}: {misfit}", tool.server, tool.name));
        assert_eq!(fault.got, "[7]", "{misfit}");
        told += 1;
    }
    println!("{told} tools told of a wrong argument");
    assert!(told > 100);
}

/// Adapting the same schema twice gives the same, and a second adaptation changes nothing.
#[test]
fn adapting_is_deterministic_and_settles() {
    for tool in by_server().values().flatten() {
        let schema = &tool.definition().unwrap()["inputSchema"];
        for provider in [ModelProvider::OpenAi, ModelProvider::Anthropic] {
            let once = adapt(schema, provider).schema;
            assert_eq!(once, adapt(schema, provider).schema);
            let twice = adapt(&once, provider).schema;
            assert_eq!(once, twice, "{}/{}", tool.server, tool.name);
        }
    }
}
