//! Writes the body of a record as canonical, redacted JSON. The chain appends number, time and
//! hashes.

use toolgate_model::{Digest, Mask};
use toolgate_wire::scan;

use crate::redact::{MOST, Redactor};
use crate::{JournalEvent, JournalRecord, json};

/// Writes a record up to the end of its event, with sorted members. The members that the chain
/// appends sort after them.
pub(crate) fn write(record: &JournalRecord<'_>, mask: &Mask, out: &mut Vec<u8>) {
    let redact = Redactor { mask };
    out.push(b'{');
    if let Some(about) = record.about {
        out.extend_from_slice(b"\"about\":{\"kind\":\"");
        out.extend_from_slice(about.kind.as_str().as_bytes());
        out.extend_from_slice(b"\",\"name\":");
        redact.write_name(&about.name, out);
        out.extend_from_slice(b",\"server\":");
        redact.write_name(about.server.as_str(), out);
        out.extend_from_slice(b"},");
    }
    write_caller(record, redact, out);
    out.extend_from_slice(b"\"call\":");
    json::write_integer(record.call, out);
    out.extend_from_slice(b",\"event\":{");
    write_event(&record.event, redact, out);
    out.push(b'}');
}

/// Writes the caller, the client and the profile, if known.
fn write_caller(record: &JournalRecord<'_>, redact: Redactor<'_>, out: &mut Vec<u8>) {
    let fields =
        [("caller", record.caller), ("client", record.client), ("profile", record.profile)];
    if fields.iter().all(|(_, value)| value.is_empty()) {
        return;
    }
    out.extend_from_slice(b"\"by\":{");
    for (index, (key, value)) in fields.iter().filter(|(_, value)| !value.is_empty()).enumerate() {
        out.extend_from_slice(if index == 0 { b"\"" } else { b",\"" });
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(b"\":");
        redact.write_name(value, out);
    }
    out.extend_from_slice(b"},");
}

fn write_event(event: &JournalEvent<'_>, redact: Redactor<'_>, out: &mut Vec<u8>) {
    match event {
        JournalEvent::Decided { .. } => write_decided(event, redact, out),
        JournalEvent::Approved { id, choice, by } => {
            out.extend_from_slice(b"\"by\":");
            redact.write_name(by, out);
            out.extend_from_slice(b",\"choice\":");
            redact.write_name(choice, out);
            out.extend_from_slice(b",\"id\":");
            redact.write_name(id, out);
            out.extend_from_slice(b",\"type\":\"approved\"");
        }
        JournalEvent::Done { outcome, detail, micros, bytes } => {
            out.extend_from_slice(b"\"bytes\":");
            json::write_integer(*bytes, out);
            out.extend_from_slice(b",\"detail\":");
            redact.write_text(detail, out);
            out.extend_from_slice(b",\"micros\":");
            json::write_integer(*micros, out);
            out.extend_from_slice(b",\"outcome\":\"");
            out.extend_from_slice(outcome.as_str().as_bytes());
            out.extend_from_slice(b"\",\"type\":\"done\"");
        }
        JournalEvent::Noted { kind, detail } => {
            out.extend_from_slice(b"\"detail\":");
            match detail {
                long if long.len() > MOST => redact.write_oversize(long.as_bytes(), None, out),
                valid if scan::is_valid(valid.as_bytes()) => {
                    redact.write_value(valid.as_bytes(), out)
                }
                text => redact.write_text(text, out),
            }
            out.extend_from_slice(b",\"kind\":");
            redact.write_name(kind, out);
            out.extend_from_slice(b",\"type\":\"noted\"");
        }
    }
}

fn write_decided(event: &JournalEvent<'_>, redact: Redactor<'_>, out: &mut Vec<u8>) {
    let JournalEvent::Decided {
        effect,
        because,
        method,
        definition,
        arguments_digest,
        arguments,
        other_params,
        read_only,
        tags,
    } = event
    else {
        return;
    };
    let is_kept = !arguments.is_empty() && arguments.len() <= MOST;
    if is_kept {
        out.extend_from_slice(b"\"arguments\":");
        redact.write_value(arguments, out);
        out.push(b',');
    }
    if let Some(of) = arguments_digest {
        out.extend_from_slice(b"\"argumentsDigest\":\"");
        write_digest(of, out);
        out.extend_from_slice(b"\",");
    }
    out.extend_from_slice(b"\"because\":");
    redact.write_name(because, out);
    if let Some(of) = definition {
        out.extend_from_slice(b",\"definition\":\"");
        write_digest(of, out);
        out.push(b'"');
    }
    out.extend_from_slice(b",\"effect\":\"");
    out.extend_from_slice(effect.as_str().as_bytes());
    out.extend_from_slice(b"\",\"method\":");
    redact.write_name(method, out);
    match *other_params {
        b"" => {}
        others if others.len() <= MOST => {
            out.extend_from_slice(b",\"otherParams\":");
            redact.write_value(others, out);
        }
        others => {
            out.extend_from_slice(b",\"otherParamsOversize\":");
            redact.write_oversize(others, None, out);
        }
    }
    if !is_kept && !arguments.is_empty() {
        out.extend_from_slice(b",\"oversize\":");
        let digest = arguments_digest.filter(|_| other_params.is_empty());
        redact.write_oversize(arguments, digest, out);
    }
    out.extend_from_slice(if *read_only { b",\"readOnly\":true" } else { b",\"readOnly\":false" });
    out.extend_from_slice(b",\"tags\":[");
    for (index, tag) in tags.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        redact.write_name(tag, out);
    }
    out.extend_from_slice(b"],\"type\":\"decided\"");
}

/// Writes a digest in its usual form, without quotes.
pub(crate) fn write_digest(digest: &Digest, out: &mut Vec<u8>) {
    out.extend_from_slice(b"sha256:");
    json::write_hex(digest.as_bytes(), out);
}
