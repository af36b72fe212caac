//! The part of a record that says what happened, in canonical JSON and without what must not be
//! kept. The chain adds number, time and hashes behind it.

use toolgate_model::{Digest, Mask};
use toolgate_wire::scan;

use super::redact::{MOST, Redactor};
use super::{Event, Record, json};

/// Writes everything of a record up to the end of its event, members in order. What the chain adds
/// sorts behind.
pub(super) fn write(record: &Record<'_>, mask: &Mask, out: &mut Vec<u8>) {
    let redact = Redactor { mask };
    out.push(b'{');
    if let Some(about) = record.about {
        out.extend_from_slice(b"\"about\":{\"kind\":\"");
        out.extend_from_slice(about.kind.as_str().as_bytes());
        out.extend_from_slice(b"\",\"name\":");
        redact.name(&about.name, out);
        out.extend_from_slice(b",\"server\":");
        redact.name(about.server.as_str(), out);
        out.extend_from_slice(b"},");
    }
    by(record, redact, out);
    out.extend_from_slice(b"\"call\":");
    json::whole(record.call, out);
    out.extend_from_slice(b",\"event\":{");
    event(&record.event, redact, out);
    out.push(b'}');
}

/// Who, as far as it is known.
fn by(record: &Record<'_>, redact: Redactor<'_>, out: &mut Vec<u8>) {
    let said = [("caller", record.caller), ("client", record.client), ("profile", record.profile)];
    if said.iter().all(|(_, value)| value.is_empty()) {
        return;
    }
    out.extend_from_slice(b"\"by\":{");
    for (index, (key, value)) in said.iter().filter(|(_, value)| !value.is_empty()).enumerate() {
        out.extend_from_slice(if index == 0 { b"\"" } else { b",\"" });
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(b"\":");
        redact.name(value, out);
    }
    out.extend_from_slice(b"},");
}

fn event(event: &Event<'_>, redact: Redactor<'_>, out: &mut Vec<u8>) {
    match event {
        Event::Decided { .. } => decided(event, redact, out),
        Event::Approved { id, choice, by } => {
            out.extend_from_slice(b"\"by\":");
            redact.name(by, out);
            out.extend_from_slice(b",\"choice\":");
            redact.name(choice, out);
            out.extend_from_slice(b",\"id\":");
            redact.name(id, out);
            out.extend_from_slice(b",\"type\":\"approved\"");
        }
        Event::Done { outcome, detail, micros, bytes } => {
            out.extend_from_slice(b"\"bytes\":");
            json::whole(*bytes, out);
            out.extend_from_slice(b",\"detail\":");
            redact.text(detail, out);
            out.extend_from_slice(b",\"micros\":");
            json::whole(*micros, out);
            out.extend_from_slice(b",\"outcome\":\"");
            out.extend_from_slice(outcome.as_str().as_bytes());
            out.extend_from_slice(b"\",\"type\":\"done\"");
        }
        Event::Noted { kind, detail } => {
            out.extend_from_slice(b"\"detail\":");
            match detail {
                long if long.len() > MOST => redact.oversize(long.as_bytes(), None, out),
                valid if scan::is_valid(valid.as_bytes()) => redact.value(valid.as_bytes(), out),
                text => redact.text(text, out),
            }
            out.extend_from_slice(b",\"kind\":");
            redact.name(kind, out);
            out.extend_from_slice(b",\"type\":\"noted\"");
        }
    }
}

fn decided(event: &Event<'_>, redact: Redactor<'_>, out: &mut Vec<u8>) {
    let Event::Decided {
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
        redact.value(arguments, out);
        out.push(b',');
    }
    if let Some(of) = arguments_digest {
        out.extend_from_slice(b"\"argumentsDigest\":\"");
        digest(of, out);
        out.extend_from_slice(b"\",");
    }
    out.extend_from_slice(b"\"because\":");
    redact.name(because, out);
    if let Some(of) = definition {
        out.extend_from_slice(b",\"definition\":\"");
        digest(of, out);
        out.push(b'"');
    }
    out.extend_from_slice(b",\"effect\":\"");
    out.extend_from_slice(effect.as_str().as_bytes());
    out.extend_from_slice(b"\",\"method\":");
    redact.name(method, out);
    match *other_params {
        b"" => {}
        others if others.len() <= MOST => {
            out.extend_from_slice(b",\"otherParams\":");
            redact.value(others, out);
        }
        others => {
            out.extend_from_slice(b",\"otherParamsOversize\":");
            redact.oversize(others, None, out);
        }
    }
    if !is_kept && !arguments.is_empty() {
        out.extend_from_slice(b",\"oversize\":");
        let digest = arguments_digest.filter(|_| other_params.is_empty());
        redact.oversize(arguments, digest, out);
    }
    out.extend_from_slice(if *read_only { b",\"readOnly\":true" } else { b",\"readOnly\":false" });
    out.extend_from_slice(b",\"tags\":[");
    for (index, tag) in tags.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        redact.name(tag, out);
    }
    out.extend_from_slice(b"],\"type\":\"decided\"");
}

/// A digest as it is shown everywhere, without quotes.
pub(super) fn digest(digest: &Digest, out: &mut Vec<u8>) {
    out.extend_from_slice(b"sha256:");
    json::hex(digest.as_bytes(), out);
}
