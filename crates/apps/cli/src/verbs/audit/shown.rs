//! A record for people, for programs, and for spreadsheets.

use serde_json::json;
use toolgate_host::audit::{Entry, Happened};

use crate::out::visible;

/// What the columns of CSV are called.
pub const HEADINGS: &str = "time,chain,seq,call,caller,client,profile,server,kind,name,event,\
                            effect,because,method,outcome,micros,bytes,detail\n";

/// What there is to say about an event, in the order of the columns.
#[derive(Debug, Default)]
struct Said<'e> {
    event: &'static str,
    effect: &'e str,
    because: &'e str,
    method: &'e str,
    outcome: &'static str,
    micros: String,
    bytes: String,
    detail: String,
}

/// One line of JSON: the record as it was written, with its chain.
pub fn json_line(entry: &Entry) -> String {
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
        "event": { "detail": said(entry).detail, "outcome": "unknown", "type": "done" },
        "ts": entry.time(),
    });
    format!("{line}\n")
}

/// One line for a person.
pub fn line(entry: &Entry) -> String {
    let said = said(entry);
    let about = match (entry.server.as_str(), entry.name.as_str()) {
        ("", _) => String::new(),
        (server, "") => server.to_owned(),
        (server, name) => format!("{server}/{name}"),
    };
    let call = if entry.call == 0 { String::new() } else { format!("#{}", entry.call) };
    let word = match (said.effect, said.outcome) {
        ("", "") => said.event,
        ("", outcome) => outcome,
        (effect, _) => effect,
    };
    let spent = if said.micros.is_empty() { String::new() } else { millis(&said.micros) };
    let rest = [said.because, &said.detail, &spent].map(str::to_owned).join(" ");
    let who = [entry.caller.as_str(), entry.client.as_str()].join(" ");
    let parts = [entry.time(), format!("{word:<10}"), call, about, who, rest];
    let parts: Vec<_> = parts.iter().map(|part| part.trim()).filter(|it| !it.is_empty()).collect();
    format!("{}\n", visible(&parts.join("  ")))
}

fn millis(micros: &str) -> String {
    micros.parse::<f64>().map_or(String::new(), |micros| format!("{:.1} ms", micros / 1000.0))
}

/// One line of CSV. A cell that a spreadsheet would take for a formula is marked as text.
pub fn csv(entry: &Entry) -> String {
    let said = said(entry);
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
        said.event,
        said.effect,
        said.because,
        said.method,
        said.outcome,
        &said.micros,
        &said.bytes,
        &said.detail,
    ];
    format!("{}\n", cells.map(cell).join(","))
}

fn cell(text: &str) -> String {
    let text = visible(text);
    let formula = text.starts_with(['=', '+', '-', '@']);
    let text = if formula { format!("'{text}") } else { text };
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

fn said(entry: &Entry) -> Said<'_> {
    match &entry.event {
        Happened::Decided(decided) => Said {
            event: "decided",
            effect: decided.effect.as_str(),
            because: &decided.because,
            method: &decided.method,
            ..Said::default()
        },
        Happened::Approved { id, choice, by } => Said {
            event: "approved",
            detail: format!("{choice} by {by} ({id})"),
            ..Said::default()
        },
        Happened::Done { outcome, detail, micros, bytes } => Said {
            event: "done",
            outcome: outcome.as_str(),
            micros: micros.to_string(),
            bytes: bytes.to_string(),
            detail: detail.clone(),
            ..Said::default()
        },
        Happened::Noted { kind, detail } => {
            Said { event: "noted", detail: format!("{kind} {detail}"), ..Said::default() }
        }
        Happened::Opened { version } => {
            Said { event: "opened", detail: format!("toolgate {version}"), ..Said::default() }
        }
        Happened::Closed { .. } => Said { event: "closed", ..Said::default() },
        _ => Said { event: "continued", ..Said::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_text_whatever_stands_in_it() {
        assert_eq!(cell("plain"), "plain");
        assert_eq!(cell("=1+1"), "'=1+1");
        assert_eq!(cell("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(cell("a\nb"), "a⟦U+000A⟧b");
    }
}
