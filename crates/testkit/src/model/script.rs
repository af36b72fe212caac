//! The script of the model: it calls tools in order, then repeats the last result.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::{Instant, sleep};

/// How long a step waits for its file.
const WAIT: Duration = Duration::from_secs(60);

/// A script for one conversation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ModelScript {
    /// What the full name of every called tool contains: the client's name for the MCP server.
    pub server: String,
    /// The calls, one for each turn.
    pub steps: Vec<ScriptedCall>,
}

/// One tool call of a script.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ScriptedCall {
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
pub(super) struct ModelRequestTool {
    pub(super) name: String,
    /// The group the name is in, where an API has groups.
    pub(super) namespace: Option<String>,
}

impl ModelRequestTool {
    /// The name with its group.
    pub(super) fn full_name(&self) -> String {
        let namespace = self.namespace.as_deref().unwrap_or_default();
        format!("{namespace}{}", self.name)
    }
}

/// The content of a request, independent of its API.
#[derive(Debug, Default)]
pub(super) struct ModelConversation {
    pub(super) tools: Vec<ModelRequestTool>,
    /// The text of every tool result so far.
    pub(super) results: Vec<String>,
}

/// The answer of the model.
#[derive(Debug)]
pub(super) enum ModelTurn {
    Say(String),
    Call { tool: ModelRequestTool, arguments: Value, number: usize },
}

impl ModelScript {
    /// The next turn of a conversation.
    pub(super) async fn next(&self, conversation: &ModelConversation) -> ModelTurn {
        let number = conversation.results.len();
        // Agents also ask for titles and summaries, without tools.
        let Some(step) = self.steps.get(number).filter(|_| !conversation.tools.is_empty()) else {
            let last = conversation.results.last();
            return ModelTurn::Say(last.map_or_else(|| "Nothing to do.".to_owned(), Clone::clone));
        };
        step.wait().await;
        match self.tool(step, &conversation.tools) {
            Some(tool) => {
                ModelTurn::Call { tool: tool.clone(), arguments: step.arguments.clone(), number }
            }
            None => ModelTurn::Say(format!("None of {:?} is offered.", step.call)),
        }
    }

    fn tool<'a>(
        &self,
        step: &ScriptedCall,
        tools: &'a [ModelRequestTool],
    ) -> Option<&'a ModelRequestTool> {
        let ours = |tool: &&ModelRequestTool| tool.full_name().contains(&self.server);
        step.call
            .iter()
            .find_map(|end| tools.iter().filter(ours).find(|tool| tool.name.ends_with(end)))
    }
}

impl ScriptedCall {
    async fn wait(&self) {
        let Some(file) = &self.after else { return };
        let end = Instant::now() + WAIT;
        while !file.exists() && Instant::now() < end {
            sleep(Duration::from_millis(10)).await;
        }
    }
}
