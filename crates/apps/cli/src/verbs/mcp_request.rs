//! Sends one MCP request for a verb: finds the server, sends the request and waits for the answer.
//! Ctrl-C cancels the request.

use std::sync::Arc;

use toolgate_host::ShutdownSignals;
use toolgate_model::ErrorCode;
use toolgate_wire::Frame;

use crate::cli_context::CliContext;
use crate::control::{ControlRequest, ServerInventory};
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::CliError;
use crate::interactor::TerminalInteractor;
use crate::out::Spinner;
use crate::server_access::ServerAccess;

/// An MCP request to a server.
pub struct McpRequest {
    /// The method.
    pub method: &'static str,
    /// Its params, without `_meta`, as the members of a JSON object.
    pub members: String,
}

/// Finds the server, builds the request from its inventory, and returns the answer.
pub async fn send(
    context: &CliContext,
    server: &str,
    request: impl AsyncFnOnce(&ServerAccess, &ServerInventory) -> Result<McpRequest, CliError>,
) -> Result<Frame, CliError> {
    let spinner = Spinner::new(&format!("waiting for {server}"));
    let failed = |error| {
        CliError::new(ErrorCode::CliInternal, format!("cannot listen for signals: {error}"))
    };
    let mut signals = ShutdownSignals::new().map_err(failed)?;
    let access = ServerAccess::find(context, EmbeddedGatewayOptions::single_server(server)).await?;
    let interactor = Arc::new(TerminalInteractor::new(server, spinner, context.verbose));
    let from = McpRequestRoute { access: &access, server, profile: context.profile_or_default() };
    let outcome = send_to_server(from, interactor, request, &mut signals).await;
    tokio::select! {
        () = access.close() => {}
        () = signals.next() => {}
    }
    outcome
}

/// The server that a request goes to, and the profile it uses.
struct McpRequestRoute<'a> {
    access: &'a ServerAccess,
    server: &'a str,
    profile: &'a str,
}

async fn send_to_server(
    McpRequestRoute { access, server, profile }: McpRequestRoute<'_>,
    interactor: Arc<TerminalInteractor>,
    request: impl AsyncFnOnce(&ServerAccess, &ServerInventory) -> Result<McpRequest, CliError>,
    signals: &mut ShutdownSignals,
) -> Result<Frame, CliError> {
    let question =
        ControlRequest::Discover { server: server.to_owned(), profile: profile.to_owned() };
    let inventory: ServerInventory = unless_interrupted(signals, access.ask(&question)).await?;
    inventory.check_usable()?;
    let McpRequest { method, members } = request(access, &inventory).await?;
    let link = access.open_session(profile, interactor).await?;
    // With a progress token the server can report progress, which keeps the call from timing out.
    let params = format!(r#"{{{members},"_meta":{{"progressToken":1}}}}"#);
    let answer = unless_interrupted(signals, link.request(server, method, &params)).await;
    // Closing the session cancels an interrupted request at the server; wait until that is sent.
    link.close().await;
    answer
}

/// Runs the work until it is done or a signal arrives.
pub async fn unless_interrupted<T>(
    signals: &mut ShutdownSignals,
    work: impl Future<Output = Result<T, CliError>>,
) -> Result<T, CliError> {
    tokio::select! {
        outcome = work => outcome,
        () = signals.next() => Err(CliError::interrupted()),
    }
}
