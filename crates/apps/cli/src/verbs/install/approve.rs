//! The approver of a client's calls: chosen on the command line or at the terminal, and recorded in
//! the user's config.

use clap::ValueEnum;
use serde::Serialize;
use toolgate_host::config::{ConfigDocument, Dialect};
use toolgate_model::ConfigValue;

use crate::cli_context::CliContext;
use crate::exit::{Result, cli_error};
use crate::out;
use crate::prompt;

/// A value of `--approve`: who approves calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApproverArg {
    /// The client asks you itself, and all its calls are allowed
    Client,
    /// Toolgate asks you with a form in the client
    Elicitation,
    /// Toolgate waits until you run `toolgate approvals`
    Operator,
}

/// Returns the approver from the command line, or asks for one at the terminal.
pub fn choose_approver(
    given: Option<ApproverArg>,
    clients: &[String],
    yes: bool,
) -> Result<ApproverArg> {
    if let Some(given) = given {
        return Ok(given);
    }
    if yes || !out::can_prompt() {
        return Err(cli_error!(
            ApprovalNoApprover,
            "no approver is chosen for the calls of {}",
            clients.join(", ")
        )
        .hint("use --approve client, --approve elicitation or --approve operator"));
    }
    out::alert(&format!("Who approves calls of {}?", clients.join(", ")));
    let approvers = ApproverArg::value_variants();
    for (value, number) in approvers.iter().filter_map(ValueEnum::to_possible_value).zip(1..) {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        out::alert(&format!("  {number}: {:<12} {help}", value.get_name()));
    }
    loop {
        let answer = prompt::ask("Which? [1-3]")?;
        let numbered = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let by_number = numbered.and_then(|number| approvers.get(number).copied());
        match by_number.or_else(|| ApproverArg::from_str(&answer, false).ok()) {
            Some(approver) => return Ok(approver),
            None if answer.is_empty() => {
                return Err(cli_error!(
                    CliNotConfirmed,
                    "no approver was chosen; nothing was installed"
                ));
            }
            None => out::alert("Enter a number or a name from the list."),
        }
    }
}

/// Records the approver, or removes it.
pub fn record_approver(
    context: &CliContext,
    approver: Option<ApproverArg>,
    clients: &[String],
) -> Result<()> {
    if approver.is_some() {
        context.ensure_config()?;
    }
    let document = ConfigDocument::for_user(&context.home);
    let edited = document.change(|text| {
        let mut text = text.to_owned();
        for client in clients {
            text = match approver {
                Some(approver) => {
                    let value = approver.to_possible_value();
                    let via = ConfigValue::text(value.as_ref().map_or("", |it| it.get_name()));
                    let key = ["approvals", "clients", client, "via"];
                    Dialect::Toolgate.set_value(&text, &key, &via)?
                }
                // Tables that become empty are removed too.
                None => {
                    let table = ["approvals", "clients", client];
                    Dialect::Toolgate.remove_value(&text, &table)?.unwrap_or(text)
                }
            };
        }
        Ok(Some(text))
    })?;
    if approver.is_some() && edited.changed {
        out::note(&format!("recorded the approver in {}", document.path().display()));
    }
    Ok(())
}
