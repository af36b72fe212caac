//! Splits HTML into text and tags.
//!
//! Like a browser it accepts any input; an unclosed tag, comment or script ends at the end of the
//! text. It does not recurse, and reads each byte once, except for the few after a `<`.

/// A token of HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HtmlToken<'a> {
    /// Text as it is written in the source.
    Text(&'a str),
    /// A start tag, and whether it is self-closing.
    Open(&'a str, bool),
    /// An end tag.
    Close(&'a str),
    /// Comments, declarations and processing instructions.
    Other(&'a str),
}

/// Iterates over the tokens of a text.
#[derive(Debug)]
pub(super) struct HtmlTokenizer<'a> {
    rest: &'a str,
}

impl<'a> HtmlTokenizer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// Returns the next token, and the source text it covers.
    pub(super) fn next(&mut self) -> Option<(HtmlToken<'a>, &'a str)> {
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

    /// Returns everything up to the end tag of an element whose content is not HTML.
    pub(super) fn take_raw(&mut self, name: &str) -> &'a str {
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

fn text(rest: &str, length: usize) -> (HtmlToken<'_>, usize) {
    (HtmlToken::Text(&rest[..length]), length)
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

fn markup(rest: &str) -> (HtmlToken<'_>, usize) {
    if let Some(comment) = rest.strip_prefix("<!--") {
        let length = comment.find("-->").map_or(rest.len(), |end| end + 7);
        return (HtmlToken::Other(&rest[..length]), length);
    }
    if rest.starts_with("<!") || rest.starts_with("<?") {
        let length = rest.find('>').map_or(rest.len(), |end| end + 1);
        return (HtmlToken::Other(&rest[..length]), length);
    }
    let is_close = rest.starts_with("</");
    let behind = &rest[if is_close { 2 } else { 1 }..];
    let end = behind.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | ':')));
    let name = &behind[..end.unwrap_or(behind.len())];
    let length = rest.len() - behind.len() + name.len();
    let attributes = attributes_length(&rest[length..]);
    let tag = &rest[..length + attributes];
    let token =
        if is_close { HtmlToken::Close(name) } else { HtmlToken::Open(name, tag.ends_with("/>")) };
    (token, tag.len())
}

/// Returns the length of a tag's attributes, including the `>`.
fn attributes_length(rest: &str) -> usize {
    let mut quote = None;
    let mut is_value = false;
    for (at, byte) in rest.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'>') => return at + 1,
            // A quote that begins no value is a typing error, not the start of an endless string.
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

    fn all(text: &str) -> Vec<HtmlToken<'_>> {
        let mut tokens = HtmlTokenizer::new(text);
        std::iter::from_fn(|| tokens.next().map(|(token, _)| token)).collect()
    }

    #[test]
    fn texts_and_tags_come_in_order() {
        use HtmlToken::{Close, Open, Other, Text};
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
        use HtmlToken::{Open, Text};
        assert_eq!(all("<a title=\"x > y\" b='>'>z"), [Open("a", false), Text("z")]);
        assert_eq!(all("<p class=a\">z"), [Open("p", false), Text("z")]);
    }

    #[test]
    fn a_sign_alone_is_text() {
        use HtmlToken::Text;
        assert_eq!(all("a < b"), [Text("a "), Text("< b")]);
        assert_eq!(all("1<2<"), [Text("1"), Text("<2"), Text("<")]);
        assert_eq!(all("</ x>"), [Text("</ x>")]);
    }

    #[test]
    fn what_nobody_closes_goes_to_the_end() {
        for text in ["<!-- x <b>y", "<a href=\"x <b>y", "<?php x", "<b"] {
            assert_eq!(all(text).len(), 1, "{text}");
        }
        let mut tokens = HtmlTokenizer::new("x</scrip></SCRIPT>y");
        assert_eq!(tokens.take_raw("script"), "x</scrip>");
        assert_eq!(HtmlTokenizer::new("no end").take_raw("script"), "no end");
    }
}
