//! Builds the shortened form of a kept result: its first and last part, and how to read the rest.

use std::io;

use toolgate_bridge::describe;
use toolgate_search::tokens::estimate;
use toolgate_store::{KeptResult, ResultSection};
use toolgate_wire::{Frame, JsonEdit, Revision, scan, string};

use super::keep::{RAW, STRUCTURED, TEXT};
use super::layout::{BINARY, OpaqueBlock, ResultBlock, ResultLayout};
use super::page::page;
use super::{META, PREFIX, tool};

/// How much of a text is read to estimate its bytes per token.
const SAMPLE: u64 = 64 << 10;
/// A block that is neither text nor binary stays if it is not longer than this.
const SHORT: u64 = 4 << 10;
/// The most bytes of such blocks that stay in all.
const SHORT_IN_ALL: u64 = 64 << 10;
/// The tokens reserved for the gate's own notes.
const OUR_WORDS: u64 = 200;

/// Returns the shortened form of an answer whose result was kept.
pub(super) fn preview(
    kept: &KeptResult,
    answer: &Frame,
    survey: &ResultLayout,
    limit: u32,
    to: Revision,
) -> io::Result<Frame> {
    let uri = format!("{PREFIX}{}", kept.id());
    let text = kept.section(TEXT).cloned().unwrap_or(NOTHING);
    let mut blocks = texts(kept, &text, survey, &uri, limit)?;
    push_kept_blocks(survey, &mut blocks);
    if to.has_resource_links() {
        blocks.push(link(&uri, text.len));
    }
    let content = format!("[{}]", blocks.join(","));
    let bytes = kept.section(RAW).map_or(0, |raw| raw.len);
    let meta =
        format!(r#"{{"uri":{},"bytes":{bytes},"tokens":{}}}"#, string::encode(&uri), survey.tokens);
    let edited = replace_content(answer, &content, &meta);
    edited.ok_or_else(|| io::Error::other("cannot shorten the result"))
}

const NOTHING: ResultSection = ResultSection { name: String::new(), mime: None, start: 0, len: 0 };

fn replace_content(answer: &Frame, content: &str, meta: &str) -> Option<Frame> {
    let place = answer.result_span()?;
    let raw = place.slice(answer.bytes());
    let edit = answer.edit().set_member(place, "content", content);
    let edit = edit.delete_member(place, "structuredContent");
    let edit: JsonEdit<'_> = match scan::member(raw, "_meta").map(|at| at.within(place)) {
        Some(at) if at.slice(answer.bytes()).starts_with(b"{") => edit.set_member(at, META, meta),
        _ => edit.set_member(place, "_meta", format!("{{{}:{meta}}}", string::encode(META))),
    };
    edit.finish_frame().ok()
}

pub(super) fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, string::encode(text))
}

/// Returns the text within the limit, and notes about the rest.
fn texts(
    kept: &KeptResult,
    text: &ResultSection,
    survey: &ResultLayout,
    uri: &str,
    limit: u32,
) -> io::Result<Vec<String>> {
    let room = room(kept, text, limit)?;
    let mut blocks = Vec::new();
    if text.len <= room {
        let whole = page(kept, text, 0, text.len)?;
        blocks.extend((!whole.text.is_empty()).then(|| text_block(&whole.text)));
        blocks.extend(omitted_note(kept, survey, uri).map(|note| text_block(&note)));
        return Ok(blocks);
    }
    let head = page(kept, text, 0, room / 3 * 2)?.trim_to_line_end();
    let tail = page(kept, text, text.len - room / 3, text.len)?.trim_to_line_start();
    let (next, left) = (head.end, tail.start - head.end);
    let mut notes = format!(
        "[{left} of {} bytes of this result are left out here. All of it (about {} tokens) is kept \
         as {uri}. Read on with the tool {} and {{\"uri\": \"{uri}\", \"offset\": {next}}}, or \
         {{\"uri\": \"{uri}\", \"search\": \"TEXT\"}}; or read the resource {uri}?offset={next}, \
         {uri}?lines=1-100 or {uri}?search=TEXT. Its last part follows.]",
        text.len,
        survey.tokens,
        tool::NAME,
    );
    notes.extend(omitted_note(kept, survey, uri).map(|more| format!("\n{more}")));
    blocks.extend([head.text, notes, tail.text].map(|text| text_block(&text)));
    Ok(blocks)
}

/// Returns notes about omitted content other than text.
fn omitted_note(kept: &KeptResult, survey: &ResultLayout, uri: &str) -> Option<String> {
    let mut notes = Vec::new();
    if let Some(output) = kept.section(STRUCTURED).filter(|_| survey.has_text()) {
        let size = describe::format_size(output.len);
        notes.push(format!(
            "[the structured output of this result, {size}, is left out; it is kept as \
             {uri}?form={STRUCTURED}]"
        ));
    }
    for (number, binary) in omitted_binaries(survey) {
        notes.push(format!("{}: left out, kept as {uri}?part={number}", binary.description));
    }
    (!notes.is_empty()).then(|| notes.join("\n"))
}

/// Returns the binary blocks that do not fit.
fn omitted_binaries(survey: &ResultLayout) -> impl Iterator<Item = (usize, &OpaqueBlock)> {
    let mut inline = 0;
    survey.blocks.iter().enumerate().filter_map(move |(number, part)| match part {
        ResultBlock::Opaque(binary) if binary.data.is_some() => {
            let fits = inline + binary.len <= BINARY;
            inline += if fits { binary.len } else { 0 };
            (!fits).then_some((number, &**binary))
        }
        _ => None,
    })
}

/// Adds the blocks that stay unchanged.
fn push_kept_blocks(survey: &ResultLayout, blocks: &mut Vec<String>) {
    let gone: Vec<_> = omitted_binaries(survey).map(|(number, _)| number).collect();
    let mut short = 0;
    for (number, part) in survey.blocks.iter().enumerate() {
        let at = match part {
            ResultBlock::Opaque(binary) if binary.data.is_some() => match gone.contains(&number) {
                true => continue,
                false => binary.block,
            },
            ResultBlock::Opaque(other) if other.len <= SHORT && short < SHORT_IN_ALL => {
                short += other.len;
                other.block
            }
            _ => continue,
        };
        blocks.push(String::from_utf8_lossy(at.slice(&survey.result)).into_owned());
    }
}

/// Returns how many bytes of the text fit within the limit.
fn room(kept: &KeptResult, text: &ResultSection, limit: u32) -> io::Result<u64> {
    let sample = page(kept, text, 0, SAMPLE)?.text;
    let tokens = u64::from(estimate(sample.as_bytes())).max(1);
    let budget = u64::from(limit).saturating_sub(OUR_WORDS).max(u64::from(limit) / 2);
    Ok((sample.len() as u64 * budget / tokens).max(1))
}

fn link(uri: &str, size: u64) -> String {
    format!(
        r#"{{"type":"resource_link","uri":{},"name":"result","title":"The whole result","description":"Takes ?offset=&length=, ?lines=A-B, ?search=TEXT, ?form=raw","mimeType":"text/plain","size":{size}}}"#,
        string::encode(uri)
    )
}
