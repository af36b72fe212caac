//! Looking for servers to import: in the files of one client, of all of them, or in one that was
//! named.

use std::path::{Path, PathBuf};

use toolgate_host::config::clients::{self, Client, ClientFile};
use toolgate_host::config::{
    Dialect, FileApprovals, FileContext, FileRef, FileSettings, Permissions, Sources, read_file,
};
use toolgate_host::{Diagnostic, Scope, ServerSpec, Severity, TransportSpec};
use toolgate_model::{Timeouts, shown_args, shown_url};

use super::Skipped;
use crate::carry::report::Lost;
use crate::carry::{sources, written_in};
use crate::context::Context;
use crate::control::{Finding, no_server};
use crate::exit::{Failure, chain};

/// A server in somebody else's file.
#[derive(Debug, Clone)]
pub struct Found {
    /// The server.
    pub spec: ServerSpec,
    /// Where it was found, for people: a client and its file.
    pub from: String,
    /// Whose word its file is.
    pub scope: Scope,
    /// Why its own host would not start it.
    pub blocked: Option<String>,
    /// The file.
    pub file: PathBuf,
    /// Whether its host uses it in every project.
    pub everywhere: bool,
}

impl Found {
    /// Its name.
    pub fn name(&self) -> &str {
        self.spec.name.as_str()
    }

    /// What it would start or reach, in one line, without anything secret.
    pub fn starts(&self) -> String {
        match &self.spec.transport {
            TransportSpec::Stdio(stdio) => {
                let command = shown_args(std::slice::from_ref(&stdio.command));
                let words = command.into_iter().chain(shown_args(&stdio.args));
                words.collect::<Vec<_>>().join(" ")
            }
            TransportSpec::Http(http) => shown_url(&http.url),
            TransportSpec::BuiltIn => String::new(),
        }
    }

    /// It is not taken.
    pub fn skipped(&self, why: &str) -> Skipped {
        Skipped {
            name: self.name().to_owned(),
            from: self.from.clone(),
            why: why.to_owned(),
            is_ours_already: false,
        }
    }
}

/// What was found, and what is wrong with the files.
pub struct Search {
    found: Vec<Found>,
    skipped: Vec<Skipped>,
    /// What is wrong with the files.
    pub findings: Vec<Finding>,
    /// What files say for all their servers, by the file.
    beside: Vec<(String, String)>,
    here: PathBuf,
    endpoints: Vec<String>,
}

impl Search {
    /// What one client's files declare, apart from ourselves.
    pub fn of_client(context: &Context, client: &Client) -> Result<Vec<Found>, Failure> {
        let sources = sources(context)?;
        let mut search = Self::new(&sources);
        for file in clients::known(&sources).iter().filter(|file| client.has(file)) {
            search.known(file);
        }
        Ok(search.found)
    }

    fn new(sources: &Sources) -> Self {
        Self {
            found: Vec::new(),
            skipped: Vec::new(),
            findings: Vec::new(),
            beside: Vec::new(),
            here: sources.project_dir.clone().unwrap_or_default(),
            endpoints: sources.own_endpoints.clone(),
        }
    }

    /// Looks where it was told to, or everywhere.
    pub fn run(context: &Context, from: Option<&str>) -> Result<Self, Failure> {
        let sources = sources(context)?;
        let mut search = Self::new(&sources);
        let known = clients::known(&sources);
        match from.map(|from| (from, clients::named(from))) {
            None => known.iter().for_each(|file| search.known(file)),
            Some((_, Some(client))) => search.only(client, &known)?,
            Some((path, None)) => search.file(Path::new(path))?,
        }
        Ok(search)
    }

    /// One client's files, of which there must be one.
    fn only(&mut self, client: &Client, known: &[ClientFile]) -> Result<(), Failure> {
        let files: Vec<_> = known.iter().filter(|file| client.has(file)).collect();
        if files.iter().all(|file| !file.at.path.exists()) {
            let places: Vec<_> = files.iter().map(|it| it.at.path.display().to_string()).collect();
            let what = format!("import from {}: it has no file here", client.id);
            return Err(Failure::failed(what).hint(format!("looked for {}", places.join(", "))));
        }
        files.into_iter().for_each(|file| self.known(file));
        Ok(())
    }

    fn known(&mut self, file: &ClientFile) {
        let client = clients::ALL.into_iter().find(|client| client.has(file));
        let name = client.map_or(file.dialect.as_str(), |client| client.id);
        let from = format!("{name} ({})", file.at.path.display());
        match read_file(&file.at.path) {
            Ok(Some(text)) => {
                let dialect = written_in(file, &text);
                self.text(dialect, &text, &file.at, &from);
            }
            Ok(None) => {}
            Err(error) => self.unread(&file.at, &chain(&error)),
        }
    }

