//! `call`: calls one tool of one server.

use std::io::stdin;

use clap::Args;
use serde_json::Value;
use toolgate_host::content;
use toolgate_wire::{method, string};

use super::mcp_request::{self, McpRequest};
use crate::cli_context::CliContext;
use crate::exit::{CliError, Exit};
use crate::{arguments, out};

/// The arguments of `toolgate call`.
#[derive(Debug, Args)]
#[command(
    after_help = "Values are converted to the types in the tool's schema: numbers, booleans, JSON \
    arrays and objects, or text.\n\n\
    Examples:\n  toolgate call sample echo text=hello\n  \
    toolgate call sample echo '{\"text\":\"hello\"}'\n  \
    echo '{\"text\":\"hello\"}' | toolgate call sample echo -"
)]
pub struct CallArgs {
    /// Name of the server
    server: String,
    /// Name of the tool
    tool: String,
    /// Arguments of the tool: key=value pairs, one JSON object, or - to read JSON from stdin
    #[arg(value_name = "KEY=VALUE")]
    arguments: Vec<String>,
}

pub async fn run(context: &CliContext, options: &CallArgs) -> Result<Exit, CliError> {
    let answer = mcp_request::send(context, &options.server, async |_, inventory| {
        let tool = inventory.find_capability(&inventory.tools, "tool", &options.tool)?;
        let definition: Value = serde_json::from_str(tool.definition.get()).unwrap_or_default();
        let arguments = arguments::read(&options.arguments, &definition["inputSchema"], stdin())?;
        let name = string::encode(tool.exposed_name()?);
        let members = format!(r#""name":{name},"arguments":{arguments}"#);
        Ok(McpRequest { method: method::TOOLS_CALL, members })
    });
    let answer = answer.await?;
    let raw = answer.result().unwrap_or_default();
    let result: Value = serde_json::from_slice(raw).unwrap_or_default();
    let failed = result["isError"] == true;
    // The gate refuses a call with an error result that models can read. The result then holds the
    // reason and no output of the tool.
    let refused = failed && result["_meta"]["dev.toolgate/decision"].is_object();
    if context.json {
        out::data(&[raw, b"\n"].concat())?;
    } else if !refused {
        out::text(&content::parse_result(&result).plain)?;
    }
    let (tool, server) = (&options.tool, &options.server);
    if refused {
        let why = content::parse_result(&result).text;
        return Err(CliError::refused(format!("cannot call `{tool}` on `{server}`: {why}")));
    }
    if failed {
        return Err(CliError::failed(format!(
            "tool `{tool}` on `{server}` returned an error; its output is on stdout"
        ))
        .hint(format!("run `toolgate discover {server} --json` to see the tool's schema")));
    }
    Ok(Exit::Done)
}
