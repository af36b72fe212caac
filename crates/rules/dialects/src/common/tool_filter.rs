//! Reads and writes which tools are shown, for dialects with a list of included and a list of
//! excluded tool names.
//!
//! In these dialects an empty list of included tools shows nothing, while in Toolgate's it shows
//! everything. It is read as the exclude pattern `*`.

use toolgate_model::{ConfigValue, DeclaredTool, ToolSelection, matches_tool_pattern};

use super::{EntryWriter, TableFields};

/// The pattern that matches every tool.
const EVERY: &str = "*";

/// The names of the two lists in a dialect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolFilterKeys {
    pub include: &'static str,
    pub exclude: &'static str,
}

impl ToolFilterKeys {
    /// Reads both lists.
    pub fn read(self, fields: &mut TableFields<'_>, selection: &mut ToolSelection) {
        let include = fields.texts(self.include);
        let mut exclude = fields.texts(self.exclude).unwrap_or_default();
        if include.as_ref().is_some_and(Vec::is_empty) {
            let hint = "remove it to show all tools";
            fields.warn(self.include, "is empty, so all tools of this server are hidden", hint);
            if !exclude.iter().any(|pattern| pattern == EVERY) {
                exclude.push(EVERY.to_owned());
            }
        }
        (selection.include, selection.exclude) = (include.unwrap_or_default(), exclude);
    }

    /// Writes both lists, and removes their content from the selection. The lists take names, so a
    /// pattern is left out and reported. A missing include shows too little rather than too much.
    pub fn write(self, writer: &mut EntryWriter<'_>, selection: &mut ToolSelection) {
        let (mut include, mut exclude) = (included_tools(selection), excluded_tools(selection));
        let names = include.iter_mut().map(|names| ("include", names));
        for (field, names) in names.chain([("exclude", &mut exclude)]) {
            let before = names.len();
            names.retain(|name| !name.contains(['*', '?']));
            if names.len() < before {
                writer.losses.add(field, "this dialect takes tool names, not patterns");
            }
        }
        if let Some(include) = include {
            writer.data(self.include, ConfigValue::texts(include));
        }
        writer.texts(self.exclude, &exclude);
        selection.include.clear();
        selection.exclude.clear();
        selection.listed_only = false;
        selection.tools.values_mut().for_each(|tool| tool.enabled = true);
        selection.tools.retain(|_, tool| *tool != DeclaredTool::default());
    }
}

/// Returns the tools to show; `None` for all.
fn included_tools(selection: &ToolSelection) -> Option<Vec<String>> {
    if selection.exclude.iter().any(|pattern| pattern == EVERY) {
        return Some(Vec::new());
    }
    let include = &selection.include;
    if !selection.listed_only {
        return (!include.is_empty()).then(|| include.clone());
    }
    let fits = |name: &String| {
        include.is_empty() || include.iter().any(|pattern| matches_tool_pattern(pattern, name))
    };
    let listed = selection.tools.iter().filter(|(name, tool)| tool.enabled && fits(name));
    Some(listed.map(|(name, _)| name.clone()).collect())
}

/// Returns the tools to hide.
fn excluded_tools(selection: &ToolSelection) -> Vec<String> {
    let off = selection.tools.iter().filter(|(_, tool)| !tool.enabled).map(|(name, _)| name);
    let patterns = selection.exclude.iter().filter(|pattern| *pattern != EVERY);
    patterns.chain(off).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lists_say_what_a_selection_shows() {
        let off = DeclaredTool { enabled: false, ..DeclaredTool::default() };
        let tools = [("a", DeclaredTool::default()), ("b", off), ("c", DeclaredTool::default())];
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
            let selection = ToolSelection {
                include: texts(&include),
                exclude: texts(&exclude),
                listed_only,
                tools: tools.clone().into(),
                approval: None,
            };
            let (shown, hidden) = (included_tools(&selection), excluded_tools(&selection));
            for tool in ["a", "b", "c", "x", "y"].map(str::to_owned) {
                let seen = shown.as_ref().is_none_or(|it| it.contains(&tool));
                assert_eq!(seen && !hidden.contains(&tool), selection.is_visible(&tool), "{tool}");
            }
        }
    }
}
