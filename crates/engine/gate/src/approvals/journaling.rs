//! Records decisions about calls that no longer wait. For a waiting call, the pipeline records the
//! outcome of its question.

use toolgate_journal::{Journal, JournalEvent, JournalRecord};
use toolgate_store::{GrantSelector, SettledCall};
use toolgate_wire::string;

/// Records a decision.
pub(super) async fn record_settled(journal: &Journal, settled: &SettledCall, by: &str) {
    let call = &settled.call;
    let event = JournalEvent::Approved { id: &call.id, choice: settled.choice.as_str(), by };
    let record = JournalRecord {
        event,
        call: 0,
        caller: &call.binding.caller,
        client: &call.binding.client,
        profile: "",
        about: Some(&call.binding.tool),
    };
    append(journal, &record).await;
}

/// Records that grants were revoked.
pub(super) async fn record_revoked(journal: &Journal, which: &GrantSelector, count: u64, by: &str) {
    let (what, about) = match which {
        GrantSelector::Id(id) => (format!("\"grant\":{}", string::encode(id)), None),
        GrantSelector::Server(server) => {
            (format!("\"server\":{}", string::encode(server.as_str())), None)
        }
        GrantSelector::Tool(tool) => ("\"tool\":true".to_owned(), Some(tool)),
    };
    let detail = format!("{{{what},\"count\":{count},\"by\":{}}}", string::encode(by));
    append(journal, &JournalRecord::note("revoked", &detail, about)).await;
}

/// Appends a record and waits until it is on disk; people decide seldom enough for that. A failure is
/// only logged: the decision itself is stored and stays valid.
async fn append(journal: &Journal, record: &JournalRecord<'_>) {
    let written = match journal.append(record) {
        Ok(ticket) => journal.wait_durable(ticket).await,
        Err(error) => Err(error),
    };
    if let Err(error) = written {
        tracing::error!(target: "toolgate::gate", "cannot record an approval: {error}");
    }
}
