//! `compile-resource`: makes a resource of a server part of the local context.
//!
//! It is read through the gate like any other reading, by the living owner of the home or by a host
//! of our own, and kept with where it came from. Only a server that the user's own file says may be
//! compiled is read at all.

mod watch;

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use toolgate_context::compile::{self, Body, Compiled, Part, Resource};
use toolgate_context::{Library, PdfReader, Trust};
use toolgate_host::{Signals, parse_duration};
use toolgate_wire::{Frame, method, string};

use super::context::{failed, library};
use super::read_resource;
use crate::ask::Person;
use crate::context::Context;
use crate::control::{Compiling, Inventory, Question};
use crate::exit::{Exit, Failure};
use crate::out::{self, Spinner, visible};
use crate::reach::{Link, Reach};
use crate::station::Terms;
use crate::{base64, out::size};

#[derive(Debug, Args)]
#[command(after_help = "The server needs `compile = true` in its entry in your own file: what it \
    says becomes lasting context.\n\n\
    Examples:\n  toolgate compile-resource sample toolgate://sample/help\n  \
    toolgate compile-resource sample toolgate://sample/help --watch")]
pub struct CompileResource {
    /// Which server
    server: String,
    /// The resource's URI
    uri: String,
    /// Go on, and compile it again whenever the server says that it changed
    #[arg(long)]
    watch: bool,
    /// While watching, also read it again so often: for servers that do not say it
    #[arg(long, value_name = "DURATION", requires = "watch", value_parser = often)]
    every: Option<Duration>,
}

/// More often than this would be no watching but a load.
const OFTENEST: Duration = Duration::from_secs(1);

fn often(text: &str) -> Result<Duration, String> {
    let every = parse_duration(text).map_err(str::to_owned)?;
    match every < OFTENEST {
        true => Err("at least 1s".to_owned()),
        false => Ok(every),
    }
}

pub async fn run(context: &Context, options: &CompileResource) -> Result<Exit, Failure> {
    let unheard = |error| Failure::failed(format!("listen for signals: {error}"));
    let mut signals = Signals::new().map_err(unheard)?;
    let spinner = Spinner::new(&format!("waiting for {}", options.server));
    let reach = Reach::find(context, Terms::only(&options.server)).await?;
    let outcome = through(context, options, &reach, (spinner, &mut signals)).await;
    tokio::select! {
        () = reach.close() => {}
        () = signals.next() => {}
    }
    outcome
}

async fn through(
    context: &Context,
    options: &CompileResource,
    reach: &Reach,
    (spinner, signals): (Spinner, &mut Signals),
) -> Result<Exit, Failure> {
    let opening = Work::open(context, options, reach, spinner.clone());
    let work = super::exchange::unless_interrupted(signals, opening).await?;
    let outcome = tokio::select! {
        outcome = work.run(options) => outcome.map(|()| Exit::Done),
        // To stop is how watching ends.
        () = signals.next() => match options.watch {
            true => Ok(Exit::Done),
            false => Err(Failure::failed("finish: it was interrupted")),
        },
    };
    drop(spinner);
    // An interrupted reading is cancelled at the server; that must be heard before we go.
    work.link.close().await;
    outcome
}

/// Everything that is needed to read one resource and to keep it.
struct Work<'a> {
    context: &'a Context,
    reach: &'a Reach,
    link: Link,
    library: Library,
    spinner: Spinner,
    server: String,
    /// As the server spells it.
    uri: String,
    /// As clients of the gateway reach it.
    exposed: String,
    /// What its server calls it.
    name: Option<String>,
    /// Whether the server lists it; one that fits a template is not listed.
    listed: bool,
}

impl<'a> Work<'a> {
    async fn open(
        context: &'a Context,
        options: &CompileResource,
        reach: &'a Reach,
        spinner: Spinner,
    ) -> Result<Self, Failure> {
        let (server, profile) = (options.server.clone(), context.seeing());
        permitted(context, reach, &server).await?;
        let inventory = inventory(reach, &server, profile).await?;
        inventory.usable()?;
        let exposed = read_resource::exposed(reach, &inventory, &options.uri).await?;
        let offer = inventory.find(&inventory.resources, "resource", &options.uri).ok();
        let definition: Option<Value> =
            offer.and_then(|offer| serde_json::from_str(offer.definition.get()).ok());
        let name = definition.and_then(|it| {
            let text = |member: &str| it[member].as_str().map(str::to_owned);
            text("title").or_else(|| text("name"))
        });
        let person = Person::new(&server, spinner.clone(), context.verbose);
        Ok(Self {
            context,
            reach,
            link: reach.link(profile, std::sync::Arc::new(person)).await?,
            library: library(context).await?,
            spinner,
            uri: offer.map_or_else(|| options.uri.clone(), |offer| offer.name.clone()),
            exposed,
            name,
            listed: offer.is_some(),
            server,
        })
    }

