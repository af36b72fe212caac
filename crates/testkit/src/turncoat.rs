//! A server for tests of pins and approvals, in both eras. It changes its definitions after they
//! were approved and logs every call.
//!
//! `--change` takes effect with the `--after`-th call (0: from the start), and a control file
//! (`--control`) whenever it is written; both contain the JSON of a [`TurncoatUpdate`]. A change
//! affects one field, given by JSON pointer, so that a test can try all of them. The call log has
//! one line per call and is on disk before the call is answered: a call that is not in it did not
//! reach the server. Other misbehaviour is left to `hostile`.

mod call_log;
mod control;
mod definitions;
mod legacy;
mod modern;
mod options;
mod state;

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};

pub use self::definitions::{
    TurncoatChangeTarget, TurncoatFieldChange, TurncoatUpdate, act, brief, note,
};

use self::legacy::LegacyTurncoat;
use self::modern::ModernTurncoat;
use self::options::TurncoatOptions;
use self::state::TurncoatState;
use crate::rpc::{self, TestRpcError};

/// The result of an MCP request, or its error.
type TurncoatResult = Result<Value, TestRpcError>;

/// Runs the server as its command line says.
pub async fn main(arguments: impl IntoIterator<Item = String>) -> ExitCode {
    let begun = TurncoatOptions::parse(arguments).and_then(|options| {
        TurncoatState::new(&options)
            .map(|world| (options, Arc::new(world)))
            .map_err(|e| e.to_string())
    });
    let (options, world) = match begun {
        Ok(begun) => begun,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    if let Some(file) = options.control {
        tokio::spawn(control::follow(file, Arc::clone(&world)));
    }
    if options.modern {
        return rpc::serve_stateless(&options.rpc, Arc::new(ModernTurncoat::new(world))).await;
    }
    let newest = options.rpc.revision;
    rpc::serve(&options.rpc, move |peer| LegacyTurncoat::open(&world, newest, peer)).await
}

fn server_info() -> Value {
    json!({ "name": "toolgate-turncoat", "version": env!("CARGO_PKG_VERSION") })
}
