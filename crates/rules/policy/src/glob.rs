//! Patterns of texts: `*`, `**` and `?`, and nothing that could be written wrongly.
//!
//! In the parts of a rule `*` and `?` stop at `/`, while `**` does not, nor a `*` that is a whole
//! part; in names of clients and in arguments nothing stops them. There is no escape: a `*` in a
//! name is matched by a `*`. Case counts.

/// One pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob {
    text: Box<str>,
    manner: Manner,
    /// How many bytes stand before the first sign and behind the last: most texts that do not fit
    /// differ there.
    plain: (usize, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// The text itself.
    Plain,
    /// Any text.
    Any,
    /// `*` and `?` stop at `/`.
    Within,
    /// Nothing stops them.
    Across,
}

/// What is certain of the texts that fit a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Literal<'a> {
    /// They are this one.
    Whole(&'a str),
    /// They begin so.
    Head(&'a str),
    /// They end so.
    Tail(&'a str),
    /// Nothing.
    Nothing,
}

impl Literal<'_> {
    /// How much of them it is: what is more tells more of them apart.
    pub fn weight(self) -> usize {
        match self {
            Self::Whole(text) => 1 + text.len(),
            Self::Head(text) | Self::Tail(text) => text.len(),
            Self::Nothing => 0,
        }
    }
}

impl Glob {
    /// A part of a rule.
    pub fn part(text: &str) -> Self {
        Self::of(text, Manner::Within)
    }

    /// A text in which `/` is a character like others.
    pub fn text(text: &str) -> Self {
        Self::of(text, Manner::Across)
    }

    /// This text and no other, whatever signs are in it.
    pub fn exactly(text: &str) -> Self {
        Self { text: text.into(), manner: Manner::Plain, plain: (text.len(), 0) }
    }

    fn of(text: &str, manner: Manner) -> Self {
        let manner = match text {
            "*" | "**" => Manner::Any,
            _ if !text.contains(['*', '?']) => Manner::Plain,
            _ => manner,
        };
        let head = text.find(['*', '?']).unwrap_or(text.len());
        let tail = text.rfind(['*', '?']).map_or(0, |at| text.len() - at - 1);
        Self { text: text.into(), manner, plain: (head, tail) }
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The one text it means, if it is one.
    pub fn plain(&self) -> Option<&str> {
        (self.manner == Manner::Plain).then_some(&self.text)
    }

    /// What is certain of every text that fits: the longest of what it is sure to begin and end with.
    pub fn literal(&self) -> Literal<'_> {
        let (head, tail) = self.plain;
        match self.manner {
            Manner::Plain => Literal::Whole(&self.text),
            Manner::Any => Literal::Nothing,
            _ if head == 0 && tail == 0 => Literal::Nothing,
            _ if head >= tail => Literal::Head(&self.text[..head]),
            _ => Literal::Tail(&self.text[self.text.len() - tail..]),
        }
    }

    /// Whether every text fits.
    pub fn is_any(&self) -> bool {
        self.manner == Manner::Any
    }

    /// Whether a text fits.
    pub fn fits(&self, text: &str) -> bool {
        match self.manner {
            Manner::Plain => *self.text == *text,
            Manner::Any => true,
            Manner::Within => self.begins_and_ends(text) && fits(&self.text, text, true),
            Manner::Across => self.begins_and_ends(text) && fits(&self.text, text, false),
        }
    }

    fn begins_and_ends(&self, text: &str) -> bool {
        let (own, text, (head, tail)) = (self.text.as_bytes(), text.as_bytes(), self.plain);
        text.len() >= head + tail
            && text[..head] == own[..head]
            && text[text.len() - tail..] == own[own.len() - tail..]
    }

    /// Whether some text that begins like this fits.
    pub fn may_begin(&self, beginning: &str) -> bool {
        match self.manner {
            Manner::Plain => self.text.starts_with(beginning),
            Manner::Any => true,
            Manner::Within => begins(&self.text, beginning, true),
            Manner::Across => begins(&self.text, beginning, false),
        }
    }
}

/// One sign of a pattern, and how many bytes it has.
enum Sign {
    Star { stops: bool },
    One,
    Is(char),
}

fn sign(pattern: &str, stops: bool) -> Option<(Sign, usize)> {
    match pattern.chars().next()? {
        '*' if pattern.starts_with("**") => Some((Sign::Star { stops: false }, 2)),
        '*' => Some((Sign::Star { stops }, 1)),
        '?' => Some((Sign::One, 1)),
        c => Some((Sign::Is(c), c.len_utf8())),
    }
}

/// A star to come back to: where the pattern goes on behind it, and where what it takes ends.
type Star = (usize, usize);

/// Every `/` that a stopping star cannot pass splits pattern and text alike, so it is enough to come
/// back to the last star of each sort.
fn fits(pattern: &str, text: &str, stops: bool) -> bool {
    let (mut at, mut from) = (0, 0);
    let (mut near, mut far): (Option<Star>, Option<Star>) = (None, None);
    loop {
        let c = text[from..].chars().next();
        let (here, behind) = match (sign(&pattern[at..], stops), c) {
            (None, None) => return true,
            (Some((Sign::Star { stops }, size)), _) => {
                match stops {
                    true => near = Some((at + size, from)),
                    false => (near, far) = (None, Some((at + size, from))),
                }
                (Some(at + size), from)
            }
            (Some((Sign::One, size)), Some(c)) if !stops || c != '/' => {
                (Some(at + size), from + c.len_utf8())
            }
            (Some((Sign::Is(wanted), size)), Some(c)) if wanted == c => {
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

/// Follows every way through the pattern at once; it is asked when rules are read, not when a call is
/// decided.
fn begins(pattern: &str, beginning: &str, stops: bool) -> bool {
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    pass_stars(pattern, &mut reached);
    for c in beginning.chars() {
        let mut next = vec![false; pattern.len() + 1];
        for at in (0..pattern.len()).filter(|&at| reached[at]) {
            match sign(&pattern[at..], stops) {
                Some((Sign::Star { stops }, _)) if !stops || c != '/' => next[at] = true,
                Some((Sign::One, size)) if !stops || c != '/' => next[at + size] = true,
                Some((Sign::Is(wanted), size)) if wanted == c => next[at + size] = true,
                _ => {}
            }
        }
        pass_stars(pattern, &mut next);
        reached = next;
    }
    reached.contains(&true)
}

/// A star may take nothing: what is reached before it is reached behind it.
fn pass_stars(pattern: &str, reached: &mut [bool]) {
    for at in 0..pattern.len() {
        if reached[at]
            && let Some((Sign::Star { .. }, size)) = sign(&pattern[at..], true)
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
            assert_eq!(Glob::part(pattern).fits(text), fits, "{pattern} {text}");
        }
        assert!(Glob::text("/etc/*").fits("/etc/a/b") && !Glob::text("/etc/*").fits("/et"));
    }

    /// Every way of taking the text apart.
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
            prop_assert_eq!(Glob::part(&pattern).fits(&text), any || naive(&p, &t, true));
            prop_assert_eq!(Glob::text(&pattern).fits(&text), naive(&p, &t, false));
        }

        #[test]
        fn what_fits_may_begin_as_it_begins(
            pattern in "[ab/ü*?]{0,9}", text in "[ab/ü]{0,9}", cut in 0_usize..10,
        ) {
            let beginning: String = text.chars().take(cut).collect();
            for glob in [Glob::part(&pattern), Glob::text(&pattern)] {
                prop_assert!(!glob.fits(&text) || glob.may_begin(&beginning));
            }
            if !pattern.contains('*') {
                let longer = format!("{pattern}x");
                prop_assert!(!Glob::text(&pattern).may_begin(&longer));
            }
        }
    }
}
