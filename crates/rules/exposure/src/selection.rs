//! Applies a server's own declaration to its tools.
//!
//! The result agrees with [`ToolSelection::is_visible`] and adds the
//! reason.

use toolgate_model::ToolSelection;

use crate::patterns::PatternList;

/// The tool selection of a server's declaration.
pub(crate) struct SelectionFilter<'a> {
    server: &'a str,
    selection: &'a ToolSelection,
    include: PatternList<'a>,
    exclude: PatternList<'a>,
}

impl<'a> SelectionFilter<'a> {
    pub fn of(server: &'a str, selection: &'a ToolSelection) -> Self {
        let (include, exclude) =
            (PatternList::of_tools(&selection.include), PatternList::of_tools(&selection.exclude));
        Self { server, selection, include, exclude }
    }

    /// Returns why a tool is visible, if the declaration says so; `Err` with the reason if it is
    /// hidden.
    pub fn evaluate(&self, tool: &str) -> Result<Option<String>, String> {
        let server = self.server;
        if let Some(pattern) = self.exclude.find(tool) {
            return Err(format!("exclude {pattern:?} of server {server}"));
        }
        let listed = match self.selection.tools.get(tool) {
            Some(entry) if !entry.enabled => return Err(format!("tools.{tool}.enabled = false")),
            Some(_) => true,
            None if self.selection.listed_only => {
                return Err(format!(
                    "not listed in tools of server {server}, which shows no others"
                ));
            }
            None => false,
        };
        if self.include.is_empty() {
            let is_reason = listed && self.selection.listed_only;
            return Ok(is_reason.then(|| format!("listed in tools of server {server}")));
        }
        match self.include.find(tool) {
            Some(pattern) => Ok(Some(format!("include {pattern:?} of server {server}"))),
            None => Err(format!("not in include of server {server}")),
        }
    }
}
