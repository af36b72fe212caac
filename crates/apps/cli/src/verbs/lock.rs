//! `lock`: writes the servers and their definitions to a lock file that can be reviewed and
//! committed, or checks them against it.
//!
//! It needs the definitions of all servers, so it starts those that no gateway has connected.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use toolgate_host::pins::{LockFile as Locked, LockViolation};

use crate::cli_context::CliContext;
use crate::control::{ControlRequest, LockFileDraft as Answer, PinRequest};
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{Exit, Result, cli_error};
use crate::out::{self, OutputFile, Spinner, escape_invisible};
use crate::server_access::ServerAccess;

/// The name of the lock file in the current folder.
pub const LOCK_FILE: &str = "toolgate.lock";

/// The arguments of `toolgate lock`.
#[derive(Debug, Args)]
#[command(
    after_help = "`toolgate serve --frozen` refuses everything that is not in the lock file.\n\n\
    Examples:\n  toolgate lock\n  toolgate lock --check\n  toolgate lock -o -"
)]
pub struct LockArgs {
    /// Compare with the lock file instead of writing it, and fail on any difference
    #[arg(long)]
    check: bool,
    /// Lock file, or - for standard output
    #[arg(long, short, value_name = "FILE", default_value = LOCK_FILE)]
    output: PathBuf,
}

pub async fn run(context: &CliContext, options: &LockArgs) -> Result<Exit> {
    let locked = match options.check {
        true => Some(read_lock_file(&options.output)?),
        false => None,
    };
    let gateway_options =
        EmbeddedGatewayOptions { quiet: true, ..EmbeddedGatewayOptions::default() };
    let spinner = Spinner::new("listing what servers offer");
    let question = ControlRequest::Pins { asked: PinRequest::Lock };
    let now = ServerAccess::ask_once(context, gateway_options, &question).await?;
    drop(spinner);
    match locked {
        Some(locked) => check(context, &locked, &now),
        None => write(context, options, &now),
    }
}

fn write(context: &CliContext, options: &LockArgs, now: &Answer) -> Result<Exit> {
    if !now.problems.is_empty() {
        now.problems.iter().for_each(|problem| out::note(problem));
        return Err(cli_error!(PinUnknown, "some definitions are unknown or not approved")
            .hint("start, approve or disable those servers, then run `toolgate lock` again"));
    }
    let lock = Locked::parse(&now.text)?;
    print_unpinned(&lock);
    let path = Some(options.output.as_path()).filter(|path| *path != Path::new("-"));
    OutputFile::write_whole(path, &now.text)?;
    let Some(path) = path else { return Ok(Exit::Done) };
    let servers = lock.servers.len();
    let text = format!("locked {} in {}", out::count(servers, "server"), path.display());
    let value = serde_json::json!({ "file": options.output, "servers": servers });
    out::print_done(context, &value, &text)
}

/// Warns about packages without a version: they are fetched at every start and cannot be locked.
fn print_unpinned(lock: &Locked) {
    for (name, server) in &lock.servers {
        let Some(package) = &server.package else { continue };
        if package.version.is_none() && package.integrity.is_none() {
            let package_name = &package.name;
            let version = match package.ecosystem.as_str() {
                "pypi" => "==1.2.3",
                "oci" => "@sha256:…",
                _ => "@1.2.3",
            };
            out::remark(&format!(
                "`{name}` runs any version of {package_name}; pin one, for example \
                 {package_name}{version}"
            ));
        }
    }
}

fn check(context: &CliContext, locked: &Locked, now: &Answer) -> Result<Exit> {
    let violations = locked.check(&Locked::parse(&now.text)?);
    let text = |LockViolation { server, text, code, .. }: &LockViolation| {
        escape_invisible(&format!("{server}: {text} [{code}]")) + "\n"
    };
    out::print(context, &violations, || violations.iter().map(text).collect())?;
    now.problems.iter().for_each(|problem| out::note(problem));
    match violations.is_empty() && now.problems.is_empty() {
        true => {
            out::note("everything matches the lock file");
            Ok(Exit::Done)
        }
        false => Ok(Exit::Failed),
    }
}

/// Reads a lock file. The error for a missing file says how to create it.
pub fn read_lock_file(file: &Path) -> Result<Locked> {
    let shown = file.display();
    let text = fs::read_to_string(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => cli_error!(PinLockFile, "no lock file {shown}")
            .hint("run `toolgate lock`, then review and commit the file"),
        _ => cli_error!(PinLockFile, "cannot read {shown}: {error}"),
    })?;
    Locked::parse(&text).map_err(|error| {
        cli_error!(PinLockFile, "{error} ({shown})").hint("run `toolgate lock` to write it again")
    })
}
