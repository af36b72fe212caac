//! Line handling for edits: where lines begin and end, which comments belong to the lines below
//! them, and how to remove whole lines.
//!
//! A line is inserted after the content of another (a line break, then the new content) and removed
//! the same way. So removing an inserted line restores the text, for any line endings and with or
//! without a final line break.

use std::ops::Range;

/// The comment syntax of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommentStyle {
    /// `//` to the end of the line, and `/* … */`.
    Slashes,
    /// `#` to the end of the line.
    Hash,
}

impl CommentStyle {
    /// Returns the length of the comment at the start of a text.
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

    /// Returns the first offset from `at` on that is neither whitespace nor comment.
    pub fn skip_space_and_comments(self, text: &str, at: usize) -> usize {
        self.skip_while(text, at, char::is_whitespace)
    }

    /// Returns true if only whitespace and comments precede an offset on its line.
    pub fn is_first_on_line(self, text: &str, at: usize) -> bool {
        let line = line_start(text, at);
        self.skip_while(text, line, |c| c == ' ' || c == '\t') == at
    }

    /// Returns the end of the line at `at`, if only whitespace and comments are left on it.
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

    /// Returns the start of the comments right above a line, but not before `floor`. A blank line
    /// separates comments from the line.
    pub fn attached_comments_start(self, text: &str, line: usize, floor: usize) -> usize {
        let mut start = line;
        while let Some(above) = self.comment_above(text, start).filter(|above| *above >= floor) {
            start = above;
        }
        start
    }

    /// Returns the start of the comment that fills the line or lines right above this one.
    fn comment_above(self, text: &str, line: usize) -> Option<usize> {
        let above = line_start(text, line.checked_sub(1)?);
        let content = text[above..line].trim();
        let begins = |at: usize| is_first_on_line(text, at).then(|| line_start(text, at));
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

    /// Returns the end of the comment lines right below a line that ends at `end`, if a blank line
    /// or the end of the text follows: then they belong to the text above.
    pub fn trailing_comments_end(self, text: &str, end: usize) -> usize {
        let (mut last, mut at) = (end, end);
        loop {
            at += line_ending_length(text, at);
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

/// Returns the line ending that a text uses.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns the length of the line ending at an offset.
fn line_ending_length(text: &str, at: usize) -> usize {
    match &text[at..] {
        rest if rest.starts_with("\r\n") => 2,
        rest if rest.starts_with('\n') => 1,
        _ => 0,
    }
}

/// Returns the start of the line that contains an offset.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Returns the end of the content of the line that contains an offset.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let Some(newline) = text[at..].find('\n') else { return text.len() };
    let end = at + newline;
    end - usize::from(end > at && text[..end].ends_with('\r'))
}

/// Returns true if only whitespace precedes an offset on its line.
pub(super) fn is_first_on_line(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at].trim().is_empty()
}

/// Returns the indentation of a line.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns the range of whole lines from `start` to the content that ends at `end`, with the line
/// ending before them, or the one after them at the start of the text.
pub(super) fn lines_range(text: &str, start: usize, end: usize) -> Range<usize> {
    match start {
        0 => 0..end + line_ending_length(text, end),
        _ => previous_line_end(text, start)..end,
    }
}

/// Like [`lines_range`], with one blank line above, or below at the start of the text.
pub(super) fn lines_range_with_blank(text: &str, start: usize, end: usize) -> Range<usize> {
    let range = lines_range(text, start, end);
    if start == 0 {
        let next = line_end(text, range.end);
        let is_blank = text[range.end..next].trim().is_empty();
        return 0..if is_blank { next + line_ending_length(text, next) } else { range.end };
    }
    let above = line_start(text, range.start);
    match text[above..range.start].trim().is_empty() {
        // The blank line is the first line of the text.
        true if above == 0 => 0..end + line_ending_length(text, end),
        true => previous_line_end(text, above)..end,
        false => range,
    }
}

/// Returns the start of the line ending before a line.
fn previous_line_end(text: &str, start: usize) -> usize {
    let newline = start.saturating_sub(1);
    newline - usize::from(text[..newline].ends_with('\r'))
}

/// Applies several changes at once; their ranges must not overlap.
pub(super) fn splice(text: &str, mut changes: Vec<(Range<usize>, String)>) -> String {
    changes.sort_by_key(|(range, _)| range.start);
    let mut text = text.to_owned();
    for (range, put) in changes.into_iter().rev() {
        text.replace_range(range, &put);
    }
    text
}
