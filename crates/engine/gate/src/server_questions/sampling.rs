//! Sampling: off unless allowed, then limited in number, size and concurrency.
//!
//! Usage counts per server and day (UTC). It is charged in the store before the caller is asked,
//! whatever the answer is. Without a store it is counted in memory while this process lives.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use toolgate_model::{SamplingLimits, ServerName};
use toolgate_session::{Answer, CallerId, Question};
use toolgate_store::SamplingCharge;
use toolgate_wire::{JsonEdit, Span, code, scan};

use super::{GuardedInteractor, refuse_question, with_params};
use crate::sanitize::strip_json;
use crate::tasks;

/// The sampling requests in progress, and the usage if there is no store.
#[derive(Default)]
pub(crate) struct SamplingTracker {
    state: Mutex<SamplingState>,
}

/// The counters of the tracker.
#[derive(Default)]
struct SamplingState {
    by_server: HashMap<ServerName, u32>,
    by_scope: HashMap<CallerId, u32>,
    usage: HashMap<ServerName, SamplingUsage>,
}

/// The usage of one server on one day.
#[derive(Default)]
struct SamplingUsage {
    day: String,
    requests: u32,
    tokens: u64,
}

/// A sampling request in progress, until this is dropped.
pub(super) struct SamplingGuard {
    samplings: Arc<SamplingTracker>,
    server: ServerName,
    scope: CallerId,
}

impl Drop for SamplingGuard {
    fn drop(&mut self) {
        let mut state = self.samplings.state.lock();
        let SamplingState { by_server, by_scope, .. } = &mut *state;
        decrement(by_server, &self.server);
        decrement(by_scope, &self.scope);
    }
}

/// Decrements a counter and removes it at zero.
fn decrement<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, u32>, key: &K) {
    match counts.get_mut(key) {
        Some(count) if *count > 1 => *count -= 1,
        _ => drop(counts.remove(key)),
    }
}

impl SamplingTracker {
    /// Returns true if this caller's model is answering a server now.
    pub(super) fn is_answering(&self, scope: CallerId) -> bool {
        self.state.lock().by_scope.contains_key(&scope)
    }

    /// Starts a sampling request; `None` if the server has as many in progress as it may.
    fn begin(
        self: &Arc<Self>,
        server: &ServerName,
        scope: CallerId,
        most: u32,
    ) -> Option<SamplingGuard> {
        let mut state = self.state.lock();
        let count = state.by_server.get(server).copied().unwrap_or_default();
        if count >= most {
            return None;
        }
        state.by_server.insert(server.clone(), count + 1);
        *state.by_scope.entry(scope).or_default() += 1;
        drop(state);
        Some(SamplingGuard { samplings: self.clone(), server: server.clone(), scope })
    }

    /// Charges a request in memory, as the store would.
    fn charge(&self, charge: &SamplingCharge) -> bool {
        let mut state = self.state.lock();
        let spent = state.usage.entry(charge.server.clone()).or_default();
        if spent.day != charge.day {
            *spent = SamplingUsage { day: charge.day.clone(), ..SamplingUsage::default() };
        }
        let tokens = spent.tokens.saturating_add(charge.tokens);
        let fits = spent.requests < charge.requests_limit && tokens <= charge.tokens_limit;
        if fits {
            (spent.requests, spent.tokens) = (spent.requests + 1, tokens);
        }
        fits
    }
}

