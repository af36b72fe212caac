//! `compile-resource`: stores a resource of a server in the local context.
//!
//! The resource is read through the gate like any other, by the gateway that serves the home or by
//! an embedded one, and stored with its source. Only servers with `compile = true` in the user's
//! own config file can be compiled.

mod watch;

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use toolgate_context::compile::{
    self, ResourceBody, ResourceCompileReport, ResourcePart, ResourceSnapshot,
};
use toolgate_context::{DocumentTrust, Library, PdfReader};
use toolgate_host::{ShutdownSignals, parse_duration};
use toolgate_wire::{Frame, method, string};

use super::context::open_library;
use super::read_resource;
use crate::cli_context::CliContext;
use crate::control::{ControlRequest, ResourceCompilePermission};
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{CliError, Exit, Result, cli_error};
use crate::interactor::TerminalInteractor;
use crate::out::{self, Spinner, escape_invisible};
use crate::server_access::{GatewayClientSession, ServerAccess};
use crate::shutdown;
use crate::verbs::result_file;

/// The arguments of `toolgate compile-resource`.
#[derive(Debug, Args)]
#[command(after_help = "The server needs `compile = true` in its entry in your own config file, \
    because its content becomes permanent context.\n\n\
    Examples:\n  toolgate compile-resource sample toolgate://sample/help\n  \
    toolgate compile-resource sample toolgate://sample/help --watch")]
pub struct CompileResourceArgs {
    /// Name of the server
    server: String,
    /// URI of the resource
    uri: String,
    /// Keep running, and compile the resource again when the server reports a change
    #[arg(long)]
    watch: bool,
    /// Also compile it again at this interval, for servers that do not report changes
    #[arg(long, value_name = "DURATION", requires = "watch", value_parser = parse_interval)]
    every: Option<Duration>,
}

/// The shortest interval of `--every`; shorter ones would only load the server.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

fn parse_interval(text: &str) -> Result<Duration, String> {
    let every = parse_duration(text).map_err(str::to_owned)?;
    match every < MIN_INTERVAL {
        true => Err("must be at least 1s".to_owned()),
        false => Ok(every),
    }
}

pub async fn run(context: &CliContext, options: &CompileResourceArgs) -> Result<Exit> {
    let mut signals = shutdown::signals()?;
    let spinner = Spinner::new(&format!("waiting for {}", options.server));
    let access =
        ServerAccess::find(context, EmbeddedGatewayOptions::single_server(&options.server)).await?;
    let outcome = run_until_interrupted(context, options, &access, (spinner, &mut signals)).await;
    tokio::select! {
        () = access.close() => {}
        () = signals.next() => {}
    }
    outcome
}

async fn run_until_interrupted(
    context: &CliContext,
    options: &CompileResourceArgs,
    access: &ServerAccess,
    (spinner, signals): (Spinner, &mut ShutdownSignals),
) -> Result<Exit> {
    let opening = ResourceImporter::open(context, options, access, spinner.clone());
    let work = super::mcp_request::unless_interrupted(signals, opening).await?;
    let outcome = tokio::select! {
        outcome = work.run(options) => outcome.map(|()| Exit::Done),
        // A signal is the normal end of watching.
        () = signals.next() => match options.watch {
            true => Ok(Exit::Done),
            false => Err(CliError::interrupted()),
        },
    };
    drop(spinner);
    // Closing the session cancels an interrupted read at the server; wait until that is sent.
    work.link.close().await;
    outcome
}

/// Reads one resource and stores it in the library.
struct ResourceImporter<'a> {
    context: &'a CliContext,
    access: &'a ServerAccess,
    link: GatewayClientSession,
    library: Library,
    spinner: Spinner,
    server: String,
    /// The URI as the server writes it.
    uri: String,
    /// The URI under which the gateway exposes it.
    exposed: String,
    /// The title or name the server gives it.
    name: Option<String>,
    /// Whether the server lists it. A resource that matches a template is usually not listed.
    listed: bool,
}

impl<'a> ResourceImporter<'a> {
    async fn open(
        context: &'a CliContext,
        options: &CompileResourceArgs,
        access: &'a ServerAccess,
        spinner: Spinner,
    ) -> Result<Self> {
        let (server, profile) = (options.server.clone(), context.profile_or_default());
        check_permission(context, access, &server).await?;
        let inventory = access.inventory(&server, profile).await?;
        inventory.check_usable()?;
        let exposed = read_resource::resolve_exposed_uri(access, &inventory, &options.uri).await?;
        let offer = inventory.find_capability(&inventory.resources, "resource", &options.uri).ok();
        let definition: Option<Value> =
            offer.and_then(|offer| serde_json::from_str(offer.definition.get()).ok());
        let name = definition.and_then(|it| {
            let text = |member: &str| it[member].as_str().map(str::to_owned);
            text("title").or_else(|| text("name"))
        });
        let interactor = TerminalInteractor::new(&server, spinner.clone(), context.verbose);
        Ok(Self {
            context,
            access,
            link: access.open_session(profile, std::sync::Arc::new(interactor)).await?,
            library: open_library(context).await?,
            spinner,
            uri: offer.map_or_else(|| options.uri.clone(), |offer| offer.name.clone()),
            exposed,
            name,
            listed: offer.is_some(),
            server,
        })
    }

