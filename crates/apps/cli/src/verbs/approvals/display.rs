//! Formats calls and grants for the terminal: complete, with invisible characters escaped.

use toolgate_host::approvals::{ApprovalChoice, shown_params};

use crate::control::{GrantJson, PendingCallDetails, SettledCallJson};
use crate::exit::CliError;
use crate::out::{TextTable, escape_invisible};

/// Returns everything about a call as text.
pub fn call_text(call: &PendingCallDetails) -> String {
    let lines = [
        ("id", &call.id),
        ("server", &call.server),
        (&call.kind, &call.tool),
        ("client", &call.client),
        ("caller", &call.caller),
        ("because", &call.because),
        ("asked", &call.asked),
        ("expires", &call.expires),
        ("identity", &call.identity),
        ("definition", &call.definition),
        ("digest", &call.digest),
    ];
    let line = |(key, value): (&str, &String)| format!("{key:<11}{}\n", escape_invisible(value));
    let mut text: String = lines.into_iter().map(line).collect();
    text.push_str("arguments\n");
    let others = call.other_params.as_ref().map(|others| others.get()).unwrap_or_default();
    text.push_str(&shown_params(call.arguments.get().as_bytes(), others.as_bytes()));
    text.push('\n');
    text
}

/// Returns a call as one line of JSON.
pub fn call_json_line(shown: &PendingCallDetails) -> Result<String, CliError> {
    serde_json::to_string(shown)
        .map_err(|error| CliError::failed(format!("cannot write JSON: {error}")))
}

/// Describes the effect of a decision.
pub fn outcome_text(outcome: &SettledCallJson) -> String {
    let call = &outcome.call;
    let tool = escape_invisible(&format!("{}/{}", call.server, call.tool));
    match (outcome.choice, &outcome.grant) {
        (ApprovalChoice::Deny, _) | (_, None) => format!("denied: {tool} is not called"),
        (ApprovalChoice::Once, _) => format!(
            "approved once: the call continues if it still waits; otherwise the client can repeat \
             it until {}",
            call.expires
        ),
        (ApprovalChoice::Tool, Some(grant)) => {
            format!(
                "{tool} needs no more approval while its definition stays the same (grant {})",
                grant.id
            )
        }
        (ApprovalChoice::Server, Some(grant)) => format!(
            "the current tools of {} need no more approval (grant {})",
            escape_invisible(&call.server),
            grant.id
        ),
    }
}

/// Returns the grants as a table.
pub fn grants_table(grants: &[GrantJson]) -> String {
    let mut table = TextTable::new(&["ID", "HOLDS FOR", "CLIENT", "CALLER", "GIVEN BY", "EXPIRES"]);
    for grant in grants {
        let server = escape_invisible(&grant.server);
        let tool = escape_invisible(&grant.tool);
        let holds = match grant.choice {
            ApprovalChoice::Once => format!("{server}/{tool}, one call"),
            ApprovalChoice::Server => format!("{server}, what it had at {}", grant.given),
            _ => format!("{server}/{tool}"),
        };
        let (client, caller) = (escape_invisible(&grant.client), escape_invisible(&grant.caller));
        let expires = grant.expires.clone().unwrap_or_else(|| "-".to_owned());
        table.row([
            escape_invisible(&grant.id),
            holds,
            client,
            caller,
            escape_invisible(&grant.by),
            expires,
        ]);
    }
    table.text()
}
