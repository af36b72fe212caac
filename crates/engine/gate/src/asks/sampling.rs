//! Completions by a caller's model: off unless allowed, and then so many, so long, one at a time.
//!
//! What a server spends is counted for the day (UTC) in the store, before anybody is asked, and
//! whatever comes of it; without a store it is counted here, as long as this process lives.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate_findings::strip_json;
use toolgate_model::{SamplingLimits, ServerName};
use toolgate_session::{Answer, Question, Scope};
use toolgate_store::Charge;
use toolgate_wire::{Span, Splice, code, scan};

use super::{Asks, refused, reworded};
use crate::tasks::clock;

/// All completions under way, and what was spent where there is no store.
#[derive(Default)]
pub(crate) struct Samplings {
    books: Mutex<Books>,
}

#[derive(Default)]
struct Books {
    by_server: HashMap<ServerName, u32>,
    by_scope: HashMap<Scope, u32>,
    spent: HashMap<ServerName, Spent>,
}

#[derive(Default)]
struct Spent {
    day: String,
    requests: u32,
    tokens: u64,
}

/// A completion that somebody is asked for, until this is dropped.
pub(super) struct UnderWay {
    samplings: Arc<Samplings>,
    server: ServerName,
    scope: Scope,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut books = self.samplings.books();
        let Books { by_server, by_scope, .. } = &mut *books;
        leave(by_server, &self.server);
        leave(by_scope, &self.scope);
    }
}

/// One fewer of these.
fn leave<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, u32>, key: &K) {
    match counts.get_mut(key) {
        Some(count) if *count > 1 => *count -= 1,
        _ => drop(counts.remove(key)),
    }
}

impl Samplings {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this caller's model is answering a server now.
    pub(super) fn is_answering(&self, scope: Scope) -> bool {
        self.books().by_scope.contains_key(&scope)
    }

    /// Takes one of a server's places.
    fn begin(self: &Arc<Self>, server: &ServerName, scope: Scope, most: u32) -> Option<UnderWay> {
        let mut books = self.books();
        let count = books.by_server.get(server).copied().unwrap_or_default();
        if count >= most {
            return None;
        }
        books.by_server.insert(server.clone(), count + 1);
        *books.by_scope.entry(scope).or_default() += 1;
        drop(books);
        Some(UnderWay { samplings: self.clone(), server: server.clone(), scope })
    }

    /// Counts a completion here, as the store would.
    fn charge(&self, charge: &Charge) -> bool {
        let mut books = self.books();
        let spent = books.spent.entry(charge.server.clone()).or_default();
        if spent.day != charge.day {
            *spent = Spent { day: charge.day.clone(), ..Spent::default() };
        }
        let tokens = spent.tokens.saturating_add(charge.tokens);
        let fits = spent.requests < charge.requests_limit && tokens <= charge.tokens_limit;
        if fits {
            (spent.requests, spent.tokens) = (spent.requests + 1, tokens);
        }
        fits
    }
}

impl Asks {
    /// Whether a completion may be asked for, and in which words.
    pub(super) async fn sample(&self, question: Question) -> Result<(Question, UnderWay), Answer> {
        let Some(limits) = self.limits else {
            let why = "sampling is not allowed for this server: `sampling` in its entry allows it";
            return Err(match refused(&question, why) {
                Answer::Failure { message, data, .. } => {
                    Answer::Failure { code: code::METHOD_NOT_FOUND, message, data }
                }
                answer => answer,
            });
        };
        if self.nested {
            let why =
                "the caller's model is answering a server already; one may not ask in between";
            return Err(refused(&question, why));
        }
        let (params, tokens) = bounded(&question, &limits)?;
        let (server, scope) = (question.server.clone(), self.port.scope());
        let under_way = self.samplings.begin(&server, scope, limits.concurrency);
        let Some(under_way) = under_way else {
            let why = format!("{} completions of this server at once", limits.concurrency);
            return Err(refused(&question, &format!("no more than {why}")));
        };
        let charge = Charge {
            server,
            day: today(),
            tokens,
            requests_limit: limits.requests_per_day,
            tokens_limit: limits.tokens_per_day,
        };
        self.charged(&question, &charge).await?;
        Ok((reworded(question, &params)?, under_way))
    }

    async fn charged(&self, question: &Question, charge: &Charge) -> Result<(), Answer> {
        let fits = match &self.decisions {
            None => Ok(self.samplings.charge(charge)),
            Some(decisions) => decisions.charge(charge).await,
        };
        match fits {
            Ok(true) => Ok(()),
            Ok(false) => {
                let Charge { requests_limit, tokens_limit, .. } = charge;
                let why = format!(
                    "the server has spent what it may in a day \
                     ({requests_limit} completions, {tokens_limit} tokens)"
                );
                Err(refused(question, &why))
            }
            // What cannot be counted is not given away.
            Err(error) => Err(refused(question, &format!("failed to {error}"))),
        }
    }
}

/// The parameters as they may be sent, and the tokens they ask for: no more than allowed, nothing of
/// other servers, and no words that a person would not see.
fn bounded(question: &Question, limits: &SamplingLimits) -> Result<(Vec<u8>, u64), Answer> {
    let raw = question.frame.params().unwrap_or_default();
    let params = strip_json(raw);
    let whole = Span::new(0, params.len());
    let asked = scan::member(&params, "maxTokens").map(|at| at.of(&params));
    let tokens = match asked.map(number) {
        Some(None) => return Err(refused(question, "`maxTokens` is no number of tokens")),
        Some(Some(tokens)) => tokens.min(limits.max_tokens),
        None => limits.max_tokens,
    };
    let mut edit = Splice::new(&params);
    if asked.and_then(number) != Some(tokens) {
        edit = edit.set_member(whole, "maxTokens", tokens.to_string());
    }
    if scan::member(&params, "includeContext").is_some() {
        edit = edit.delete_member(whole, "includeContext");
    }
    match edit.finish() {
        Ok(params) => Ok((params.to_vec(), tokens)),
        Err(_) => Err(refused(question, "it asks for nothing")),
    }
}

/// A number of tokens, however it is spelled.
fn number(raw: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(raw).ok()?;
    if let Ok(whole) = text.parse() {
        return Some(whole);
    }
    let spelled: f64 = text.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0)?;
    // Beyond what a whole number holds, it is more than any limit.
    Some(spelled as u64)
}

/// The day, as `YYYY-MM-DD` in UTC.
fn today() -> String {
    clock::now().chars().take(10).collect()
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
        let samplings = Samplings::default();
        let charge = |day: &str| Charge {
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
