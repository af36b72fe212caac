//! Splits a text into blocks: headings, paragraphs, list items, table rows, code.
//!
//! It knows enough Markdown for notes and minutes, and does no harm to plain text. Nothing is
//! rendered: a block is a byte range, with its marker separate from its words.

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextBlockKind {
    /// A heading; 1 is the outermost level.
    Heading(u8),
    /// A paragraph, or a line that begins with a label (`Present: …`).
    Prose,
    /// A list item, with its checkbox if it has one: ticked or not.
    Item(Option<bool>),
    /// A row of a table.
    Row,
    /// Code, or other text between fences.
    Code,
    /// A line without content: a link target, a badge, the timestamp of a transcript.
    Boilerplate,
}

/// A block of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextBlock {
    /// The kind.
    pub(crate) kind: TextBlockKind,
    /// The start, including the marker.
    pub(crate) start: usize,
    /// The start of its words.
    pub(crate) body: usize,
    /// The end of its words.
    pub(crate) end: usize,
    /// The indentation of its first line, in columns.
    pub(crate) indent: usize,
}

/// The maximum number of lines of a code block that is not split.
const CODE_LINES: usize = 15;

/// The maximum length of a label before a colon, in bytes.
const LABEL: usize = 40;

/// Splits a text into blocks, in order. No block is blank.
pub(crate) fn blocks(text: &str) -> Vec<TextBlock> {
    let mut reader = TextBlockParser { text, blocks: Vec::new(), open: None };
    let mut fence: Option<CodeFence> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        match fence.take() {
            Some(open) if open.closed_by(line) => reader.code(open.inside..start),
            Some(open) => fence = Some(open),
            None => match CodeFence::opened_by(line, end) {
                Some(open) => {
                    reader.close();
                    fence = Some(open);
                }
                None => reader.line(start, line),
            },
        }
        start = end;
    }
    if let Some(open) = fence {
        reader.code(open.inside..text.len());
    }
    reader.close();
    reader.blocks
}

/// An open code fence.
#[derive(Clone, Copy)]
struct CodeFence {
    mark: u8,
    length: usize,
    inside: usize,
}

impl CodeFence {
    fn opened_by(line: &str, inside: usize) -> Option<Self> {
        let line = line.trim_start_matches([' ', '\t', '>']);
        let mark = *line.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = line.bytes().take_while(|byte| *byte == mark).count();
        let info = line.get(length..)?;
        // Three or more backticks that close on the same line are inline code.
        (length >= 3 && !info.as_bytes().contains(&b'`')).then_some(Self { mark, length, inside })
    }

    fn closed_by(&self, line: &str) -> bool {
        let line = line.trim_start_matches([' ', '\t', '>']).trim_end();
        line.len() >= self.length && line.bytes().all(|byte| byte == self.mark)
    }
}

/// Splits a text into blocks line by line.
struct TextBlockParser<'a> {
    text: &'a str,
    blocks: Vec<TextBlock>,
    /// A paragraph or an item that the next line can continue.
    open: Option<TextBlock>,
}

