//! `keys`: manages the access keys that identify HTTP callers.
//!
//! If a gateway serves the home, requests go to it, so that revoking a key closes its sessions at
//! once. Otherwise the stores of the home are changed directly.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;

use super::since::parse_age;
use crate::cli_context::CliContext;
use crate::control::{AccessKeyJson, ControlRequest, KeyRequest};
use crate::exit::{Exit, Result, cli_error};
use crate::out::{self, TextTable, relative_time};
use crate::server_access::ServerAccess;
use crate::suggest::did_you_mean;

/// The arguments of `toolgate keys`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate keys add ci --expires 90d\n  toolgate keys list\n  \
    toolgate keys revoke ci")]
pub struct KeysArgs {
    #[command(subcommand)]
    what: Option<KeysCommand>,
}

/// A subcommand of `toolgate keys`.
#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// Create a key for a caller and print it once
    #[command(after_help = "Examples:\n  toolgate keys add ci\n  \
        toolgate keys add ci --expires 90d")]
    Add {
        /// Name of the caller in rules, approvals and the journal
        name: String,
        /// Lifetime of the key: 12h, 90d
        #[arg(long, value_name = "AGE", value_parser = parse_lifetime)]
        expires: Option<Duration>,
    },
    /// List the keys
    #[command(visible_alias = "ls", after_help = "Example: toolgate keys list --json")]
    List,
    /// Revoke the key of a caller and close its sessions
    #[command(after_help = "Example: toolgate keys revoke ci")]
    Revoke {
        /// Name of the caller
        name: String,
    },
}

fn parse_lifetime(text: &str) -> Result<Duration, String> {
    parse_age(text).ok_or_else(|| format!("`{text}` is not a duration such as 12h or 90d"))
}

pub async fn run(context: &CliContext, options: &KeysArgs) -> Result<Exit> {
    let access = ServerAccess::find_for_operator(context).await?;
    let done = match options.what.as_ref().unwrap_or(&KeysCommand::List) {
        KeysCommand::Add { name, expires } => add(context, &access, name, *expires).await,
        KeysCommand::List => list(context, &access).await,
        KeysCommand::Revoke { name } => revoke(context, &access, name).await,
    };
    access.close().await;
    done
}

async fn add(
    context: &CliContext,
    access: &ServerAccess,
    name: &str,
    expires: Option<Duration>,
) -> Result<Exit> {
    let lifetime = expires.map(|lifetime| lifetime.as_secs());
    let asked = KeyRequest::Add { name: name.to_owned(), lifetime };
    let added: AccessKeyJson = access.ask(&ControlRequest::Keys { asked }).await?;
    out::print(context, &added, || format!("{}\n", added.key.as_deref().unwrap_or_default()))?;
    let until = added.expires.map(|until| format!(" until {until}")).unwrap_or_default();
    out::note(&format!(
        "this key identifies `{name}`{until} and is not shown again; clients send it as \
         `Authorization: Bearer KEY`"
    ));
    Ok(Exit::Done)
}

async fn fetch_keys(access: &ServerAccess) -> Result<Vec<AccessKeyJson>> {
    access.ask(&ControlRequest::Keys { asked: KeyRequest::List }).await
}

async fn list(context: &CliContext, access: &ServerAccess) -> Result<Exit> {
    let keys = fetch_keys(access).await?;
    let none = "there are no keys; run `toolgate keys add NAME` to create one";
    out::print_list(context, &keys, none, |keys| {
        let mut table = TextTable::new(&["NAME", "DIGEST", "ADDED", "EXPIRES"]);
        for AccessKeyJson { name, digest, added, expires, expired, .. } in keys {
            let expires = expires.as_deref().map_or("never".to_owned(), relative_time);
            let expires = if *expired { format!("{expires} (expired)") } else { expires };
            table.row([name, digest, &relative_time(added), &expires]);
        }
        table.text()
    })
}

async fn revoke(context: &CliContext, access: &ServerAccess, name: &str) -> Result<Exit> {
    let asked = KeyRequest::Revoke { name: name.to_owned() };
    let revoked: bool = access.ask(&ControlRequest::Keys { asked }).await?;
    if !revoked {
        let keys = fetch_keys(access).await?;
        let known: Vec<_> = keys.iter().map(|key| key.name.as_str()).collect();
        let hint = did_you_mean(name, &known, "run `toolgate keys list` to list the keys");
        return Err(cli_error!(GatewayKey, "`{name}` has no key").hint(hint));
    }
    let text = format!("revoked the key of `{name}`");
    out::print_done(context, &json!({ "name": name, "revoked": revoked }), &text)
}
