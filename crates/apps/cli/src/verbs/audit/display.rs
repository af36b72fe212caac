//! Formats journal records as text, JSON lines and CSV.

use serde_json::json;
use toolgate_host::audit::{EntryEvent, JournalEntry};

use crate::out::escape_invisible;

/// The CSV header line.
pub const HEADINGS: &str = "time,chain,seq,call,caller,client,profile,server,kind,name,event,\
                            effect,because,method,outcome,micros,bytes,detail\n";

/// The columns of a record that depend on its event, in CSV order.
#[derive(Debug, Default)]
struct EventColumns<'e> {
    event: &'static str,
    effect: &'e str,
    because: &'e str,
    method: &'e str,
    outcome: &'static str,
    micros: String,
    bytes: String,
    detail: String,
}

/// Returns one line of JSON: the record as it was written, with its chain added.
pub fn json_line(entry: &JournalEntry) -> String {
    let chain = json!(&*entry.chain);
    if let Some(rest) = entry.line.strip_prefix('{') {
        return format!("{{\"chain\":{chain},{rest}\n");
    }
    let line = json!({
        "about": { "kind": entry.kind.map(|kind| kind.as_str()), "name": entry.name,
            "server": entry.server },
        "by": { "caller": entry.caller, "client": entry.client, "profile": entry.profile },
        "call": entry.call,
        "chain": chain,
        "concluded": true,
        "event": { "detail": event_columns(entry).detail, "outcome": "unknown", "type": "done" },
        "ts": entry.time(),
    });
    format!("{line}\n")
}

/// Returns one line of text for the terminal.
pub fn text_line(entry: &JournalEntry) -> String {
    let columns = event_columns(entry);
    let about = match (entry.server.as_str(), entry.name.as_str()) {
        ("", _) => String::new(),
        (server, "") => server.to_owned(),
        (server, name) => format!("{server}/{name}"),
    };
    let call = if entry.call == 0 { String::new() } else { format!("#{}", entry.call) };
    let word = match (columns.effect, columns.outcome) {
        ("", "") => columns.event,
        ("", outcome) => outcome,
        (effect, _) => effect,
    };
    let spent = millis(&columns.micros);
    let rest = [columns.because, &columns.detail, &spent].map(str::to_owned).join(" ");
    let who = [entry.caller.as_str(), entry.client.as_str()].join(" ");
    let parts = [entry.time(), format!("{word:<10}"), call, about, who, rest];
    let parts: Vec<_> = parts.iter().map(|part| part.trim()).filter(|it| !it.is_empty()).collect();
    format!("{}\n", escape_invisible(&parts.join("  ")))
}

fn millis(micros: &str) -> String {
    micros.parse::<f64>().map_or(String::new(), |micros| format!("{:.1} ms", micros / 1000.0))
}

/// Returns one line of CSV. A cell that a spreadsheet would read as a formula is marked as text.
pub fn csv_line(entry: &JournalEntry) -> String {
    let columns = event_columns(entry);
    let kind = entry.kind.map_or("", |kind| kind.as_str());
    let (seq, call, time) = (entry.seq.to_string(), entry.call.to_string(), entry.time());
    let cells = [
        time.as_str(),
        &entry.chain,
        &seq,
        &call,
        &entry.caller,
        &entry.client,
        &entry.profile,
        &entry.server,
        kind,
        &entry.name,
        columns.event,
        columns.effect,
        columns.because,
        columns.method,
        columns.outcome,
        &columns.micros,
        &columns.bytes,
        &columns.detail,
    ];
    format!("{}\n", cells.map(csv_cell).join(","))
}

fn csv_cell(text: &str) -> String {
    let text = escape_invisible(text);
    let formula = text.starts_with(['=', '+', '-', '@']);
    let text = if formula { format!("'{text}") } else { text };
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

fn event_columns(entry: &JournalEntry) -> EventColumns<'_> {
    let mut columns = EventColumns::default();
    columns.event = match &entry.event {
        EntryEvent::Decided(decided) => {
            columns.effect = decided.effect.as_str();
            columns.because = &decided.because;
            columns.method = &decided.method;
            "decided"
        }
        EntryEvent::Approved { id, choice, by } => {
            columns.detail = format!("{choice} by {by} ({id})");
            "approved"
        }
        EntryEvent::Done { outcome, detail, micros, bytes } => {
            columns.outcome = outcome.as_str();
            columns.micros = micros.to_string();
            columns.bytes = bytes.to_string();
            columns.detail = detail.clone();
            "done"
        }
        EntryEvent::Noted { kind, detail } => {
            columns.detail = format!("{kind} {detail}");
            "noted"
        }
        EntryEvent::Opened { version } => {
            columns.detail = format!("toolgate {version}");
            "opened"
        }
        EntryEvent::Closed { .. } => "closed",
        _ => "continued",
    };
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_text_whatever_stands_in_it() {
        assert_eq!(csv_cell("plain"), "plain");
        assert_eq!(csv_cell("=1+1"), "'=1+1");
        assert_eq!(csv_cell("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(csv_cell("a\nb"), "a⟦U+000A⟧b");
    }
}