impl TextBlockParser<'_> {
    fn close(&mut self) {
        if let Some(block) = self.open.take() {
            self.push(block);
        }
    }

    /// Adds a block, trimmed, if it is not blank.
    fn push(&mut self, mut block: TextBlock) {
        let Some(body) = self.text.get(block.body..block.end) else { return };
        block.body += body.len() - body.trim_start().len();
        block.end = block.body + body.trim().len();
        if block.end > block.body {
            self.blocks.push(block);
        }
    }

    fn line(&mut self, start: usize, line: &str) {
        let end = start + line.len();
        let content = line.trim_start_matches([' ', '\t', '>']);
        let lead = line.len() - content.len();
        let from = start + lead;
        let block =
            |shape, body| TextBlock { kind: shape, start: from, body, end, indent: columns(line) };
        let words = content.trim_end();
        if words.is_empty() {
            self.close();
        } else if let Some(depth) = underline(words).filter(|_| self.underlines()) {
            if let Some(open) = &mut self.open {
                open.kind = TextBlockKind::Heading(depth);
            }
            self.close();
        } else if is_rule(words) {
            self.close();
        } else if let Some((depth, marker)) = heading(words) {
            self.close();
            self.push(block(TextBlockKind::Heading(depth), from + marker));
        } else if is_row(words) {
            self.close();
            self.push(block(TextBlockKind::Row, from));
        } else if is_boilerplate(words) {
            self.close();
            self.push(block(TextBlockKind::Boilerplate, from));
        } else if let Some(marker) = item_marker_length(words) {
            self.close();
            let ticked = checkbox(&words[marker..]);
            let body = from + marker + ticked.map_or(0, |(length, _)| length);
            self.open = Some(block(TextBlockKind::Item(ticked.map(|(_, done)| done)), body));
        } else {
            self.words(block(TextBlockKind::Prose, from), words);
        }
    }

    /// Adds a line of words: it continues the open block or begins a paragraph.
    fn words(&mut self, fresh: TextBlock, words: &str) {
        match &mut self.open {
            Some(open) if label_end(words).is_none() => open.end = fresh.end,
            _ => {
                self.close();
                self.open = Some(fresh);
            }
        }
    }

    /// Returns true if a line of `=` or `-` would turn the open block into a heading.
    fn underlines(&self) -> bool {
        self.open.as_ref().is_some_and(|open| {
            open.kind == TextBlockKind::Prose
                && self.text.get(open.body..open.end).is_some_and(|text| {
                    text.trim_end().len() < 120 && !text.trim_end().contains('\n')
                })
        })
    }

    /// Adds a code block: whole if it is short, else split at empty lines or every few lines.
    fn code(&mut self, range: std::ops::Range<usize>) {
        let Some(code) = self.text.get(range.clone()) else { return };
        let whole = code.lines().count() <= CODE_LINES;
        let mut block = TextBlock {
            kind: TextBlockKind::Code,
            start: range.start,
            body: range.start,
            end: range.start,
            indent: 0,
        };
        let mut lines = 0;
        for line in code.split_inclusive('\n') {
            let cut = !whole && (line.trim().is_empty() || lines >= CODE_LINES);
            if cut {
                self.push(block);
                block.start = block.end;
                block.body = block.end;
                lines = 0;
            }
            block.end += line.len();
            lines += 1;
        }
        self.push(block);
    }
}

fn columns(line: &str) -> usize {
    let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    blanks.map(|byte| if byte == b'\t' { 4 } else { 1 }).sum()
}

/// Returns the level of the heading that this underline makes.
fn underline(words: &str) -> Option<u8> {
    let all = |mark| words.len() >= 3 && words.bytes().all(|byte| byte == mark);
    if all(b'=') { Some(1) } else { all(b'-').then_some(2) }
}

/// Returns true for a line that only separates: `---`, `***`, the line below a table header.
fn is_rule(words: &str) -> bool {
    words.len() >= 3
        && words
            .bytes()
            .all(|byte| matches!(byte, b'-' | b'=' | b'*' | b'_' | b'|' | b':' | b'+' | b' '))
}

/// Returns the level of a heading and the length of its marker.
fn heading(words: &str) -> Option<(u8, usize)> {
    let depth = words.bytes().take_while(|byte| *byte == b'#').count();
    let rest = words.get(depth..)?;
    let blank = rest.len() - rest.trim_start().len();
    let fits = (1..=6).contains(&depth) && blank > 0;
    fits.then(|| (u8::try_from(depth).unwrap_or(6), depth + blank))
}

fn is_row(words: &str) -> bool {
    let bars = words.bytes().filter(|byte| *byte == b'|').count();
    words.starts_with('|') && bars >= 2 || words.matches(" | ").count() >= 2
}

/// Returns true for link targets, badges and timestamps of a transcript.
fn is_boilerplate(words: &str) -> bool {
    let target = words.starts_with('[') && words.contains("]: ") && !words.contains(". ");
    let badge = words.starts_with("[![") || words.starts_with("![");
    target || badge && words.ends_with([')', ']']) || is_cue(words) || is_timed(words)
}