    async fn run(&self, options: &CompileResource) -> Result<(), Failure> {
        if options.watch {
            return watch::follow(self, options.every).await;
        }
        let (compiled, trust) = self.compile().await?;
        let _apart = self.spinner.hide();
        remark(&compiled);
        match self.context.json {
            true => out::json(&self.shape(&compiled, trust)),
            false => out::line(&line(&compiled)),
        }
    }

    /// Reads the resource and keeps what it holds now.
    async fn compile(&self) -> Result<(Compiled, Trust), Failure> {
        // Asked every time: whoever watches must not go on once the user took his word back.
        let Compiling { trusted, .. } = permitted(self.context, self.reach, &self.server).await?;
        let trust = if trusted { Trust::Trusted } else { Trust::Untrusted };
        let params =
            format!(r#"{{"uri":{},"_meta":{{"progressToken":1}}}}"#, string::encode(&self.exposed));
        let answer = self.link.request(&self.server, method::RESOURCES_READ, &params).await?;
        let resource = Resource {
            server: self.server.clone(),
            uri: self.uri.clone(),
            name: self.name.clone(),
            trust,
            parts: self.parts(&answer)?,
        };
        let compiled = compile::compile(&self.library, &PdfReader::current(), resource).await;
        Ok((compiled.map_err(|error| failed(&error))?, trust))
    }

    fn parts(&self, answer: &Frame) -> Result<Vec<Part>, Failure> {
        let result: Value =
            serde_json::from_slice(answer.result().unwrap_or_default()).unwrap_or_default();
        let Value::Array(contents) = &result["contents"] else {
            return Err(Failure::failed(format!(
                "read `{}`: the answer has no contents",
                self.uri
            )));
        };
        contents.iter().map(|part| self.part(part)).collect()
    }

    fn part(&self, part: &Value) -> Result<Part, Failure> {
        let text = |member: &str| part[member].as_str().map(str::to_owned);
        let uri =
            text("uri").filter(|uri| *uri != self.exposed).unwrap_or_else(|| self.uri.clone());
        let body = match (text("text"), text("blob")) {
            (Some(text), _) => Body::Text(text),
            (None, Some(blob)) => Body::Blob(base64::decode(&blob).ok_or_else(|| {
                Failure::failed(format!("read `{uri}`: its binary contents are no base64"))
            })?),
            (None, None) => {
                return Err(Failure::failed(format!(
                    "read `{uri}`: it has neither text nor bytes"
                )));
            }
        };
        Ok(Part { uri, mime: text("mimeType"), body })
    }

    /// What the document is known by.
    fn key(&self) -> String {
        compile::key(&self.server, &self.uri)
    }

    fn shape(&self, compiled: &Compiled, trust: Trust) -> Value {
        let trust = if trust == Trust::Trusted { "trusted" } else { "untrusted" };
        let Compiled { key, outcome, title, passages, parts, bytes, digest, remarks } = compiled;
        json!({
            "server": self.server, "uri": self.uri, "source": key, "outcome": outcome,
            "title": title, "trust": trust, "passages": passages, "parts": parts, "bytes": bytes,
            "digest": digest,
            "skipped": remarks.iter().map(|it| json!({ "uri": it.path, "why": it.why })).collect::<Vec<_>>(),
        })
    }
}

async fn inventory(reach: &Reach, server: &str, profile: &str) -> Result<Inventory, Failure> {
    let question = Question::Discover { server: server.to_owned(), profile: profile.to_owned() };
    reach.ask(&question).await
}

/// What the user says of the server, if he says that it may be compiled.
async fn permitted(context: &Context, reach: &Reach, server: &str) -> Result<Compiling, Failure> {
    let question = Question::Compile { server: server.to_owned() };
    let compiling: Compiling = reach.ask(&question).await?;
    if compiling.allowed {
        return Ok(compiling);
    }
    let file = context.config.clone().unwrap_or_else(|| context.home.config_file());
    let own = format!("`compile = true` in [servers.{server}] in {}", file.display());
    Err(Failure::refused(format!(
        "compile what `{server}` says: it is not marked as something to become lasting context"
    ))
    .hint(match compiling.proposed {
        true => {
            format!("a project's file declares it, and cannot say that: declare it yourself, {own}")
        }
        false => format!("if you trust it with that, write {own}"),
    }))
}

fn line(compiled: &Compiled) -> String {
    let Compiled { key, outcome, passages, bytes, .. } = compiled;
    let many = if *passages == 1 { "1 passage".to_owned() } else { format!("{passages} passages") };
    let size = size(usize::try_from(*bytes).unwrap_or(usize::MAX));
    format!("{} {}: {many} of {size}", outcome.as_str(), visible(key))
}

/// What is missing.
fn remark(compiled: &Compiled) {
    for it in &compiled.remarks {
        let (note, path, why) = (out::cyan("note:"), visible(&it.path), visible(&it.why));
        out::note(&format!("{note} {path}: {why}"));
    }
}
