//! The operator's view: the journal counted, and how servers stand beside it.
//!
//! What the numbers mean is in `rules/review`; here they are gathered. Reading is all that is done.

use std::collections::{BTreeMap, BTreeSet};

pub use toolgate_findings::Finding as TextFinding;
use toolgate_findings::{Finding, Severity, across, of_server};
use toolgate_gate::{Outlook, PinState};
use toolgate_model::ServerName;
use toolgate_policy::MISFIT;
use toolgate_store::journal::{Entry, Happened, Outcome, read_since};
use toolgate_wire::{code, scan};

pub use toolgate_pins::Standing as PinStanding;
pub use toolgate_review::{
    Collector, Ended, Happened as Counted, Item, Part, Parts, Report, Score, Standing, html,
    markdown,
};
pub use toolgate_store::journal::{parse_rfc3339, rfc3339};

use crate::audit::AuditError;
use crate::{Home, Host, HostError};

/// The journal of a home, counted.
pub struct Tally {
    /// What was counted.
    pub collector: Collector,
    /// Lines that could not be read and were passed over.
    pub unread: Vec<AuditError>,
}

/// So many complaints about a journal are enough.
const COMPLAINTS: usize = 20;

/// Counts the journal of a home from a point in time on (milliseconds since 1970).
pub fn counted(home: &Home, since: u64) -> Result<Tally, AuditError> {
    let mut tally = Tally { collector: Collector::default(), unread: Vec::new() };
    for entry in read_since(&home.state_dir().join("journal"), since)? {
        match entry {
            Ok(entry) => take(&mut tally.collector, &entry),
            Err(error) if tally.unread.len() < COMPLAINTS => tally.unread.push(error),
            Err(_) => {}
        }
    }
    Ok(tally)
}

fn take(collector: &mut Collector, entry: &Entry) {
    let noted;
    let mut server = entry.server.as_str();
    let happened = match &entry.event {
        Happened::Decided(it) if it.because == MISFIT => Counted::Misfit,
        Happened::Decided(it) => Counted::Decided { effect: it.effect, because: &it.because },
        Happened::Approved { choice, .. } if entry.call == 0 => Counted::Settled(choice),
        Happened::Approved { choice, .. } => Counted::Chosen(choice),
        Happened::Done { outcome: Outcome::Error, detail, micros, .. }
            if says_bad_arguments(detail) =>
        {
            Counted::Done { ended: Ended::BadArguments, micros: *micros }
        }
        Happened::Done { outcome, micros, .. } => {
            Counted::Done { ended: ended(*outcome), micros: *micros }
        }
        Happened::Noted { kind, detail } => {
            // What concerns a whole server names it in its detail.
            noted = scan::text(detail.as_bytes(), "server").map(|it| it.into_owned());
            server = noted.as_deref().filter(|_| server.is_empty()).unwrap_or(server);
            Counted::Noted(kind)
        }
        // How the file is made is nothing that happened.
        _ => return,
    };
    collector.take(&Item { ms: entry.ms, server, name: &entry.name, happened });
}

/// Whether an error, as it is on record, says that arguments were bad.
fn says_bad_arguments(detail: &str) -> bool {
    let code = scan::member(detail.as_bytes(), "code").map(|at| at.of(detail.as_bytes()));
    code == Some(code::INVALID_PARAMS.to_string().as_bytes())
}

fn ended(outcome: Outcome) -> Ended {
    match outcome {
        Outcome::Ok => Ended::Ok,
        Outcome::ToolError => Ended::ToolError,
        Outcome::Error => Ended::Error,
        Outcome::TimedOut => Ended::TimedOut,
        Outcome::Cancelled => Ended::Cancelled,
        Outcome::Unknown => Ended::Unknown,
    }
}

impl Host {
    /// How every server stands beside the journal: what of it changed since it was approved, and
    /// what is suspicious in its words.
    pub fn standings(&self) -> Vec<Standing> {
        let servers = self.servers().servers;
        let mut standings: BTreeMap<_, _> = servers
            .iter()
            .map(|status| {
                let (server, known) = (status.spec.name.to_string(), status.catalog.is_some());
                (status.spec.name.clone(), Standing { server, known, ..Standing::default() })
            })
            .collect();
        for state in self.pin_states() {
            let changed = matches!(state.standing, PinStanding::Changed { .. });
            if let Some(standing) = standings.get_mut(&state.server).filter(|_| changed) {
                standing.changed += 1;
            }
        }
        let mut codes: BTreeMap<ServerName, BTreeSet<&'static str>> = BTreeMap::new();
        for finding in self.text_findings() {
            if let Some(standing) = standings.get_mut(&finding.server) {
                standing.findings[weight(finding.severity)] += 1;
                codes.entry(finding.server).or_default().insert(finding.code.as_str());
            }
        }
        for (server, codes) in codes {
            if let Some(standing) = standings.get_mut(&server) {
                standing.codes = codes.into_iter().map(str::to_owned).collect();
            }
        }
        standings.into_values().collect()
    }

    /// What is suspicious in the words of servers, as they offered them last.
    pub fn text_findings(&self) -> Vec<Finding> {
        let servers = self.servers().servers;
        let known: Vec<_> = servers
            .iter()
            .filter_map(|status| Some((&status.spec.name, &**status.catalog.as_ref()?)))
            .collect();
        let alone = known.iter().flat_map(|(server, catalog)| of_server(server, catalog));
        alone.chain(across(&known)).collect()
    }

    /// How the definitions of servers stand against what was approved.
    pub fn pin_states(&self) -> Vec<PinState> {
        self.gate().pin_states()
    }

    /// What would be decided about everything that whoever has this profile sees, if a client that
    /// can show forms called it.
    pub fn outlook(&self, profile: &str) -> Result<Vec<Outlook>, HostError> {
        let (caller, port) = self.stranger(profile, "")?;
        self.gate().outlook(&caller, &port).map_err(HostError::NoProfile)
    }
}

fn weight(severity: Severity) -> usize {
    match severity {
        Severity::Low => 0,
        Severity::Medium => 1,
        Severity::High => 2,
    }
}
