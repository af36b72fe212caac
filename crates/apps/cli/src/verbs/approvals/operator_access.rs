//! Access to approvals and keys: through the gateway that serves the home, or through the files of
//! the home if no gateway runs.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use toolgate_gateway::ClientProcesses;
use toolgate_host::approvals::{self, StoredApprovals};

use toolgate_model::ErrorCode;

use crate::cli_context::CliContext;
use crate::control::{ApprovalControlRequest, ControlRequest, KeyRequest};
use crate::exit::CliError;
use crate::operator::{OperatorRules, OperatorVerifier, PassphraseInput, Requester};
use crate::server_access::RunningGateway;

/// The way to the approvals and keys of a home.
pub enum OperatorAccess {
    /// A gateway serves the home and answers the requests.
    Gateway(RunningGateway),
    /// No gateway runs; the stores of the home are opened directly.
    Offline(Box<OfflineHome>),
}

/// The stores of a home that no gateway serves, and the check of who may change them.
pub struct OfflineHome {
    stores: StoredApprovals,
    operators: OperatorVerifier,
    rules: OperatorRules,
    passphrase_input: Arc<PassphraseInput>,
}

impl OperatorAccess {
    /// Finds the gateway that serves the home, with any config files, or opens the home's stores.
    pub async fn find(context: &CliContext) -> Result<Self, CliError> {
        if let Some(gateway) = RunningGateway::find_any(context).await {
            return Ok(Self::Gateway(gateway));
        }
        Ok(Self::Offline(Box::new(OfflineHome {
            rules: OperatorRules::from(context.load_setup().await?.plan()),
            stores: approvals::open(&context.home).await?,
            operators: OperatorVerifier::of(&context.home, ClientProcesses::default()),
            passphrase_input: context.passphrase_input.clone(),
        })))
    }

    /// Sends a request about approvals.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        asked: &ApprovalControlRequest,
    ) -> Result<T, CliError> {
        let question = ControlRequest::Approvals { asked: asked.clone() };
        let answer = match self {
            Self::Gateway(gateway) => gateway.ask(&question).await?,
            Self::Offline(home) => {
                let by = match question.requires_operator() {
                    true => home.identify_operator().await?,
                    false => String::new(),
                };
                asked.answer(&home.stores.broker, &by).await?
            }
        };
        parse_answer(&answer)
    }

    /// Clears the taint of one caller or of all, and returns the callers that were tainted. Only a
    /// running gateway remembers taints, so without one there is nothing to clear.
    pub async fn untaint(&self, caller: Option<&str>) -> Result<Vec<String>, CliError> {
        let caller = caller.map(str::to_owned);
        match self {
            Self::Gateway(gateway) => {
                parse_answer(&gateway.ask(&ControlRequest::Untaint { caller }).await?)
            }
            Self::Offline(_) => Ok(Vec::new()),
        }
    }

    /// Sends a request about caller keys.
    pub async fn keys<T: DeserializeOwned>(&self, asked: &KeyRequest) -> Result<T, CliError> {
        let question = ControlRequest::Keys { asked: asked.clone() };
        let answer = match self {
            Self::Gateway(gateway) => gateway.ask(&question).await?,
            Self::Offline(home) => {
                if question.requires_operator() {
                    home.identify_operator().await?;
                }
                let note = |kind: &str, detail: &str| home.stores.note(kind, detail);
                asked.answer(&home.stores.keys, note).await?
            }
        };
        parse_answer(&answer)
    }

    /// Returns true if changes require a passphrase.
    pub fn has_passphrase(&self) -> bool {
        match self {
            Self::Gateway(gateway) => gateway.info.passphrase,
            Self::Offline(home) => home.operators.has_passphrase(),
        }
    }

    /// Sets the operator's passphrase, or removes it.
    pub async fn set_passphrase(&self, new: Option<String>) -> Result<(), CliError> {
        match self {
            Self::Gateway(gateway) => {
                gateway.ask(&ControlRequest::SetPassphrase { new }).await?;
            }
            Self::Offline(home) => {
                home.operators.set_passphrase(home.rules, &home.requester()?, new).await?;
            }
        }
        Ok(())
    }

    /// Closes the stores of the home, if they were opened.
    pub async fn close(&self) -> Result<(), CliError> {
        match self {
            Self::Gateway(_) => Ok(()),
            Self::Offline(home) => Ok(home.stores.close().await?),
        }
    }
}

fn parse_answer<T: DeserializeOwned>(answer: &RawValue) -> Result<T, CliError> {
    serde_json::from_str(answer.get()).map_err(|error| {
        CliError::new(ErrorCode::GatewayAnswer, format!("the gateway's answer is invalid: {error}"))
    })
}

impl OfflineHome {
    fn requester(&self) -> Result<Requester, CliError> {
        let needed = self.operators.has_passphrase();
        Ok(Requester::this_process(if needed { self.passphrase_input.passphrase()? } else { None }))
    }

    /// Identifies the operator and returns the name for the journal.
    async fn identify_operator(&self) -> Result<String, CliError> {
        Ok(self.operators.identify(self.rules, &self.requester()?).await?.journal_name())
    }
}
