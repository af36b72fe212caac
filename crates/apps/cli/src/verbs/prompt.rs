//! `prompt`: gets one prompt of one server with its arguments filled in.

use std::io::stdin;

use clap::Args;
use serde_json::Value;
use toolgate_host::content;
use toolgate_wire::{method, string};

use super::mcp_request;
use crate::cli_context::CliContext;
use crate::complete::server_names;
use crate::exit::{Exit, Result, cli_error};
use crate::out::escape_invisible;
use crate::{arguments, out};

/// The arguments of `toolgate prompt`.
#[derive(Debug, Args)]
#[command(after_help = "Example: toolgate prompt sample getting_started")]
pub struct PromptArgs {
    /// Name of the server
    #[arg(add = server_names())]
    server: String,
    /// Name of the prompt
    name: String,
    /// Arguments of the prompt
    #[arg(value_name = "KEY=VALUE")]
    arguments: Vec<String>,
}

impl PromptArgs {
    /// Fails if a required argument is missing.
    fn check_required(&self, definition: &Value, arguments: &str) -> Result<()> {
        let given: Value = serde_json::from_str(arguments).unwrap_or_default();
        let required = definition["arguments"].as_array().into_iter().flatten();
        let mut required = required.filter(|argument| argument["required"] == true);
        let missing = required.find_map(|argument| {
            argument["name"].as_str().filter(|name| given.get(name).is_none())
        });
        let Some(missing) = missing.map(escape_invisible) else { return Ok(()) };
        let Self { server, name, .. } = self;
        Err(cli_error!(
            CallArguments,
            "prompt `{name}` of `{server}`: its argument `{missing}` is required"
        )
        .hint(format!("run `toolgate prompt {server} {name} {missing}=…`")))
    }
}

pub async fn run(context: &CliContext, options: &PromptArgs) -> Result<Exit> {
    let (server, method) = (&options.server, method::PROMPTS_GET);
    let answer = mcp_request::send(context, server, method, async |_, inventory| {
        let prompt = inventory.find_capability(&inventory.prompts, "prompt", &options.name)?;
        // Arguments of prompts are always strings.
        let arguments = arguments::read(&options.arguments, &Value::Null, stdin())?;
        let definition: Value = serde_json::from_str(prompt.definition.get()).unwrap_or_default();
        options.check_required(&definition, &arguments)?;
        let name = string::encode(prompt.exposed_name()?);
        Ok(format!(r#""name":{name},"arguments":{arguments}"#))
    });
    let answer = answer.await?;
    let Some(result) = mcp_request::print_json_or_parse(context, &answer)? else {
        return Ok(Exit::Done);
    };
    let messages = result["messages"].as_array().into_iter().flatten();
    let lines = messages.map(|message| {
        let role = message["role"].as_str().unwrap_or_default();
        format!("{role}: {}", content::block_text(&message["content"]))
    });
    out::text(&lines.collect::<Vec<_>>().join("\n\n"))?;
    Ok(Exit::Done)
}