    async fn run(&self, options: &CompileResourceArgs) -> Result<()> {
        if options.watch {
            return watch::follow(self, options.every).await;
        }
        let (compiled, trust) = self.compile().await?;
        let _apart = self.spinner.hide();
        print_remarks(&compiled);
        match self.context.json {
            true => out::json(&self.compiled_json(&compiled, trust)),
            false => out::line(&summary_line(&compiled)),
        }
    }

    /// Reads the resource and stores its current content.
    async fn compile(&self) -> Result<(ResourceCompileReport, DocumentTrust)> {
        // Checked every time: a watch must stop once the user withdraws the permission.
        let ResourceCompilePermission { trusted, .. } =
            check_permission(self.context, self.access, &self.server).await?;
        let trust = DocumentTrust::of(trusted);
        let params =
            format!(r#"{{"uri":{},"_meta":{{"progressToken":1}}}}"#, string::encode(&self.exposed));
        let answer = self.link.request(&self.server, method::RESOURCES_READ, &params).await?;
        let resource = ResourceSnapshot {
            server: self.server.clone(),
            uri: self.uri.clone(),
            name: self.name.clone(),
            trust,
            parts: self.parse_parts(&answer)?,
        };
        let compiled = compile::compile(&self.library, &PdfReader::current(), resource).await;
        Ok((compiled?, trust))
    }

    fn parse_parts(&self, answer: &Frame) -> Result<Vec<ResourcePart>> {
        let result: Value =
            serde_json::from_slice(answer.result().unwrap_or_default()).unwrap_or_default();
        let Value::Array(contents) = &result["contents"] else {
            return Err(cli_error!(
                CallBadAnswer,
                "cannot read `{}`: the server's answer has no contents",
                self.uri
            ));
        };
        contents.iter().map(|part| self.parse_part(part)).collect()
    }

    fn parse_part(&self, part: &Value) -> Result<ResourcePart> {
        let text = |member: &str| part[member].as_str().map(str::to_owned);
        let uri =
            text("uri").filter(|uri| *uri != self.exposed).unwrap_or_else(|| self.uri.clone());
        let body = match (text("text"), text("blob")) {
            (Some(text), _) => ResourceBody::Text(text),
            (None, Some(blob)) => {
                ResourceBody::Blob(result_file::decode(&blob).ok_or_else(|| {
                    cli_error!(CallBadAnswer, "cannot read `{uri}`: its blob is not valid base64")
                })?)
            }
            (None, None) => {
                return Err(cli_error!(
                    CallBadAnswer,
                    "cannot read `{uri}`: its content has neither text nor a blob"
                ));
            }
        };
        Ok(ResourcePart { uri, mime: text("mimeType"), body })
    }

    /// Returns the key of the document in the library.
    fn key(&self) -> String {
        compile::resource_key(&self.server, &self.uri)
    }

    fn compiled_json(&self, compiled: &ResourceCompileReport, trust: DocumentTrust) -> Value {
        let ResourceCompileReport { key, outcome, title, passages, parts, bytes, digest, remarks } =
            compiled;
        json!({
            "server": self.server, "uri": self.uri, "source": key, "outcome": outcome,
            "title": title, "trust": trust, "passages": passages, "parts": parts, "bytes": bytes,
            "digest": digest,
            "skipped": remarks.iter().map(|it| json!({ "uri": it.path, "why": it.why })).collect::<Vec<_>>(),
        })
    }
}

/// Returns the user's permission to compile from this server, or an error if there is none.
async fn check_permission(
    context: &CliContext,
    access: &ServerAccess,
    server: &str,
) -> Result<ResourceCompilePermission> {
    let question = ControlRequest::Compile { server: server.to_owned() };
    let compiling: ResourceCompilePermission = access.ask(&question).await?;
    if compiling.allowed {
        return Ok(compiling);
    }
    let file = context.config.clone().unwrap_or_else(|| context.home.config_file());
    let setting = format!("`compile = true` in [servers.{server}] in {}", file.display());
    Err(cli_error!(
        ContextNotAllowed,
        "server `{server}` is not allowed to become permanent context"
    )
    .hint(match compiling.proposed {
        true => {
            format!(
                "a project's file cannot allow this; declare the server yourself with {setting}"
            )
        }
        false => format!("if you trust its content, set {setting}"),
    }))
}

fn summary_line(compiled: &ResourceCompileReport) -> String {
    let ResourceCompileReport { key, outcome, passages, bytes, .. } = compiled;
    let (many, size) = (out::count(*passages, "passage"), out::format_size(*bytes));
    format!("{} {}: {many} of {size}", outcome.as_str(), escape_invisible(key))
}

/// Prints a note for each part that was skipped.
fn print_remarks(compiled: &ResourceCompileReport) {
    for it in &compiled.remarks {
        out::remark(&format!("{}: {}", it.path, it.why));
    }
}
