//! `add`: declares a server, in every form people know from other programs.
//!
//! What was typed becomes a server here and in [`words`]; which file it goes into, and what the
//! user consents to by it, is in [`change`](super::change).

mod split;
mod words;

use clap::{Args, ValueEnum};
use toolgate_host::{ServerSpec, Timeouts, parse_duration};

use super::change::{self, Placing, Proposal};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out;

#[derive(Debug, Args)]
#[command(
    override_usage = "toolgate add [OPTIONS] <NAME> <COMMAND_OR_URL> [ARGS]...\n       \
    toolgate add [OPTIONS] <NAME> -- <COMMAND> [ARGS]...\n       \
    toolgate add [OPTIONS] <NAME> --url <URL>",
    after_help = "Options may stand before or after the name and the command. After the command, \
    an option that toolgate does not have belongs to the command; toolgate's own are toolgate's, \
    unless `--` stands before them.\n\n\
    A project's servers are written to .mcp.json, or to toolgate.toml where there is one or the \
    entry needs it. Adding a server is consent to start exactly that.\n\n\
    Examples:\n  \
    toolgate add fs npx -y @modelcontextprotocol/server-filesystem .\n  \
    toolgate add fs -- npx -y @modelcontextprotocol/server-filesystem .\n  \
    toolgate add -e API_KEY='${env:API_KEY}' mine python server.py -- --port 80\n  \
    toolgate add docs --url https://api.example.com/mcp/ -s user\n  \
    toolgate add -t sse old https://api.example.com/sse -H 'X-Api-Key: ${secret:example}'"
)]
pub struct Add {
    /// What to call the server
    name: String,
    /// The program to start and its arguments, or the URL to connect to
    #[arg(value_name = "COMMAND_OR_URL")]
    words: Vec<String>,
    /// The URL to connect to
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    placing: Placing,
    /// How the server is reached; found out from what is given if it is not said
    #[arg(short, long, visible_alias = "type", value_enum)]
    transport: Option<Transport>,
    /// A variable of its process; one each time
    #[arg(short, long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// A header sent to its endpoint; one each time
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// Send the value of this variable as the bearer token
    #[arg(long, value_name = "VARIABLE")]
    bearer_token_env_var: Option<String>,
    /// The folder its process runs in
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// How long its start, and each call, may take: milliseconds, or with a unit: 90s, 10m
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    timeout: Option<std::time::Duration>,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Show only these of its tools; patterns, with commas
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    include_tools: Vec<String>,
    /// Hide these of its tools; patterns, with commas
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    exclude_tools: Vec<String>,
    /// A tag of its tools; several with commas, or one each time
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    tag: Vec<String>,
}

/// How a server is reached, in the words of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// A process that speaks on its standard streams
    Stdio,
    /// An endpoint, whichever HTTP transport it speaks
    Http,
    /// An endpoint of the HTTP+SSE transport of 2024-11-05
    Sse,
    /// An endpoint of the Streamable HTTP transport
    #[value(alias = "streamableHttp", alias = "streamable_http")]
    StreamableHttp,
}

pub use split::arranged;

pub async fn run(context: &Context, options: &Add) -> Result<Exit, Failure> {
    let name = change::name(&options.name)?;
    let transport = words::transport(options)?;
    let mut spec = ServerSpec::new(name, transport);
    spec.description = options.description.clone();
    spec.tags = (!options.tag.is_empty()).then(|| trimmed(&options.tag));
    spec.selection.include = trimmed(&options.include_tools);
    spec.selection.exclude = trimmed(&options.exclude_tools);
    if let Some(limit) = options.timeout {
        // Other programs have one limit for reaching a server and for each call.
        spec.timeouts = Timeouts::all(limit);
    }
    let argv: Vec<_> = std::env::args().collect();
    for option in words::taken_from_the_command(&argv, &options.words) {
        out::note(&format!(
            "{} `{option}` was taken as toolgate's own; write `--` before what is the command's",
            out::cyan("note:")
        ));
    }
    change::declare(context, Proposal { spec, placing: &options.placing }).await
}

fn trimmed(words: &[String]) -> Vec<String> {
    words.iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

/// A bare number counts milliseconds, as other programs have it.
fn timeout(text: &str) -> Result<std::time::Duration, String> {
    let digits = text.trim().bytes().all(|byte| byte.is_ascii_digit());
    let with_unit = if digits { format!("{}ms", text.trim()) } else { text.to_owned() };
    parse_duration(&with_unit).map_err(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::timeout;

    #[test]
    fn a_bare_number_is_milliseconds() {
        assert_eq!(timeout("5000"), Ok(Duration::from_secs(5)));
        assert_eq!(timeout("90s"), Ok(Duration::from_secs(90)));
        for wrong in ["", "0", "-1", "5 days", "x"] {
            assert!(timeout(wrong).is_err(), "{wrong}");
        }
    }
}
