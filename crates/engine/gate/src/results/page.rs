//! A stretch of what is kept, cut between characters.

use std::io;

use toolgate_store::{KeptResult, Section};
use toolgate_wire::large::Kept as _;

/// A stretch of text, and where it lies in its section.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) text: String,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The bytes `from..to` of a section, without the characters they cut.
pub(super) fn page(kept: &KeptResult, section: &Section, from: u64, to: u64) -> io::Result<Page> {
    let (from, to) = (from.min(section.len), to.min(section.len));
    let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).unwrap_or_default()];
    kept.read_at(section.start + from, &mut bytes)?;
    let cut = bytes.iter().take_while(|byte| is_inside(**byte)).count().min(3);
    let whole = &bytes[cut..];
    let whole = match std::str::from_utf8(whole) {
        Ok(text) => text.to_owned(),
        // A character at the end that is not all there.
        Err(error) if error.error_len().is_none() => {
            String::from_utf8_lossy(&whole[..error.valid_up_to()]).into_owned()
        }
        Err(_) => String::from_utf8_lossy(whole).into_owned(),
    };
    let start = from + cut as u64;
    let end = (start + whole.len() as u64).min(section.len);
    Ok(Page { text: whole, start, end })
}

/// Whether a byte goes on with a character.
fn is_inside(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

impl Page {
    /// The same up to the end of its last line, if that is not far.
    pub(super) fn up_to_line(mut self) -> Self {
        let room = self.text.len() / 8;
        if let Some(at) = self.text.rfind('\n').filter(|at| self.text.len() - at <= room) {
            self.text.truncate(at + 1);
            self.end = self.start + self.text.len() as u64;
        }
        self
    }

    /// The same from the beginning of its first line, if that is not far.
    pub(super) fn since_line(mut self) -> Self {
        let room = self.text.len() / 8;
        if let Some(at) = self.text.find('\n').filter(|at| *at <= room) {
            self.text.drain(..=at);
            self.start = self.end - self.text.len() as u64;
        }
        self
    }
}
