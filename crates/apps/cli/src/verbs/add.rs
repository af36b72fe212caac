//! `add`: declares a server, with the same argument forms as the `mcp add` commands of MCP clients.
//!
//! This module and [`transport`] turn the arguments into a server spec. [`declaration`] chooses the
//! file, writes the entry and records the consent.

mod option_order;
mod transport;

use clap::{Args, ValueEnum};
use toolgate_host::{ServerSpec, ServerTimeouts, parse_duration};

use super::declaration::{self, PlacementArgs};
use crate::cli_context::CliContext;
use crate::exit::{Exit, Result};
use crate::out;

/// The arguments of `toolgate add`.
#[derive(Debug, Args)]
#[command(
    override_usage = "toolgate add [OPTIONS] <NAME> <COMMAND_OR_URL> [ARGS]...\n       \
    toolgate add [OPTIONS] <NAME> -- <COMMAND> [ARGS]...\n       \
    toolgate add [OPTIONS] <NAME> --url <URL>",
    after_help = "Options can appear before or after the name and the command. After the command, \
    options that toolgate does not know are passed to the command. Put `--` before options of the \
    command that toolgate has too.\n\n\
    Project servers are written to .mcp.json, or to toolgate.toml if that file exists or the entry \
    needs it. Adding a server also gives consent to start it.\n\n\
    Examples:\n  \
    toolgate add fs npx -y @modelcontextprotocol/server-filesystem .\n  \
    toolgate add fs -- npx -y @modelcontextprotocol/server-filesystem .\n  \
    toolgate add -e API_KEY='${env:API_KEY}' mine python server.py -- --port 80\n  \
    toolgate add docs --url https://api.example.com/mcp/ -s user\n  \
    toolgate add -t sse old https://api.example.com/sse -H 'X-Api-Key: ${secret:example}'"
)]
pub struct AddArgs {
    /// Name of the server
    name: String,
    /// Command to start and its arguments, or URL to connect to
    #[arg(value_name = "COMMAND_OR_URL")]
    words: Vec<String>,
    /// URL to connect to
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    placing: PlacementArgs,
    /// Transport of the server [default: detected from the command or URL]
    #[arg(short, long, visible_alias = "type", value_enum)]
    transport: Option<TransportArg>,
    /// Set an environment variable of the server process; repeatable
    #[arg(short, long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Send an HTTP header to the endpoint; repeatable
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// Send the value of this environment variable as the bearer token
    #[arg(long, value_name = "VARIABLE")]
    bearer_token_env_var: Option<String>,
    /// Working directory of the server process
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// Time limit for the start and for each call, in milliseconds or with a unit: 90s, 10m
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    timeout: Option<std::time::Duration>,
    /// Description of the server
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Show only tools that match these comma-separated patterns
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    include_tools: Vec<String>,
    /// Hide tools that match these comma-separated patterns
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    exclude_tools: Vec<String>,
    /// Tag the server's tools; comma-separated or repeated
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    tag: Vec<String>,
}

/// A value of `--transport`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TransportArg {
    /// Process that communicates over stdin and stdout
    Stdio,
    /// Endpoint whose HTTP transport is detected
    Http,
    /// Endpoint with the HTTP+SSE transport of MCP 2024-11-05
    Sse,
    /// Endpoint with the Streamable HTTP transport
    #[value(alias = "streamableHttp", alias = "streamable_http")]
    StreamableHttp,
}

pub use option_order::reorder_add_options;

pub async fn run(context: &CliContext, options: &AddArgs) -> Result<Exit> {
    let name = declaration::parse_server_name(&options.name)?;
    let transport = transport::parse_transport(options)?;
    let mut spec = ServerSpec::new(name, transport);
    spec.description = options.description.clone();
    spec.tags = (!options.tag.is_empty()).then(|| trim_words(&options.tag));
    spec.selection.include = trim_words(&options.include_tools);
    spec.selection.exclude = trim_words(&options.exclude_tools);
    if let Some(limit) = options.timeout {
        // As in other clients, one limit applies both to connecting and to each call.
        spec.timeouts = ServerTimeouts::all(limit);
    }
    let argv: Vec<_> = std::env::args().collect();
    for option in transport::ambiguous_options(&argv, &options.words) {
        out::remark(&format!(
            "`{option}` was taken as toolgate's own option; put `--` before the command's options"
        ));
    }
    declaration::declare(context, spec, &options.placing).await
}

fn trim_words(words: &[String]) -> Vec<String> {
    words.iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

/// Parses a duration. A bare number counts milliseconds, as in other clients.
fn parse_timeout(text: &str) -> Result<std::time::Duration, String> {
    let digits = text.trim().bytes().all(|byte| byte.is_ascii_digit());
    let with_unit = if digits { format!("{}ms", text.trim()) } else { text.to_owned() };
    parse_duration(&with_unit).map_err(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::parse_timeout;

    #[test]
    fn a_bare_number_is_milliseconds() {
        assert_eq!(parse_timeout("5000"), Ok(Duration::from_secs(5)));
        assert_eq!(parse_timeout("90s"), Ok(Duration::from_secs(90)));
        for wrong in ["", "0", "-1", "5 days", "x"] {
            assert!(parse_timeout(wrong).is_err(), "{wrong}");
        }
    }
}
