//! Who speaks in a transcript.
//!
//! `Anna: …` and `[00:01] Anna: …` line by line, voices of WebVTT, speakers in subtitles, and the
//! exports that give a name and a time a line of their own.

use std::collections::HashMap;
use std::ops::Range;

use crate::blocks::{is_cue, label, stamp};
use crate::people;
use crate::sections::{Section, named};

/// What one speaker says at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The speaker's name.
    pub(crate) speaker: Range<usize>,
}

/// Two speakers, or one who speaks this often, make a transcript.
const OFTEN: usize = 3;

/// The turns of a transcript; none where the text is none.
pub(crate) fn turns(text: &str) -> Vec<Turn> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut sure = text.trim_start_matches('\u{feff}').starts_with("WEBVTT");
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim_end();
        if is_cue(words) {
            sure = true;
        } else if let Some((speaker, told)) = speaker(words) {
            sure |= told;
            let range = start + speaker.start..start + speaker.end;
            found.push(range);
        }
        start += line.len();
    }
    if !sure && !talks(text, &found) {
        return Vec::new();
    }
    found.into_iter().map(|speaker| Turn { speaker }).collect()
}

/// Who speaks at this place.
pub(crate) fn at(turns: &[Turn], place: usize) -> Option<Range<usize>> {
    let behind = turns.partition_point(|turn| turn.speaker.start <= place);
    turns.get(behind.checked_sub(1)?).map(|turn| turn.speaker.clone())
}

/// Whether these labels are people who talk: some of them more than once.
fn talks(text: &str, found: &[Range<usize>]) -> bool {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for range in found {
        *counts.entry(text.get(range.clone()).unwrap_or("")).or_default() += 1;
    }
    let again = counts.values().filter(|count| **count > 1).count();
    counts.len() > 1 && again > 0 && found.len() >= OFTEN || again > 0 && found.len() > OFTEN
}

/// The speaker a line names, and whether its form alone tells that it is one.
fn speaker(line: &str) -> Option<(Range<usize>, bool)> {
    voice(line)
        .map(|range| (range, true))
        .or_else(|| timed(line).map(|range| (range, true)))
        .or_else(|| {
            let lead = line.len() - line.trim_start_matches(['-', '*', '>', ' ', '\t']).len();
            let bare = &line[lead..];
            let colon = label(bare)?;
            let told = stamp(bare);
            let name = chat_name(&bare[told..colon]);
            let range = lead + told + name.start..lead + told + name.end;
            let words = line.get(range.clone())?;
            let range = people::whole_name(line, range)?;
            (named(words) == Section::Other && !is_field(words)).then_some((range, told > 0))
        })
}

/// `From Anna to Everyone`, as Zoom's chat has it.
fn chat_name(label: &str) -> Range<usize> {
    let lead = label.len() - label.trim_start_matches("From ").trim_start().len();
    let end = label[lead..]
        .to_lowercase()
        .find(" to ")
        .filter(|_| lead > 0)
        .map_or(label.len(), |at| lead + at);
    if label.is_char_boundary(end) { lead..end } else { lead..label.len() }
}

/// Labels of a form, not of a speaker.
fn is_field(words: &str) -> bool {
    const FIELDS: &str = " \
    owner due deadline priority project client version title url link email phone address author \
    type name id room organizer duration recorded host re cc subject from sent to kind language \
    note region style warning tip important example question answer q a pros cons input output \
    result update problem solution ";
    let small = words.to_lowercase();
    FIELDS.contains(&format!(" {small} "))
}

/// `<v Anna Kovács>…`.
fn voice(line: &str) -> Option<Range<usize>> {
    let at = line.find("<v")?;
    let rest = &line[at + 2..];
    let blank = rest.find(' ').filter(|blank| *blank < 40)?;
    let from = at + 2 + blank + 1;
    let end = from + line[from..].find('>')?;
    (end > from && end - from < 60).then_some(from..end)
}

/// `Anna Kovács   0:12`, `Anna Kovács 10:15 AM`: a line of its own before what is said.
fn timed(line: &str) -> Option<Range<usize>> {
    let length = people::name_at(line)?;
    let rest = line[length..].trim_start();
    let rest = rest.trim_start_matches(['[', '(', '|', '-', ' ']);
    let time = stamp(rest);
    let behind = rest[time..].trim();
    let ends =
        time > 0 && (behind.is_empty() || matches!(behind.to_lowercase().as_str(), "am" | "pm"));
    (ends && line.len() > length && line[length..].starts_with([' ', '\t'])).then_some(0..length)
}
