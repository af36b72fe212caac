//! Which tools are seen, in dialects that have two lists of names for it: those that are, and those
//! that are not.
//!
//! There an empty first list shows nothing, while ours shows everything; the pattern `*` among the
//! hidden ones says the same.

use toolgate_model::{Data, Selection, ToolSpec, matches};

use super::{Fields, Writer};

/// The pattern of every tool.
const EVERY: &str = "*";

/// What a dialect calls its two lists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lists {
    pub include: &'static str,
    pub exclude: &'static str,
}

impl Lists {
    /// Reads both.
    pub fn read(self, fields: &mut Fields<'_, '_, '_>) -> Selection {
        let include = fields.texts(self.include);
        let mut exclude = fields.texts(self.exclude).unwrap_or_default();
        if include.as_ref().is_some_and(Vec::is_empty) {
            let hint = "remove it to see all of them";
            fields.warn(self.include, "is empty: no tool of this server is seen", hint);
            if !exclude.iter().any(|pattern| pattern == EVERY) {
                exclude.push(EVERY.to_owned());
            }
        }
        Selection { include: include.unwrap_or_default(), exclude, ..Selection::default() }
    }

    /// Writes both, and takes what they say out of the selection. There are names on them, no
    /// patterns: one is left out and reported. Where it includes, that shows too little rather than
    /// too much.
    pub fn write(self, writer: &mut Writer<'_>, selection: &mut Selection) {
        let (mut include, mut exclude) = (included(selection), excluded(selection));
        let names = include.iter_mut().map(|names| ("include", names));
        for (field, names) in names.chain([("exclude", &mut exclude)]) {
            let before = names.len();
            names.retain(|name| !name.contains(['*', '?']));
            if names.len() < before {
                writer.losses().add(field, "this dialect has names of tools, no patterns");
            }
        }
        if let Some(include) = include {
            writer.data(self.include, Data::texts(include));
        }
        writer.plains(self.exclude, &exclude);
        selection.include.clear();
        selection.exclude.clear();
        selection.listed_only = false;
        selection.tools.values_mut().for_each(|tool| tool.enabled = true);
        selection.tools.retain(|_, tool| *tool != ToolSpec::default());
    }
}

/// The tools that are seen; `None`: all.
fn included(selection: &Selection) -> Option<Vec<String>> {
    if selection.exclude.iter().any(|pattern| pattern == EVERY) {
        return Some(Vec::new());
    }
    let include = &selection.include;
    if !selection.listed_only {
        return (!include.is_empty()).then(|| include.clone());
    }
    let fits =
        |name: &String| include.is_empty() || include.iter().any(|pattern| matches(pattern, name));
    let listed = selection.tools.iter().filter(|(name, tool)| tool.enabled && fits(name));
    Some(listed.map(|(name, _)| name.clone()).collect())
}

/// The tools that are not.
fn excluded(selection: &Selection) -> Vec<String> {
    let off = selection.tools.iter().filter(|(_, tool)| !tool.enabled).map(|(name, _)| name);
    let patterns = selection.exclude.iter().filter(|pattern| *pattern != EVERY);
    patterns.chain(off).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lists_say_what_a_selection_shows() {
        let off = ToolSpec { enabled: false, ..ToolSpec::default() };
        let tools = [("a", ToolSpec::default()), ("b", off), ("c", ToolSpec::default())];
        let tools = tools.map(|(name, tool)| (name.to_owned(), tool));
        for (include, exclude, listed_only) in [
            (vec![], vec![], false),
            (vec![], vec![], true),
            (vec!["a", "x"], vec![], true),
            (vec!["a", "b", "x"], vec!["x"], false),
            (vec!["x"], vec![], true),
            (vec!["a"], vec!["*"], false),
        ] {
            let texts = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect();
            let selection = Selection {
                include: texts(&include),
                exclude: texts(&exclude),
                listed_only,
                tools: tools.clone().into(),
                approval: None,
            };
            let (shown, hidden) = (included(&selection), excluded(&selection));
            for tool in ["a", "b", "c", "x", "y"].map(str::to_owned) {
                let seen = shown.as_ref().is_none_or(|it| it.contains(&tool));
                assert_eq!(seen && !hidden.contains(&tool), selection.shows(&tool), "{tool}");
            }
        }
    }
}
