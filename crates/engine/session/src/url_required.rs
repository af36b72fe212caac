//! Error -32042: the server cannot go on until the user has visited some addresses.
//!
//! The caller's interactor shows each address; once the server has reported every one complete,
//! the request is sent again. The server refused it the first time, so it is not run twice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::watch;
use toolgate_wire::{Frame, Limits, build, code, method, scan};

use crate::core::Core;
use crate::exchange::{self, Leg};
use crate::{Answer, AskKind, Interactor, Outbound, Question, SessionError};

/// How often one call is sent.
const MAX_ATTEMPTS: usize = 3;
/// How many addresses one error may name.
const MAX_ADDRESSES: usize = 8;

/// Which elicitations are awaited, and whether they are complete.
#[derive(Default)]
pub(crate) struct Completions {
    awaited: Mutex<HashMap<String, watch::Sender<bool>>>,
}

impl Completions {
    fn expect(&self, id: &str) -> watch::Receiver<bool> {
        let mut awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        awaited.entry(id.to_owned()).or_insert_with(|| watch::channel(false).0).subscribe()
    }

    pub(crate) fn complete(&self, id: &str) {
        let awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = awaited.get(id) {
            sender.send_replace(true);
        }
    }

    fn forget(&self, id: &str) {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}

/// Has a call that failed go on, as long as it fails for want of visits.
pub(crate) async fn go_on(
    core: &Arc<Core>,
    outbound: &Outbound,
    first: Frame,
) -> Result<Frame, SessionError> {
    let mut answer = first;
    for _ in 1..MAX_ATTEMPTS {
        let Some(demanded) = demanded(&answer) else { break };
        let visits = run(core, &outbound.port, &demanded);
        if !matches!(tokio::time::timeout(core.timeouts.max(), visits).await, Ok(true)) {
            break;
        }
        answer = exchange::once(core, outbound, Leg::first(core.timeouts)).await?;
    }
    Ok(answer)
}

/// The addresses a failed call demands, if that is why it failed.
fn demanded(frame: &Frame) -> Option<Vec<Bytes>> {
    let error = frame.error()?;
    let number = scan::member(error, "code")?.of(error);
    if number != code::URL_ELICITATION_REQUIRED.to_string().as_bytes() {
        return None;
    }
    let data = scan::member(error, "data")?.of(error);
    let list = scan::member(data, "elicitations")?.of(data);
    let found: Vec<_> =
        scan::elements(list).map(|span| Bytes::copy_from_slice(span.of(list))).collect();
    (!found.is_empty() && found.len() <= MAX_ADDRESSES).then_some(found)
}

/// Has every address visited and waits until the server knows. `true`: the call may be repeated.
async fn run(core: &Core, port: &Arc<dyn Interactor>, demanded: &[Bytes]) -> bool {
    let ids: Vec<_> =
        demanded.iter().filter_map(|params| scan::text(params, "elicitationId")).collect();
    if ids.len() != demanded.len() {
        return false;
    }
    let mut awaited: Vec<_> = ids.iter().map(|id| core.completions.expect(id)).collect();
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
        core.completions.forget(id);
    }
    agreed
}

async fn visit(core: &Core, port: &Arc<dyn Interactor>, params: &Bytes) -> bool {
    let request = build::request("0", method::ELICITATION_CREATE, Some(params));
    let Ok(frame) = Frame::parse(request, &Limits::default()) else { return false };
    let question = Question { server: core.server.clone(), kind: AskKind::Url, key: None, frame };
    match port.ask(question).await {
        Answer::Result(result) => scan::text(&result, "action").as_deref() == Some("accept"),
        Answer::Unsupported => {
            core.declined(AskKind::Url, true);
            false
        }
        Answer::Failure { .. } => false,
    }
}
