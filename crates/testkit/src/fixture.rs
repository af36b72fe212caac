//! The server that the official conformance suite expects, in both eras: with sessions up to
//! 2025-11-25 ([`legacy`]), and without sessions in 2026-07-28 ([`modern`]).
//!
//! Tools and prompts are defined once, against the [`context`] of a call; each era only implements
//! how messages, questions and answers travel. Besides what the suite requires, there is a tool for
//! every other message of the protocol. One process speaks one era and never negotiates, so that a
//! test knows which one it uses.

mod clock;
mod completion;
mod content;
mod context;
mod legacy;
mod modern;
mod options;
mod page;
mod prompts;
mod resources;
mod state;
mod tasks;
mod tools;

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};

use self::legacy::LegacyFixture;
use self::modern::ModernFixture;
use self::options::FixtureOptions;
use self::state::FixtureState;
use crate::rpc::{self, TestRpcError};

/// The result of an MCP request, or its error.
type FixtureResult = Result<Value, TestRpcError>;

/// What the server tells about itself.
const INSTRUCTIONS: &str = "A server for tests: every tool says in its description what it does.";

/// Runs the fixture as its command line says.
pub async fn main(arguments: impl IntoIterator<Item = String>) -> ExitCode {
    let options = match FixtureOptions::parse(arguments) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let world = Arc::new(FixtureState::new(&options));
    if options.modern {
        eprintln!("INFO fixture: {} only", modern::REVISION);
        return rpc::serve_stateless(&options.rpc, Arc::new(ModernFixture::new(world))).await;
    }
    eprintln!("INFO fixture: up to {}", options.rpc.revision.as_str());
    let rules = options.rpc.clone();
    rpc::serve(&options.rpc, move |peer| LegacyFixture::open(&world, &rules, peer)).await
}

fn server_info() -> Value {
    json!({
        "name": "toolgate-fixture",
        "title": "Toolgate's fixture",
        "version": env!("CARGO_PKG_VERSION"),
    })
}
