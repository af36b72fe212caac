//! Servers that a client reaches without the gateway: told of, or moved behind it.

use std::path::Path;

use toolgate_host::ServerName;
use toolgate_host::config::clients::Client;

use crate::carry::installed::Moved;
use crate::context::Context;
use crate::exit::Failure;
use crate::out::{self, visible};
use crate::verbs::import::found::{Found, Search};
use crate::verbs::import::intake::{Intake, Target};
use crate::verbs::import::{self, Report};

/// The servers of a client's own files.
pub struct Direct(Vec<Found>);

impl Direct {
    /// Reads all files of a client.
    pub fn of(context: &Context, client: &Client) -> Result<Self, Failure> {
        Search::of_client(context, client).map(Self)
    }

    /// What can be moved out of one file; not what counts for some projects only.
    pub fn in_file(&self, file: &Path) -> Vec<Found> {
        let in_file = self.0.iter().filter(|found| found.file == file && found.everywhere);
        in_file.cloned().collect()
    }

    /// Those the client still reaches itself once these have left a file, each with its file.
    pub fn without(&self, file: &Path, moved: &[ServerName]) -> Vec<&Found> {
        let is_left = |found: &&Found| {
            let is_moved = found.file == file && moved.contains(&found.spec.name);
            found.spec.enabled && !(is_moved && found.everywhere)
        };
        self.0.iter().filter(is_left).collect()
    }
}

/// Says what a client reaches without the gateway.
pub fn warn(client: &Client, direct: &[&Found], moves: bool) {
    if direct.is_empty() {
        return;
    }
    let named = direct.iter().map(|found| format!("{} in {}", found.name(), found.file.display()));
    let named = named.collect::<Vec<_>>().join(", ");
    out::note(&format!(
        "{} {} reaches these servers without Toolgate: {}",
        out::cyan("warning:"),
        client.title,
        visible(&named)
    ));
    out::note("  their tools are listed twice, and calls of the direct copies bypass every rule");
    if !moves {
        let command = format!("toolgate install {} --move", client.id);
        out::note(&format!("  `{command}` moves them behind Toolgate; `uninstall` takes it back"));
    }
}

/// A move that is to be made.
pub struct Move {
    target: Target,
    intake: Intake,
    report: Report,
    /// What is to leave the client's file.
    pub names: Vec<ServerName>,
}

impl Move {
    /// Finds out what can go into our file: everything but names it has for other servers.
    pub fn plan(
        context: &Context,
        found: Vec<Found>,
        project: bool,
        to_secrets: bool,
    ) -> Result<Self, Failure> {
        let target = Target::of(context, project, &found)?;
        let all: Vec<_> = found.iter().map(|found| found.spec.name.clone()).collect();
        let mut report = Report { file: target.at.path.to_path_buf(), ..Report::default() };
        let fresh = import::fresh(found, &target, false, &mut report)?;
        let intake = Intake::of(fresh, to_secrets, &mut report);
        let stays = |name: &ServerName| {
            let mut skipped = report.skipped.iter();
            skipped.any(|it| it.name == name.as_str() && !it.is_ours_already)
        };
        let names = all.into_iter().filter(|name| !stays(name)).collect();
        Ok(Self { target, intake, report, names })
    }

    /// What would change in our file.
    pub fn preview(mut self) -> Result<Report, Failure> {
        self.report.dry_run = true;
        import::preview(&self.target, &self.intake, &mut self.report)?;
        Ok(self.report)
    }

    /// Writes the servers into our file. Only then may they leave the client's.
    pub async fn write(mut self, context: &Context) -> Result<(Moved, Report), Failure> {
        import::write(context, &self.target, &self.intake, &mut self.report).await?;
        let moved = Moved {
            into: self.target.at.path.to_path_buf(),
            names: self.names.iter().map(ToString::to_string).collect(),
            written: self.intake.specs.iter().map(|spec| spec.name.to_string()).collect(),
            secrets: self.intake.secret_names(),
        };
        Ok((moved, self.report))
    }
}
