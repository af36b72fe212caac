//! The entry that is written: how a client starts this program or reaches it, under which name.

use std::path::{Path, PathBuf};

use toolgate_host::config::clients::{self, Client};
use toolgate_host::config::{Dialect, FileRef, template};
use toolgate_host::{HttpSpec, ServerName, ServerSpec, StdioSpec, TransportSpec};

use crate::carry::installed::Register;
use crate::context::{Context, own_program};
use crate::exit::Failure;
use crate::reach::Living;

/// What the entry is called.
const NAME: &str = "toolgate";
/// Where a gateway listens unless it is told otherwise.
const ENDPOINT: &str = "http://127.0.0.1:7420/mcp";

/// What a client's file says of us already.
pub struct Existing {
    gateway: Option<ServerSpec>,
    others: Vec<ServerName>,
}

impl Existing {
    /// Looks at a text of this dialect.
    pub fn of(context: &Context, dialect: Dialect, text: &str, at: &FileRef) -> Self {
        let register = Register::of(&context.home);
        let mut endpoints = register.endpoints();
        endpoints.push(ENDPOINT.to_owned());
        let reading = dialect.read(text, at);
        let specs = reading.servers.into_iter().filter(|it| it.only_in.is_none()).map(|it| it.spec);
        let (mut gateways, others): (Vec<_>, Vec<_>) =
            specs.partition(|spec| clients::is_gateway(spec, &endpoints));
        let known = register.entry(&at.path).map(|entry| entry.name.as_str());
        gateways.sort_by_key(|spec| known != Some(spec.name.as_str()));
        let others = others.into_iter().map(|spec| spec.name).collect();
        Self { gateway: gateways.into_iter().next(), others }
    }

    /// The name we have there.
    pub fn name(&self) -> Option<&ServerName> {
        self.gateway.as_ref().map(|spec| &spec.name)
    }

    /// The entry we have there.
    pub fn gateway(self) -> Option<ServerSpec> {
        self.gateway
    }

    /// The server to write: what is there already keeps everything but how we are reached.
    pub fn spec(
        self,
        client: &Client,
        name: Option<&str>,
        transport: TransportSpec,
    ) -> Result<ServerSpec, Failure> {
        let wanted = ServerName::new(name.unwrap_or(NAME)).map_err(|error| {
            Failure::usage(format!("use this name: {error}")).hint("choose another with --name")
        })?;
        match self.gateway {
            Some(spec) if name.is_none() || spec.name == wanted => {
                return Ok(ServerSpec { transport, ..spec });
            }
            _ => {}
        }
        if self.others.contains(&wanted) {
            let what = format!("install into {}: it has another server `{wanted}`", client.id);
            return Err(Failure::failed(what).hint("choose another name with --name NAME"));
        }
        Ok(ServerSpec::new(wanted, transport))
    }
}

/// How the client reaches us, and at which address if it does not start us.
pub async fn transport(
    context: &Context,
    http: bool,
) -> Result<(TransportSpec, Option<String>), Failure> {
    if http {
        let living = Living::at(context).await;
        let endpoint = living.and_then(|living| living.owner.endpoint);
        let mut url = endpoint.unwrap_or_else(|| ENDPOINT.to_owned());
        if let Some(profile) = &context.profile {
            url = format!("{url}/{profile}");
        }
        let spec = HttpSpec { url: url.clone(), ..HttpSpec::default() };
        return Ok((TransportSpec::Http(spec), Some(url)));
    }
    let command = program()?;
    let mut args = vec!["serve".to_owned(), "--stdio".to_owned()];
    let mut named = |flag: &str, path: &Path| {
        args.extend([flag.to_owned(), path.display().to_string()]);
    };
    // A home that was named is not the one the client would find.
    if context.home.system_file().is_none() {
        named("--home", context.home.state_dir());
    }
    if let Some(config) = &context.config {
        named("--config", config);
    }
    if let Some(profile) = &context.profile {
        args.extend(["--as".to_owned(), profile.clone()]);
    }
    let args = args.iter().map(|arg| template::literal(arg)).collect();
    let stdio = StdioSpec { command: template::literal(&command), args, ..StdioSpec::default() };
    Ok((TransportSpec::Stdio(stdio), None))
}

/// This program: by its name where that finds it, else by its path.
fn program() -> Result<String, Failure> {
    let exe = own_program()?;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let file = format!("toolgate{}", std::env::consts::EXE_SUFFIX);
    let on_path = std::env::split_paths(&path).map(|folder: PathBuf| folder.join(&file));
    let first = on_path.into_iter().find(|path| path.is_file());
    Ok(match first {
        Some(found) if real(&found) == real(&exe) => NAME.to_owned(),
        _ => exe.display().to_string(),
    })
}

/// The entry as one would type it.
pub fn command_line(spec: &ServerSpec) -> String {
    match &spec.transport {
        TransportSpec::Stdio(stdio) => {
            let words = [&stdio.command].into_iter().chain(&stdio.args);
            words.map(String::as_str).collect::<Vec<_>>().join(" ")
        }
        TransportSpec::Http(http) => http.url.clone(),
        TransportSpec::BuiltIn => String::new(),
    }
}

/// What a client wants beside the entry.
pub fn remark(client: &Client) -> Option<&'static str> {
    match client.dialect {
        Dialect::Sidekick => Some(
            "Sidekick shows only the tools its entry lists: add the ones you want to its `tools`, \
             under the names `toolgate discover` shows",
        ),
        Dialect::SecondBrain => Some(
            "SecondBrain starts a server only with an allow-list, a signed manifest, a sandbox \
             profile and consent: review the entry and add them",
        ),
        _ => None,
    }
}
