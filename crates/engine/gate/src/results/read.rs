//! Reading what was kept: a page, some lines, the places of a text, or the data of a block.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_bridge::{self as bridge, Passage};
use toolgate_store::{KeptResult, Section};
use toolgate_wire::large::{Aside, Form, Hole, Kept as _, Token};
use toolgate_wire::{Frame, Revision, build, code, method, string};

use super::page::{Page, page};
use super::query::{Query, Search};
use super::search::{self, Found};
use super::{META, PREFIX, gone, unreadable};
use crate::present::own_frame;
use crate::{Caller, Gate, Refusal};

/// How many places of a text are shown at once.
const PLACES: usize = 20;
/// How much one read gives at most.
const AT_MOST: u64 = 4 << 20;
const CHUNK: u64 = 256 << 10;

/// How much is given if nobody says how much, and at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    usual: u64,
    most: u64,
}

impl Room {
    /// What fits into a result of this profile, by a careful guess.
    pub(super) fn of(limit: Option<u32>) -> Self {
        let fits = limit.map_or(64 << 10, |limit| u64::from(limit) * 2).max(256);
        Self { usual: fits.min(64 << 10), most: AT_MOST }
    }

    /// The same for a model, which must not be given more than it can take.
    pub(super) fn for_a_model(self, limit: Option<u32>) -> Self {
        let most = limit.map_or(AT_MOST, |limit| u64::from(limit) * 3).max(self.usual);
        Self { most, ..self }
    }
}

/// What was read, and what is to be known of it.
pub(super) struct Reading {
    pub(super) text: String,
    /// What a reader needs to go on.
    pub(super) note: Option<String>,
    meta: String,
    mime: String,
}

/// The answer to `resources/read`.
pub(super) async fn resource(
    gate: &Gate,
    uri: &str,
    caller: &Caller,
    room: Room,
) -> Result<Frame, Refusal> {
    let wrong = |message| Refusal { code: code::INVALID_PARAMS, message, data: None };
    let query = Query::of_uri(uri).map_err(wrong)?;
    let kept = gate.kept(&query.id, caller).ok_or_else(|| gone(uri))?;
    if query.is_part {
        return part(&kept, &query, uri, caller.revision);
    }
    let reading = read(kept, query, room).await?.map_err(wrong)?;
    let mut contents = vec![content(uri, &reading.mime, &reading.text)];
    contents.extend(reading.note.map(|note| content(uri, "text/plain", &note)));
    let result = format!(
        r#"{{"contents":[{}],"_meta":{{{}:{}}}}}"#,
        contents.join(","),
        string::encode(META),
        reading.meta
    );
    fitted(own_frame(build::response("0", result.as_bytes()))?, caller.revision)
}

