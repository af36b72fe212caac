//! The entry in a client's file: its name, and how the client starts or reaches toolgate.

use std::path::Path;

use toolgate_host::config::clients::{self, KnownClient};
use toolgate_host::config::{ConfigDocument, Dialect, template};
use toolgate_host::{HttpSpec, ServerName, ServerSpec, StdioSpec, TransportSpec};

use crate::cli_context::{CliContext, own_program};
use crate::exit::{CliError, Result, cli_error};
use crate::server_access::RunningGateway;
use crate::transfer::install_registry::InstallRegistry;

/// The name of the entry, unless another is given.
const DEFAULT_NAME: &str = "toolgate";
/// The endpoint of a gateway with the default address.
const DEFAULT_ENDPOINT: &str = "http://127.0.0.1:7420/mcp";

/// The servers in a client's file: toolgate's entry, if any, and the names of the others.
pub struct ExistingEntries {
    /// Toolgate's entry.
    pub gateway: Option<ServerSpec>,
    others: Vec<ServerName>,
}

impl ExistingEntries {
    /// Reads the text of a file.
    pub fn of(context: &CliContext, file: &ConfigDocument, text: &str) -> Self {
        let register = InstallRegistry::of(&context.home);
        let mut endpoints = register.endpoints();
        endpoints.push(DEFAULT_ENDPOINT.to_owned());
        let specs =
            file.read(text).servers.into_iter().filter(|it| it.only_in.is_none()).map(|it| it.spec);
        let (mut gateways, others): (Vec<_>, Vec<_>) =
            specs.partition(|spec| clients::is_gateway(spec, &endpoints));
        let known = register.entry(file.path()).map(|entry| entry.name.as_str());
        gateways.sort_by_key(|spec| known != Some(spec.name.as_str()));
        let others = others.into_iter().map(|spec| spec.name).collect();
        Self { gateway: gateways.into_iter().next(), others }
    }

    /// Returns the entry to write. An existing entry keeps everything except its transport.
    pub fn spec(
        self,
        client: &KnownClient,
        name: Option<&str>,
        transport: TransportSpec,
    ) -> Result<ServerSpec> {
        let wanted = ServerName::new(name.unwrap_or(DEFAULT_NAME))
            .map_err(|error| CliError::from(error).hint("choose another name with --name NAME"))?;
        if let Some(spec) = self.gateway
            && (name.is_none() || spec.name == wanted)
        {
            return Ok(ServerSpec { transport, ..spec });
        }
        if self.others.contains(&wanted) {
            let id = client.id;
            return Err(cli_error!(
                ConfigConflict,
                "{id} already has another server named `{wanted}`"
            )
            .hint("choose another name with --name NAME"));
        }
        Ok(ServerSpec::new(wanted, transport))
    }
}

/// Returns the transport of the entry, and the endpoint if the client does not start toolgate.
pub async fn transport(
    context: &CliContext,
    http: bool,
) -> Result<(TransportSpec, Option<String>)> {
    if http {
        let gateway = RunningGateway::find_any(context).await;
        let endpoint = gateway.and_then(|gateway| gateway.info.endpoint);
        let mut url = endpoint.unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned());
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
    // The client would not find a home that was given with --home.
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

/// Returns the command of this program: its name if PATH leads to it, otherwise its path.
fn program() -> Result<String> {
    let exe = own_program()?;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let file = format!("toolgate{}", std::env::consts::EXE_SUFFIX);
    let mut on_path = std::env::split_paths(&path).map(|folder| folder.join(&file));
    Ok(match on_path.find(|path| path.is_file()) {
        Some(found) if real(&found) == real(&exe) => DEFAULT_NAME.to_owned(),
        _ => exe.display().to_string(),
    })
}

/// Returns the command line or URL of the entry.
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

/// Returns what a client needs besides the entry.
pub fn client_note(client: &KnownClient) -> Option<&'static str> {
    match client.dialect {
        Dialect::Sidekick => Some(
            "Sidekick shows only the tools that its entry lists: add the ones you want to its \
             `tools`, with the names that `toolgate discover` shows",
        ),
        Dialect::SecondBrain => Some(
            "SecondBrain starts a server only with an allow-list, a signed manifest, a sandbox \
             profile and consent: review the entry and add them",
        ),
        _ => None,
    }
}
