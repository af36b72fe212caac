//! Completion of what a user is typing: a prompt's argument, or a variable of a template.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Values;
use super::fault::{Fault, Handler, handler};

/// How many values one answer may hold, by the protocol.
const MOST: usize = 100;

/// What is being typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completing {
    /// So far.
    pub value: String,
    /// What the other arguments are by now, as far as the client tells.
    pub others: Values,
}

/// What it may become.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completion {
    /// The likeliest first; no more than a hundred are sent.
    pub values: Vec<String>,
    /// How many there are in all, if that is known.
    pub total: Option<usize>,
    /// Whether there are more than `values` has.
    pub more: bool,
}

impl From<Vec<String>> for Completion {
    /// All there are.
    fn from(values: Vec<String>) -> Self {
        Self { total: Some(values.len()), more: false, values }
    }
}

impl Completion {
    /// The result object of `completion/complete`.
    fn result(mut self) -> Value {
        let more = self.more || self.values.len() > MOST;
        self.values.truncate(MOST);
        let mut completion = json!({ "values": self.values, "hasMore": more });
        if let Some(total) = self.total {
            completion["total"] = json!(total);
        }
        json!({ "completion": completion })
    }
}

/// The functions that complete, by the argument they complete.
#[derive(Clone, Default)]
pub(super) struct Completers(BTreeMap<String, Handler<Completing, Completion>>);

impl Completers {
    pub(super) fn add<F, A, E>(&mut self, argument: &str, function: F)
    where
        F: Fn(Completing) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Completion, E>> + Send + 'static,
        E: Into<Fault>,
    {
        self.0.insert(argument.to_owned(), handler(function));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Completes an argument; one that nobody completes has nothing to offer.
    pub(super) async fn complete(
        &self,
        argument: &str,
        typed: Completing,
    ) -> Result<Value, (i32, String)> {
        let completion = match self.0.get(argument) {
            Some(function) => function(typed).await.map_err(|fault| fault.error(argument))?,
            None => Completion::from(Vec::new()),
        };
        Ok(completion.result())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_a_hundred_are_sent_and_the_rest_is_told() {
        let many: Vec<_> = (0..150).map(|n| n.to_string()).collect();
        let sent = Completion::from(many).result();
        assert_eq!(sent["completion"]["values"].as_array().unwrap().len(), 100);
        assert_eq!(sent["completion"]["total"], 150);
        assert_eq!(sent["completion"]["hasMore"], true);
        let few = Completion { values: vec!["a".into()], total: None, more: true }.result();
        assert_eq!(few, json!({ "completion": { "values": ["a"], "hasMore": true } }));
    }
}
