//! Stores a result: first its text for readers, then all of it as the server sent it.

use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use toolgate_store::{KeptResult, KeptResultWriter, ResultSection, ResultStore};
use toolgate_transport::chunked_message::ChunkedMessage;
use toolgate_wire::large::{DetachedValues, JsonStringDecoder};
use toolgate_wire::{Frame, Span};

use super::layout::{ResultBlock, ResultLayout};
use crate::sanitize::read_detached;

/// The section with the text of a result. Other content is described in a few words.
pub(super) const TEXT: &str = "text";
/// The section with the raw result object.
pub(super) const RAW: &str = "raw";
/// The section with the structured output.
pub(super) const STRUCTURED: &str = "structured";

/// Returns the name of the section with the data of a block.
pub(super) fn part(number: usize) -> String {
    format!("part-{number}")
}

/// Stores a result for its owner.
pub(super) fn keep(
    store: &ResultStore,
    owner: &str,
    answer: &Frame,
    survey: &ResultLayout,
) -> io::Result<Arc<KeptResult>> {
    let mut draft = store.begin()?;
    let aside = answer.detached_values();
    write_text(&mut draft, aside, survey)?;
    draft.add_section(section(TEXT, Some("text/plain"), 0, draft.len()));
    let base = draft.len();
    copy(&mut draft, survey.result.clone(), aside)?;
    draft.add_section(section(RAW, Some("application/json"), base, draft.len() - base));
    let place = |at: Span| {
        let before = survey.result.slice(..at.start());
        let own = survey.result.slice(at.start()..at.end());
        (base + filled_len(&before, aside), filled_len(&own, aside))
    };
    if let Some(at) = survey.structured {
        let (start, len) = place(at);
        draft.add_section(section(STRUCTURED, Some("application/json"), start, len));
    }
    for (number, it) in survey.blocks.iter().enumerate() {
        if let ResultBlock::Opaque(block) = it
            && let Some((data, mime)) = &block.data
        {
            let (start, len) = place(*data);
            draft.add_section(section(&part(number), Some(mime), start, len));
        }
    }
    store.keep(owner, draft)
}

fn section(name: &str, mime: Option<&str>, start: u64, len: u64) -> ResultSection {
    ResultSection { name: name.to_owned(), mime: mime.map(str::to_owned), start, len }
}

fn filled_len(text: &Bytes, aside: Option<&Arc<DetachedValues>>) -> u64 {
    aside.map_or(text.len() as u64, |aside| aside.expanded_len(text))
}

/// Writes the blocks one after another, each on its own line. Structured output is written if there
/// is no text.
fn write_text(
    draft: &mut KeptResultWriter,
    aside: Option<&Arc<DetachedValues>>,
    survey: &ResultLayout,
) -> io::Result<()> {
    for (number, part) in survey.blocks.iter().enumerate() {
        if number > 0 {
            draft.write_all(b"\n")?;
        }
        match part {
            ResultBlock::Text(at) => write_string(draft, at.slice(&survey.result), aside)?,
            ResultBlock::Opaque(block) => draft.write_all(block.description.as_bytes())?,
        }
    }
    match survey.structured.filter(|_| !survey.has_text()) {
        Some(at) => {
            if !draft.is_empty() {
                draft.write_all(b"\n")?;
            }
            copy(draft, survey.result.slice(at.start()..at.end()), aside)
        }
        None => Ok(()),
    }
}

/// Decodes and writes a raw string, detached or not.
fn write_string(
    draft: &mut KeptResultWriter,
    raw: &[u8],
    aside: Option<&Arc<DetachedValues>>,
) -> io::Result<()> {
    let mut reader = JsonStringDecoder::default();
    let mut text = Vec::new();
    let hole = aside.and_then(|aside| Some((aside, aside.resolve_placeholder(raw)?)));
    match hole {
        None => reader.push(raw, &mut text),
        Some((aside, hole)) => read_detached(aside, &hole, |piece| {
            reader.push(piece, &mut text);
            draft.write_all(&text)?;
            text.clear();
            Ok(true)
        })?,
    }
    reader.finish(&mut text);
    draft.write_all(&text)
}

/// Writes raw JSON as sent.
fn copy(
    draft: &mut KeptResultWriter,
    raw: Bytes,
    aside: Option<&Arc<DetachedValues>>,
) -> io::Result<()> {
    let mut whole = ChunkedMessage::default();
    whole.push(raw, aside);
    while let Some(chunk) = whole.next_chunk()? {
        draft.write_all(&chunk)?;
    }
    Ok(())
}
