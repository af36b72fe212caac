//! `read-resource`: reads one resource of one server.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;
use toolgate_host::content;
use toolgate_wire::{method, string};

use super::{mcp_request, result_file};
use crate::cli_context::CliContext;
use crate::complete::server_names;
use crate::control::{ControlRequest, ServerCapabilityInventory};
use crate::exit::{Exit, Result, cli_error};
use crate::out;
use crate::server_access::ServerAccess;

/// The arguments of `toolgate read-resource`.
#[derive(Debug, Args)]
#[command(after_help = "Example: toolgate read-resource sample toolgate://sample/help")]
pub struct ReadResourceArgs {
    /// Name of the server
    #[arg(add = server_names())]
    server: String,
    /// URI of the resource
    uri: String,
    /// Write the content, text or binary, to this file
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    output: Option<PathBuf>,
}

pub async fn run(context: &CliContext, options: &ReadResourceArgs) -> Result<Exit> {
    let members = async |access: &ServerAccess, inventory: &ServerCapabilityInventory| {
        let uri = resolve_exposed_uri(access, inventory, &options.uri).await?;
        Ok(format!(r#""uri":{}"#, string::encode(&uri)))
    };
    let answer =
        mcp_request::send(context, &options.server, method::RESOURCES_READ, members).await?;
    let Some(result) = mcp_request::print_json_or_parse(context, &answer)? else {
        return Ok(Exit::Done);
    };
    let contents = result["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
    match &options.output {
        Some(file) => result_file::write(file, contents)?,
        None => show(contents)?,
    }
    Ok(Exit::Done)
}

/// Returns the URI under which the gateway reads this resource from this server. A URI that the
/// server does not list may match a template or be known only to the server. The exposed URI in the
/// list is not enough: it is the server's own URI until a second server with the same URI is
/// connected.
pub async fn resolve_exposed_uri(
    access: &ServerAccess,
    inventory: &ServerCapabilityInventory,
    uri: &str,
) -> Result<String> {
    let known = match inventory.find_capability(&inventory.resources, "resource", uri) {
        Ok(listed) => listed.exposed_name()?,
        Err(_) => uri,
    };
    let server = &inventory.server;
    let question = ControlRequest::Uri { server: server.clone(), uri: known.to_owned() };
    let shown: Option<String> = access.ask(&question).await?;
    shown.ok_or_else(|| {
        cli_error!(CallNoResource, "no resource `{uri}` on `{server}`")
            .hint(format!("run `toolgate discover {server}` to list its resources"))
    })
}

fn show(contents: &[Value]) -> Result<()> {
    for part in contents {
        out::text(&content::resource_text(part))?;
        if part["blob"].is_string() {
            out::hint("use --output FILE to write it to a file");
        }
    }
    Ok(())
}
