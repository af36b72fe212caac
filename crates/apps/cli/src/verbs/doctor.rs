//! `doctor`: starts servers step by step and shows which step fails and why.

use clap::Args;

use crate::cli_context::CliContext;
use crate::complete::server_names;
use crate::control::{ControlRequest, DoctorReport, ServerCheckup};
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{Exit, Result};
use crate::out::{self, Spinner, escape_invisible, escape_invisible_lines};
use crate::server_access::ServerAccess;

/// How many of a server's last stderr lines are shown.
const LAST_LINES: usize = 20;

/// The arguments of `toolgate doctor`.
#[derive(Debug, Args)]
#[command(after_help = "Example: toolgate doctor filesystem")]
pub struct DoctorArgs {
    /// Name of the server [default: all servers]
    #[arg(add = server_names())]
    server: Option<String>,
}

pub async fn run(context: &CliContext, options: &DoctorArgs) -> Result<Exit> {
    let spinner = Spinner::new("checking servers");
    // The gateway stays idle: a second instance of an examined server could disturb it.
    let gateway_options = EmbeddedGatewayOptions {
        only: options.server.as_deref(),
        ..EmbeddedGatewayOptions::idle_and_quiet()
    };
    let access = ServerAccess::find(context, gateway_options).await?;
    let question = ControlRequest::Doctor { server: options.server.clone() };
    let checkups = access.ask::<DoctorReport>(&question).await;
    access.close().await;
    drop(spinner);
    let checkups = checkups?;
    if let ServerAccess::Attached(gateway) = &access {
        out::note(&format!("checked by the running gateway (process {})", gateway.info.pid));
    }
    out::print_findings(&checkups.findings);
    out::print_notes(&checkups.notes);
    out::print(context, &checkups.servers, || {
        let shown: Vec<_> = checkups.servers.iter().map(checkup_text).collect();
        format!("{}\nprocesses: {}\n", shown.join("\n"), checkups.guarantee)
    })?;
    Ok(if checkups.is_healthy() { Exit::Done } else { Exit::Failed })
}

fn checkup_text(checkup: &ServerCheckup) -> String {
    let verdict = if checkup.is_healthy() { "ok" } else { "FAILED" };
    let mut text = format!("{}: {verdict}\n", escape_invisible(&checkup.server));
    for step in &checkup.phases {
        let mark = if step.ok { "ok" } else { "FAILED" };
        let detail = step.detail.as_deref().map(escape_invisible).unwrap_or_default();
        let line = format!("  {:<10} {mark:<6} {:>6} ms  {detail}", step.name, step.ms);
        text.push_str(line.trim_end());
        text.push('\n');
        if let Some(hint) = &step.hint {
            text.push_str(&format!("    hint: {}\n", escape_invisible(hint)));
        }
    }
    text.push_str(&stderr_tail(&checkup.stderr));
    text.push_str(&withheld_text(&checkup.server, &checkup.withheld, &checkup.stderr));
    text
}

fn stderr_tail(stderr: &str) -> String {
    let lines: Vec<_> = stderr.trim_end().lines().collect();
    if lines.is_empty() {
        return String::new();
    }
    let last = lines[lines.len().saturating_sub(LAST_LINES)..].iter();
    let last: String =
        last.map(|line| format!("    | {}\n", escape_invisible_lines(line))).collect();
    format!("  last lines on stderr:\n{last}")
}

/// Lists the environment variables that a failing process does not get, and first those that it
/// mentions on stderr.
fn withheld_text(server: &str, names: &[String], stderr: &str) -> String {
    if names.is_empty() {
        return String::new();
    }
    let mentioned: Vec<_> = names.iter().filter(|name| mentions(stderr, name)).cloned().collect();
    let list = |names: &[String]| escape_invisible(&names.join(", "));
    let mentioned = match &mentioned[..] {
        [] => String::new(),
        names => format!("  variables it mentions but does not get: {}\n", list(names)),
    };
    format!(
        "{mentioned}  variables of this shell that it does not get: {}\n    hint: list those it \
         needs in your own config: [servers.{}] env_inherit = [\"NAME\"]\n",
        list(names),
        escape_invisible(server),
    )
}

/// Returns true if the text contains the name as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|word| word == name)
}
