//! What a server's own declaration says of its tools, with the word that says it.
//!
//! It agrees with [`Selection::shows`]; beyond that it can say why.

use toolgate_model::Selection;

use crate::patterns::Patterns;

pub(crate) struct Selected<'a> {
    server: &'a str,
    selection: &'a Selection,
    include: Patterns<'a>,
    exclude: Patterns<'a>,
}

impl<'a> Selected<'a> {
    pub fn of(server: &'a str, selection: &'a Selection) -> Self {
        let (include, exclude) =
            (Patterns::of_tools(&selection.include), Patterns::of_tools(&selection.exclude));
        Self { server, selection, include, exclude }
    }

    /// Why a tool is visible, where something says so; `Err` with why it is hidden.
    pub fn judge(&self, tool: &str) -> Result<Option<String>, String> {
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
            let told = listed && self.selection.listed_only;
            return Ok(told.then(|| format!("listed in tools of server {server}")));
        }
        match self.include.find(tool) {
            Some(pattern) => Ok(Some(format!("include {pattern:?} of server {server}"))),
            None => Err(format!("not in include of server {server}")),
        }
    }
}
