//! Results that ask for more before they can be given (multi round-trip requests).
//!
//! What the server asks goes to whoever stands behind the call, all of one round together; then the
//! request is sent again with the answers and the server's state, byte for byte. Two refusals are
//! settled here too: headers the server did not expect, and a revision it no longer speaks.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use toolgate_model::CapabilityKind;
use toolgate_wire::view::RpcError;
use toolgate_wire::{Edit, Frame, Kind, Limits, build, code, method, scan, string};

use super::envelope::SPOKEN;
use crate::core::{Core, Link};
use crate::exchange::{self, Leg};
use crate::{Answer, AskKind, Outbound, Question, SessionError, listing};

const INPUT_REQUIRED: &str = "input_required";
const RESPONSES: &str = "inputResponses";
const STATE: &str = "requestState";

/// How often one call may ask.
const MAX_ROUNDS: usize = 10;
/// How much one round may ask.
const MAX_QUESTIONS: usize = 16;
/// How long a server that asks nothing, but wants to be called again, is left alone.
const PACE: Duration = Duration::from_millis(250);

/// What the next attempt of a call carries.
pub(crate) struct Round {
    responses: Option<Bytes>,
    state: Option<Bytes>,
}

impl Round {
    /// Adds it to the request.
    pub(crate) fn enclose<'a>(&self, edit: Edit<'a>, frame: &'a Frame) -> Edit<'a> {
        let Some(params) = frame.params_span() else { return edit };
        let members = [(RESPONSES, &self.responses), (STATE, &self.state)];
        members.into_iter().fold(edit, |edit, (key, value)| match value {
            Some(raw) => edit.set_member(params, key, raw),
            None => edit,
        })
    }
}