/// Returns true for the timing line of a subtitle: `00:00:01.000 --> 00:00:04.000`.
pub(crate) fn is_cue(words: &str) -> bool {
    let digit = |part: &str| part.trim().starts_with(|first: char| first.is_ascii_digit());
    words.split_once("-->").is_some_and(|(from, to)| digit(from) && digit(to))
}

/// Returns true for a line that names the next speaker: `Anna Kovács   0:12`.
fn is_timed(words: &str) -> bool {
    let Some((name, time)) = words.rsplit_once([' ', '\t']) else { return false };
    let clock =
        time.contains(':') && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    let capital = |word: &str| word.starts_with(char::is_uppercase);
    clock
        && words.len() < 60
        && name.split_whitespace().count() <= 4
        && name.split_whitespace().all(capital)
}

/// Returns the length of a list item's marker, including the blanks after it.
fn item_marker_length(words: &str) -> Option<usize> {
    let first = words.chars().next()?;
    let marker = match first {
        '-' | '*' | '+' | '•' | '◦' | '▪' | '‣' | '–' => first.len_utf8(),
        _ if first.is_ascii_alphanumeric() => {
            let digits = words.bytes().take_while(u8::is_ascii_digit).count();
            let number = if digits == 0 { 1 } else { digits };
            let closed = words.as_bytes().get(number)?;
            let fits = matches!(closed, b')') || *closed == b'.' && digits > 0;
            (number <= 3 && fits).then_some(number + 1)?
        }
        _ => return None,
    };
    let rest = words.get(marker..)?;
    let blank = rest.len() - rest.trim_start().len();
    (blank > 0).then_some(marker + blank)
}

/// Returns the length of a checkbox at the start of an item, and whether it is ticked.
fn checkbox(words: &str) -> Option<(usize, bool)> {
    let inside = words.strip_prefix('[')?;
    let mark = inside.chars().next()?;
    let done = match mark {
        ' ' | '_' | '/' | '>' | '?' | '!' => false,
        'x' | 'X' | '✓' | '✔' | '-' | '~' => true,
        ']' => return words.get(2..3).filter(|next| *next == " ").map(|_| (2, false)),
        _ => return None,
    };
    inside[mark.len_utf8()..].starts_with("] ").then_some((mark.len_utf8() + 2, done))
}

/// Returns the length in bytes of the label before a colon: `Present`, `Anna Kovács`, `[00:01]
/// Bob`, `**Status**`.
pub(crate) fn label_end(words: &str) -> Option<usize> {
    let limit = words.char_indices().map(|(at, _)| at).take_while(|at| *at <= LABEL + 16).last()?;
    let head = words.get(..limit)?;
    let stamp = timestamp_length(head);
    let colon = stamp + head.get(stamp..)?.find([':', '：'])?;
    let name = words[stamp..colon].trim_matches(['*', '_', ' ']);
    let begins = name.starts_with(|first: char| {
        first.is_uppercase() || first == '@' || !first.is_ascii() && first.is_alphabetic()
    });
    let behind = words[colon..].trim_start_matches([':', '：', '*', '_']);
    let apart =
        behind.is_empty() || behind.starts_with([' ', '\t']) || words[colon..].starts_with('：');
    let plain = !name.is_empty()
        && name.len() <= LABEL
        && name.split_whitespace().count() <= 4
        && name.chars().all(|c| c.is_alphanumeric() || " .'’-_@()/&".contains(c));
    (begins && apart && plain).then_some(colon)
}

/// Returns the length of a timestamp at the start of a line, including the blanks after it:
/// `[00:01]`, `00:01:02`, `(10:15)`.
pub(crate) fn timestamp_length(words: &str) -> usize {
    let inside = words.trim_start_matches(['[', '(']);
    let digits = inside.len()
        - inside
            .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | '.' | ','))
            .len();
    let time = &inside[..digits];
    if !time.contains(':') || !time.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    let rest = inside[digits..].trim_start_matches([']', ')', ' ', '\t', '-', '–']);
    words.len() - rest.len()
}