    /// A file that was named. Of a project's file it is the user's word that counts, but not what
    /// it says about not asking.
    fn file(&mut self, path: &Path) -> Result<(), Failure> {
        let missing = || {
            let known = clients::ALL.map(|client| client.id).join(", ");
            let hint = format!("there is no such file, and clients are {known}");
            Failure::usage(format!("import from {}", path.display())).hint(hint)
        };
        let path = std::path::absolute(path).map_err(|_| missing())?;
        let text = read_file(&path).map_err(|error| Failure::usage(chain(&error)))?;
        let text = text.ok_or_else(missing)?;
        let file = match path.starts_with(&self.here) {
            true => FileRef::new(path, Scope::Project).of_project(self.here.clone()),
            false => FileRef::new(path, Scope::User),
        };
        let from = file.path.display().to_string();
        self.text(Dialect::of(&file.path, &text), &text, &file, &from);
        Ok(())
    }

    fn text(&mut self, dialect: Dialect, text: &str, file: &FileRef, from: &str) {
        let reading = dialect.read(text, file);
        self.findings.extend(reading.diagnostics.iter().map(Finding::from));
        let beside = said_for_all(&reading.settings).into_iter();
        self.beside.extend(beside.map(|field| (from.to_owned(), field)));
        for declared in reading.servers {
            let (from, scope) = (from.to_owned(), file.scope);
            let meant = declared.only_in.as_deref().is_none_or(|it| self.here.starts_with(it));
            let (blocked, everywhere) = (declared.blocked, declared.only_in.is_none());
            let file = file.path.to_path_buf();
            let found = Found { spec: declared.spec, from, scope, blocked, file, everywhere };
            let is_us = clients::is_gateway(&found.spec, &self.endpoints);
            match (is_us, meant) {
                (true, _) => self.skipped.push(found.skipped("it is a toolgate")),
                (_, false) => self.skipped.push(found.skipped("it is meant for another project")),
                _ => self.found.push(found),
            }
        }
    }

    fn unread(&mut self, file: &FileRef, why: &str) {
        let diagnostic = Diagnostic {
            severity: Severity::Error,
            origin: file.origin(0, 0),
            excerpt: None,
            message: format!("failed to {why}"),
            hint: None,
        };
        self.findings.push(Finding::from(&diagnostic));
    }

    /// What the files of these servers say for all of them: only servers are taken.
    pub fn left_behind(&self, picked: &[Found]) -> Vec<Lost> {
        let meant = |from: &str| picked.iter().any(|found| found.from == from);
        let left = self.beside.iter().filter(|(from, _)| meant(from));
        left.map(|(from, field)| {
            let why = format!("import takes servers; it stays in {from}, and is read there");
            Lost { server: None, field: field.clone(), why }
        })
        .collect()
    }

    /// The servers that are meant; of two with the same name the first.
    pub fn pick(
        &self,
        names: &[String],
        skipped: &mut Vec<Skipped>,
    ) -> Result<Vec<Found>, Failure> {
        for name in names {
            let is_it = |found: &Found| found.name() == name;
            if !self.found.iter().any(is_it) && !self.skipped.iter().any(|it| it.name == *name) {
                return Err(no_server(name, self.found.iter().map(Found::name)));
            }
        }
        let meant = |name: &str| names.is_empty() || names.iter().any(|it| it == name);
        let passed = self.skipped.iter().filter(|it| meant(&it.name));
        skipped.extend(passed.cloned());
        let mut picked: Vec<Found> = Vec::new();
        for found in self.found.iter().filter(|found| meant(found.name())).cloned() {
            match picked.iter().find(|before| before.spec.name == found.spec.name) {
                Some(first) if first.spec.transport == found.spec.transport => {}
                Some(first) => {
                    let why = format!("another of this name is taken from {}", first.from);
                    skipped.push(found.skipped(&why));
                }
                None => picked.push(found),
            }
        }
        Ok(picked)
    }
}

/// The words for what a file says beside its servers.
fn said_for_all(settings: &FileSettings) -> Vec<String> {
    let FileSettings {
        roots,
        naming,
        prefix,
        profiles,
        unread,
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
    let said = [
        ("roots", roots.is_some()),
        ("naming", naming.is_some()),
        ("prefix", prefix.is_some()),
        ("profiles", !profiles.is_empty() || !unread.is_empty()),
        ("clients", !clients.is_empty()),
        ("foreign", foreign.is_some()),
        ("permissions", *permissions != Permissions::default()),
        ("approvals", *approvals != FileApprovals::default()),
        ("launch.posture", posture.is_some()),
        ("pins.recheck", recheck.is_some()),
        ("timeouts", *timeouts != Timeouts::default()),
        ("context", *context != FileContext::default()),
        ("inputs", !inputs.is_empty()),
    ];
    let said = said.into_iter().filter(|(_, said)| *said).map(|(word, _)| word.to_owned());
    said.chain(extras.keys().map(|dialect| format!("extra.{dialect}"))).collect()
}
