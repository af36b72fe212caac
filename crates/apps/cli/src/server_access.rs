//! Access of a verb to the servers: through the running gateway that owns the home, or through a
//! gateway embedded in this process. Verbs use both in the same way.

mod gateway_session;
mod running_gateway;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use toolgate_host::Interactor;

use toolgate_model::ErrorCode;

use crate::cli_context::CliContext;
use crate::control::ControlRequest;
use crate::embedded_gateway::{EmbeddedGateway, EmbeddedGatewayOptions};
use crate::exit::CliError;
use crate::operator::{PassphraseInput, Requester};
use crate::out;

pub use gateway_session::GatewaySession;
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
    pub async fn find(
        context: &CliContext,
        options: EmbeddedGatewayOptions<'_>,
    ) -> Result<Self, CliError> {
        if let Some(running) = RunningGateway::find_compatible(context).await {
            return Ok(Self::Attached(running));
        }
        let quiet = options.quiet;
        let embedded = EmbeddedGateway::open(context, options).await?;
        if !quiet {
            out::print_findings_summary(&embedded.control().findings(), context.verbose);
        }
        Ok(Self::Embedded(embedded, context.passphrase_input.clone()))
    }

    /// Sends one request: to the running gateway, or to a gateway embedded for it.
    pub async fn ask_once<T: DeserializeOwned>(
        context: &CliContext,
        options: EmbeddedGatewayOptions<'_>,
        question: &ControlRequest,
    ) -> Result<T, CliError> {
        let access = Self::find(context, options).await?;
        let answer = access.ask(question).await;
        access.close().await;
        answer
    }

    /// Sends a control request and returns its answer.
    pub async fn ask<T: DeserializeOwned>(&self, question: &ControlRequest) -> Result<T, CliError> {
        let answer = match self {
            Self::Attached(running) => running.ask(question).await?,
            Self::Embedded(embedded, input) => {
                let control = embedded.control();
                let needed = control.operators().has_passphrase() && question.requires_operator();
                let passphrase = if needed { input.passphrase()? } else { None };
                control.answer(question, &Requester::this_process(passphrase)).await?
            }
        };
        let invalid = |error| {
            CliError::new(
                ErrorCode::GatewayAnswer,
                format!("invalid answer from the gateway: {error}"),
            )
        };
        serde_json::from_str(answer.get()).map_err(invalid)
    }

    /// Opens an MCP session with this profile.
    pub async fn open_session(
        &self,
        profile: &str,
        interactor: Arc<dyn Interactor>,
    ) -> Result<GatewaySession, CliError> {
        match self {
            Self::Attached(running) => GatewaySession::connect(running, profile, interactor).await,
            Self::Embedded(embedded, _) => {
                GatewaySession::open_embedded(embedded, profile, interactor).await
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
