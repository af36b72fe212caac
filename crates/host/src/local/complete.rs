//! Completion of a prompt argument or a template variable while a user types it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ArgumentValues;
use super::handler::{BoxedHandler, MethodResult};

/// The maximum number of values in one answer, by the protocol.
const MOST: usize = 100;

/// A request for completions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompletionRequest {
    /// The text typed so far.
    pub value: String,
    /// The values of the other arguments, as far as the client sends them.
    pub others: ArgumentValues,
}

/// The possible completions of a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completion {
    /// The values, likeliest first. Only the first hundred are sent.
    pub values: Vec<String>,
    /// The total number of values, if known.
    pub total: Option<usize>,
    /// True if there are more values than `values` contains.
    pub more: bool,
}

impl From<Vec<String>> for Completion {
    /// Creates a completion from the full list of values.
    fn from(values: Vec<String>) -> Self {
        Self { total: Some(values.len()), more: false, values }
    }
}

impl Completion {
    /// Returns the result object of `completion/complete`.
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

/// The completion functions, by argument name.
#[derive(Clone, Default)]
pub(super) struct ArgumentCompleters(
    pub(super) BTreeMap<String, BoxedHandler<CompletionRequest, Completion>>,
);

impl ArgumentCompleters {
    /// Completes an argument. Returns no values for an argument without a completion function.
    pub(super) async fn complete(&self, argument: &str, typed: CompletionRequest) -> MethodResult {
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
