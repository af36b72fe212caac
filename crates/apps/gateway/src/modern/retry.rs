//! What a retry brings: the answers, and the state of the call they belong to.

use std::borrow::Cow;

use toolgate_wire::{Frame, WireError, scan, string};

use super::asking::Answers;

/// The member of `params` that holds the answers.
pub(crate) const RESPONSES: &str = "inputResponses";
/// The member of `params` that holds the state.
pub(crate) const STATE: &str = "requestState";

/// The part of a request that makes it a retry.
pub(crate) struct Retry<'a> {
    /// The state of the call, as we gave it out.
    pub(crate) state: Option<Cow<'a, str>>,
    /// The answers by their keys.
    pub(crate) answers: Answers,
}

impl<'a> Retry<'a> {
    /// Reads it off a request; none if it is no retry.
    pub(crate) fn of(request: &'a Frame) -> Result<Option<Self>, &'static str> {
        let params = request.params().unwrap_or_default();
        if !request.is_retry() {
            return Ok(None);
        }
        let (answers, state) = (scan::member(params, RESPONSES), scan::member(params, STATE));
        let state = state
            .map(|state| string::decode(state.of(params)).ok_or("requestState must be a string"));
        let answers = answers.map(|at| read(request, at.of(params)));
        Ok(Some(Self {
            state: state.transpose()?,
            answers: answers.transpose()?.unwrap_or_default(),
        }))
    }
}

fn read(request: &Frame, answers: &[u8]) -> Result<Answers, &'static str> {
    if !answers.starts_with(b"{") {
        return Err("inputResponses must be an object");
    }
    scan::members(answers)
        .map(|(key, at)| {
            let answer = at.of(answers);
            match answer.first() {
                Some(b'{') => Ok((key.into_owned(), request.bytes().slice_ref(answer))),
                _ => Err("every member of inputResponses must be an object"),
            }
        })
        .collect()
}

/// The request without what belongs to a retry, for servers to see.
pub(crate) fn bare(request: &Frame) -> Result<Frame, WireError> {
    match request.params_span() {
        Some(params) => {
            request.edit().delete_member(params, RESPONSES).delete_member(params, STATE).frame()
        }
        None => Ok(request.clone()),
    }
}
