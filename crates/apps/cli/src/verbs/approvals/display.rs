//! Formats calls and grants for the terminal: complete, with invisible characters escaped.

use toolgate_host::approvals::{ApprovalChoice, shown_params};

use crate::control::{GrantJson, PendingCallJson, SettledCallJson};
use crate::out::{TextTable, escape_invisible, exact_time, relative_time};

/// Returns everything about a call as text.
pub fn call_text(call: &PendingCallJson) -> String {
    let lines = [
        ("id", &call.id),
        ("server", &call.server),
        (&call.kind, &call.tool),
        ("client", &call.client),
        ("caller", &call.caller),
        ("because", &call.because),
        ("asked", &exact_time(&call.asked)),
        ("expires", &exact_time(&call.expires)),
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

/// Describes the effect of a decision.
pub fn outcome_text(outcome: &SettledCallJson) -> String {
    let call = &outcome.call;
    let tool = format!("{}/{}", call.server, call.tool);
    match (outcome.choice, &outcome.grant) {
        (ApprovalChoice::Deny, _) | (_, None) => format!("denied: {tool} is not called"),
        (ApprovalChoice::Once, _) => format!(
            "approved once: the call continues if it still waits; otherwise the client can repeat \
             it until then ({})",
            relative_time(&call.expires)
        ),
        (ApprovalChoice::Tool, Some(GrantJson { id, .. })) => format!(
            "{tool} needs no more approval while its definition stays the same (grant {id})"
        ),
        (ApprovalChoice::Server, Some(GrantJson { server, id, .. })) => {
            format!("the current tools of {server} need no more approval (grant {id})")
        }
    }
}

/// Returns the grants as a table.
pub fn grants_table(grants: &[GrantJson]) -> String {
    let mut table = TextTable::new(&["ID", "HOLDS FOR", "CLIENT", "CALLER", "GIVEN BY", "EXPIRES"]);
    for GrantJson { id, choice, caller, client, server, tool, by, given, expires, .. } in grants {
        let holds = match choice {
            ApprovalChoice::Once => format!("{server}/{tool}, one call"),
            ApprovalChoice::Server => format!("{server}, as it was {}", relative_time(given)),
            _ => format!("{server}/{tool}"),
        };
        let expires = expires.as_deref().map_or("never".to_owned(), relative_time);
        table.row([id, &holds, client, caller, by, &expires]);
    }
    table.text()
}
