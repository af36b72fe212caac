//! Glob patterns: `*`, `**` and `?`. Every text is a valid pattern.
//!
//! In the parts of a rule, `*` and `?` stop at `/`, except `**` and a `*` that is a whole part. In
//! client names and arguments they match `/`, too. There is no escape: a `*` in a name is matched
//! by a `*`. Matching is case-sensitive.

/// A compiled glob pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob {
    text: Box<str>,
    kind: GlobKind,
    /// The lengths of the literal prefix and suffix. Most texts that do not match differ there.
    affix_lengths: (usize, usize),
}

/// How a pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GlobKind {
    /// The text itself.
    Plain,
    /// Any text.
    Any,
    /// `*` and `?` stop at `/`.
    Within,
    /// Nothing stops them.
    Across,
}

/// The literal part that every matching text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GlobLiteral<'a> {
    /// The whole text.
    Whole(&'a str),
    /// A prefix.
    Head(&'a str),
    /// A suffix.
    Tail(&'a str),
    /// None.
    Nothing,
}

impl GlobLiteral<'_> {
    /// Returns how selective the literal part is.
    pub fn weight(self) -> usize {
        match self {
            Self::Whole(text) => 1 + text.len(),
            Self::Head(text) | Self::Tail(text) => text.len(),
            Self::Nothing => 0,
        }
    }
}

impl Glob {
    /// Creates a pattern for a part of a rule.
    pub fn path_pattern(text: &str) -> Self {
        Self::with_kind(text, GlobKind::Within)
    }

    /// Creates a pattern in which `/` is an ordinary character.
    pub fn text_pattern(text: &str) -> Self {
        Self::with_kind(text, GlobKind::Across)
    }

    /// Creates a pattern that matches only this text, wildcards included.
    pub fn exact(text: &str) -> Self {
        Self { text: text.into(), kind: GlobKind::Plain, affix_lengths: (text.len(), 0) }
    }

    fn with_kind(text: &str, manner: GlobKind) -> Self {
        let manner = match text {
            "*" | "**" => GlobKind::Any,
            _ if !text.contains(['*', '?']) => GlobKind::Plain,
            _ => manner,
        };
        let head = text.find(['*', '?']).unwrap_or(text.len());
        let tail = text.rfind(['*', '?']).map_or(0, |at| text.len() - at - 1);
        Self { text: text.into(), kind: manner, affix_lengths: (head, tail) }
    }

    /// Returns the pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the only text that matches, if the pattern is literal.
    pub fn as_literal(&self) -> Option<&str> {
        (self.kind == GlobKind::Plain).then_some(&self.text)
    }

    /// Returns the longer of the literal prefix and suffix.
    pub fn certain_part(&self) -> GlobLiteral<'_> {
        let (head, tail) = self.affix_lengths;
        match self.kind {
            GlobKind::Plain => GlobLiteral::Whole(&self.text),
            GlobKind::Any => GlobLiteral::Nothing,
            _ if head == 0 && tail == 0 => GlobLiteral::Nothing,
            _ if head >= tail => GlobLiteral::Head(&self.text[..head]),
            _ => GlobLiteral::Tail(&self.text[self.text.len() - tail..]),
        }
    }

    /// Returns true if every text matches.
    pub fn is_any(&self) -> bool {
        self.kind == GlobKind::Any
    }

    /// Returns true if a text matches.
    pub fn matches(&self, text: &str) -> bool {
        match self.kind {
            GlobKind::Plain => *self.text == *text,
            GlobKind::Any => true,
            GlobKind::Within => self.has_affixes(text) && glob_matches(&self.text, text, true),
            GlobKind::Across => self.has_affixes(text) && glob_matches(&self.text, text, false),
        }
    }

    fn has_affixes(&self, text: &str) -> bool {
        let (own, text, (head, tail)) = (self.text.as_bytes(), text.as_bytes(), self.affix_lengths);
        text.len() >= head + tail
            && text[..head] == own[..head]
            && text[text.len() - tail..] == own[own.len() - tail..]
    }

    /// Returns true if some text with this prefix matches.
    pub fn may_match_prefix(&self, beginning: &str) -> bool {
        match self.kind {
            GlobKind::Plain => self.text.starts_with(beginning),
            GlobKind::Any => true,
            GlobKind::Within => matches_prefix(&self.text, beginning, true),
            GlobKind::Across => matches_prefix(&self.text, beginning, false),
        }
    }
}

/// One token of a pattern.
enum GlobToken {
    Star { stops: bool },
    One,
    Is(char),
}

fn next_token(pattern: &str, stops: bool) -> Option<(GlobToken, usize)> {
    match pattern.chars().next()? {
        '*' if pattern.starts_with("**") => Some((GlobToken::Star { stops: false }, 2)),
        '*' => Some((GlobToken::Star { stops }, 1)),
        '?' => Some((GlobToken::One, 1)),
        c => Some((GlobToken::Is(c), c.len_utf8())),
    }
}

/// A star to backtrack to: the pattern position after it, and the end of the text it has consumed.
type GlobStarPosition = (usize, usize);

