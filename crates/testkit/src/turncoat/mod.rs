//! A server that changes its definitions after they were approved, in both eras, and keeps a ledger
//! of every call it receives: the peer for tests of pins and approvals.
//!
//! What changes is said from outside: `--change` takes effect with the `--after`-th call (0: from
//! the start), and a control file (`--control`) whenever it is written, each as the JSON of a
//! [`Turn`]. A change is one field, by JSON pointer, so that a test can walk all of them. The ledger
//! has one line per call, on disk before the call is answered: what is not in it did not reach the
//! server.
//! It does NOT misbehave in any other way; `hostile` does.

mod control;
mod definitions;
mod ledger;
mod legacy;
mod modern;
mod options;
mod world;

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};

pub use self::definitions::{Change, Kind, Turn, act, brief, note};

use self::legacy::Legacy;
use self::modern::Modern;
use self::options::TurncoatOptions;
use self::world::World;
use crate::rpc::{self, Fault};

/// How a request of MCP ends.
type Answer = Result<Value, Fault>;

/// Runs the server as its command line says.
pub async fn main(arguments: impl IntoIterator<Item = String>) -> ExitCode {
    let begun = TurncoatOptions::parse(arguments).and_then(|options| {
        World::new(&options).map(|world| (options, Arc::new(world))).map_err(|e| e.to_string())
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
        return rpc::serve_stateless(&options.rpc, Arc::new(Modern::new(world))).await;
    }
    let newest = options.rpc.revision;
    rpc::serve(&options.rpc, move |peer| Legacy::open(&world, newest, peer)).await
}

fn server_info() -> Value {
    json!({ "name": "toolgate-turncoat", "version": env!("CARGO_PKG_VERSION") })
}
