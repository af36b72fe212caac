//! `call`: calls one tool of one server.

use std::io::stdin;
use std::path::PathBuf;

use clap::Args;
use serde_json::Value;
use toolgate_host::content;
use toolgate_wire::{method, string};

use super::{mcp_request, result_file};
use crate::cli_context::CliContext;
use crate::complete::{server_names, tool_names};
use crate::exit::{CliError, ErrorCode, Exit, Result, cli_error};
use crate::{arguments, out};

/// What separates a server from its tool in the usual form of exposed names.
const SEPARATOR: &str = "__";

/// The arguments of `toolgate call`.
#[derive(Debug, Args)]
#[command(
    override_usage = "toolgate call [OPTIONS] <SERVER> <TOOL> [KEY=VALUE]...\n       \
    toolgate call [OPTIONS] <SERVER__TOOL> [KEY=VALUE]...",
    after_help = "Values are converted to the types in the tool's schema: numbers, booleans, JSON \
    arrays and objects, or text.\n\n\
    Examples:\n  toolgate call sample echo text=hello\n  \
    toolgate call sample__echo text=hello\n  \
    toolgate call sample echo '{\"text\":\"hello\"}'\n  \
    echo '{\"text\":\"hello\"}' | toolgate call sample echo -\n  \
    toolgate call sample echo text=hello -o hello.txt"
)]
pub struct CallArgs {
    /// Name of the server, or of the server and the tool as SERVER__TOOL
    #[arg(add = server_names())]
    server: String,
    /// Name of the tool
    #[arg(add = tool_names())]
    tool: Option<String>,
    /// Arguments of the tool: key=value pairs, one JSON object, or - to read JSON from stdin
    #[arg(value_name = "KEY=VALUE")]
    arguments: Vec<String>,
    /// Write the result to this file: its image, audio or other binary content, or else its text
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    output: Option<PathBuf>,
}

impl CallArgs {
    /// Returns the server, the tool and the words with its arguments. A first word that names no
    /// declared server is split into server and tool.
    fn to_call(&self, context: &CliContext) -> Result<(&str, &str, Vec<String>)> {
        let plan = toolgate_host::read_files(&context.setup_options()?)?;
        let is_server = |name: &str| plan.entries.iter().any(|it| it.spec.name.as_str() == name);
        let splits = || self.server.match_indices(SEPARATOR).map(|(at, _)| at);
        let declared = splits().filter(|at| is_server(&self.server[..*at])).last();
        let split = declared.or_else(|| splits().next());
        match (split.filter(|_| !is_server(&self.server)), &self.tool) {
            (Some(at), next) => {
                let arguments = next.iter().chain(&self.arguments).cloned().collect();
                Ok((&self.server[..at], &self.server[at + SEPARATOR.len()..], arguments))
            }
            (None, Some(tool)) => Ok((&self.server, tool, self.arguments.clone())),
            (None, None) => Err(cli_error!(CliUsage, "no tool is named")
                .hint(format!("run `toolgate discover {}` to list its tools", self.server))),
        }
    }
}

pub async fn run(context: &CliContext, options: &CallArgs) -> Result<Exit> {
    let (server, tool, arguments) = options.to_call(context)?;
    let answer = mcp_request::send(context, server, method::TOOLS_CALL, async |_, inventory| {
        let tool = inventory.find_capability(&inventory.tools, "tool", tool)?;
        let definition: Value = serde_json::from_str(tool.definition.get()).unwrap_or_default();
        let arguments = arguments::read(&arguments, &definition["inputSchema"], stdin())?;
        let name = string::encode(tool.exposed_name()?);
        Ok(format!(r#""name":{name},"arguments":{arguments}"#))
    });
    let answer = answer.await?;
    let raw = answer.result().unwrap_or_default();
    let result: Value = serde_json::from_slice(raw).unwrap_or_default();
    let failed = result["isError"] == true;
    // The gate refuses a call with an error result that models can read. The result then holds the
    // reason and no output of the tool.
    let decision = result["_meta"].get("dev.toolgate/decision").filter(|_| failed);
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    match &options.output {
        _ if context.json => out::data(&[raw, b"\n"].concat())?,
        Some(file) if !failed => result_file::write(file, blocks)?,
        _ if decision.is_none() => out::text(&content::parse_result(&result).plain)?,
        _ => {}
    }
    if let Some(decision) = decision {
        let code = decision["code"].as_str().and_then(|code| code.parse().ok());
        let why = content::parse_result(&result).text;
        return Err(CliError::new(
            code.unwrap_or(ErrorCode::PolicyDenied),
            format!("cannot call `{tool}` on `{server}`: {why}"),
        ));
    }
    if failed {
        return Err(cli_error!(
            CallServerError,
            "tool `{tool}` on `{server}` returned an error; its output is on stdout"
        )
        .hint(format!("run `toolgate discover {server} --json` to see the tool's schema")));
    }
    if options.output.is_none() && !context.json && blocks.iter().any(result_file::is_binary) {
        out::hint("use -o FILE to write the binary content to a file");
    }
    Ok(Exit::Done)
}
