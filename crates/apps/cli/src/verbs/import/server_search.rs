//! Finds servers to import: in the files of one client or of all clients, or in a named file.

use std::path::{Path, PathBuf};

use toolgate_host::config::clients::{self, KnownClient};
use toolgate_host::config::{
    ConfigDocument, ConfigSources, ConversionLoss, Dialect, FileApprovalSettings,
    FileContextSettings, FileRef, FileSettings, Permissions, read_file,
};
use toolgate_host::{ConfigScope, Diagnostic, DiagnosticSeverity, ServerSpec, TransportSpec};
use toolgate_model::{ServerTimeouts, redact_args, redact_url};

use super::SkippedServer;
use crate::cli_context::CliContext;
use crate::control::ConfigFinding;
use crate::exit::{ErrorCode, Result, cli_error};
use crate::suggest::{did_you_mean, unknown_server_error};
use crate::transfer::{client_sources, read_document};

/// A server that another client's file declares.
#[derive(Debug, Clone)]
pub struct FoundServer {
    /// The server.
    pub spec: ServerSpec,
    /// Where it was found, for display: the client and its file.
    pub from: String,
    /// The scope of its file.
    pub scope: ConfigScope,
    /// Why its own client would not start it.
    pub blocked: Option<String>,
    /// The file.
    pub file: PathBuf,
    /// Whether its client uses it in every project.
    pub everywhere: bool,
}

impl FoundServer {
    /// Returns its name.
    pub fn name(&self) -> &str {
        self.spec.name.as_str()
    }

    /// Returns its command line or URL, with secrets redacted.
    pub fn command_line(&self) -> String {
        match &self.spec.transport {
            TransportSpec::Stdio(stdio) => {
                let command = redact_args(std::slice::from_ref(&stdio.command));
                let words = command.into_iter().chain(redact_args(&stdio.args));
                words.collect::<Vec<_>>().join(" ")
            }
            TransportSpec::Http(http) => redact_url(&http.url),
            TransportSpec::BuiltIn => String::new(),
        }
    }

    /// Returns the report that it was skipped.
    pub fn to_skipped(&self, why: &str) -> SkippedServer {
        SkippedServer {
            name: self.name().to_owned(),
            from: self.from.clone(),
            why: why.to_owned(),
            is_ours_already: false,
        }
    }
}

/// The servers that were found, and the findings about their files.
pub struct ImportSearchResult {
    found: Vec<FoundServer>,
    skipped: Vec<SkippedServer>,
    /// The findings about the files.
    pub findings: Vec<ConfigFinding>,
    /// Settings that files contain besides servers, as pairs of file and setting.
    file_settings: Vec<(String, String)>,
    project_dir: PathBuf,
    endpoints: Vec<String>,
}

impl ImportSearchResult {
    /// Returns the servers in one client's files, except toolgate itself.
    pub fn of_client(context: &CliContext, client: &KnownClient) -> Result<Vec<FoundServer>> {
        let sources = client_sources(context)?;
        let mut search = Self::new(&sources);
        let files = clients::client_files(&sources);
        let own = files.iter().filter(|file| client.owns(file));
        own.for_each(|file| search.read_client_file(file));
        Ok(search.found)
    }

    fn new(sources: &ConfigSources) -> Self {
        Self {
            found: Vec::new(),
            skipped: Vec::new(),
            findings: Vec::new(),
            file_settings: Vec::new(),
            project_dir: sources.project_dir.clone().unwrap_or_default(),
            endpoints: sources.own_endpoints.clone(),
        }
    }

    /// Searches the named client or file, or the files of all clients.
    pub fn run(context: &CliContext, from: Option<&str>) -> Result<Self> {
        let sources = client_sources(context)?;
        let mut search = Self::new(&sources);
        let known = clients::client_files(&sources);
        match from.map(|from| (from, clients::find_client(from))) {
            None => known.iter().for_each(|file| search.read_client_file(file)),
            Some((_, Some(client))) => search.read_client(client, &known)?,
            Some((path, None)) => search.read_named_file(Path::new(path))?,
        }
        Ok(search)
    }

    /// Reads one client's files. Fails if none of them exists.
    fn read_client(&mut self, client: &KnownClient, known: &[ConfigDocument]) -> Result<()> {
        let files: Vec<_> = known.iter().filter(|file| client.owns(file)).collect();
        if files.iter().all(|file| !file.at.path.exists()) {
            let places: Vec<_> = files.iter().map(|it| it.at.path.display().to_string()).collect();
            return Err(cli_error!(CliClientFile, "{} has no config file here", client.id)
                .hint(format!("looked for {}", places.join(", "))));
        }
        files.into_iter().for_each(|file| self.read_client_file(file));
        Ok(())
    }

    fn read_client_file(&mut self, file: &ConfigDocument) {
        let client = clients::ALL.into_iter().find(|client| client.owns(file));
        let name = client.map_or(file.dialect.as_str(), |client| client.id);
        let from = format!("{name} ({})", file.at.path.display());
        match read_document(file.clone()) {
            Ok((file, Some(text))) => self.parse_file(file.dialect, &text, &file.at, &from),
            Ok((_, None)) => {}
            Err(error) => {
                let code = ErrorCode::ConfigUnreadable;
                let found = Diagnostic::warning(code, file.at.origin(0, 0), &error.message);
                let found = found.severity(DiagnosticSeverity::Error);
                self.findings.push(ConfigFinding::from(&found));
            }
        }
    }

