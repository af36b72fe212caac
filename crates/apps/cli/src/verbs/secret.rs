//! `secret`: manages the secrets that config files refer to with `${secret:NAME}`.
//!
//! A value is read from a hidden prompt or from stdin. It is never an argument, because other
//! processes and the shell's history could see it, and it is never shown.

use std::io::Read as _;

use clap::Subcommand;
use serde_json::json;
use toolgate_host::Secret as Hidden;
use toolgate_host::config::{SecretStore, read_hidden};

use crate::cli_context::CliContext;
use crate::exit::{ErrorCode, Exit, OrFail as _, Result, cli_error};
use crate::out::{self, escape_invisible};
use crate::suggest::did_you_mean;

/// The maximum length of a secret.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

/// A subcommand of `toolgate secret`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  toolgate secret set github\n  \
    pass show github | toolgate secret set github\n  toolgate secret list\n  \
    toolgate add gh https://api.example.com/mcp/ -H 'Authorization: Bearer ${secret:github}'")]
pub enum SecretCommand {
    /// Store a secret, read from a prompt or from stdin
    #[command(after_help = "Examples:\n  toolgate secret set github\n  \
        pass show github | toolgate secret set github")]
    Set {
        /// Name of the secret
        name: String,
    },
    /// List the names of all secrets
    #[command(after_help = "Example: toolgate secret list --json")]
    List,
    /// Remove a secret
    #[command(visible_alias = "rm", after_help = "Example: toolgate secret remove github")]
    Remove {
        /// Name of the secret
        name: String,
    },
}

pub fn run(context: &CliContext, command: &SecretCommand) -> Result<Exit> {
    let secrets = SecretStore::of(&context.home);
    match command {
        SecretCommand::Set { name } => set(context, &secrets, name),
        SecretCommand::List => list(context, &secrets),
        SecretCommand::Remove { name } => remove(context, &secrets, name),
    }
}

fn set(context: &CliContext, secrets: &SecretStore, name: &str) -> Result<Exit> {
    context.home.create()?;
    let value = read_value(name)?;
    secrets.set(name, &value)?;
    let text = format!("stored {name}; use `${{secret:{name}}}` in config files");
    print_result(context, name, "kept", &text)
}

/// Reads the value from a hidden prompt or from stdin, without its final line break.
fn read_value(name: &str) -> Result<Hidden<String>> {
    let text = if out::can_prompt() {
        read_hidden(&format!("Value of {}: ", escape_invisible(name)))
            .or_fail(ErrorCode::CliRead, "cannot read the value")?
    } else {
        let mut text = String::new();
        std::io::stdin()
            .take(MAX_SECRET_BYTES + 1)
            .read_to_string(&mut text)
            .or_fail(ErrorCode::CliRead, "cannot read the value")?;
        text
    };
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.is_empty() {
        return Err(cli_error!(ConfigSecret, "the value of `{name}` is empty")
            .hint(format!("pipe the value in: pass show x | toolgate secret set {name}")));
    }
    if text.len() as u64 > MAX_SECRET_BYTES {
        return Err(cli_error!(
            ConfigSecret,
            "the value of `{name}` is longer than {MAX_SECRET_BYTES} bytes"
        ));
    }
    Ok(Hidden::new(text.to_owned()))
}

fn list(context: &CliContext, secrets: &SecretStore) -> Result<Exit> {
    let names = secrets.names()?;
    let none = "there are no secrets; run `toolgate secret set NAME` to store one";
    out::print_list(context, &names, none, |names| {
        names.iter().map(|name| format!("{}\n", escape_invisible(name))).collect()
    })
}

fn remove(context: &CliContext, secrets: &SecretStore, name: &str) -> Result<Exit> {
    if !secrets.remove(name)? {
        let names = secrets.names()?;
        let known: Vec<_> = names.iter().map(String::as_str).collect();
        let hint = did_you_mean(name, &known, "run `toolgate secret list` to list the names");
        return Err(cli_error!(ConfigNoSecret, "no secret named `{name}`").hint(hint));
    }
    let text = format!("removed {name}; servers that use it are blocked until it is set again");
    print_result(context, name, "removed", &text)
}

fn print_result(context: &CliContext, name: &str, action: &str, text: &str) -> Result<Exit> {
    out::print_done(context, &json!({ "name": name, "action": action }), text)
}
