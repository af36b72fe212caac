//! What people decide while nobody waits for it, on record. Where a call waits, the pipeline records
//! what came of its question.

use toolgate_store::journal::{Event, Journal, Record};
use toolgate_store::{Settled, StoreError, Which};
use toolgate_wire::string;

/// Puts a decision on record.
pub(super) async fn settled(journal: &Journal, settled: &Settled, by: &str) {
    let call = &settled.call;
    let event = Event::Approved { id: &call.id, choice: settled.choice.as_str(), by };
    let record = Record {
        event,
        call: 0,
        caller: &call.bound.caller,
        client: &call.bound.client,
        profile: "",
        about: Some(&call.bound.tool),
    };
    written(append(journal, &record).await);
}

/// Puts on record that grants were taken back.
pub(super) async fn revoked(journal: &Journal, which: &Which, count: u64, by: &str) {
    let (what, about) = match which {
        Which::Id(id) => (format!("\"grant\":{}", string::encode(id)), None),
        Which::Server(server) => (format!("\"server\":{}", string::encode(server.as_str())), None),
        Which::Tool(tool) => ("\"tool\":true".to_owned(), Some(tool)),
    };
    let detail = format!("{{{what},\"count\":{count},\"by\":{}}}", string::encode(by));
    let event = Event::Noted { kind: "revoked", detail: &detail };
    let record = Record { event, call: 0, caller: "", client: "", profile: "", about };
    written(append(journal, &record).await);
}

/// On disk before it is acknowledged: people decide seldom enough.
async fn append(journal: &Journal, record: &Record<'_>) -> Result<(), StoreError> {
    let ticket = journal.append(record)?;
    journal.durable(ticket).await
}

/// The decision itself is kept; that it cannot be recorded does not undo it.
fn written(outcome: Result<(), StoreError>) {
    if let Err(error) = outcome {
        tracing::error!(target: "toolgate::gate", "not on record: failed to {error}");
    }
}
