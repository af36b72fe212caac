//! Searches a kept result, one window at a time.
//!
//! The search is for plain text, not a pattern. It ignores case in every script unless `exact` is
//! set.

use std::io;

use toolgate_store::{KeptResult, ResultSection};

use super::page::page;
use super::query::ResultTextSearch;

/// How many bytes are searched at a time.
const WINDOW: u64 = 256 << 10;

/// The matches of a search.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TextMatches {
    /// The start and end of each match.
    pub(super) places: Vec<(u64, u64)>,
    /// The start of the first match that is not included.
    pub(super) more: Option<u64>,
}

/// Returns the first matches at or after `from`, at most `most`.
pub(super) fn find(
    kept: &KeptResult,
    section: &ResultSection,
    search: &ResultTextSearch,
    from: u64,
    most: usize,
) -> io::Result<TextMatches> {
    let needle = FoldedText::of(&search.text, search.exact).text;
    let mut found = TextMatches::default();
    if needle.is_empty() {
        return Ok(found);
    }
    // A match may be longer than the search text: some letters lose bytes when folded.
    let overlap = search.text.len() as u64 * 4;
    let (mut at, mut behind) = (from, from);
    while at < section.len {
        let window = page(kept, section, at, at + WINDOW + overlap)?;
        let folded = FoldedText::of(&window.text, search.exact);
        for place in memchr::memmem::find_iter(&folded.text, &needle) {
            let (start, end) = folded.original(place, place + needle.len());
            let (start, end) = (window.start + start, window.start + end);
            if start < behind {
                continue;
            }
            if found.places.len() == most {
                found.more = Some(start);
                return Ok(found);
            }
            behind = end;
            found.places.push((start, end));
        }
        if window.end >= section.len || window.end <= at {
            break;
        }
        at = window.end.saturating_sub(overlap).max(at + 1);
    }
    Ok(found)
}

/// A text in lower case, with the origin of each byte.
struct FoldedText {
    text: Vec<u8>,
    /// The original position of each byte; `None` if they are identical.
    origins: Option<Vec<u32>>,
    len: usize,
}

impl FoldedText {
    fn of(text: &str, exact: bool) -> Self {
        let len = text.len();
        if exact {
            return Self { text: text.as_bytes().to_vec(), origins: None, len };
        }
        if text.is_ascii() {
            return Self { text: text.to_ascii_lowercase().into_bytes(), origins: None, len };
        }
        let (mut folded, mut origins) = (Vec::with_capacity(len), Vec::with_capacity(len));
        for (at, letter) in text.char_indices() {
            for lower in letter.to_lowercase() {
                let mut bytes = [0; 4];
                let bytes = lower.encode_utf8(&mut bytes).as_bytes();
                folded.extend_from_slice(bytes);
                origins.extend(bytes.iter().map(|_| u32::try_from(at).unwrap_or(u32::MAX)));
            }
        }
        Self { text: folded, origins: Some(origins), len }
    }

    fn original(&self, from: usize, to: usize) -> (u64, u64) {
        let at = |place: usize| match &self.origins {
            None => place as u64,
            Some(origins) => origins.get(place).map_or(self.len as u64, |at| u64::from(*at)),
        };
        (at(from), at(to))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;

    use toolgate_store::{ResultQuota, ResultStore};

    use super::*;

    fn kept(text: &str) -> (Arc<KeptResult>, ResultSection) {
        let results = ResultStore::new(std::env::temp_dir(), ResultQuota::default());
        let mut draft = results.begin().unwrap();
        draft.write_all(text.as_bytes()).unwrap();
        let section =
            ResultSection { name: "text".into(), mime: None, start: 0, len: text.len() as u64 };
        (results.keep("me", draft).unwrap(), section)
    }

    fn places(text: &str, wanted: &str, exact: bool) -> Vec<(u64, u64)> {
        let (kept, section) = kept(text);
        let search = ResultTextSearch { text: wanted.to_owned(), context: 0, exact };
        find(&kept, &section, &search, 0, 1000).unwrap().places
    }

    #[test]
    fn every_place_is_found_once_in_any_script_and_case() {
        assert_eq!(places("Ala ma kota, ALA", "ala", false), [(0, 3), (13, 16)]);
        assert_eq!(places("Ala ma kota, ALA", "ala", true), []);
        assert_eq!(places("ŻÓŁĆ i żółć", "Żółć", false), [(0, 8), (11, 19)]);
        assert_eq!(places("日本と日本", "日本", false), [(0, 6), (9, 15)]);
        assert_eq!(places("aaaa", "aa", false), [(0, 2), (2, 4)]);
        // A letter that becomes longer when folded.
        assert_eq!(places("İX", "x", false), [(2, 3)]);
    }

    #[test]
    fn a_place_between_two_windows_is_found() {
        for shift in 0..12 {
            let before = "ż".repeat(WINDOW as usize / 2 - 6) + &"x".repeat(shift);
            let text = format!("{before}needle{}needle", "y".repeat(600_000));
            let found = places(&text, "NEEDLE", false);
            let at = before.len() as u64;
            let second = at + 6 + 600_000;
            assert_eq!(found, [(at, at + 6), (second, second + 6)], "shifted by {shift}");
        }
    }

    #[test]
    fn the_rest_is_told_of() {
        let (kept, section) = kept(&"ab".repeat(100));
        let search = ResultTextSearch { text: "b".into(), context: 0, exact: false };
        let found = find(&kept, &section, &search, 10, 3).unwrap();
        assert_eq!(
            found,
            TextMatches { places: vec![(11, 12), (13, 14), (15, 16)], more: Some(17) }
        );
    }
}