impl GuardedInteractor {
    /// Checks whether the model may be asked, and returns the question as it may be asked.
    pub(super) async fn sample(
        &self,
        question: Question,
    ) -> Result<(Question, SamplingGuard), Answer> {
        let Some(limits) = self.limits else {
            let why = "sampling is not allowed for this server; `sampling` in its entry allows it";
            let _ = refuse_question(&question, why);
            let (code, message) = (code::METHOD_NOT_FOUND, why.to_owned());
            return Err(Answer::Failure { code, message, data: None });
        };
        if self.nested {
            let why = "the caller's model is already answering a server; sampling cannot be nested";
            return Err(refuse_question(&question, why));
        }
        let (params, tokens) = limit_params(&question, &limits)?;
        let (server, scope) = (question.server.clone(), self.port.scope());
        let under_way = self.samplings.begin(&server, scope, limits.concurrency);
        let Some(under_way) = under_way else {
            let why = format!(
                "at most {} completions of this server may run at once",
                limits.concurrency
            );
            return Err(refuse_question(&question, &why));
        };
        let charge = SamplingCharge {
            server,
            day: today(),
            tokens,
            requests_limit: limits.requests_per_day,
            tokens_limit: limits.tokens_per_day,
        };
        let charged = match &self.decisions {
            None => Ok(self.samplings.charge(&charge)),
            Some(decisions) => decisions.charge_sampling(&charge).await,
        };
        let why = match charged {
            Ok(true) => return Ok((with_params(question, Some(params))?, under_way)),
            Ok(false) => format!(
                "the server has used up what it may sample in a day \
                 ({} completions, {} tokens)",
                charge.requests_limit, charge.tokens_limit
            ),
            // Without a charge there is no sampling.
            Err(error) => format!("cannot charge the sampling budget: {error}"),
        };
        Err(refuse_question(&question, &why))
    }
}

/// Returns the parameters as they may be sent, and the tokens they request: within the limits,
/// without context of other servers, and without hidden text.
fn limit_params(question: &Question, limits: &SamplingLimits) -> Result<(Bytes, u64), Answer> {
    let raw = question.frame.params().unwrap_or_default();
    let params = strip_json(raw);
    let whole = Span::new(0, params.len());
    let asked = scan::member(&params, "maxTokens").map(|at| at.slice(&params));
    let tokens = match asked.map(number) {
        Some(None) => {
            return Err(refuse_question(question, "`maxTokens` must be a number of tokens"));
        }
        Some(Some(tokens)) => tokens.min(limits.max_tokens),
        None => limits.max_tokens,
    };
    let mut edit = JsonEdit::new(&params);
    if asked.and_then(number) != Some(tokens) {
        edit = edit.set_member(whole, "maxTokens", tokens.to_string());
    }
    if scan::member(&params, "includeContext").is_some() {
        edit = edit.delete_member(whole, "includeContext");
    }
    match edit.finish() {
        Ok(params) => Ok((params, tokens)),
        Err(_) => Err(refuse_question(question, "the question has no usable parameters")),
    }
}

/// Parses a number of tokens in any JSON spelling.
fn number(raw: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(raw).ok()?;
    if let Ok(whole) = text.parse() {
        return Some(whole);
    }
    let spelled: f64 = text.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0)?;
    // A value above the range exceeds every limit anyway.
    Some(spelled as u64)
}

/// Returns the current date as `YYYY-MM-DD` in UTC.
fn today() -> String {
    tasks::now().chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_however_they_are_spelled() {
        for (raw, expected) in [
            ("100", Some(100)),
            ("1e3", Some(1000)),
            ("1e300", Some(u64::MAX)),
            ("10.5", Some(10)),
            ("-1", None),
            ("\"9\"", None),
            ("null", None),
        ] {
            assert_eq!(number(raw.as_bytes()), expected, "{raw}");
        }
    }

    #[test]
    fn what_is_spent_is_counted_per_day() {
        let samplings = SamplingTracker::default();
        let charge = |day: &str| SamplingCharge {
            server: ServerName::new("s").unwrap(),
            day: day.into(),
            tokens: 40,
            requests_limit: 3,
            tokens_limit: 100,
        };
        let monday: Vec<_> = (0..4).map(|_| samplings.charge(&charge("2026-11-16"))).collect();
        assert_eq!(monday, [true, true, false, false]);
        assert!(samplings.charge(&charge("2026-11-17")));
    }
}
