//! Sends one MCP request for a verb: finds the server, sends the request and waits for the answer.
//! Ctrl-C cancels the request.

use std::sync::Arc;

use serde_json::Value;
use toolgate_host::ShutdownSignals;
use toolgate_wire::Frame;

use crate::cli_context::CliContext;
use crate::control::ServerCapabilityInventory;
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{CliError, Result};
use crate::interactor::TerminalInteractor;
use crate::out::{self, Spinner};
use crate::server_access::ServerAccess;
use crate::shutdown;

/// Finds the server, sends it a request and returns the answer. `members` builds the params from
/// the server's inventory, without `_meta`, as the members of a JSON object.
pub async fn send(
    context: &CliContext,
    server: &str,
    method: &str,
    members: impl AsyncFnOnce(&ServerAccess, &ServerCapabilityInventory) -> Result<String>,
) -> Result<Frame> {
    let spinner = Spinner::new(&format!("waiting for {server}"));
    let mut signals = shutdown::signals()?;
    let access = ServerAccess::find(context, EmbeddedGatewayOptions::single_server(server)).await?;
    let interactor = Arc::new(TerminalInteractor::new(server, spinner, context.verbose));
    let opening = async {
        let profile = context.profile_or_default();
        let inventory = access.inventory(server, profile).await?;
        inventory.check_usable()?;
        let members = members(&access, &inventory).await?;
        Ok((members, access.open_session(profile, interactor).await?))
    };
    let outcome = match unless_interrupted(&mut signals, opening).await {
        Ok((members, link)) => {
            // With a progress token the server can report progress, which keeps the call from
            // timing out.
            let params = format!(r#"{{{members},"_meta":{{"progressToken":1}}}}"#);
            let answer = link.request(server, method, &params);
            let answer = unless_interrupted(&mut signals, answer).await;
            // Closing the session cancels an interrupted request at the server; wait until that is
            // sent.
            link.close().await;
            answer
        }
        Err(failure) => Err(failure),
    };
    tokio::select! {
        () = access.close() => {}
        () = signals.next() => {}
    }
    outcome
}

/// Prints the result of an answer with `--json`, unchanged. Returns `None` then, and the parsed
/// result otherwise.
pub fn print_json_or_parse(context: &CliContext, answer: &Frame) -> Result<Option<Value>> {
    let raw = answer.result().unwrap_or_default();
    if context.json {
        out::data(&[raw, b"\n"].concat())?;
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(raw).unwrap_or_default()))
}

/// Runs the work until it is done or a signal arrives.
pub async fn unless_interrupted<T>(
    signals: &mut ShutdownSignals,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    tokio::select! {
        outcome = work => outcome,
        () = signals.next() => Err(CliError::interrupted()),
    }
}
