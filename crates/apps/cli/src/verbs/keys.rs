//! `keys`: by which callers over HTTP are known.
//!
//! The gateway that owns the home is asked if it lives, so that a key that is revoked ends what was
//! opened with it at once; where none does, the home is changed all the same.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::approvals::reach::Desk;
use super::since::age;
use crate::context::Context;
use crate::control::{KeyLine, KeyRequest};
use crate::exit::{Exit, Failure};
use crate::out::{self, Table, visible};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate keys add ci --expires 90d\n  toolgate keys list\n  \
    toolgate keys revoke ci")]
pub struct Keys {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a key for a caller, and show it once
    #[command(after_help = "Examples:\n  toolgate keys add ci\n  \
        toolgate keys add ci --expires 90d")]
    Add {
        /// The caller, as rules, approvals and the journal name it
        name: String,
        /// After how long it ends: 12h, 90d
        #[arg(long, value_name = "AGE", value_parser = lifetime)]
        expires: Option<Duration>,
    },
    /// Show whose keys there are
    #[command(visible_alias = "ls", after_help = "Example: toolgate keys list --json")]
    List,
    /// Take the key of a caller back, and end what was opened with it
    #[command(after_help = "Example: toolgate keys revoke ci")]
    Revoke {
        /// The caller
        name: String,
    },
}

fn lifetime(text: &str) -> Result<Duration, String> {
    age(text).ok_or_else(|| format!("`{text}` is no age, such as 12h or 90d"))
}

pub async fn run(context: &Context, options: &Keys) -> Result<Exit, Failure> {
    let desk = Desk::find(context).await?;
    let done = match options.what.as_ref().unwrap_or(&What::List) {
        What::Add { name, expires } => add(context, &desk, name, *expires).await,
        What::List => list(context, &desk).await,
        What::Revoke { name } => revoke(context, &desk, name).await,
    };
    desk.close().await?;
    done
}

async fn add(
    context: &Context,
    desk: &Desk,
    name: &str,
    expires: Option<Duration>,
) -> Result<Exit, Failure> {
    let lifetime = expires.map(|lifetime| lifetime.as_secs());
    let added: KeyLine = desk.keys(&KeyRequest::Add { name: name.to_owned(), lifetime }).await?;
    if context.json {
        out::json(&added)?;
        return Ok(Exit::Done);
    }
    out::line(added.key.as_deref().unwrap_or_default())?;
    let until = added.expires.map(|until| format!(" until {until}")).unwrap_or_default();
    out::note(&format!(
        "this key stands for `{name}`{until}; it is not shown again. A client sends it as \
         `Authorization: Bearer KEY`"
    ));
    Ok(Exit::Done)
}

async fn list(context: &Context, desk: &Desk) -> Result<Exit, Failure> {
    let keys: Vec<KeyLine> = desk.keys(&KeyRequest::List).await?;
    if context.json {
        out::json(&keys)?;
    } else if keys.is_empty() {
        out::note("there is no key; `toolgate keys add NAME` makes one");
    } else {
        let mut table = Table::new(&["NAME", "DIGEST", "ADDED", "EXPIRES"]);
        for KeyLine { name, digest, added, expires, expired, .. } in keys {
            let until = expires.map_or_else(
                || "never".to_owned(),
                |until| match expired {
                    true => format!("{until} (expired)"),
                    false => until,
                },
            );
            table.row([visible(&name), digest, added, until]);
        }
        out::data(table.text().as_bytes())?;
    }
    Ok(Exit::Done)
}

async fn revoke(context: &Context, desk: &Desk, name: &str) -> Result<Exit, Failure> {
    let revoked: bool = desk.keys(&KeyRequest::Revoke { name: name.to_owned() }).await?;
    if context.json {
        out::json(&serde_json::json!({ "name": name, "revoked": revoked }))?;
    }
    if !revoked {
        return Err(Failure::failed(format!("revoke the key of `{name}`: there is none"))
            .hint("`toolgate keys list` shows whose there are"));
    }
    if !context.json {
        out::note(&format!("the key of `{}` is revoked", visible(name)));
    }
    Ok(Exit::Done)
}
