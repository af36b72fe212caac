//! Handles error -32042: the server requires the user to visit URLs before it continues.
//!
//! The caller's interactor shows each URL. Once the server has reported all of them as complete,
//! the session sends the request again. The server refused the first attempt, so the request does
//! not run twice.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::watch;
use toolgate_wire::{Frame, MessageLimits, build, code, method, scan};

use crate::core::SessionCore;
use crate::exchange::{self, SendOptions};
use crate::{Answer, Interactor, OutboundRequest, Question, QuestionKind, SessionError};

/// The maximum number of times one call is sent.
const MAX_ATTEMPTS: usize = 3;
/// The maximum number of URLs in one error.
const MAX_ADDRESSES: usize = 8;

/// The elicitations that a call waits for, and whether each is complete.
#[derive(Default)]
pub(crate) struct AwaitedElicitations {
    awaited: Mutex<HashMap<String, watch::Sender<bool>>>,
}

impl AwaitedElicitations {
    fn expect(&self, id: &str) -> watch::Receiver<bool> {
        let mut awaited = self.awaited.lock();
        awaited.entry(id.to_owned()).or_insert_with(|| watch::channel(false).0).subscribe()
    }

    pub(crate) fn complete(&self, id: &str) {
        let awaited = self.awaited.lock();
        if let Some(sender) = awaited.get(id) {
            sender.send_replace(true);
        }
    }

    fn forget(&self, id: &str) {
        self.awaited.lock().remove(id);
    }
}

/// Retries a call that failed with -32042 after the user has visited the URLs.
pub(crate) async fn visit_and_retry(
    core: &Arc<SessionCore>,
    outbound: &OutboundRequest,
    first: Frame,
) -> Result<Frame, SessionError> {
    let mut answer = first;
    for _ in 1..MAX_ATTEMPTS {
        let Some(demanded) = required_elicitations(&answer) else { break };
        let visits = run(core, &outbound.interactor, &demanded);
        if !matches!(tokio::time::timeout(core.timeouts.max(), visits).await, Ok(true)) {
            break;
        }
        answer = exchange::send_once(core, outbound, SendOptions::first(core.timeouts)).await?;
    }
    Ok(answer)
}

/// Returns the elicitations that an error requires, or `None` if it is another error.
fn required_elicitations(frame: &Frame) -> Option<Vec<Bytes>> {
    let error = frame.error()?;
    let number = scan::member(error, "code")?.slice(error);
    if number != code::URL_ELICITATION_REQUIRED.to_string().as_bytes() {
        return None;
    }
    let data = scan::member(error, "data")?.slice(error);
    let list = scan::member(data, "elicitations")?.slice(data);
    let found: Vec<_> =
        scan::elements(list).map(|span| Bytes::copy_from_slice(span.slice(list))).collect();
    (!found.is_empty() && found.len() <= MAX_ADDRESSES).then_some(found)
}

/// Asks the user to visit every URL and waits until the server reports all of them as complete.
/// Returns true if the call may be sent again.
async fn run(core: &SessionCore, port: &Arc<dyn Interactor>, demanded: &[Bytes]) -> bool {
    let ids: Vec<_> =
        demanded.iter().filter_map(|params| scan::member_text(params, "elicitationId")).collect();
    if ids.len() != demanded.len() {
        return false;
    }
    let mut awaited: Vec<_> = ids.iter().map(|id| core.awaited_elicitations.expect(id)).collect();
    let mut agreed = true;
    for params in demanded {
        agreed = agreed && visit(core, port, params).await;
    }
    if agreed {
        for completion in &mut awaited {
            agreed &= completion.wait_for(|complete| *complete).await.is_ok();
        }
    }
    for id in &ids {
        core.awaited_elicitations.forget(id);
    }
    agreed
}

async fn visit(core: &SessionCore, port: &Arc<dyn Interactor>, params: &Bytes) -> bool {
    let request = build::request("0", method::ELICITATION_CREATE, Some(params));
    let Ok(frame) = Frame::parse(request, &MessageLimits::default()) else { return false };
    let question =
        Question { server: core.server.clone(), kind: QuestionKind::Url, key: None, frame };
    match port.ask(question).await {
        Answer::Result(result) => scan::member_text(&result, "action").as_deref() == Some("accept"),
        Answer::Unsupported => {
            core.decline(QuestionKind::Url, true);
            false
        }
        Answer::Failure { .. } => false,
    }
}
