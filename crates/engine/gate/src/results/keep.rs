//! Writing a result down: its text as a reader wants it, then all of it as the server sent it.

use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use toolgate_store::{Draft, KeptResult, Results, Section};
use toolgate_transport::refill::Refill;
use toolgate_wire::large::{Aside, Unescape};
use toolgate_wire::{Frame, Span};

use super::survey::{Part, Survey};

/// The text of a result, everything that is no text in a word or two.
pub(super) const TEXT: &str = "text";
/// The result object.
pub(super) const RAW: &str = "raw";
/// Its structured output.
pub(super) const STRUCTURED: &str = "structured";

const CHUNK: usize = 64 << 10;

/// The name of the section with the data of a block, by its number.
pub(super) fn part(number: usize) -> String {
    format!("part-{number}")
}

/// Keeps a result for its owner.
pub(super) fn keep(
    store: &dyn Results,
    owner: &str,
    answer: &Frame,
    survey: &Survey,
) -> io::Result<Arc<KeptResult>> {
    let mut draft = store.begin()?;
    let aside = answer.aside();
    write_text(&mut draft, aside, survey)?;
    draft.section(section(TEXT, Some("text/plain"), 0, draft.len()));
    let base = draft.len();
    copy(&mut draft, survey.result.clone(), aside)?;
    draft.section(section(RAW, Some("application/json"), base, draft.len() - base));
    let place = |at: Span| {
        let before = survey.result.slice(..at.start());
        let own = survey.result.slice(at.start()..at.end());
        (base + filled_len(&before, aside), filled_len(&own, aside))
    };
    if let Some(at) = survey.structured {
        let (start, len) = place(at);
        draft.section(section(STRUCTURED, Some("application/json"), start, len));
    }
    for (number, it) in survey.parts.iter().enumerate() {
        if let Part::Binary(binary) = it {
            let (start, len) = place(binary.data);
            draft.section(section(&part(number), Some(&binary.mime), start, len));
        }
    }
    store.keep(owner, draft)
}

fn section(name: &str, mime: Option<&str>, start: u64, len: u64) -> Section {
    Section { name: name.to_owned(), mime: mime.map(str::to_owned), start, len }
}

fn filled_len(text: &Bytes, aside: Option<&Arc<Aside>>) -> u64 {
    aside.map_or(text.len() as u64, |aside| aside.filled_len(text))
}

/// The blocks one after another, each on a line of its own. Structured output is the text where
/// there is no other.
fn write_text(draft: &mut Draft, aside: Option<&Arc<Aside>>, survey: &Survey) -> io::Result<()> {
    for (number, part) in survey.parts.iter().enumerate() {
        if number > 0 {
            draft.write_all(b"\n")?;
        }
        match part {
            Part::Text(at) => write_string(draft, at.of(&survey.result), aside)?,
            Part::Binary(binary) => draft.write_all(binary.words.as_bytes())?,
            Part::Other(other) => draft.write_all(other.words.as_bytes())?,
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

/// What a raw string says, wherever it lies.
fn write_string(draft: &mut Draft, raw: &[u8], aside: Option<&Arc<Aside>>) -> io::Result<()> {
    let mut reader = Unescape::default();
    let mut text = Vec::new();
    let hole = aside.and_then(|aside| Some((aside, aside.hole(raw)?)));
    match hole {
        None => reader.push(raw, &mut text),
        Some((aside, hole)) => {
            let mut chunk = vec![0; CHUNK];
            let (mut at, end) = (u64::from(hole.start), u64::from(hole.start + hole.len));
            while at < end {
                let step = usize::try_from(end - at).unwrap_or(CHUNK).min(CHUNK);
                let piece = &mut chunk[..step];
                aside.kept().read_at(at, piece)?;
                reader.push(piece, &mut text);
                draft.write_all(&text)?;
                text.clear();
                at += step as u64;
            }
        }
    }
    reader.finish(&mut text);
    draft.write_all(&text)
}

/// Raw JSON as it was sent.
fn copy(draft: &mut Draft, raw: Bytes, aside: Option<&Arc<Aside>>) -> io::Result<()> {
    let mut whole = Refill::default();
    whole.push(raw, aside);
    while let Some(chunk) = whole.chunk()? {
        draft.write_all(&chunk)?;
    }
    Ok(())
}
