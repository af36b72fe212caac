//! An agent loop on the library: a model gets the tools, requests calls and gets their results.
//!
//! The model here is a few lines of rules, so that the example runs anywhere:
//!
//! ```text
//! cargo run -p toolgate-host --example agent -- "what time is it?"
//! ```
//!
//! Replace [`think`] by a real model: it gets the conversation and the tool definitions, and either
//! says something or requests a call.

use std::process::ExitCode;

use toolgate_host::{Host, ListedCapability, Tool, Value, helper_main, json};

/// What a model does next.
enum Step {
    Say(String),
    Call { tool: String, arguments: Value },
}

/// One turn of the conversation.
enum Turn {
    User(String),
    Tool { name: String, result: Value },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    // Lets this program guard the process trees of the servers it starts.
    if let Some(code) = helper_main() {
        return code;
    }
    let question = std::env::args().nth(1).unwrap_or_else(|| "what time is it?".into());
    match run(question).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(question: String) -> Result<(), toolgate_host::HostError> {
    let length = Tool::new(
        "text_length",
        "How many characters a text has",
        json!({ "type": "object", "properties": { "text": { "type": "string" } } }),
        |call| async move {
            let text = call.arguments["text"].as_str().ok_or("`text` must be a string")?;
            Ok::<_, &str>(text.chars().count().to_string().into())
        },
    );
    let host = Host::builder().sample_if_empty().tool(length).start().await?;
    host.wait_settled().await;
    let tools = host.tools().await;
    println!("{} tools: {}", tools.len(), names(&tools));

    let mut turns = vec![Turn::User(question)];
    loop {
        match think(&turns, &tools) {
            Step::Say(text) => {
                println!("{text}");
                break;
            }
            Step::Call { tool, arguments } => {
                println!("calling {tool} {arguments}");
                let result = host.call(&tool, &arguments).await?;
                turns.push(Turn::Tool { name: tool, result });
            }
        }
    }
    host.close().await;
    Ok(())
}

fn names(tools: &[ListedCapability]) -> String {
    tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The model: decides by a word in the question which tool fits.
fn think(turns: &[Turn], tools: &[ListedCapability]) -> Step {
    let question = match turns.last() {
        Some(Turn::Tool { name, result }) => {
            return Step::Say(format!("{name} says: {}", result["content"][0]["text"]));
        }
        Some(Turn::User(question)) => question,
        None => return Step::Say("ask me something".into()),
    };
    let wanted = if question.contains("time") { "now" } else { "text_length" };
    match tools.iter().find(|tool| tool.name.ends_with(wanted)) {
        Some(tool) => {
            Step::Call { tool: tool.name.clone(), arguments: json!({ "text": question }) }
        }
        None => Step::Say("none of the tools fits".into()),
    }
}
