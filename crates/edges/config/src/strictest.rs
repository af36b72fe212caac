//! One word out of several files, where a stricter one may not be loosened.
//!
//! The user's word holds, or the system's where he has none. The system's and a project's make it
//! stricter, and never looser.

use std::cmp::Ordering;

use toolgate_dialects::{Said, Settings};
use toolgate_model::{Diagnostic, Origin, Scope, Severity};

use crate::files::Layer;
use crate::layers::note;

/// What one file says.
#[derive(Debug, Clone)]
pub(crate) struct Word<T> {
    pub value: T,
    pub origin: Origin,
    /// Whether it was said to us, and not to another host.
    pub meant: bool,
}

/// What the files say of one thing, nearest first.
pub(crate) fn words<T: Copy>(
    layers: &[Layer],
    said: impl Fn(&Settings) -> Option<Said<T>>,
) -> Vec<Word<T>> {
    let word = |layer: &Layer| {
        let Said { value, at: (line, column) } = said(&layer.reading.settings)?;
        let origin = layer.file.origin(line, column);
        Some(Word { value, origin, meant: layer.rank.is_meant() })
    };
    layers.iter().filter_map(word).collect()
}

/// One thing that files may say, and what is stricter.
pub(crate) struct Strictness<'s, T> {
    /// What it is called.
    pub name: &'s str,
    /// What holds where nobody says it.
    pub default: T,
    /// How the strictness of two words compares.
    pub order: fn(&T, &T) -> Ordering,
}

impl<T: Copy> Strictness<'_, T> {
    /// The word that holds. Whatever does not is told.
    pub fn settle(&self, words: &[Word<T>], diagnostics: &mut Vec<Diagnostic>) -> Option<Word<T>> {
        let mut held = self.base(words).cloned();
        for word in words.iter().filter(|word| word.origin.scope != Scope::User) {
            let stricter = match &held {
                Some(held) => self.is_looser(&held.value, &word.value),
                None => !self.is_looser(&word.value, &self.default),
            };
            if stricter {
                held = Some(word.clone());
            }
        }
        let holds = held.as_ref().map_or(self.default, |held| held.value);
        let looser = words.iter().filter(|word| self.is_looser(&word.value, &holds));
        diagnostics.extend(looser.map(|word| self.told(word, held.as_ref())));
        held
    }

    /// The user's word, first of all what he said to us; where he says nothing, the system's. Of
    /// what he said to several other hosts, the strictest.
    fn base<'w>(&self, words: &'w [Word<T>]) -> Option<&'w Word<T>> {
        let of = |scope| words.iter().filter(move |word| word.origin.scope == scope);
        let strictest = |one: &'w Word<T>, other: &'w Word<T>| {
            if self.is_looser(&one.value, &other.value) { other } else { one }
        };
        let own = of(Scope::User).find(|word| word.meant);
        own.or_else(|| of(Scope::User).reduce(strictest)).or_else(|| of(Scope::System).next())
    }

    fn is_looser(&self, one: &T, other: &T) -> bool {
        (self.order)(one, other) == Ordering::Less
    }

    fn told(&self, word: &Word<T>, held: Option<&Word<T>>) -> Diagnostic {
        let name = self.name;
        if word.origin.scope == Scope::Project {
            let message = format!("`{name}` does not count: a project's file can only be stricter");
            let told = note(word.origin.clone(), message, Some(OWN.to_owned()));
            // Another host's file is right to say it: it was said to that host.
            let severity = if word.meant { Severity::Warning } else { Severity::Note };
            return Diagnostic { severity, ..told };
        }
        let by = held.map_or_else(|| "the default".to_owned(), |held| held.origin.to_string());
        let message = format!("`{name}` is made stricter by {by}");
        Diagnostic { severity: Severity::Note, ..note(word.origin.clone(), message, None) }
    }
}

/// What to do about a word of a project's file that does not count.
pub(crate) const OWN: &str = "say it in your own config, if you want it";
