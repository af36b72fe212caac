//! The sample server: something to connect to before any server is declared.
//!
//! It tells the time, echoes, and explains how to add servers. It reads and changes nothing else.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use toolgate_store::journal::rfc3339_of;

use crate::local::{LocalServer, Output, Prompt, Resource, Tool};

const HELP: &str = "\
Toolgate stands between agents and MCP servers. This sample server is here because no other is \
declared yet.

Add a server to the user config (`config.toml` in Toolgate's config folder), for example:

    [servers.filesystem]
    command = \"npx\"
    args = [\"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"]

or put a `.mcp.json` into your project and allow what it starts with `toolgate consent`.
Then `toolgate servers` shows how each server stands, and `toolgate doctor` says what is wrong
with one that does not come up.
";

/// The sample server.
pub fn sample_server() -> LocalServer {
    let nothing = json!({ "type": "object", "additionalProperties": false });
    let text = json!({
        "type": "object",
        "properties": { "text": { "type": "string", "description": "What to give back" } },
        "required": ["text"],
    });
    LocalServer::new("toolgate-sample")
        .instructions("Call `help` to learn how to add MCP servers to this gateway.")
        .tools([
            Tool::new(
                "help",
                "How to add MCP servers to this gateway",
                nothing.clone(),
                |_| async { Ok::<_, String>(Output::from(HELP)) },
            )
            .read_only(),
            Tool::new(
                "now",
                "The current time in UTC, as seconds and as text",
                nothing,
                |_| async { now() },
            )
            .read_only(),
            Tool::new("echo", "Gives back the text it is given", text, |call| async move {
                let text = call.arguments["text"].as_str().ok_or("`text` must be a string")?;
                Ok::<_, &str>(Output::from(text))
            })
            .read_only(),
        ])
        .resource(
            Resource::fixed(
                "toolgate://sample/help",
                "help",
                "How to add MCP servers to this gateway",
                HELP,
            )
            .mime_type("text/markdown"),
        )
        .prompt(Prompt::fixed(
            "getting_started",
            "Ask for help with adding the first server",
            "Read the resource toolgate://sample/help, then ask me which MCP servers I use and \
             show me what to write into the config for each.",
        ))
}

fn now() -> Result<Output, String> {
    let now = SystemTime::now();
    let since = now.duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
    Ok(Output::from(json!({ "seconds": since.as_secs(), "utc": rfc3339_of(now) })))
}
