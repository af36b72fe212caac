//! Who may approve, revoke and otherwise change what is allowed.
//!
//! The control socket is open to every process of the user, and so are servers that we start and
//! agents with a shell. So whoever wants to change something must be none of them: neither a managed
//! server nor a connected client, nor a process below one. Where a passphrase is set, it decides for
//! people; the governed posture demands one. Reading is open.

mod typed;

use toolgate_gateway::ClientProcesses;
use toolgate_host::{Home, Passphrase, Plan, Posture};
use toolgate_transport::peer::{self, PeerProcess};

use crate::exit::{Failure, chain};

pub use typed::{Typed, typed_passphrase};

/// How an operator was identified, as the journal has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identified {
    /// The process belongs to no server and no client.
    Terminal,
    /// The passphrase was given.
    Passphrase,
    /// The process is below a client, and the user's file allows that.
    ClientTerminal,
    /// This system does not tell which process asks.
    SameUser,
}

impl Identified {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Passphrase => "passphrase",
            Self::ClientTerminal => "client-terminal",
            Self::SameUser => "same-user",
        }
    }

    /// Who decided, as it is put on record.
    pub fn by(self) -> String {
        format!("operator ({})", self.as_str())
    }
}

/// What the files say about who may change something.
#[derive(Debug, Clone, Copy)]
pub struct OperatorRules {
    posture: Posture,
    from_client_terminal: bool,
}

impl From<&Plan> for OperatorRules {
    fn from(plan: &Plan) -> Self {
        let governance = &plan.settings.governance;
        let from_client_terminal = governance.approvals.from_client_terminal;
        Self { posture: governance.posture, from_client_terminal }
    }
}

/// Where a process stands.
enum Position {
    /// Below no server and no client.
    Outside,
    Server,
    Client(PeerProcess),
    /// It has ended, so nobody can tell.
    Gone,
    /// This system does not tell.
    Unknown,
}

/// Tells operators from others.
#[derive(Debug)]
pub struct Operators {
    clients: ClientProcesses,
    passphrase: Passphrase,
    /// One guess at a time: each costs computing.
    guessing: tokio::sync::Mutex<()>,
}

/// Whoever asks for a change.
#[derive(Debug, Clone, Default)]
pub struct Requester {
    /// Its process, where the system tells.
    pub process: Option<PeerProcess>,
    /// What it gave as the passphrase.
    pub passphrase: Option<String>,
    /// Whether it is this process itself.
    pub is_here: bool,
}

impl Requester {
    /// A process at the other end of a connection.
    pub fn peer(process: Option<PeerProcess>, passphrase: Option<String>) -> Self {
        Self { process, passphrase, is_here: false }
    }

    /// This process, for the person who started it.
    pub fn here(passphrase: Option<String>) -> Self {
        Self { process: None, passphrase, is_here: true }
    }
}

impl Operators {
    /// For a home, with the clients that a gateway has.
    pub fn of(home: &Home, clients: ClientProcesses) -> Self {
        let passphrase = Passphrase::of(home.state_dir());
        Self { clients, passphrase, guessing: tokio::sync::Mutex::default() }
    }

    /// The processes of clients.
    pub fn clients(&self) -> &ClientProcesses {
        &self.clients
    }

    /// Whether a passphrase is set.
    pub fn has_passphrase(&self) -> bool {
        self.passphrase.is_set()
    }

    /// Identifies whoever wants to change something, or says why it may not.
    pub async fn identify(
        &self,
        rules: OperatorRules,
        asker: &Requester,
    ) -> Result<Identified, Failure> {
        if self.passphrase.is_set() || rules.posture != Posture::Governed {
            return self.identify_first(rules, asker).await;
        }
        Err(Failure::refused(
            "change this: the governed posture needs an operator passphrase, and none is set",
        )
        .hint("set one: toolgate approvals passphrase"))
    }

    /// The same for whoever sets the first passphrase: the governed posture cannot demand one yet.
    async fn identify_first(
        &self,
        rules: OperatorRules,
        asker: &Requester,
    ) -> Result<Identified, Failure> {
        let position = self.position(asker);
        if matches!(position, Position::Server) {
            return Err(Failure::refused("change this: a process of a server asks for it"));
        }
        if self.passphrase.is_set() {
            return self.check(asker.passphrase.as_deref()).await;
        }
        match position {
            Position::Outside => Ok(Identified::Terminal),
            Position::Unknown => Ok(Identified::SameUser),
            Position::Client(_) if rules.from_client_terminal => Ok(Identified::ClientTerminal),
            Position::Client(client) => Err(below_client(client)),
            Position::Server | Position::Gone => Err(Failure::refused(
                "change this: the process that asks for it has ended, so nobody can tell whose it \
                 is",
            )),
        }
    }

    /// Sets another passphrase, or none.
    pub async fn set_passphrase(
        &self,
        rules: OperatorRules,
        asker: &Requester,
        new: Option<String>,
    ) -> Result<Identified, Failure> {
        let identified = self.identify_first(rules, asker).await?;
        let passphrase = self.passphrase.clone();
        computed(move || passphrase.set(new.as_deref())).await?;
        Ok(identified)
    }

    async fn check(&self, said: Option<&str>) -> Result<Identified, Failure> {
        let Some(said) = said.map(str::to_owned) else {
            return Err(Failure::refused("change this: the operator's passphrase is needed").hint(
                "type it when it is asked for at a terminal, or pipe it in with --passphrase-stdin",
            ));
        };
        let _alone = self.guessing.lock().await;
        let passphrase = self.passphrase.clone();
        match computed(move || passphrase.verify(&said)).await? {
            true => Ok(Identified::Passphrase),
            false => {
                tracing::warn!(target: "toolgate::gateway", "a wrong operator passphrase was given");
                Err(Failure::refused("change this: the passphrase is wrong"))
            }
        }
    }

    fn position(&self, asker: &Requester) -> Position {
        if asker.is_here {
            return Position::Outside;
        }
        if !peer::SUPPORTED {
            return Position::Unknown;
        }
        let (Some(process), Some(own)) = (asker.process, PeerProcess::current()) else {
            return Position::Gone;
        };
        let Some(ancestors) = process.ancestors() else { return Position::Gone };
        // Whatever this process started is a server or a part of one.
        if ancestors.contains(&own) {
            return Position::Server;
        }
        let clients = self.clients.all();
        let line = std::iter::once(process).chain(ancestors);
        let client = line.into_iter().find(|process| clients.contains(process));
        client.map_or(Position::Outside, Position::Client)
    }
}

fn below_client(client: PeerProcess) -> Failure {
    let program = client.program().unwrap_or_else(|| "a program".to_owned());
    let pid = client.pid;
    let what =
        format!("change this: it is asked for from inside a client ({program}, process {pid})");
    Failure::refused(what).hint(
        "use a terminal that the client did not start, answer in the client's own form, or set a \
         passphrase (toolgate approvals passphrase); `approvals.from_client_terminal = true` in your \
         own config file allows it from here",
    )
}

/// Runs what takes long beside everything else.
async fn computed<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, toolgate_host::approvals::ApprovalError> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| Failure::failed(format!("check the passphrase: {error}")))?;
    done.map_err(|error| Failure::failed(chain(&error)))
}
