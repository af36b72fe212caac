//! What edits know of lines: where one begins and ends, which comments belong to what stands below
//! them, and how whole lines are taken out.
//!
//! A line is put in *after* the content of another (its line end, then the new content), and taken
//! out the same way round: so what was just put in leaves nothing behind, whatever the line ends are
//! and whether or not the last line has one.

use std::ops::Range;

/// How comments are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comments {
    /// `//` to the end of the line, and `/* … */`.
    Slashes,
    /// `#` to the end of the line.
    Hash,
}

impl Comments {
    /// The end of the comment that begins a text, if one does.
    fn length(self, text: &str) -> Option<usize> {
        let line = || text.find(['\n', '\r']).unwrap_or(text.len());
        match self {
            Self::Slashes if text.starts_with("//") => Some(line()),
            Self::Slashes if text.starts_with("/*") => {
                Some(text[2..].find("*/").map_or(text.len(), |end| end + 4))
            }
            Self::Hash if text.starts_with('#') => Some(line()),
            _ => None,
        }
    }

    /// The first place from `at` on that is neither space nor comment.
    pub fn skip(self, text: &str, at: usize) -> usize {
        self.skip_while(text, at, char::is_whitespace)
    }

    /// Whether only space and comments stand before a place on its line.
    pub fn is_first(self, text: &str, at: usize) -> bool {
        let line = line_start(text, at);
        self.skip_while(text, line, |c| c == ' ' || c == '\t') == at
    }

    /// The end of the line that `at` is on, if nothing but space and comments is before it.
    pub fn rest_of_line(self, text: &str, at: usize) -> Option<usize> {
        let end = self.skip_while(text, at, |c| c == ' ' || c == '\t');
        let is_end = text[end..].is_empty() || text[end..].starts_with(['\n', '\r']);
        is_end.then(|| line_end(text, end))
    }

    fn skip_while(self, text: &str, mut at: usize, space: fn(char) -> bool) -> usize {
        loop {
            let rest = text[at..].trim_start_matches(space);
            at = text.len() - rest.len();
            match self.length(rest) {
                Some(length) => at += length,
                None => return at,
            }
        }
    }

    /// Where the comments begin that stand right above a line, none of them before `floor`. A
    /// blank line parts them from it.
    pub fn attached(self, text: &str, line: usize, floor: usize) -> usize {
        let mut start = line;
        while let Some(above) = self.comment_above(text, start).filter(|above| *above >= floor) {
            start = above;
        }
        start
    }

    /// Where the comment begins that fills the line or lines right above this one.
    fn comment_above(self, text: &str, line: usize) -> Option<usize> {
        let above = line_start(text, line.checked_sub(1)?);
        let content = text[above..line].trim();
        let begins = |at: usize| is_first(text, at).then(|| line_start(text, at));
        match self {
            Self::Hash => content.starts_with('#').then_some(above),
            Self::Slashes if content.starts_with("//") => Some(above),
            Self::Slashes if content.ends_with("*/") => {
                let end = above + text[above..line].rfind("*/")?;
                begins(text[..end].rfind("/*")?)
            }
            Self::Slashes => None,
        }
    }

    /// The end of the comment lines right below a line that ends at `end`, if a blank line or the
    /// end of the text follows them: then they are about what is above.
    pub fn below(self, text: &str, end: usize) -> usize {
        let (mut last, mut at) = (end, end);
        loop {
            at += newline_at(text, at);
            let line_end = line_end(text, at);
            let content = text[at..line_end].trim();
            if content.is_empty() {
                return last;
            }
            if self.length(content).is_none() {
                return end;
            }
            last = line_end;
            at = line_end;
            if at == text.len() {
                return last;
            }
        }
    }
}

/// The line end a text uses.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// How long the line end at a place is.
fn newline_at(text: &str, at: usize) -> usize {
    match &text[at..] {
        rest if rest.starts_with("\r\n") => 2,
        rest if rest.starts_with('\n') => 1,
        _ => 0,
    }
}

/// Where the line begins that a place is on.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Where the content of the line ends that a place is on.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let Some(newline) = text[at..].find('\n') else { return text.len() };
    let end = at + newline;
    end - usize::from(end > at && text[..end].ends_with('\r'))
}

/// Whether only space stands before a place on its line.
pub(super) fn is_first(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at].trim().is_empty()
}

/// What a line is indented by.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The range of whole lines from the one that begins at `start` to the content that ends at `end`,
/// with the line end before them; at the start of the text, with the one after them.
pub(super) fn cut(text: &str, start: usize, end: usize) -> Range<usize> {
    match start {
        0 => 0..end + newline_at(text, end),
        _ => before(text, start)..end,
    }
}

/// The same with one blank line above them, or below at the start of the text.
pub(super) fn cut_apart(text: &str, start: usize, end: usize) -> Range<usize> {
    let range = cut(text, start, end);
    if start == 0 {
        let next = line_end(text, range.end);
        let is_blank = text[range.end..next].trim().is_empty();
        return 0..if is_blank { next + newline_at(text, next) } else { range.end };
    }
    let above = line_start(text, range.start);
    match text[above..range.start].trim().is_empty() {
        // The blank line is the first of the text.
        true if above == 0 => 0..end + newline_at(text, end),
        true => before(text, above)..end,
        false => range,
    }
}

/// Where the line end before the start of a line begins.
fn before(text: &str, start: usize) -> usize {
    let newline = start.saturating_sub(1);
    newline - usize::from(text[..newline].ends_with('\r'))
}

/// Makes several changes at once; their ranges do not overlap.
pub(super) fn splice(text: &str, mut changes: Vec<(Range<usize>, String)>) -> String {
    changes.sort_by_key(|(range, _)| range.start);
    let mut text = text.to_owned();
    for (range, put) in changes.into_iter().rev() {
        text.replace_range(range, &put);
    }
    text
}
