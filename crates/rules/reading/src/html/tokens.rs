//! Cuts HTML into texts and tags.
//!
//! Like a browser it takes anything, and like a browser's its end of a tag, a comment or a script
//! that nobody closed is the end of the text. Nothing is nested here, and no byte is looked at twice
//! but for the few behind a `<`.

/// A piece of HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Text, as it is written.
    Text(&'a str),
    /// A tag that opens an element; whether it closes it, too.
    Open(&'a str, bool),
    /// A tag that closes one.
    Close(&'a str),
    /// Comments, declarations, instructions: their length in the text.
    Other(&'a str),
}

/// The pieces of a text.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// The next piece, and all of the text that it takes.
    pub(super) fn next(&mut self) -> Option<(Token<'a>, &'a str)> {
        if self.rest.is_empty() {
            return None;
        }
        let (token, length) = match self.rest.strip_prefix('<') {
            Some(behind) if is_markup(behind) => markup(self.rest),
            Some(behind) => text(self.rest, 1 + behind.find('<').unwrap_or(behind.len())),
            None => text(self.rest, self.rest.find('<').unwrap_or(self.rest.len())),
        };
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some((token, taken))
    }

    /// All up to the tag that closes an element whose content is no HTML.
    pub(super) fn raw(&mut self, name: &str) -> &'a str {
        let mut from = 0;
        while let Some(at) = self.rest[from..].find("</") {
            let behind = &self.rest[from + at + 2..];
            let is_name = behind.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name));
            if is_name && !behind[name.len()..].starts_with(|c: char| c.is_ascii_alphanumeric()) {
                let (taken, rest) = self.rest.split_at(from + at);
                self.rest = rest;
                return taken;
            }
            from += at + 2;
        }
        std::mem::take(&mut self.rest)
    }
}

fn text(rest: &str, length: usize) -> (Token<'_>, usize) {
    (Token::Text(&rest[..length]), length)
}

fn is_markup(behind: &str) -> bool {
    let mut chars = behind.chars();
    match chars.next() {
        Some('!' | '?') => true,
        Some('/') => chars.next().is_some_and(|c| c.is_ascii_alphabetic()),
        Some(c) => c.is_ascii_alphabetic(),
        None => false,
    }
}

fn markup(rest: &str) -> (Token<'_>, usize) {
    if let Some(comment) = rest.strip_prefix("<!--") {
        let length = comment.find("-->").map_or(rest.len(), |end| end + 7);
        return (Token::Other(&rest[..length]), length);
    }
    if rest.starts_with("<!") || rest.starts_with("<?") {
        let length = rest.find('>').map_or(rest.len(), |end| end + 1);
        return (Token::Other(&rest[..length]), length);
    }
    let is_close = rest.starts_with("</");
    let behind = &rest[if is_close { 2 } else { 1 }..];
    let end = behind.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | ':')));
    let name = &behind[..end.unwrap_or(behind.len())];
    let length = rest.len() - behind.len() + name.len();
    let attributes = attributes(&rest[length..]);
    let tag = &rest[..length + attributes];
    let token = if is_close { Token::Close(name) } else { Token::Open(name, tag.ends_with("/>")) };
    (token, tag.len())
}

/// How long the attributes of a tag are, with the `>`.
fn attributes(rest: &str) -> usize {
    let mut quote = None;
    let mut is_value = false;
    for (at, byte) in rest.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'>') => return at + 1,
            // A quote that begins no value is a slip, not the begin of a text without end.
            (None, b'"' | b'\'') if is_value => quote = Some(byte),
            _ => {}
        }
        is_value = byte == b'=' || (is_value && byte.is_ascii_whitespace());
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Token<'_>> {
        let mut tokens = Tokens::new(text);
        std::iter::from_fn(|| tokens.next().map(|(token, _)| token)).collect()
    }

    #[test]
    fn texts_and_tags_come_in_order() {
        use Token::{Close, Open, Other, Text};
        assert_eq!(
            all("a<b>c</b><br/><!-- <x> -->d<!doctype html>"),
            [
                Text("a"),
                Open("b", false),
                Text("c"),
                Close("b"),
                Open("br", true),
                Other("<!-- <x> -->"),
                Text("d"),
                Other("<!doctype html>")
            ]
        );
    }

    #[test]
    fn a_sign_in_a_value_ends_no_tag() {
        use Token::{Open, Text};
        assert_eq!(all("<a title=\"x > y\" b='>'>z"), [Open("a", false), Text("z")]);
        assert_eq!(all("<p class=a\">z"), [Open("p", false), Text("z")]);
    }

    #[test]
    fn a_sign_alone_is_text() {
        use Token::Text;
        assert_eq!(all("a < b"), [Text("a "), Text("< b")]);
        assert_eq!(all("1<2<"), [Text("1"), Text("<2"), Text("<")]);
        assert_eq!(all("</ x>"), [Text("</ x>")]);
    }

    #[test]
    fn what_nobody_closes_goes_to_the_end() {
        for text in ["<!-- x <b>y", "<a href=\"x <b>y", "<?php x", "<b"] {
            assert_eq!(all(text).len(), 1, "{text}");
        }
        let mut tokens = Tokens::new("x</scrip></SCRIPT>y");
        assert_eq!(tokens.raw("script"), "x</scrip>");
        assert_eq!(Tokens::new("no end").raw("script"), "no end");
    }
}