/// Whether a call ends with this answer.
pub(crate) fn is_final(answer: &Frame) -> bool {
    match answer.kind() {
        Kind::Failure => {
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

/// Takes a call from an answer that does not end it to the one that does.
pub(crate) async fn go_on(
    core: &Arc<Core>,
    outbound: &Outbound,
    first: Frame,
) -> Result<Frame, SessionError> {
    let (mut answer, mut round) = (first, None);
    let (mut rounds, mut refreshed) = (0, false);
    while !is_final(&answer) {
        match failure(&answer) {
            (code::UNSUPPORTED_PROTOCOL_VERSION, message) => return Err(outdated(core, &message)),
            (code::HEADER_MISMATCH, message) => {
                refresh(core, outbound, std::mem::replace(&mut refreshed, true), message).await?;
            }
            _ => {
                rounds += 1;
                if rounds > MAX_ROUNDS {
                    let endless = "it asks for more input again and again";
                    return Err(SessionError::Protocol(endless.into()));
                }
                round = match fulfil(core, outbound, &answer).await? {
                    Outcome::Again(round) => Some(round),
                    Outcome::Refused(refusal) => return Ok(refusal),
                };
            }
        }
        let leg = Leg { round: round.as_ref(), ..Leg::first(core.timeouts) };
        answer = exchange::once(core, outbound, leg).await?;
    }
    Ok(answer)
}

/// The server was replaced by one that does not speak our revision: that is another connection.
pub(crate) fn outdated(core: &Core, message: &str) -> SessionError {
    let reason = format!("it no longer speaks {SPOKEN}: {message}");
    core.end(&reason);
    SessionError::Ended(reason)
}

/// The headers did not fit, so nothing was run: the tool's definition may have changed.
async fn refresh(
    core: &Arc<Core>,
    outbound: &Outbound,
    again: bool,
    message: String,
) -> Result<(), SessionError> {
    let on_http = matches!(core.link, Link::Http(_));
    if again || !on_http || !outbound.frame.is(method::TOOLS_CALL) {
        let why = format!("it refuses the headers of the request: {message}");
        return Err(SessionError::Protocol(why));
    }
    listing::all(core, CapabilityKind::Tool).await.map(drop)
}

enum Outcome {
    Again(Round),
    /// The answer to the call, since what is asked cannot be had.
    Refused(Frame),
}

async fn fulfil(
    core: &Arc<Core>,
    outbound: &Outbound,
    answer: &Frame,
) -> Result<Outcome, SessionError> {
    let request = &outbound.frame;
    let may_ask = [method::TOOLS_CALL, method::PROMPTS_GET, method::RESOURCES_READ];
    if !may_ask.into_iter().any(|method| request.is(method)) {
        return Err(SessionError::Protocol("it asks for input where it must not".into()));
    }
    let result = answer.result().unwrap_or_default();
    let raw = |key| scan::member(result, key).map(|span| Bytes::copy_from_slice(span.of(result)));
    let (requests, state) = (raw("inputRequests"), raw(STATE));
    let questions = match &requests {
        Some(requests) => questions(core, requests)?,
        None if state.is_some() => Ok(Vec::new()),
        None => return Err(SessionError::Protocol("it wants input, but asks nothing".into())),
    };
    let questions = match questions {
        Ok(questions) => questions,
        Err(method) => return refusal(core, request, &method),
    };
    if questions.is_empty() {
        tokio::time::sleep(PACE).await;
        return Ok(Outcome::Again(Round { responses: None, state }));
    }
    let asked: Vec<_> =
        questions.iter().map(|one| (one.kind, one.key.clone().unwrap_or_default())).collect();
    let max = core.timeouts.max();
    let answers = tokio::time::timeout(max, outbound.port.ask_all(questions)).await;
    let answers = answers.map_err(|_| SessionError::TimedOut(max))?;
    match responses(core, &asked, answers) {
        Some(responses) => Ok(Outcome::Again(Round { responses: Some(responses), state })),
        None => refusal(core, request, method::SAMPLING_CREATE_MESSAGE),
    }
}

/// The questions of one round, or the method of one that is no question.
fn questions(core: &Core, requests: &[u8]) -> Result<Result<Vec<Question>, String>, SessionError> {
    let mut found = Vec::new();
    let mut keys = HashSet::new();
    for (key, span) in scan::members(requests) {
        let raw = span.of(requests);
        let method = scan::text(raw, "method").unwrap_or_default();
        let params = scan::member(raw, "params").map(|span| span.of(raw));
        let frame = Frame::parse(build::request("0", &method, params), &Limits::default())?;
        let Some(kind) = AskKind::of(&frame) else { return Ok(Err(method.into_owned())) };
        if !keys.insert(key.clone()) || keys.len() > MAX_QUESTIONS {
            return Err(SessionError::Protocol("it asks too much at once, or twice".into()));
        }
        let (server, key) = (core.server.clone(), Some(key.into_owned()));
        found.push(Question { server, kind, key, frame });
    }
    Ok(Ok(found))
}

/// `inputResponses`; `None` if something was asked that cannot be declined.
fn responses(core: &Core, asked: &[(AskKind, String)], answers: Vec<Answer>) -> Option<Bytes> {
    let mut object = Vec::from(*b"{");
    let mut answers = answers.into_iter();
    for (kind, key) in asked {
        let answer = match answers.next() {
            Some(answer @ Answer::Result(_)) => answer,
            Some(Answer::Failure { .. }) => Answer::declined(*kind),
            Some(Answer::Unsupported) | None => core.declined(*kind, true),
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

/// The call cannot go on: a failed tool, or an error where there is no such thing.
fn refusal(core: &Core, request: &Frame, asked: &str) -> Result<Outcome, SessionError> {
    let id = core.next_id().to_string();
    let message = format!("the server needs `{asked}`, which the caller does not offer");
    let answer = match request.is(method::TOOLS_CALL) {
        true => {
            let text = string::encode(&message);
            let content = format!(r#"[{{"type":"text","text":{text}}}]"#);
            let result =
                format!(r#"{{"resultType":"complete","content":{content},"isError":true}}"#);
            build::response(&id, result.as_bytes())
        }
        false => build::failure(Some(&id), code::INTERNAL_ERROR, &message, None),
    };
    super::own(answer).map(Outcome::Refused)
}
