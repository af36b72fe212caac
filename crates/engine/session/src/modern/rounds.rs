//! Handles results that ask for more input (multi round-trip requests).
//!
//! The interactor of the call answers all questions of one round together. Then the request is sent
//! again with the answers and with the server's state, byte for byte. Two errors are handled here
//! too: headers that the server rejects, and a revision that it no longer speaks.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use toolgate_model::CapabilityKind;
use toolgate_wire::view::RpcError;
use toolgate_wire::{
    Frame, JsonEdit, MessageKind, MessageLimits, build, code, method, scan, string,
};

use super::envelope::MODERN_REVISION;
use crate::core::{SessionCore, SessionTransport};
use crate::exchange::{self, SendOptions};
use crate::{Answer, OutboundRequest, Question, QuestionKind, SessionError, listing};

const INPUT_REQUIRED: &str = "input_required";
const RESPONSES: &str = "inputResponses";
const STATE: &str = "requestState";

/// The maximum number of rounds per call.
const MAX_ROUNDS: usize = 10;
/// The maximum number of questions per round.
const MAX_QUESTIONS: usize = 16;
/// The delay before the request is sent again if the server asked no question.
const PACE: Duration = Duration::from_millis(250);

/// The input that the next attempt of a call carries.
pub(crate) struct RoundInput {
    responses: Option<Bytes>,
    state: Option<Bytes>,
}

impl RoundInput {
    /// Adds the input to the request.
    pub(crate) fn enclose<'a>(&self, edit: JsonEdit<'a>, frame: &'a Frame) -> JsonEdit<'a> {
        let Some(params) = frame.params_span() else { return edit };
        let members = [(RESPONSES, &self.responses), (STATE, &self.state)];
        members.into_iter().fold(edit, |edit, (key, value)| match value {
            Some(raw) => edit.set_member(params, key, raw),
            None => edit,
        })
    }
}

/// Returns true if this answer ends the call.
pub(crate) fn is_final(answer: &Frame) -> bool {
    match answer.kind() {
        MessageKind::Failure => {
            !matches!(failure(answer).0, code::HEADER_MISMATCH | code::UNSUPPORTED_PROTOCOL_VERSION)
        }
        _ => answer.result_type().as_deref() != Some(INPUT_REQUIRED),
    }
}

fn failure(answer: &Frame) -> (i32, String) {
    let error = answer.error().and_then(RpcError::of);
    let code = error.as_ref().and_then(|error| error.code).and_then(|code| code.try_into().ok());
    let message = error.and_then(|error| error.message).unwrap_or_default().into_owned();
    (code.unwrap_or_default(), message)
}

/// Continues a call after an answer that is not final, until the final answer.
pub(crate) async fn run_rounds(
    core: &Arc<SessionCore>,
    outbound: &OutboundRequest,
    first: Frame,
) -> Result<Frame, SessionError> {
    let (mut answer, mut round) = (first, None);
    let (mut rounds, mut refreshed) = (0, false);
    while !is_final(&answer) {
        match failure(&answer) {
            (code::UNSUPPORTED_PROTOCOL_VERSION, message) => {
                return Err(end_unsupported(core, &message));
            }
            (code::HEADER_MISMATCH, message) => {
                refresh(core, outbound, std::mem::replace(&mut refreshed, true), message).await?;
            }
            _ => {
                rounds += 1;
                if rounds > MAX_ROUNDS {
                    let endless = format!("more than {MAX_ROUNDS} rounds of input requests");
                    return Err(SessionError::Protocol(endless));
                }
                round = match fulfil(core, outbound, &answer).await? {
                    RoundOutcome::Retry(round) => Some(round),
                    RoundOutcome::Refused(refusal) => return Ok(refusal),
                };
            }
        }
        let leg = SendOptions { round: round.as_ref(), ..SendOptions::first(core.timeouts) };
        answer = exchange::send_once(core, outbound, leg).await?;
    }
    Ok(answer)
}

/// Ends the connection to a server that no longer speaks this revision. A new connection is needed.
pub(crate) fn end_unsupported(core: &SessionCore, message: &str) -> SessionError {
    let reason = format!("the server no longer speaks {MODERN_REVISION}: {message}");
    core.end(&reason);
    SessionError::Ended(reason)
}

/// Reads the tools again after the server rejected the headers, because the tool's definition may
/// have changed. The server did not run the request.
async fn refresh(
    core: &Arc<SessionCore>,
    outbound: &OutboundRequest,
    again: bool,
    message: String,
) -> Result<(), SessionError> {
    let on_http = matches!(core.link, SessionTransport::Http(_));
    if again || !on_http || !outbound.frame.is(method::TOOLS_CALL) {
        let why = format!("the server rejects the headers of the request: {message}");
        return Err(SessionError::Protocol(why));
    }
    listing::all(core, CapabilityKind::Tool).await.map(drop)
}

