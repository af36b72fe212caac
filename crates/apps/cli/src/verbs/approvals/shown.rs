//! Calls and grants for people: whole, with every character either plain to see or spelled out.

use toolgate_host::approvals::{Choice, shown_params};

use crate::control::{Given, Outcome, Shown};
use crate::exit::Failure;
use crate::out::{Table, visible};

/// Everything about a call.
pub fn text(call: &Shown) -> String {
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
    let line = |(what, said): (&str, &String)| format!("{what:<11}{}\n", visible(said));
    let mut text: String = lines.into_iter().map(line).collect();
    text.push_str("arguments\n");
    let others = call.other_params.as_ref().map(|others| others.get()).unwrap_or_default();
    text.push_str(&shown_params(call.arguments.get().as_bytes(), others.as_bytes()));
    text.push('\n');
    text
}

/// The same as one line of JSON.
pub fn line(shown: &Shown) -> Result<String, Failure> {
    serde_json::to_string(shown).map_err(|error| Failure::failed(format!("write JSON: {error}")))
}

/// What follows from a decision.
pub fn followed(outcome: &Outcome) -> String {
    let call = &outcome.call;
    let tool = visible(&format!("{}/{}", call.server, call.tool));
    match (outcome.choice, &outcome.grant) {
        (Choice::Deny, _) | (_, None) => format!("denied: {tool} is not called"),
        (Choice::Once, _) => format!(
            "approved once: if the call still waits it goes on, else it passes when it is repeated \
             before {}",
            call.expires
        ),
        (Choice::Tool, Some(grant)) => {
            format!("{tool} is not asked about any more, as it is now (grant {})", grant.id)
        }
        (Choice::Server, Some(grant)) => format!(
            "the tools {} has now are not asked about any more (grant {})",
            visible(&call.server),
            grant.id
        ),
    }
}

/// The grants that hold.
pub fn grants(grants: &[Given]) -> String {
    let mut table = Table::new(&["ID", "HOLDS FOR", "CLIENT", "CALLER", "GIVEN BY", "EXPIRES"]);
    for grant in grants {
        let server = visible(&grant.server);
        let tool = visible(&grant.tool);
        let holds = match grant.choice {
            Choice::Once => format!("{server}/{tool}, one call"),
            Choice::Server => format!("{server}, what it had at {}", grant.given),
            _ => format!("{server}/{tool}"),
        };
        let (client, caller) = (visible(&grant.client), visible(&grant.caller));
        let expires = grant.expires.clone().unwrap_or_else(|| "-".to_owned());
        table.row([visible(&grant.id), holds, client, caller, visible(&grant.by), expires]);
    }
    table.text()
}
