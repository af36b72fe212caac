//! Reads a range of a kept result, cut at character boundaries.

use std::io;

use toolgate_store::{KeptResult, ResultSection};
use toolgate_wire::large::LargeResponseReader as _;

/// A range of text and its position in the section.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ResultPage {
    pub(super) text: String,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Reads the bytes `from..to` of a section, without incomplete characters at either end.
pub(super) fn page(
    kept: &KeptResult,
    section: &ResultSection,
    from: u64,
    to: u64,
) -> io::Result<ResultPage> {
    let (from, to) = (from.min(section.len), to.min(section.len));
    let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).unwrap_or_default()];
    kept.read_at(section.start + from, &mut bytes)?;
    let cut = bytes.iter().take_while(|byte| is_inside(**byte)).count().min(3);
    let whole = &bytes[cut..];
    let whole = match std::str::from_utf8(whole) {
        Ok(text) => text.to_owned(),
        // An incomplete character at the end.
        Err(error) if error.error_len().is_none() => {
            String::from_utf8_lossy(&whole[..error.valid_up_to()]).into_owned()
        }
        Err(_) => String::from_utf8_lossy(whole).into_owned(),
    };
    let start = from + cut as u64;
    let end = (start + whole.len() as u64).min(section.len);
    Ok(ResultPage { text: whole, start, end })
}

/// Returns true if a byte continues a UTF-8 character.
fn is_inside(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

impl ResultPage {
    /// Cuts the page at the end of its last complete line, if that is near.
    pub(super) fn trim_to_line_end(mut self) -> Self {
        let room = self.text.len() / 8;
        if let Some(at) = self.text.rfind('\n').filter(|at| self.text.len() - at <= room) {
            self.text.truncate(at + 1);
            self.end = self.start + self.text.len() as u64;
        }
        self
    }

    /// Cuts the page at the start of its first complete line, if that is near.
    pub(super) fn trim_to_line_start(mut self) -> Self {
        let room = self.text.len() / 8;
        if let Some(at) = self.text.find('\n').filter(|at| *at <= room) {
            self.text.drain(..=at);
            self.start = self.end - self.text.len() as u64;
        }
        self
    }
}
