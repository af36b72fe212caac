//! What is given in, and how what is given back points into it.

/// A passage to glean from.
#[derive(Debug, Clone, Copy)]
pub struct Leaf<'a> {
    /// The title of its document.
    pub title: &'a str,
    /// Where its document lies, as far as that says what it is about: a path or an address; may be
    /// empty.
    pub path: &'a str,
    /// The headings it stands under.
    pub heading: &'a str,
    /// Its text.
    pub text: &'a str,
    /// How well it fits what was asked; higher is better.
    pub score: f64,
}

/// A span of one of the given passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Which passage, by its index.
    pub leaf: usize,
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
}

impl Span {
    /// The words it points at; empty where it does not fit these passages.
    pub fn of<'a>(&self, leaves: &[Leaf<'a>]) -> &'a str {
        leaves.get(self.leaf).and_then(|leaf| leaf.text.get(self.start..self.end)).unwrap_or("")
    }
}