    /// Reads a file that the user named. Naming a project's file does not grant its permissions.
    fn read_named_file(&mut self, path: &Path) -> Result<()> {
        let missing = || {
            let known = clients::ALL.map(|client| client.id);
            let named = path.display().to_string();
            let hint =
                format!("name an existing file or one of these clients: {}", known.join(", "));
            cli_error!(CliClient, "no client or file named {named}")
                .hint(did_you_mean(&named, &known, hint))
        };
        let path = std::path::absolute(path).map_err(|_| missing())?;
        let text = read_file(&path)?;
        let text = text.ok_or_else(missing)?;
        let file = match path.starts_with(&self.project_dir) {
            true => FileRef::new(path, ConfigScope::Project).with_project(self.project_dir.clone()),
            false => FileRef::new(path, ConfigScope::User),
        };
        let from = file.path.display().to_string();
        self.parse_file(Dialect::detect(&file.path, &text), &text, &file, &from);
        Ok(())
    }

    fn parse_file(&mut self, dialect: Dialect, text: &str, file: &FileRef, from: &str) {
        let reading = dialect.read(text, file);
        self.findings.extend(reading.diagnostics.iter().map(ConfigFinding::from));
        let beside = settings_names(&reading.settings).into_iter();
        self.file_settings.extend(beside.map(|field| (from.to_owned(), field)));
        for declared in reading.servers {
            let (from, scope) = (from.to_owned(), file.scope);
            let is_for_here =
                declared.only_in.as_deref().is_none_or(|it| self.project_dir.starts_with(it));
            let (blocked, everywhere) = (declared.blocked, declared.only_in.is_none());
            let file = file.path.to_path_buf();
            let found = FoundServer { spec: declared.spec, from, scope, blocked, file, everywhere };
            let is_us = clients::is_gateway(&found.spec, &self.endpoints);
            match (is_us, is_for_here) {
                (true, _) => self.skipped.push(found.to_skipped("it is toolgate itself")),
                (_, false) => {
                    self.skipped.push(found.to_skipped("it is declared for another project"))
                }
                _ => self.found.push(found),
            }
        }
    }

    /// Returns the settings in the files of these servers that are not imported.
    pub fn unimported_settings(&self, picked: &[FoundServer]) -> Vec<ConversionLoss> {
        let meant = |from: &str| picked.iter().any(|found| found.from == from);
        let left = self.file_settings.iter().filter(|(from, _)| meant(from));
        left.map(|(from, field)| {
            let why = format!("only servers are imported; it stays in effect in {from}");
            ConversionLoss { server: None, field: field.clone(), why }
        })
        .collect()
    }

    /// Returns the named servers, or all of them. Of servers with the same name it picks the first.
    pub fn pick(
        &self,
        names: &[String],
        skipped: &mut Vec<SkippedServer>,
    ) -> Result<Vec<FoundServer>> {
        for name in names {
            let is_it = |found: &FoundServer| found.name() == name;
            if !self.found.iter().any(is_it) && !self.skipped.iter().any(|it| it.name == *name) {
                return Err(unknown_server_error(name, self.found.iter().map(FoundServer::name)));
            }
        }
        let is_named = |name: &str| names.is_empty() || names.iter().any(|it| it == name);
        let passed = self.skipped.iter().filter(|it| is_named(&it.name));
        skipped.extend(passed.cloned());
        let mut picked: Vec<FoundServer> = Vec::new();
        for found in self.found.iter().filter(|found| is_named(found.name())).cloned() {
            match picked.iter().find(|before| before.spec.name == found.spec.name) {
                Some(first) if first.spec.transport == found.spec.transport => {}
                Some(first) => {
                    let why = format!("a server of the same name comes from {}", first.from);
                    skipped.push(found.to_skipped(&why));
                }
                None => picked.push(found),
            }
        }
        Ok(picked)
    }
}

/// Returns the names of the settings that a file contains besides servers.
fn settings_names(settings: &FileSettings) -> Vec<String> {
    let FileSettings {
        roots,
        naming,
        prefix,
        profiles,
        invalid_profiles: unread,
        clients,
        foreign,
        permissions,
        approvals,
        posture,
        recheck,
        timeouts,
        context,
        inputs,
        extras,
    } = settings;
    let present = [
        ("roots", roots.is_some()),
        ("naming", naming.is_some()),
        ("prefix", prefix.is_some()),
        ("profiles", !profiles.is_empty() || !unread.is_empty()),
        ("clients", !clients.is_empty()),
        ("foreign", foreign.is_some()),
        ("permissions", *permissions != Permissions::default()),
        ("approvals", *approvals != FileApprovalSettings::default()),
        ("launch.posture", posture.is_some()),
        ("pins.recheck", recheck.is_some()),
        ("timeouts", *timeouts != ServerTimeouts::default()),
        ("context", *context != FileContextSettings::default()),
        ("inputs", !inputs.is_empty()),
    ];
    let present = present.into_iter().filter(|(_, set)| *set).map(|(name, _)| name.to_owned());
    present.chain(extras.keys().map(|dialect| format!("extra.{dialect}"))).collect()
}
