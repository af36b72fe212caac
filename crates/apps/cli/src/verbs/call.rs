//! `call`: calls one tool of one server.

use std::io::stdin;

use clap::Args;
use serde_json::Value;
use toolgate_host::content;
use toolgate_wire::{method, string};

use super::exchange::{self, Request};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::{arguments, out};

#[derive(Debug, Args)]
#[command(
    after_help = "Values are what the tool's schema says: numbers, true or false, JSON arrays \
    and objects, else text.\n\n\
    Examples:\n  toolgate call sample echo text=hello\n  \
    toolgate call sample echo '{\"text\":\"hello\"}'\n  \
    echo '{\"text\":\"hello\"}' | toolgate call sample echo -"
)]
pub struct Call {
    /// Which server
    server: String,
    /// Which of its tools
    tool: String,
    /// The arguments: key=value …, one JSON object, or - to read JSON from stdin
    #[arg(value_name = "KEY=VALUE")]
    arguments: Vec<String>,
}

pub async fn run(context: &Context, options: &Call) -> Result<Exit, Failure> {
    let answer = exchange::run(context, &options.server, async |_, inventory| {
        let tool = inventory.find(&inventory.tools, "tool", &options.tool)?;
        let definition: Value = serde_json::from_str(tool.definition.get()).unwrap_or_default();
        let arguments = arguments::read(&options.arguments, &definition["inputSchema"], stdin())?;
        let name = string::encode(tool.exposed()?);
        let members = format!(r#""name":{name},"arguments":{arguments}"#);
        Ok(Request { method: method::TOOLS_CALL, members })
    });
    let answer = answer.await?;
    let raw = answer.result().unwrap_or_default();
    let result: Value = serde_json::from_slice(raw).unwrap_or_default();
    let failed = result["isError"] == true;
    // The gate refuses a call with a result, so that models read why; no tool said anything then.
    let refused = failed && result["_meta"]["dev.toolgate/decision"].is_object();
    if context.json {
        out::data(&[raw, b"\n"].concat())?;
    } else if !refused {
        out::text(&content::content(&result).plain)?;
    }
    let (tool, server) = (&options.tool, &options.server);
    if refused {
        let why = content::content(&result).text;
        return Err(Failure::refused(format!("call `{tool}` on `{server}`: {why}")));
    }
    if failed {
        return Err(Failure::failed(format!(
            "call `{tool}` on `{server}`: the tool says that it failed, and why on stdout"
        ))
        .hint(format!("`toolgate discover {server} --json` shows what it wants")));
    }
    Ok(Exit::Done)
}