/// The outcome of answering one round of questions.
enum RoundOutcome {
    Retry(RoundInput),
    /// The final answer to the call, because a question cannot be answered.
    Refused(Frame),
}

async fn fulfil(
    core: &Arc<SessionCore>,
    outbound: &OutboundRequest,
    answer: &Frame,
) -> Result<RoundOutcome, SessionError> {
    let request = &outbound.frame;
    let may_ask = [method::TOOLS_CALL, method::PROMPTS_GET, method::RESOURCES_READ];
    if !may_ask.into_iter().any(|method| request.is(method)) {
        return Err(SessionError::Protocol(
            "the answer asks for input, which this method does not allow".into(),
        ));
    }
    let result = answer.result().unwrap_or_default();
    let raw =
        |key| scan::member(result, key).map(|span| Bytes::copy_from_slice(span.slice(result)));
    let (requests, state) = (raw("inputRequests"), raw(STATE));
    let questions = match &requests {
        Some(requests) => questions(core, requests)?,
        None if state.is_some() => Ok(Vec::new()),
        None => {
            return Err(SessionError::Protocol("an input request without a question".into()));
        }
    };
    let questions = match questions {
        Ok(questions) => questions,
        Err(method) => return refusal(core, request, &method),
    };
    if questions.is_empty() {
        tokio::time::sleep(PACE).await;
        return Ok(RoundOutcome::Retry(RoundInput { responses: None, state }));
    }
    let asked: Vec<_> =
        questions.iter().map(|one| (one.kind, one.key.clone().unwrap_or_default())).collect();
    let max = core.timeouts.max();
    let answers = tokio::time::timeout(max, outbound.interactor.ask_all(questions)).await;
    let answers = answers.map_err(|_| SessionError::TimedOut(max))?;
    match responses(core, &asked, answers) {
        Some(responses) => {
            Ok(RoundOutcome::Retry(RoundInput { responses: Some(responses), state }))
        }
        None => refusal(core, request, method::SAMPLING_CREATE_MESSAGE),
    }
}

/// Parses the questions of one round. The inner error is the method of a request that is not a
/// question.
fn questions(
    core: &SessionCore,
    requests: &[u8],
) -> Result<Result<Vec<Question>, String>, SessionError> {
    let mut found = Vec::new();
    let mut keys = HashSet::new();
    for (key, span) in scan::members(requests) {
        let raw = span.slice(requests);
        let method = scan::member_text(raw, "method").unwrap_or_default();
        let params = scan::member(raw, "params").map(|span| span.slice(raw));
        let frame = Frame::parse(build::request("0", &method, params), &MessageLimits::default())?;
        let Some(kind) = QuestionKind::of(&frame) else { return Ok(Err(method.into_owned())) };
        if !keys.insert(key.clone()) || keys.len() > MAX_QUESTIONS {
            return Err(SessionError::Protocol(
                "too many questions in one round, or a duplicate key".into(),
            ));
        }
        let (server, key) = (core.server.clone(), Some(key.into_owned()));
        found.push(Question { server, kind, key, frame });
    }
    Ok(Ok(found))
}

/// Builds `inputResponses`. Returns `None` if a question can be neither answered nor declined.
fn responses(
    core: &SessionCore,
    asked: &[(QuestionKind, String)],
    answers: Vec<Answer>,
) -> Option<Bytes> {
    let mut object = Vec::from(*b"{");
    let mut answers = answers.into_iter();
    for (kind, key) in asked {
        let answer = match answers.next() {
            Some(answer @ Answer::Result(_)) => answer,
            Some(Answer::Failure { .. }) => Answer::declined(*kind),
            Some(Answer::Unsupported) | None => core.decline(*kind, true),
        };
        let Answer::Result(result) = answer else { return None };
        let comma: &[u8] = if object.len() > 1 { b"," } else { b"" };
        for part in [comma, string::encode(key).as_bytes(), b":", &result] {
            object.extend_from_slice(part);
        }
    }
    object.push(b'}');
    Some(object.into())
}

/// Builds the final answer to a call that cannot continue: a failed tool result, or an error for
/// other methods.
fn refusal(core: &SessionCore, request: &Frame, asked: &str) -> Result<RoundOutcome, SessionError> {
    let id = core.next_id().to_string();
    let message = format!("the server needs `{asked}`, which the caller does not support");
    let answer = match request.is(method::TOOLS_CALL) {
        true => {
            let text = string::encode(&message);
            let content = format!(r#"[{{"type":"text","text":{text}}}]"#);
            let result =
                format!(r#"{{"resultType":"complete","content":{content},"isError":true}}"#);
            build::response(&id, result.as_bytes())
        }
        false => build::error_response(Some(&id), code::INTERNAL_ERROR, &message, None),
    };
    super::parse_own(answer).map(RoundOutcome::Refused)
}
