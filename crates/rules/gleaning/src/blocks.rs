//! The pieces a text is laid out in: headings, paragraphs, list items, rows, code.
//!
//! Enough of Markdown for notes and minutes, and harmless on plain text. Nothing is rendered: a
//! piece is where it stands, and its marker is told from its words.

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A heading of this depth; 1 is the outermost.
    Heading(u8),
    /// A paragraph, or a line that begins with a label (`Present: …`).
    Prose,
    /// A list item, with its box where it has one: ticked or not.
    Item(Option<bool>),
    /// A row of a table.
    Row,
    /// Code, or anything else between fences.
    Code,
    /// A line that belongs to the layout: a link's target, a badge, a time of a transcript.
    Furniture,
}

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    /// What it is.
    pub(crate) shape: Shape,
    /// Where it begins, marker and all.
    pub(crate) start: usize,
    /// Where its words begin.
    pub(crate) body: usize,
    /// Where its words end.
    pub(crate) end: usize,
    /// How many columns its first line is indented by.
    pub(crate) indent: usize,
}

/// Code of at most so many lines stays in one piece.
const CODE_LINES: usize = 15;

/// A label before a colon is at most so long.
const LABEL: usize = 40;

/// The pieces of a text, in order; none is blank.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader { text, blocks: Vec::new(), open: None };
    let mut fence: Option<Fence> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        match fence.take() {
            Some(open) if open.closed_by(line) => reader.code(open.inside..start),
            Some(open) => fence = Some(open),
            None => match Fence::opened_by(line, end) {
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

/// An open fence of code.
#[derive(Clone, Copy)]
struct Fence {
    mark: u8,
    length: usize,
    inside: usize,
}

impl Fence {
    fn opened_by(line: &str, inside: usize) -> Option<Self> {
        let line = line.trim_start_matches([' ', '\t', '>']);
        let mark = *line.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = line.bytes().take_while(|byte| *byte == mark).count();
        let info = line.get(length..)?;
        // Three marks and more of them in one line are code within a line.
        (length >= 3 && !info.as_bytes().contains(&b'`')).then_some(Self { mark, length, inside })
    }

    fn closed_by(&self, line: &str) -> bool {
        let line = line.trim_start_matches([' ', '\t', '>']).trim_end();
        line.len() >= self.length && line.bytes().all(|byte| byte == self.mark)
    }
}

struct Reader<'a> {
    text: &'a str,
    blocks: Vec<Block>,
    /// A paragraph or an item that the next line may go on with.
    open: Option<Block>,
}

impl Reader<'_> {
    fn close(&mut self) {
        if let Some(block) = self.open.take() {
            self.push(block);
        }
    }

    /// Keeps a block without the blanks around its words, if there are any words.
    fn push(&mut self, mut block: Block) {
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
        let block = |shape, body| Block { shape, start: from, body, end, indent: columns(line) };
        let words = content.trim_end();
        if words.is_empty() {
            self.close();
        } else if let Some(depth) = underline(words).filter(|_| self.underlines()) {
            if let Some(open) = &mut self.open {
                open.shape = Shape::Heading(depth);
            }
            self.close();
        } else if is_rule(words) {
            self.close();
        } else if let Some((depth, marker)) = heading(words) {
            self.close();
            self.push(block(Shape::Heading(depth), from + marker));
        } else if is_row(words) {
            self.close();
            self.push(block(Shape::Row, from));
        } else if is_furniture(words) {
            self.close();
            self.push(block(Shape::Furniture, from));
        } else if let Some(marker) = item(words) {
            self.close();
            let ticked = tick(&words[marker..]);
            let body = from + marker + ticked.map_or(0, |(length, _)| length);
            self.open = Some(block(Shape::Item(ticked.map(|(_, done)| done)), body));
        } else {
            self.words(block(Shape::Prose, from), words);
        }
    }

    /// A line of words: it goes on with what is open, or begins a paragraph.
    fn words(&mut self, fresh: Block, words: &str) {
        match &mut self.open {
            Some(open) if label(words).is_none() => open.end = fresh.end,
            _ => {
                self.close();
                self.open = Some(fresh);
            }
        }
    }

    /// Whether a line of `=` or `-` now makes a heading of what is open: one line of words.
    fn underlines(&self) -> bool {
        self.open.as_ref().is_some_and(|open| {
            open.shape == Shape::Prose
                && self.text.get(open.body..open.end).is_some_and(|text| {
                    text.trim_end().len() < 120 && !text.trim_end().contains('\n')
                })
        })
    }

    /// What stands between fences: whole if it is short, else cut at empty lines and, where there
    /// are none, every few lines.
    fn code(&mut self, range: std::ops::Range<usize>) {
        let Some(code) = self.text.get(range.clone()) else { return };
        let whole = code.lines().count() <= CODE_LINES;
        let mut block = Block {
            shape: Shape::Code,
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

/// The depth a line under a line makes a heading of.
fn underline(words: &str) -> Option<u8> {
    let all = |mark| words.len() >= 3 && words.bytes().all(|byte| byte == mark);
    if all(b'=') { Some(1) } else { all(b'-').then_some(2) }
}

/// A line that only divides: `---`, `***`, the line under a table's head.
fn is_rule(words: &str) -> bool {
    words.len() >= 3
        && words
            .bytes()
            .all(|byte| matches!(byte, b'-' | b'=' | b'*' | b'_' | b'|' | b':' | b'+' | b' '))
}

/// The depth of a heading, and how long its marker is.
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

/// Link targets, badges, times of a transcript.
fn is_furniture(words: &str) -> bool {
    let target = words.starts_with('[') && words.contains("]: ") && !words.contains(". ");
    let badge = words.starts_with("[![") || words.starts_with("![");
    target || badge && words.ends_with([')', ']']) || is_cue(words) || is_timed(words)
}

/// `00:00:01.000 --> 00:00:04.000`, as subtitles have it.
pub(crate) fn is_cue(words: &str) -> bool {
    let digit = |part: &str| part.trim().starts_with(|first: char| first.is_ascii_digit());
    words.split_once("-->").is_some_and(|(from, to)| digit(from) && digit(to))
}

/// `Anna Kovács   0:12`: who speaks next, on a line of its own.
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

/// How long the marker of a list item is, blanks behind it included.
fn item(words: &str) -> Option<usize> {
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

/// A box at the beginning of an item: how long it is, and whether it is ticked.
fn tick(words: &str) -> Option<(usize, bool)> {
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

/// The label a line begins with, up to its colon: `Present`, `Anna Kovács`, `[00:01] Bob`,
/// `**Status**`. Bytes before the colon.
pub(crate) fn label(words: &str) -> Option<usize> {
    let limit = words.char_indices().map(|(at, _)| at).take_while(|at| *at <= LABEL + 16).last()?;
    let head = words.get(..limit)?;
    let stamp = stamp(head);
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

/// How long a time at the beginning of a line is, blanks behind it included: `[00:01]`, `00:01:02`,
/// `(10:15)`.
pub(crate) fn stamp(words: &str) -> usize {
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
