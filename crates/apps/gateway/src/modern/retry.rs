//! Parses the members that make a request a retry: the answers, and the state of the call.

use std::borrow::Cow;

use toolgate_wire::{Frame, WireError, scan, string};

use super::questions::InputResponses;

/// The member of `params` that holds the answers.
pub(crate) const INPUT_RESPONSES: &str = "inputResponses";
/// The member of `params` that holds the state.
pub(crate) const REQUEST_STATE: &str = "requestState";

/// The members of a request that make it a retry.
pub(crate) struct RetryParams<'a> {
    /// The state of the call, as the gateway issued it.
    pub(crate) state: Option<Cow<'a, str>>,
    /// The answers by their keys.
    pub(crate) answers: InputResponses,
}

impl<'a> RetryParams<'a> {
    /// Parses the retry members of a request. Returns `None` if it is not a retry.
    pub(crate) fn parse(request: &'a Frame) -> Result<Option<Self>, &'static str> {
        let params = request.params().unwrap_or_default();
        if !request.is_retry() {
            return Ok(None);
        }
        let (answers, state) =
            (scan::member(params, INPUT_RESPONSES), scan::member(params, REQUEST_STATE));
        let state = state.map(|state| {
            string::decode(state.slice(params)).ok_or("requestState must be a string")
        });
        let answers = answers.map(|at| parse_answers(request, at.slice(params)));
        Ok(Some(Self {
            state: state.transpose()?,
            answers: answers.transpose()?.unwrap_or_default(),
        }))
    }
}

fn parse_answers(request: &Frame, answers: &[u8]) -> Result<InputResponses, &'static str> {
    if !answers.starts_with(b"{") {
        return Err("inputResponses must be an object");
    }
    scan::members(answers)
        .map(|(key, at)| {
            let answer = at.slice(answers);
            match answer.first() {
                Some(b'{') => Ok((key.into_owned(), request.bytes().slice_ref(answer))),
                _ => Err("every member of inputResponses must be an object"),
            }
        })
        .collect()
}

/// Returns the request without the retry members, as servers get it.
pub(crate) fn strip_retry_params(request: &Frame) -> Result<Frame, WireError> {
    match request.params_span() {
        Some(params) => request
            .edit()
            .delete_member(params, INPUT_RESPONSES)
            .delete_member(params, REQUEST_STATE)
            .finish_frame(),
        None => Ok(request.clone()),
    }
}
