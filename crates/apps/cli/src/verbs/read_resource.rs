//! `read-resource`: reads one resource of one server.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;
use toolgate_host::content;
use toolgate_wire::{method, string};

use super::exchange::{self, Request};
use crate::context::Context;
use crate::control::{Inventory, Question};
use crate::exit::{Exit, Failure};
use crate::reach::Reach;
use crate::{base64, out};

#[derive(Debug, Args)]
#[command(after_help = "Example: toolgate read-resource sample toolgate://sample/help")]
pub struct ReadResource {
    /// Which server
    server: String,
    /// The resource's URI
    uri: String,
    /// Write the contents, binary ones too, to this file
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    output: Option<PathBuf>,
}

pub async fn run(context: &Context, options: &ReadResource) -> Result<Exit, Failure> {
    let answer = exchange::run(context, &options.server, async |reach, inventory| {
        let uri = string::encode(&exposed(reach, inventory, &options.uri).await?);
        Ok(Request { method: method::RESOURCES_READ, members: format!(r#""uri":{uri}"#) })
    });
    let answer = answer.await?;
    let raw = answer.result().unwrap_or_default();
    if context.json {
        out::data(&[raw, b"\n"].concat())?;
        return Ok(Exit::Done);
    }
    let result: Value = serde_json::from_slice(raw).unwrap_or_default();
    let contents = result["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
    match &options.output {
        Some(file) => write(file, contents)?,
        None => show(contents)?,
    }
    Ok(Exit::Done)
}

/// The URI that leads to this server. A URI that the server does not list may still fit a template,
/// or be known to the server alone. The exposed URI of the list does not do: it is the server's own
/// until a second server that offers the same one is connected.
pub async fn exposed(reach: &Reach, inventory: &Inventory, uri: &str) -> Result<String, Failure> {
    let known = match inventory.find(&inventory.resources, "resource", uri) {
        Ok(listed) => listed.exposed()?,
        Err(_) => uri,
    };
    let server = &inventory.server;
    let question = Question::Uri { server: server.clone(), uri: known.to_owned() };
    let shown: Option<String> = reach.ask(&question).await?;
    shown.ok_or_else(|| {
        Failure::failed(format!("find a resource named `{uri}` on `{server}`"))
            .hint(format!("`toolgate discover {server}` lists what it offers"))
    })
}

fn show(contents: &[Value]) -> Result<(), Failure> {
    for part in contents {
        out::text(&content::resource(part))?;
        if part["blob"].is_string() {
            out::note(&format!("{} write it to a file with --output FILE", out::cyan("hint:")));
        }
    }
    Ok(())
}

fn write(file: &std::path::Path, contents: &[Value]) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    for part in contents {
        match (part["text"].as_str(), part["blob"].as_str()) {
            (Some(text), _) => bytes.extend_from_slice(text.as_bytes()),
            (None, Some(blob)) => bytes.extend(base64::decode(blob).ok_or_else(|| {
                Failure::failed("read the resource: its binary contents are no base64")
            })?),
            (None, None) => {}
        }
    }
    let failed = |error| Failure::failed(format!("write {}: {error}", file.display()));
    std::fs::write(file, &bytes).map_err(failed)?;
    out::note(&format!("wrote {} to {}", out::size(bytes.len()), file.display()));
    Ok(())
}
