//! Reads kept results: a page, lines, search matches, or the data of a block.

use std::io;
use std::sync::Arc;

use toolgate_model::ErrorCode;
use toolgate_store::{KeptResult, ResultSection};
use toolgate_wire::large::{
    DetachedValue, DetachedValueKind, DetachedValues, LargeResponseReader as _, PlaceholderToken,
};
use toolgate_wire::{Frame, Revision, method, string};

use super::page::{ResultPage, page};
use super::preview::text_block;
use super::query::{ResultQuery, ResultTextSearch};
use super::search::{self, TextMatches};
use super::{META, PREFIX, result_not_found, unreadable};
use crate::present::own_result;
use crate::{Caller, Gate, GateError};

/// The most matches shown at once.
const PLACES: usize = 20;
/// The most bytes one read returns.
const AT_MOST: u64 = 4 << 20;
const CHUNK: u64 = 256 << 10;

/// The default and maximum number of bytes to return.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadLimits {
    usual: u64,
    most: u64,
}

impl ReadLimits {
    /// Returns limits that fit into a result of this profile, by a careful estimate.
    pub(super) fn of(limit: Option<u32>) -> Self {
        let fits = limit.map_or(64 << 10, |limit| u64::from(limit) * 2).max(256);
        Self { usual: fits.min(64 << 10), most: AT_MOST }
    }

    /// Returns limits for a model, which must not get more than the profile allows.
    pub(super) fn for_a_model(self, limit: Option<u32>) -> Self {
        let most = limit.map_or(AT_MOST, |limit| u64::from(limit) * 3).max(self.usual);
        Self { most, ..self }
    }
}

/// An excerpt of a kept result.
pub(super) struct ResultExcerpt {
    pub(super) text: String,
    /// How to read on.
    pub(super) note: Option<String>,
    meta: String,
    mime: String,
}

/// Answers `resources/read`.
pub(super) async fn resource(
    gate: &Gate,
    uri: &str,
    caller: &Caller,
    room: ReadLimits,
) -> Result<Frame, GateError> {
    let wrong = |message| GateError::new(ErrorCode::CallParams, message);
    let query = ResultQuery::from_uri(uri).map_err(wrong)?;
    let kept = gate.find_kept(&query.id, caller).ok_or_else(|| result_not_found(uri))?;
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
    own_result(method::RESOURCES_READ, result.as_bytes(), caller.revision)
}

