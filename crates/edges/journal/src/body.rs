//! Writes the body of a record as canonical, redacted JSON. The chain appends number, time and
//! hashes.

use toolgate_model::Mask;
use toolgate_wire::scan;

use crate::json::ObjectWriter;
use crate::redact::{MOST, Redactor};
use crate::{JournalEvent, JournalRecord};

/// Writes a record up to the end of its event, with sorted members. The members that the chain
/// appends sort after them.
pub(crate) fn write(record: &JournalRecord<'_>, mask: &Mask, out: &mut Vec<u8>) {
    let redact = Redactor { mask };
    let mut body = ObjectWriter::begin(out);
    if let Some(about) = record.about {
        let mut object = ObjectWriter::begin(body.key("about"));
        object.text("kind", about.kind.as_str());
        redact.write_name(&about.name, object.key("name"));
        redact.write_name(about.server.as_str(), object.key("server"));
        object.end();
    }
    let known = [("caller", record.caller), ("client", record.client), ("profile", record.profile)];
    if known.iter().any(|(_, value)| !value.is_empty()) {
        let mut object = ObjectWriter::begin(body.key("by"));
        for (key, value) in known.iter().filter(|(_, value)| !value.is_empty()) {
            redact.write_name(value, object.key(key));
        }
        object.end();
    }
    body.integer("call", record.call);
    let mut object = ObjectWriter::begin(body.key("event"));
    write_event(&record.event, redact, &mut object);
    object.end();
}

fn write_event(event: &JournalEvent<'_>, redact: Redactor<'_>, object: &mut ObjectWriter<'_>) {
    match event {
        JournalEvent::Decided { .. } => write_decided(event, redact, object),
        JournalEvent::Approved { id, choice, by } => {
            redact.write_name(by, object.key("by"));
            redact.write_name(choice, object.key("choice"));
            redact.write_name(id, object.key("id"));
            object.text("type", "approved");
        }
        JournalEvent::Done { outcome, detail, micros, bytes } => {
            object.integer("bytes", *bytes);
            redact.write_text(detail, object.key("detail"));
            object.integer("micros", *micros);
            object.text("outcome", outcome.as_str());
            object.text("type", "done");
        }
        JournalEvent::Noted { kind, detail } => {
            let out = object.key("detail");
            match detail {
                long if long.len() > MOST => redact.write_oversize(long.as_bytes(), None, out),
                valid if scan::is_valid(valid.as_bytes()) => {
                    redact.write_value(valid.as_bytes(), out)
                }
                text => redact.write_text(text, out),
            }
            redact.write_name(kind, object.key("kind"));
            object.text("type", "noted");
        }
    }
}

fn write_decided(event: &JournalEvent<'_>, redact: Redactor<'_>, object: &mut ObjectWriter<'_>) {
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
        redact.write_value(arguments, object.key("arguments"));
    }
    if let Some(digest) = arguments_digest {
        object.text("argumentsDigest", &digest.to_string());
    }
    redact.write_name(because, object.key("because"));
    if let Some(digest) = definition {
        object.text("definition", &digest.to_string());
    }
    object.text("effect", effect.as_str());
    redact.write_name(method, object.key("method"));
    match *other_params {
        b"" => {}
        others if others.len() <= MOST => redact.write_value(others, object.key("otherParams")),
        others => redact.write_oversize(others, None, object.key("otherParamsOversize")),
    }
    if !is_kept && !arguments.is_empty() {
        let digest = arguments_digest.filter(|_| other_params.is_empty());
        redact.write_oversize(arguments, digest, object.key("oversize"));
    }
    object.key("readOnly").extend_from_slice(if *read_only { b"true" } else { b"false" });
    let out = object.key("tags");
    out.push(b'[');
    for (index, tag) in tags.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        redact.write_name(tag, out);
    }
    out.push(b']');
    object.text("type", "decided");
}
