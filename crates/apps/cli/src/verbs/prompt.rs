//! `prompt`: fills in one prompt of one server.

use std::io::stdin;

use clap::Args;
use serde_json::Value;
use toolgate_host::content;
use toolgate_wire::{method, string};

use super::exchange::{self, Request};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out::visible;
use crate::{arguments, out};

#[derive(Debug, Args)]
#[command(after_help = "Example: toolgate prompt sample getting_started")]
pub struct Prompt {
    /// Which server
    server: String,
    /// Which of its prompts
    name: String,
    /// The arguments: key=value …
    #[arg(value_name = "KEY=VALUE")]
    arguments: Vec<String>,
}

impl Prompt {
    /// Fails where an argument is missing that the prompt requires.
    fn check_required(&self, definition: &Value, arguments: &str) -> Result<(), Failure> {
        let given: Value = serde_json::from_str(arguments).unwrap_or_default();
        let required = definition["arguments"].as_array().into_iter().flatten();
        let mut required = required.filter(|argument| argument["required"] == true);
        let missing = required.find_map(|argument| {
            argument["name"].as_str().filter(|name| given.get(name).is_none())
        });
        let Some(missing) = missing.map(visible) else { return Ok(()) };
        let Self { server, name, .. } = self;
        let what = format!("fill in `{name}` of `{server}`: its argument `{missing}` is required");
        Err(Failure::usage(what).hint(format!("`toolgate prompt {server} {name} {missing}=…`")))
    }
}

pub async fn run(context: &Context, options: &Prompt) -> Result<Exit, Failure> {
    let answer = exchange::run(context, &options.server, async |_, inventory| {
        let prompt = inventory.find(&inventory.prompts, "prompt", &options.name)?;
        // Arguments of prompts are texts; there is no schema to say otherwise.
        let arguments = arguments::read(&options.arguments, &Value::Null, stdin())?;
        let definition: Value = serde_json::from_str(prompt.definition.get()).unwrap_or_default();
        options.check_required(&definition, &arguments)?;
        let name = string::encode(prompt.exposed()?);
        let members = format!(r#""name":{name},"arguments":{arguments}"#);
        Ok(Request { method: method::PROMPTS_GET, members })
    });
    let answer = answer.await?;
    let raw = answer.result().unwrap_or_default();
    if context.json {
        out::data(&[raw, b"\n"].concat())?;
        return Ok(Exit::Done);
    }
    let result: Value = serde_json::from_slice(raw).unwrap_or_default();
    let messages = result["messages"].as_array().into_iter().flatten();
    let said = messages.map(|message| {
        let role = message["role"].as_str().unwrap_or_default();
        format!("{role}: {}", content::block(&message["content"]))
    });
    out::text(&said.collect::<Vec<_>>().join("\n\n"))?;
    Ok(Exit::Done)
}
