//! Verifies that a change of what is allowed comes from the operator.
//!
//! Every process of the user can connect to the control socket, including managed servers and
//! agents with a shell. So the requester of a change must not be a managed server, a connected
//! client or a descendant of one. If a passphrase is set, it decides instead of the position below
//! a client; the governed posture requires one. Read requests are open to all.

mod passphrase_input;

use toolgate_gateway::ClientProcesses;
use toolgate_host::{Home, OperatorPassphraseFile, Plan, Posture};
use toolgate_transport::peer::{self, PeerProcess};
use toolgate_wire::words;

use crate::blocking::run_blocking;
use crate::cli_context::CliContext;
use crate::control::ControlRequest;
use crate::exit::{CliError, ErrorCode, Result, cli_error};
use crate::server_access::RunningGateway;

pub use passphrase_input::{PassphraseInput, prompt_passphrase};

words! {
    /// How an operator was identified; recorded in the journal.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum OperatorIdentity {
        /// The process descends from no server and no client.
        Terminal = "terminal",
        /// The requester gave the passphrase.
        Passphrase = "passphrase",
        /// The process descends from a client, and the user's config allows that.
        ClientTerminal = "client-terminal",
        /// The operating system does not reveal the requesting process.
        SameUser = "same-user",
    }
}

impl OperatorIdentity {
    /// Returns the name under which the journal records the operator.
    pub fn journal_name(self) -> String {
        format!("operator ({})", self.as_str())
    }
}

/// The settings that decide who may act as the operator.
#[derive(Debug, Clone, Copy)]
pub struct OperatorRequirements {
    posture: Posture,
    from_client_terminal: bool,
}

impl From<&Plan> for OperatorRequirements {
    fn from(plan: &Plan) -> Self {
        let governance = &plan.settings.governance;
        let from_client_terminal = governance.approvals.from_client_terminal;
        Self { posture: governance.posture, from_client_terminal }
    }
}

/// The position of a process relative to managed servers and clients.
enum ProcessAncestry {
    /// Descends from no server and no client.
    Outside,
    /// Is or descends from this client.
    Client(PeerProcess),
    /// The process has ended, so its ancestors are unknown.
    Gone,
    /// The operating system does not reveal the process.
    Unknown,
}

/// Decides whether a requester is the operator.
#[derive(Debug)]
pub struct OperatorVerifier {
    /// The processes of the connected clients.
    pub clients: ClientProcesses,
    passphrase: OperatorPassphraseFile,
    /// Allows one verification at a time, because each is expensive.
    verify_lock: tokio::sync::Mutex<()>,
}

/// The sender of a control request.
#[derive(Debug, Clone, Default)]
pub struct ControlRequester {
    /// Its process, if the operating system reveals it.
    pub process: Option<PeerProcess>,
    /// The passphrase it sent.
    pub passphrase: Option<String>,
    /// Whether the requester is this process itself.
    pub is_this_process: bool,
}

impl ControlRequester {
    /// Returns a requester at the other end of a connection.
    pub fn peer(process: Option<PeerProcess>, passphrase: Option<String>) -> Self {
        Self { process, passphrase, is_this_process: false }
    }

    /// Returns this process as the requester.
    pub fn this_process(passphrase: Option<String>) -> Self {
        Self { process: None, passphrase, is_this_process: true }
    }
}

impl OperatorVerifier {
    /// Returns a verifier for a home and the clients of its gateway.
    pub fn of(home: &Home, clients: ClientProcesses) -> Self {
        let passphrase = OperatorPassphraseFile::in_folder(home.state_dir());
        Self { clients, passphrase, verify_lock: tokio::sync::Mutex::default() }
    }

    /// Returns true if a passphrase is set.
    pub fn has_passphrase(&self) -> bool {
        self.passphrase.is_set()
    }

    /// Identifies the requester of a change as the operator, or returns why it is refused.
    pub async fn identify(
        &self,
        rules: OperatorRequirements,
        requester: &ControlRequester,
    ) -> Result<OperatorIdentity> {
        if self.passphrase.is_set() || rules.posture != Posture::Governed {
            return self.identify_any_posture(rules, requester).await;
        }
        Err(cli_error!(
            ApprovalPassphrase,
            "change refused: the governed posture requires an operator passphrase, and none is set"
        )
        .hint("run `toolgate approvals passphrase` to set one"))
    }