fn content(uri: &str, mime: &str, text: &str) -> String {
    let [uri, mime, text] = [uri, mime, text].map(string::encode);
    format!(r#"{{"uri":{uri},"mimeType":{mime},"text":{text}}}"#)
}

fn fitted(answer: Frame, to: Revision) -> Result<Frame, Refusal> {
    let passage = Passage { method: method::RESOURCES_READ, from: Revision::LATEST_LEGACY, to };
    Ok(bridge::result(answer, &passage, None))
}

/// The data of a block as it is, from where it lies.
fn part(kept: &Arc<KeptResult>, query: &Query, uri: &str, to: Revision) -> Result<Frame, Refusal> {
    let section = kept.section(&query.section).ok_or_else(|| gone(uri))?;
    let narrow = |offset: u64| u32::try_from(offset).ok();
    let (start, len) = narrow(section.start).zip(narrow(section.len)).ok_or_else(|| gone(uri))?;
    let mut random = [0; 12];
    getrandom::fill(&mut random).map_err(|error| unreadable(&io::Error::other(error)))?;
    let token = Token::new(random);
    let [shown, mime] = [uri, section.mime.as_deref().unwrap_or_default()].map(string::encode);
    let blob = token.placeholder(0, Form::Text);
    let result = format!(r#"{{"contents":[{{"uri":{shown},"mimeType":{mime},"blob":{blob}}}]}}"#);
    let aside = Aside::new(token, vec![Hole { start, len, form: Form::Text }], kept.clone());
    let answer = own_frame(build::response("0", result.as_bytes()))?;
    fitted(answer.beside(Some(Arc::new(aside))), to)
}

/// Reads what is wanted; what is wrong with the wish is said in words.
pub(super) async fn read(
    kept: Arc<KeptResult>,
    query: Query,
    room: Room,
) -> Result<Result<Reading, String>, Refusal> {
    let read = tokio::task::spawn_blocking(move || now(&kept, &query, room)).await;
    let read = read.map_err(io::Error::other).and_then(|read| read);
    read.map_err(|error| unreadable(&error))
}

fn now(kept: &KeptResult, query: &Query, room: Room) -> io::Result<Result<Reading, String>> {
    let Some(section) = kept.section(&query.section) else {
        return Ok(Err(format!("this result has no {}", query.section)));
    };
    let length = query.length.unwrap_or(room.usual).min(room.most);
    if let Some(search) = &query.search {
        return found(kept, section, query, search, room).map(Ok);
    }
    let (from, to) = match query.lines {
        None => (query.offset, query.offset.saturating_add(length)),
        Some((first, last)) => {
            let (from, to) = lines(kept, section, first, last)?;
            (from, to.min(from.saturating_add(room.most)))
        }
    };
    if from >= section.len && section.len > 0 {
        let len = section.len;
        return Ok(Err(format!("nothing lies there: it has {len} bytes, counted from 0")));
    }
    let page = some(kept, section, from, to)?;
    Ok(Ok(paged(kept, section, page)))
}

/// A stretch of a section with a character in it at least, so that whoever reads on gets on.
fn some(kept: &KeptResult, section: &Section, from: u64, to: u64) -> io::Result<Page> {
    let mut stretch = page(kept, section, from, to)?;
    for longer in 2..=4 {
        if !stretch.text.is_empty() {
            break;
        }
        stretch = page(kept, section, stretch.start, stretch.start + longer)?;
    }
    Ok(stretch)
}

fn paged(kept: &KeptResult, section: &Section, page: Page) -> Reading {
    let Page { text, start, end } = page;
    let len = section.len;
    let next = (end < len).then_some(end);
    let note =
        next.map(|next| format!("[bytes {start} to {end} of {len}; to read on: offset={next}]"));
    let meta = format!(
        r#"{{"uri":{},"offset":{start},"length":{},"bytes":{len}{}}}"#,
        string::encode(&format!("{PREFIX}{}", kept.id())),
        end - start,
        next.map(|next| format!(r#","nextOffset":{next}"#)).unwrap_or_default(),
    );
    let mime = section.mime.clone().unwrap_or_default();
    Reading { text, note, meta, mime }
}

/// The places of a text, each with what stands around it.
fn found(
    kept: &KeptResult,
    section: &Section,
    query: &Query,
    search: &Search,
    room: Room,
) -> io::Result<Reading> {
    let Found { places, mut more } = search::find(kept, section, search, query.offset, PLACES)?;
    let mut shown = Vec::new();
    let mut offsets = Vec::new();
    let (mut left, context) = (room.most, search.context.min(room.most / 4));
    for (start, end) in places {
        let len = end - start + 2 * context;
        if len > left && !shown.is_empty() {
            more = Some(start);
            break;
        }
        left = left.saturating_sub(len);
        let around = (start.saturating_sub(context), end.saturating_add(context));
        let around = page(kept, section, around.0, around.1)?;
        shown.push(format!("@{start}: {}", around.text.replace(['\n', '\r'], " ")));
        offsets.push(start.to_string());
    }
    let note = match (shown.len(), more) {
        (0, _) => Some(format!("[{:?} is not found from byte {} on]", search.text, query.offset)),
        (_, None) => Some("[these are all; a number is the offset to read at]".to_owned()),
        (_, Some(more)) => {
            Some(format!("[there are more; to go on: search again with offset={more}]"))
        }
    };
    let next = more.map(|more| format!(r#","nextOffset":{more}"#)).unwrap_or_default();
    let meta = format!(
        r#"{{"uri":{},"matches":[{}],"bytes":{}{next}}}"#,
        string::encode(&format!("{PREFIX}{}", kept.id())),
        offsets.join(","),
        section.len,
    );
    Ok(Reading { text: shown.join("\n"), note, meta, mime: "text/plain".to_owned() })
}

/// Where the lines `first` to `last` lie, counted from 1.
fn lines(kept: &KeptResult, section: &Section, first: u64, last: u64) -> io::Result<(u64, u64)> {
    let (mut line, mut at, mut from) = (1, 0, (first == 1).then_some(0));
    while at < section.len {
        let step = CHUNK.min(section.len - at);
        let mut chunk = vec![0; usize::try_from(step).unwrap_or_default()];
        kept.read_at(section.start + at, &mut chunk)?;
        for end in memchr::memchr_iter(b'\n', &chunk) {
            let behind = at + end as u64 + 1;
            if line == last {
                return Ok((from.unwrap_or(behind), behind));
            }
            line += 1;
            if line == first {
                from = Some(behind);
            }
        }
        at += step;
    }
    Ok((from.unwrap_or(section.len), section.len))
}

/// What was read as the text of a tool's result.
pub(super) fn as_text(reading: &Reading) -> Bytes {
    let texts = [Some(&reading.text), reading.note.as_ref()];
    let blocks: Vec<_> = texts
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty())
        .map(|text| format!(r#"{{"type":"text","text":{}}}"#, string::encode(text)))
        .collect();
    format!(r#"{{"content":[{}]}}"#, blocks.join(",")).into()
}
