//! The sample server, which is offered while no other server is declared.
//!
//! It returns the time, echoes text and explains how to add servers. It reads and changes nothing
//! else.

use std::time::SystemTime;

use serde_json::json;
use toolgate_model::time::{rfc3339, to_millis};

use crate::local::{InProcessServer, Prompt, Resource, Tool, ToolOutput};

const HELP: &str = "\
Toolgate is a gateway between agents and MCP servers. This sample server is offered because no \
other server is declared yet.

Add a server to the user config (`config.toml` in Toolgate's config folder), for example:

    [servers.filesystem]
    command = \"npx\"
    args = [\"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"]

Or put a `.mcp.json` file into your project and run `toolgate consent` to allow its servers.
Then run `toolgate list` to see the status of each server, and `toolgate doctor` to find out why
one does not start.
";

/// Returns the sample server.
pub fn sample_server() -> InProcessServer {
    let nothing = json!({ "type": "object", "additionalProperties": false });
    let text = json!({
        "type": "object",
        "properties": { "text": { "type": "string", "description": "The text to return" } },
        "required": ["text"],
    });
    InProcessServer::new("toolgate-sample")
        .instructions("Call `help` to learn how to add MCP servers to this gateway.")
        .tools([
            Tool::new(
                "help",
                "How to add MCP servers to this gateway",
                nothing.clone(),
                |_| async { Ok::<_, String>(ToolOutput::from(HELP)) },
            )
            .read_only(),
            Tool::new(
                "now",
                "The current time in UTC, as seconds and as text",
                nothing,
                |_| async { Ok::<_, String>(now()) },
            )
            .read_only(),
            Tool::new("echo", "Returns the given text", text, |call| async move {
                let text = call.arguments["text"].as_str().ok_or("`text` must be a string")?;
                Ok::<_, &str>(ToolOutput::from(text))
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

fn now() -> ToolOutput {
    let ms = to_millis(SystemTime::now());
    ToolOutput::from(json!({ "seconds": ms / 1000, "utc": rfc3339(ms) }))
}
