//! Finds the speakers of a transcript.
//!
//! It knows lines such as `Anna: …` and `[00:01] Anna: …`, WebVTT voices, speakers in subtitles,
//! and exports that put a name and a time on a separate line.

use std::collections::HashMap;
use std::ops::Range;

use crate::layout::{is_cue, label_end, timestamp_length};
use crate::people;
use crate::sections::{NoteSection, section_named};

/// The number of turns from which a single speaker makes a transcript.
const OFTEN: usize = 3;

/// Returns the speaker's name at the start of each turn of a transcript; empty if the text is not
/// one.
pub(crate) fn turns(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut sure = text.trim_start_matches('\u{feff}').starts_with("WEBVTT");
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim_end();
        if is_cue(words) {
            sure = true;
        } else if let Some((speaker, told)) = speaker(words) {
            sure |= told;
            found.push(start + speaker.start..start + speaker.end);
        }
        start += line.len();
    }
    if !sure && !is_conversation(text, &found) {
        return Vec::new();
    }
    found
}

/// Returns the speaker at this offset.
pub(crate) fn speaker_at(turns: &[Range<usize>], place: usize) -> Option<Range<usize>> {
    let behind = turns.partition_point(|speaker| speaker.start <= place);
    turns.get(behind.checked_sub(1)?).cloned()
}

/// Returns true if these labels are speakers: some of them occur more than once.
fn is_conversation(text: &str, found: &[Range<usize>]) -> bool {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for range in found {
        *counts.entry(text.get(range.clone()).unwrap_or("")).or_default() += 1;
    }
    let again = counts.values().filter(|count| **count > 1).count();
    counts.len() > 1 && again > 0 && found.len() >= OFTEN || again > 0 && found.len() > OFTEN
}

/// Returns the speaker that a line names, and whether the form of the line is unambiguous.
fn speaker(line: &str) -> Option<(Range<usize>, bool)> {
    voice(line)
        .map(|range| (range, true))
        .or_else(|| timed(line).map(|range| (range, true)))
        .or_else(|| {
            let lead = line.len() - line.trim_start_matches(['-', '*', '>', ' ', '\t']).len();
            let bare = &line[lead..];
            let colon = label_end(bare)?;
            let told = timestamp_length(bare);
            let name = chat_name(&bare[told..colon]);
            let range = lead + told + name.start..lead + told + name.end;
            let words = line.get(range.clone())?;
            let range = people::whole_name(line, range)?;
            (section_named(words) == NoteSection::Other && !is_field(words))
                .then_some((range, told > 0))
        })
}

/// Returns the name in `From Anna to Everyone`, as in Zoom's chat.
fn chat_name(label: &str) -> Range<usize> {
    let lead = label.len() - label.trim_start_matches("From ").trim_start().len();
    let end = label[lead..]
        .to_lowercase()
        .find(" to ")
        .filter(|_| lead > 0)
        .map_or(label.len(), |at| lead + at);
    if label.is_char_boundary(end) { lead..end } else { lead..label.len() }
}

/// Returns true for labels of a form, which are not speakers.
fn is_field(words: &str) -> bool {
    const FIELDS: &str = " \
    owner due deadline priority project client version title url link email phone address author \
    type name id room organizer duration recorded host re cc subject from sent to kind language \
    note region style warning tip important example question answer q a pros cons input output \
    result update problem solution ";
    let small = words.to_lowercase();
    FIELDS.contains(&format!(" {small} "))
}

/// Finds the name in `<v Anna Kovács>…`.
fn voice(line: &str) -> Option<Range<usize>> {
    let at = line.find("<v")?;
    let rest = &line[at + 2..];
    let blank = rest.find(' ').filter(|blank| *blank < 40)?;
    let from = at + 2 + blank + 1;
    let end = from + line[from..].find('>')?;
    (end > from && end - from < 60).then_some(from..end)
}

/// Finds the name in `Anna Kovács   0:12`, `Anna Kovács 10:15 AM` on a separate line.
fn timed(line: &str) -> Option<Range<usize>> {
    let length = people::name_length(line)?;
    let rest = line[length..].trim_start();
    let rest = rest.trim_start_matches(['[', '(', '|', '-', ' ']);
    let time = timestamp_length(rest);
    let behind = rest[time..].trim();
    let ends =
        time > 0 && (behind.is_empty() || matches!(behind.to_lowercase().as_str(), "am" | "pm"));
    (ends && line.len() > length && line[length..].starts_with([' ', '\t'])).then_some(0..length)
}
