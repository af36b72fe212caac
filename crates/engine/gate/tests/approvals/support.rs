//! A client that answers forms as it is told, and calls to ask about.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolgate_gate::approvals::{
    ApprovalBroker, CallApprovalOutcome, CallApprovalRequest, params_digest,
};
use toolgate_model::{ApprovalChannel, CapabilityId, CapabilityKind, Digest, ServerName};
use toolgate_session::{Answer, CallerId, Interactor, Question, QuestionKind};
use toolgate_store::{ApprovalBinding, ApprovalChoice, PendingCall, StateStore};
use toolgate_wire::{Era, Frame};

/// How a client reacts to a form.
pub enum Reaction {
    /// With this result, after a while.
    Result(Duration, Value),
    /// With an answer of another kind.
    Other(Answer),
    /// Never.
    Silent,
}

/// A client that shows forms.
pub struct Client {
    capabilities: &'static str,
    reactions: Mutex<VecDeque<Reaction>>,
    pub asked: Mutex<Vec<Question>>,
}

impl Client {
    pub fn new(reactions: impl IntoIterator<Item = Reaction>) -> Arc<Self> {
        Self::able(r#"{"elicitation":{}}"#, reactions)
    }

    pub fn able(
        capabilities: &'static str,
        reactions: impl IntoIterator<Item = Reaction>,
    ) -> Arc<Self> {
        let reactions = Mutex::new(reactions.into_iter().collect());
        Arc::new(Self { capabilities, reactions, asked: Mutex::default() })
    }

    pub fn forms(&self) -> Vec<Value> {
        let asked = self.asked.lock().unwrap();
        let params = |it: &Question| serde_json::from_slice(it.frame.params().unwrap()).unwrap();
        asked.iter().map(params).collect()
    }
}

impl Interactor for Client {
    fn scope(&self) -> CallerId {
        CallerId(1)
    }

    fn tell(&self, _event: Frame) {}

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        assert_eq!(question.kind, QuestionKind::Form);
        self.asked.lock().unwrap().push(question);
        let reaction = self.reactions.lock().unwrap().pop_front();
        Box::pin(async move {
            match reaction.expect("it is asked more often than expected") {
                Reaction::Result(after, result) => {
                    tokio::time::sleep(after).await;
                    Answer::Result(result.to_string().into())
                }
                Reaction::Other(answer) => answer,
                Reaction::Silent => std::future::pending().await,
            }
        })
    }

    fn capabilities(&self) -> Bytes {
        Bytes::from_static(self.capabilities.as_bytes())
    }
}

pub fn accepted(choice: &str) -> Reaction {
    let result = json!({"action": "accept", "content": {"choice": choice}});
    Reaction::Result(Duration::ZERO, result)
}

pub fn bound() -> ApprovalBinding {
    let server = ServerName::new("git").unwrap();
    ApprovalBinding {
        caller: "local".into(),
        client: "editor".into(),
        tool: CapabilityId { server, kind: CapabilityKind::Tool, name: "push".into() },
        identity: Digest::of(b"npx git"),
        definition: Digest::of(b"definition"),
    }
}

/// A call, and whom it is asked of.
#[derive(Clone)]
pub struct Call {
    pub bound: ApprovalBinding,
    pub arguments: Bytes,
    pub via: ApprovalChannel,
    pub era: Era,
    pub wait: Duration,
    pub port: Arc<dyn Interactor>,
}

impl Call {
    pub fn to_operator(arguments: &str) -> Self {
        let call = Self::by_form(arguments, Client::new([]));
        Self { via: ApprovalChannel::Operator, ..call }
    }

    pub fn by_form(arguments: &str, client: Arc<Client>) -> Self {
        Self {
            bound: bound(),
            arguments: Bytes::copy_from_slice(arguments.as_bytes()),
            via: ApprovalChannel::Elicitation,
            era: Era::Legacy,
            wait: Duration::from_secs(20),
            port: client,
        }
    }

    /// Makes the call report each time it starts to wait.
    pub fn observed(self) -> (Self, mpsc::UnboundedReceiver<()>) {
        let (waits, waiting) = mpsc::unbounded_channel();
        let (via, port) = (ApprovalChannel::Elicitation, Arc::new(Onlooker(waits)));
        (Self { via, port, ..self }, waiting)
    }

    pub fn waiting(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    pub fn digest(&self) -> Digest {
        params_digest(&self.arguments, b"")
    }

    pub async fn obtain(&self, broker: &ApprovalBroker) -> CallApprovalOutcome {
        let ask = CallApprovalRequest {
            bound: self.bound.clone(),
            arguments: self.arguments.clone(),
            other_params: Bytes::new(),
            arguments_digest: self.digest(),
            because: "rule `mcp:git/*` in config.toml:3".into(),
            via: self.via,
            port: &self.port,
            era: self.era,
            wait: self.wait,
            expiry: Duration::from_secs(600),
        };
        broker.obtain(ask).await
    }

    /// The same in a task of its own.
    pub fn start(
        &self,
        broker: &Arc<ApprovalBroker>,
    ) -> tokio::task::JoinHandle<CallApprovalOutcome> {
        let (call, broker) = (self.clone(), broker.clone());
        tokio::spawn(async move { call.obtain(&broker).await })
    }
}

pub const SHORT: Duration = Duration::from_millis(100);
/// So long nothing takes, however busy the machine is.
pub const LONG: Duration = Duration::from_secs(60);

pub async fn broker() -> Arc<ApprovalBroker> {
    ApprovalBroker::load(Arc::new(StateStore::in_memory().await.unwrap()), None).await.unwrap()
}

/// Waits until as many calls wait.
pub async fn listed(broker: &ApprovalBroker, count: usize) -> Vec<PendingCall> {
    let mut news = broker.watch();
    let listed = async {
        loop {
            let list = broker.list().await.unwrap();
            if list.len() == count {
                return list;
            }
            news.changed().await.unwrap();
        }
    };
    match tokio::time::timeout(LONG, listed).await {
        Ok(list) => list,
        Err(_) => panic!("there are {} calls, not {count}", broker.list().await.unwrap().len()),
    }
}

/// A client without forms that reports each call that starts to wait for the operator.
struct Onlooker(mpsc::UnboundedSender<()>);

impl Interactor for Onlooker {
    fn scope(&self) -> CallerId {
        CallerId(1)
    }

    fn tell(&self, _event: Frame) {}

    fn ask(&self, _question: Question) -> BoxFuture<'_, Answer> {
        unreachable!("it declares no forms")
    }

    fn capabilities(&self) -> Bytes {
        let _ = self.0.send(());
        Bytes::from_static(b"{}")
    }
}

pub fn is_approved(obtained: &CallApprovalOutcome) -> bool {
    matches!(obtained, CallApprovalOutcome::Decided { choice, .. } if *choice != ApprovalChoice::Deny)
}