    /// Identifies the requester without the demand of the governed posture, which cannot apply to
    /// setting the first passphrase.
    async fn identify_any_posture(
        &self,
        rules: OperatorRequirements,
        requester: &ControlRequester,
    ) -> Result<OperatorIdentity> {
        let position = self.position(requester)?;
        if self.passphrase.is_set() {
            return self.check_passphrase(requester.passphrase.as_deref()).await;
        }
        match position {
            ProcessAncestry::Outside => Ok(OperatorIdentity::Terminal),
            ProcessAncestry::Unknown => Ok(OperatorIdentity::SameUser),
            ProcessAncestry::Client(_) if rules.from_client_terminal => {
                Ok(OperatorIdentity::ClientTerminal)
            }
            ProcessAncestry::Client(client) => Err(client_refusal(client)),
            ProcessAncestry::Gone => Err(cli_error!(
                ApprovalOperator,
                "change refused: the requesting process has ended and cannot be identified"
            )),
        }
    }

    /// Sets a new passphrase, or removes it.
    pub async fn set_passphrase(
        &self,
        rules: OperatorRequirements,
        requester: &ControlRequester,
        new: Option<String>,
    ) -> Result<OperatorIdentity> {
        let identified = self.identify_any_posture(rules, requester).await?;
        let passphrase = self.passphrase.clone();
        run_blocking(move || Ok(passphrase.set(new.as_deref())?)).await?;
        Ok(identified)
    }

    async fn check_passphrase(&self, given: Option<&str>) -> Result<OperatorIdentity> {
        let Some(given) = given.map(str::to_owned) else {
            return Err(cli_error!(
                ApprovalPassphrase,
                "change refused: the operator's passphrase is needed"
            )
            .hint("run the command in a terminal, or pipe it in with --passphrase-stdin"));
        };
        let _guard = self.verify_lock.lock().await;
        let passphrase = self.passphrase.clone();
        match run_blocking(move || Ok(passphrase.verify(&given)?)).await? {
            true => Ok(OperatorIdentity::Passphrase),
            false => {
                tracing::warn!(target: "toolgate::gateway", "wrong operator passphrase");
                Err(cli_error!(ApprovalPassphrase, "change refused: the passphrase is wrong"))
            }
        }
    }

    /// Returns the position of a requester, or an error if it is or descends from a managed server.
    fn position(&self, requester: &ControlRequester) -> Result<ProcessAncestry> {
        if requester.is_this_process {
            return Ok(ProcessAncestry::Outside);
        }
        if !peer::SUPPORTED {
            return Ok(ProcessAncestry::Unknown);
        }
        let (Some(process), Some(own)) = (requester.process, PeerProcess::current()) else {
            return Ok(ProcessAncestry::Gone);
        };
        let Some(ancestors) = process.ancestors() else { return Ok(ProcessAncestry::Gone) };
        // Every descendant of this process is a server or part of one.
        if ancestors.contains(&own) {
            let refusal = "change refused: the request comes from a server process";
            return Err(cli_error!(ApprovalOperator, "{refusal}"));
        }
        let clients = self.clients.all();
        let line = std::iter::once(process).chain(ancestors);
        let client = line.into_iter().find(|process| clients.contains(process));
        Ok(client.map_or(ProcessAncestry::Outside, ProcessAncestry::Client))
    }
}

fn client_refusal(client: PeerProcess) -> CliError {
    let program = client.program().unwrap_or_else(|| "a program".to_owned());
    let pid = client.pid;
    let what = format!(
        "change refused: the request comes from inside a client ({program}, process {pid})"
    );
    CliError::new(ErrorCode::ApprovalOperator, what).hint(
        "use a terminal that the client did not start, answer in the client's own form, or set a \
         passphrase with `toolgate approvals passphrase`; to allow it from here, set \
         `approvals.from_client_terminal = true` in your own config file",
    )
}

/// Checks that the operator makes this change, and records it. A running gateway also rejects
/// processes of its own clients; without one, the passphrase decides.
pub async fn authorize(context: &CliContext, plan: &Plan, change: &str) -> Result<()> {
    if let Some(gateway) = RunningGateway::find_any(context).await {
        let question = ControlRequest::Authorize { change: change.to_owned() };
        return gateway.ask(&question).await.map(drop);
    }
    let operators = OperatorVerifier::of(&context.home, ClientProcesses::default());
    let passphrase = match operators.has_passphrase() {
        true => context.passphrase_input.passphrase()?,
        false => None,
    };
    let requester = ControlRequester::this_process(passphrase);
    operators.identify(OperatorRequirements::from(plan), &requester).await.map(drop)
}
