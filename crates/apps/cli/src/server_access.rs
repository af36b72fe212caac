//! Access of a verb to the servers: through the running gateway that owns the home, or through a
//! gateway embedded in this process. Verbs use both in the same way.

mod gateway_session;
mod running_gateway;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use toolgate_host::Interactor;

use crate::cli_context::CliContext;
use crate::control::{ControlRequest, ServerCapabilityInventory};
use crate::embedded_gateway::{EmbeddedGateway, EmbeddedGatewayOptions};
use crate::exit::{ErrorCode, OrFail as _, Result};
use crate::operator::{ControlRequester, PassphraseInput};
use crate::out;

pub use gateway_session::GatewayClientSession;
pub use running_gateway::RunningGateway;

/// Access to the servers, through another process or this one.
pub enum ServerAccess {
    /// A running gateway in another process has the servers.
    Attached(RunningGateway),
    /// A gateway in this process has the servers.
    Embedded(Arc<EmbeddedGateway>, Arc<PassphraseInput>),
}

impl ServerAccess {
    /// Attaches to the running gateway of the home, or starts an embedded one with these options.
    pub async fn find(context: &CliContext, options: EmbeddedGatewayOptions<'_>) -> Result<Self> {
        match RunningGateway::find_compatible(context).await {
            Some(running) => Ok(Self::Attached(running)),
            None => Self::embed(context, options).await,
        }
    }

    /// Attaches to the running gateway of the home, whatever files it reads, or starts an embedded
    /// one that starts no server. For requests about what the home stores.
    pub async fn find_for_operator(context: &CliContext) -> Result<Self> {
        match RunningGateway::find_any(context).await {
            Some(running) => Ok(Self::Attached(running)),
            None => Self::embed(context, EmbeddedGatewayOptions::idle_and_quiet()).await,
        }
    }

    /// Starts an embedded gateway with these options.
    pub async fn embed(context: &CliContext, options: EmbeddedGatewayOptions<'_>) -> Result<Self> {
        let quiet = options.quiet;
        let embedded = EmbeddedGateway::open(context, options).await?;
        if !quiet {
            out::print_findings_summary(&embedded.control.findings(), context.verbose);
        }
        Ok(Self::Embedded(embedded, context.passphrase_input.clone()))
    }

    /// Sends one request: to the running gateway, or to a gateway embedded for it.
    pub async fn ask_once<T: DeserializeOwned>(
        context: &CliContext,
        options: EmbeddedGatewayOptions<'_>,
        question: &ControlRequest,
    ) -> Result<T> {
        let access = Self::find(context, options).await?;
        let answer = access.ask(question).await;
        access.close().await;
        answer
    }

    /// Sends a control request and returns its answer.
    pub async fn ask<T: DeserializeOwned>(&self, question: &ControlRequest) -> Result<T> {
        let answer = match self {
            Self::Attached(running) => running.ask(question).await?,
            Self::Embedded(embedded, input) => {
                let needed = self.has_passphrase() && question.requires_operator();
                let passphrase = if needed { input.passphrase()? } else { None };
                let requester = ControlRequester::this_process(passphrase);
                embedded.control.answer(question, &requester).await?
            }
        };
        serde_json::from_str(answer.get())
            .or_fail(ErrorCode::GatewayAnswer, "invalid answer from the gateway")
    }

    /// Returns what a server offers to callers with this profile.
    pub async fn inventory(
        &self,
        server: &str,
        profile: &str,
    ) -> Result<ServerCapabilityInventory> {
        let (server, profile) = (server.to_owned(), profile.to_owned());
        self.ask(&ControlRequest::Discover { server, profile }).await
    }

    /// Returns true if changes require a passphrase.
    pub fn has_passphrase(&self) -> bool {
        match self {
            Self::Attached(running) => running.info.passphrase,
            Self::Embedded(embedded, _) => embedded.control.operators.has_passphrase(),
        }
    }

    /// Opens an MCP session with this profile.
    pub async fn open_session(
        &self,
        profile: &str,
        interactor: Arc<dyn Interactor>,
    ) -> Result<GatewayClientSession> {
        match self {
            Self::Attached(running) => {
                GatewayClientSession::connect(running, profile, interactor).await
            }
            Self::Embedded(embedded, _) => {
                GatewayClientSession::open_embedded(embedded, profile, interactor).await
            }
        }
    }

    /// Stops the servers of an embedded gateway. Does nothing if attached.
    pub async fn close(&self) {
        if let Self::Embedded(embedded, _) = self {
            embedded.close().await;
        }
    }
}