fn content(uri: &str, mime: &str, text: &str) -> String {
    let [uri, mime, text] = [uri, mime, text].map(string::encode);
    format!(r#"{{"uri":{uri},"mimeType":{mime},"text":{text}}}"#)
}

/// Returns the data of a block, streamed from the store.
fn part(
    kept: &Arc<KeptResult>,
    query: &ResultQuery,
    uri: &str,
    to: Revision,
) -> Result<Frame, GateError> {
    let section = kept.section(&query.section).ok_or_else(|| result_not_found(uri))?;
    let narrow = |offset: u64| u32::try_from(offset).ok();
    let (start, len) =
        narrow(section.start).zip(narrow(section.len)).ok_or_else(|| result_not_found(uri))?;
    let mut random = [0; 12];
    getrandom::fill(&mut random).map_err(|error| unreadable(&io::Error::other(error)))?;
    let token = PlaceholderToken::new(random);
    let [shown, mime] = [uri, section.mime.as_deref().unwrap_or_default()].map(string::encode);
    let blob = token.placeholder(0, DetachedValueKind::Text);
    let result = format!(r#"{{"contents":[{{"uri":{shown},"mimeType":{mime},"blob":{blob}}}]}}"#);
    let aside = DetachedValues::new(
        token,
        vec![DetachedValue { start, len, kind: DetachedValueKind::Text }],
        kept.clone(),
    );
    let answer = own_result(method::RESOURCES_READ, result.as_bytes(), to)?;
    Ok(answer.with_detached(Some(Arc::new(aside))))
}

/// Reads an excerpt. The inner error says what is wrong with the query.
pub(super) async fn read(
    kept: Arc<KeptResult>,
    query: ResultQuery,
    room: ReadLimits,
) -> Result<Result<ResultExcerpt, String>, GateError> {
    let read = tokio::task::spawn_blocking(move || read_blocking(&kept, &query, room)).await;
    let read = read.map_err(io::Error::other).and_then(|read| read);
    read.map_err(|error| unreadable(&error))
}

fn read_blocking(
    kept: &KeptResult,
    query: &ResultQuery,
    room: ReadLimits,
) -> io::Result<Result<ResultExcerpt, String>> {
    let Some(section) = kept.section(&query.section) else {
        return Ok(Err(format!("this result has no {}", query.section)));
    };
    let length = query.length.unwrap_or(room.usual).min(room.most);
    if let Some(search) = &query.search {
        return search_excerpt(kept, section, query, search, room).map(Ok);
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
        return Ok(Err(format!("byte {from} is past the end: there are {len} bytes")));
    }
    let page = non_empty_page(kept, section, from, to)?;
    Ok(Ok(page_excerpt(kept, section, page)))
}

/// Reads a page with at least one character, so that reading on always advances.
fn non_empty_page(
    kept: &KeptResult,
    section: &ResultSection,
    from: u64,
    to: u64,
) -> io::Result<ResultPage> {
    let mut stretch = page(kept, section, from, to)?;
    for longer in 2..=4 {
        if !stretch.text.is_empty() {
            break;
        }
        stretch = page(kept, section, stretch.start, stretch.start + longer)?;
    }
    Ok(stretch)
}

fn page_excerpt(kept: &KeptResult, section: &ResultSection, page: ResultPage) -> ResultExcerpt {
    let ResultPage { text, start, end } = page;
    let len = section.len;
    let next = (end < len).then_some(end);
    let note =
        next.map(|next| format!("[bytes {start} to {end} of {len}; continue with offset={next}]"));
    let found = format!(r#""offset":{start},"length":{}"#, end - start);
    let mime = section.mime.clone().unwrap_or_default();
    ResultExcerpt { text, note, meta: meta(kept, section, &found, next), mime }
}

/// Returns where an excerpt is from, what it contains and where to read on, for programs.
fn meta(kept: &KeptResult, section: &ResultSection, found: &str, next: Option<u64>) -> String {
    let uri = string::encode(&format!("{PREFIX}{}", kept.id()));
    let next = next.map(|next| format!(r#","nextOffset":{next}"#)).unwrap_or_default();
    format!(r#"{{"uri":{uri},{found},"bytes":{}{next}}}"#, section.len)
}

/// Returns the matches of a search, each with its context.
fn search_excerpt(
    kept: &KeptResult,
    section: &ResultSection,
    query: &ResultQuery,
    search: &ResultTextSearch,
    room: ReadLimits,
) -> io::Result<ResultExcerpt> {
    let TextMatches { places, mut more } =
        search::find(kept, section, search, query.offset, PLACES)?;
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
        (0, _) => format!("[no match for {:?} from byte {} on]", search.text, query.offset),
        (_, None) => "[no more matches; each number is the offset to read at]".to_owned(),
        (_, Some(more)) => format!("[there are more matches; search again with offset={more}]"),
    };
    let meta = meta(kept, section, &format!(r#""matches":[{}]"#, offsets.join(",")), more);
    let mime = "text/plain".to_owned();
    Ok(ResultExcerpt { text: shown.join("\n"), note: Some(note), meta, mime })
}

/// Returns the byte range of the lines `first` to `last`, counted from 1.
fn lines(
    kept: &KeptResult,
    section: &ResultSection,
    first: u64,
    last: u64,
) -> io::Result<(u64, u64)> {
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

/// Returns an excerpt as the text of a tool result.
pub(super) fn to_tool_result(reading: &ResultExcerpt) -> String {
    let texts = [Some(&reading.text), reading.note.as_ref()];
    let blocks: Vec<_> = texts
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty())
        .map(|text| text_block(text))
        .collect();
    format!(r#"{{"content":[{}]}}"#, blocks.join(","))
}
