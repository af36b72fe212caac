//! `secret`: the user's own secrets, which `${secret:NAME}` stands for.
//!
//! A value is typed unseen or comes on stdin; it is never an argument, where other processes and the
//! shell's history would see it, and it is never shown.

use std::io::Read as _;

use clap::{Args, Subcommand};
use serde_json::json;
use toolgate_host::Secret as Hidden;
use toolgate_host::config::{ConfigError, Secrets, read_hidden};

use crate::context::Context;
use crate::exit::{Exit, Failure, chain};
use crate::out::{self, visible};

/// No secret is longer.
const LONGEST: u64 = 64 * 1024;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate secret set github\n  \
    pass show github | toolgate secret set github\n  toolgate secret list\n  \
    toolgate add gh https://api.example.com/mcp/ -H 'Authorization: Bearer ${secret:github}'")]
pub struct Secret {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Keep a value under a name; it is asked for, or read from stdin
    #[command(after_help = "Examples:\n  toolgate secret set github\n  \
        pass show github | toolgate secret set github")]
    Set {
        /// The name
        name: String,
    },
    /// Show the names
    #[command(after_help = "Example: toolgate secret list --json")]
    List,
    /// Forget a value
    #[command(visible_alias = "rm", after_help = "Example: toolgate secret remove github")]
    Remove {
        /// The name
        name: String,
    },
}

pub fn run(context: &Context, options: &Secret) -> Result<Exit, Failure> {
    let secrets = Secrets::of(&context.home);
    match &options.what {
        What::Set { name } => set(context, &secrets, name),
        What::List => list(context, &secrets),
        What::Remove { name } => remove(context, &secrets, name),
    }
}

fn set(context: &Context, secrets: &Secrets, name: &str) -> Result<Exit, Failure> {
    context.home.create().map_err(failed)?;
    let value = value(name)?;
    secrets.set(name, &value).map_err(failed)?;
    done(context, name, "kept", &format!("`${{secret:{name}}}` stands for it in config files"))
}

/// What was typed or piped, without its last line end.
fn value(name: &str) -> Result<Hidden<String>, Failure> {
    let unread = |error| Failure::failed(format!("read the value: {error}"));
    let text = if out::can_ask() {
        read_hidden(&format!("Value of {}: ", visible(name))).map_err(unread)?
    } else {
        let mut text = String::new();
        std::io::stdin().take(LONGEST + 1).read_to_string(&mut text).map_err(unread)?;
        text
    };
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.is_empty() {
        return Err(Failure::usage(format!("keep `{name}`: the value is empty"))
            .hint(format!("pipe it in: pass show x | toolgate secret set {name}")));
    }
    if text.len() as u64 > LONGEST {
        return Err(Failure::usage(format!("keep `{name}`: it is longer than {LONGEST} bytes")));
    }
    Ok(Hidden::new(text.to_owned()))
}

fn list(context: &Context, secrets: &Secrets) -> Result<Exit, Failure> {
    let names = secrets.names().map_err(failed)?;
    if context.json {
        out::json(&names)?;
    } else if names.is_empty() {
        out::note("no secret is kept; `toolgate secret set NAME` keeps one");
    } else {
        names.iter().try_for_each(|name| out::line(&visible(name)))?;
    }
    Ok(Exit::Done)
}

fn remove(context: &Context, secrets: &Secrets, name: &str) -> Result<Exit, Failure> {
    if !secrets.remove(name).map_err(failed)? {
        return Err(Failure::failed(format!("forget `{name}`: no secret has this name"))
            .hint("`toolgate secret list` shows the names"));
    }
    done(context, name, "removed", "what names it is blocked until it is set again")
}

fn done(context: &Context, name: &str, action: &str, note: &str) -> Result<Exit, Failure> {
    match context.json {
        true => out::json(&json!({ "name": name, "action": action }))?,
        false => out::note(&format!("{action} {}; {}", visible(name), visible(note))),
    }
    Ok(Exit::Done)
}

fn failed(error: ConfigError) -> Failure {
    Failure::failed(chain(&error))
}
