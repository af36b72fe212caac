//! What the model does: calls tools in order, then repeats the last result.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::{Instant, sleep};

/// How long a step waits for its file.
const WAIT: Duration = Duration::from_secs(60);

/// A script for one conversation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Script {
    /// What the full name of every called tool contains: the client's name for the MCP server.
    pub server: String,
    /// The calls, one for each turn.
    pub steps: Vec<Step>,
}

/// One call.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Step {
    /// How the tool's name ends; the first of these that is offered is called.
    pub call: Vec<String>,
    /// The arguments.
    pub arguments: Value,
    /// Wait until this file exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<PathBuf>,
}

/// A tool that a request offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tool {
    pub(super) name: String,
    /// The group the name is in, where an API has groups.
    pub(super) namespace: Option<String>,
}

impl Tool {
    /// The name with its group.
    pub(super) fn full_name(&self) -> String {
        let namespace = self.namespace.as_deref().unwrap_or_default();
        format!("{namespace}{}", self.name)
    }
}

/// What a request says, whichever API it came by.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub(super) tools: Vec<Tool>,
    /// The text of every tool result so far.
    pub(super) results: Vec<String>,
}

/// What the model answers.
#[derive(Debug)]
pub(super) enum Turn {
    Say(String),
    Call { tool: Tool, arguments: Value, number: usize },
}

impl Script {
    /// The next turn of a conversation.
    pub(super) async fn next(&self, conversation: &Conversation) -> Turn {
        let number = conversation.results.len();
        // Agents also ask for titles and summaries, without tools.
        let Some(step) = self.steps.get(number).filter(|_| !conversation.tools.is_empty()) else {
            let last = conversation.results.last();
            return Turn::Say(last.map_or_else(|| "Nothing to do.".to_owned(), Clone::clone));
        };
        step.wait().await;
        match self.tool(step, &conversation.tools) {
            Some(tool) => {
                Turn::Call { tool: tool.clone(), arguments: step.arguments.clone(), number }
            }
            None => Turn::Say(format!("None of {:?} is offered.", step.call)),
        }
    }

    fn tool<'a>(&self, step: &Step, tools: &'a [Tool]) -> Option<&'a Tool> {
        let ours = |tool: &&Tool| tool.full_name().contains(&self.server);
        step.call
            .iter()
            .find_map(|end| tools.iter().filter(ours).find(|tool| tool.name.ends_with(end)))
    }
}

impl Step {
    async fn wait(&self) {
        let Some(file) = &self.after else { return };
        let end = Instant::now() + WAIT;
        while !file.exists() && Instant::now() < end {
            sleep(Duration::from_millis(10)).await;
        }
    }
}