/// Every `/` that a stopping star cannot pass splits pattern and text alike, so it suffices to
/// backtrack to the last star of each sort.
fn glob_matches(pattern: &str, text: &str, stops: bool) -> bool {
    let (mut at, mut from) = (0, 0);
    let (mut near, mut far): (Option<GlobStarPosition>, Option<GlobStarPosition>) = (None, None);
    loop {
        let c = text[from..].chars().next();
        let (here, behind) = match (next_token(&pattern[at..], stops), c) {
            (None, None) => return true,
            (Some((GlobToken::Star { stops }, size)), _) => {
                match stops {
                    true => near = Some((at + size, from)),
                    false => (near, far) = (None, Some((at + size, from))),
                }
                (Some(at + size), from)
            }
            (Some((GlobToken::One, size)), Some(c)) if !stops || c != '/' => {
                (Some(at + size), from + c.len_utf8())
            }
            (Some((GlobToken::Is(wanted), size)), Some(c)) if wanted == c => {
                (Some(at + size), from + size)
            }
            _ => (None, from),
        };
        if let Some(here) = here {
            (at, from) = (here, behind);
            continue;
        }
        let next = |taken: usize| text[taken..].chars().next();
        if let Some((behind, taken)) = near
            && let Some(c) = next(taken)
            && c != '/'
        {
            near = Some((behind, taken + c.len_utf8()));
            (at, from) = (behind, taken + c.len_utf8());
        } else if let Some((behind, taken)) = far
            && let Some(c) = next(taken)
        {
            (near, far) = (None, Some((behind, taken + c.len_utf8())));
            (at, from) = (behind, taken + c.len_utf8());
        } else {
            return false;
        }
    }
}

/// Follows all paths through the pattern at once. This runs when rules are compiled, not when a
/// call is decided.
fn matches_prefix(pattern: &str, beginning: &str, stops: bool) -> bool {
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    pass_stars(pattern, &mut reached);
    for c in beginning.chars() {
        let mut next = vec![false; pattern.len() + 1];
        for at in (0..pattern.len()).filter(|&at| reached[at]) {
            match next_token(&pattern[at..], stops) {
                Some((GlobToken::Star { stops }, _)) if !stops || c != '/' => next[at] = true,
                Some((GlobToken::One, size)) if !stops || c != '/' => next[at + size] = true,
                Some((GlobToken::Is(wanted), size)) if wanted == c => next[at + size] = true,
                _ => {}
            }
        }
        pass_stars(pattern, &mut next);
        reached = next;
    }
    reached.contains(&true)
}

/// Extends the reached positions past stars, which may match nothing.
fn pass_stars(pattern: &str, reached: &mut [bool]) {
    for at in 0..pattern.len() {
        if reached[at]
            && let Some((GlobToken::Star { .. }, size)) = next_token(&pattern[at..], true)
        {
            reached[at + size] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_star_stops_at_a_slash_unless_it_is_doubled_or_alone() {
        for (pattern, text, fits) in [
            ("read_*", "read_file", true),
            ("read_*", "read_a/b", false),
            ("read_**", "read_a/b", true),
            ("*", "a/b", true),
            ("a?c", "a/c", false),
            ("a?c", "aüc", true),
            ("*/*", "a/b", true),
            ("*/*", "a/b/c", false),
            ("", "", true),
            ("", "a", false),
            ("Read", "read", false),
        ] {
            assert_eq!(Glob::path_pattern(pattern).matches(text), fits, "{pattern} {text}");
        }
        assert!(
            Glob::text_pattern("/etc/*").matches("/etc/a/b")
                && !Glob::text_pattern("/etc/*").matches("/et")
        );
    }

    /// Tries every way to split the text.
    fn naive(pattern: &[char], text: &[char], stops: bool) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['*', '*', rest @ ..] => (0..=text.len()).any(|n| naive(rest, &text[n..], stops)),
            ['*', rest @ ..] => (0..=text.len())
                .take_while(|&n| !stops || !text[..n].contains(&'/'))
                .any(|n| naive(rest, &text[n..], stops)),
            [sign, rest @ ..] => match text {
                [c, behind @ ..] => {
                    let one = *sign == '?' && (!stops || *c != '/');
                    (one || (*sign != '?' && sign == c)) && naive(rest, behind, stops)
                }
                [] => false,
            },
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn it_fits_what_some_way_of_taking_apart_fits(
            pattern in "[ab/ü*?]{0,9}", text in "[ab/ü]{0,9}",
        ) {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            let (p, t) = (chars(&pattern), chars(&text));
            let any = matches!(&*pattern, "*" | "**");
            prop_assert_eq!(Glob::path_pattern(&pattern).matches(&text), any || naive(&p, &t, true));
            prop_assert_eq!(Glob::text_pattern(&pattern).matches(&text), naive(&p, &t, false));
        }

        #[test]
        fn what_fits_may_begin_as_it_begins(
            pattern in "[ab/ü*?]{0,9}", text in "[ab/ü]{0,9}", cut in 0_usize..10,
        ) {
            let beginning: String = text.chars().take(cut).collect();
            for glob in [Glob::path_pattern(&pattern), Glob::text_pattern(&pattern)] {
                prop_assert!(!glob.matches(&text) || glob.may_match_prefix(&beginning));
            }
            if !pattern.contains('*') {
                let longer = format!("{pattern}x");
                prop_assert!(!Glob::text_pattern(&pattern).may_match_prefix(&longer));
            }
        }
    }
}
