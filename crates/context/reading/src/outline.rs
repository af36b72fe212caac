//! The stack of headings above a position.

/// The maximum length of a heading, in bytes.
const LONGEST: usize = 160;

/// The maximum depth of headings.
const DEEPEST: usize = 8;

/// The headings above a position, outermost first.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    open: Vec<(usize, String)>,
}

impl Outline {
    /// Enters a section and leaves all sections of the same or a deeper level.
    pub(crate) fn enter(&mut self, level: usize, heading: &str) {
        self.leave(level);
        if self.open.len() < DEEPEST {
            let cut = heading.floor_char_boundary(LONGEST);
            self.open.push((level, heading[..cut].trim_end().to_owned()));
        }
    }

    /// Leaves all sections of this or a deeper level.
    pub(crate) fn leave(&mut self, level: usize) {
        while self.open.last().is_some_and(|(open, _)| *open >= level) {
            self.open.pop();
        }
    }

    /// Returns the level of the innermost heading.
    pub(crate) fn level(&self) -> Option<usize> {
        self.open.last().map(|(level, _)| *level)
    }

    /// Returns all headings, joined.
    pub(crate) fn path(&self) -> String {
        joined(&self.open)
    }

    /// Returns the headings above the innermost one, and the innermost one.
    pub(crate) fn parent_and_own(&self) -> (String, &str) {
        match self.open.split_last() {
            Some(((_, own), parents)) => (joined(parents), own),
            None => (String::new(), ""),
        }
    }
}

fn joined(open: &[(usize, String)]) -> String {
    let headings = open.iter().map(|(_, heading)| heading.as_str());
    headings.filter(|heading| !heading.is_empty()).collect::<Vec<_>>().join(" > ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_ends_those_of_its_level() {
        let mut outline = Outline::default();
        outline.enter(1, "Guide");
        outline.enter(3, "Install");
        assert_eq!(outline.path(), "Guide > Install");
        outline.enter(2, "Use");
        assert_eq!(outline.path(), "Guide > Use");
        outline.enter(1, "Other");
        assert_eq!(outline.path(), "Other");
    }

    #[test]
    fn a_path_is_bounded() {
        let mut outline = Outline::default();
        (0..1000).for_each(|level| outline.enter(level, &"é".repeat(1000)));
        assert!(outline.path().len() <= DEEPEST * (LONGEST + 3));
    }
}
