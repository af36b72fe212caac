//! The tags of what servers offer: those that files name, else those that follow from the server.
//!
//! Where neither the tool nor its server names tags, a tool bears `mcp` and `mcp.<server>`, and what
//! the annotations of a trusted server say of it: `mcp.<server>.read`, `.write`, `.destructive` and
//! `.idempotent`. Annotations of a server that is not trusted give no tag, so that no rule that
//! allows can be met by them.

use toolgate_wire::view::ToolView;

use crate::{DEFAULT_TAG, ServerSpec};

impl ServerSpec {
    /// The tags that files name for a tool: its own, else those of its server.
    pub fn written_tags(&self, tool: &str) -> Option<&[String]> {
        let own = self.selection.tools.get(tool).and_then(|tool| tool.tags.as_deref());
        own.or(self.tags.as_deref())
    }

    /// The tags of whatever it offers that is no tool.
    pub fn server_tags(&self) -> Vec<String> {
        self.tags.clone().unwrap_or_else(|| vec![DEFAULT_TAG.to_owned(), self.own_tag()])
    }

    /// The tags of a tool with this definition.
    pub fn tool_tags(&self, tool: &str, definition: &[u8]) -> Vec<String> {
        if let Some(written) = self.written_tags(tool) {
            return written.to_vec();
        }
        let mut tags = self.server_tags();
        let hints = ToolView::of(definition).filter(|_| self.trust).map(|tool| tool.hints);
        let hints = hints.unwrap_or_default();
        let said = [
            ("read", hints.read_only == Some(true)),
            ("write", hints.read_only == Some(false)),
            ("destructive", hints.destructive == Some(true)),
            ("idempotent", hints.idempotent == Some(true)),
        ];
        let said = said.into_iter().filter(|(_, is_said)| *is_said);
        tags.extend(said.map(|(word, _)| format!("{}.{word}", self.own_tag())));
        tags
    }

    /// Every tag that something of it may bear, whatever its annotations say.
    pub fn possible_tags(&self) -> Vec<String> {
        let own = self.selection.tools.values().filter_map(|tool| tool.tags.clone());
        let mut tags: Vec<_> = own.flatten().chain(self.server_tags()).collect();
        if self.tags.is_none() && self.trust {
            let words = ["read", "write", "destructive", "idempotent"];
            tags.extend(words.map(|word| format!("{}.{word}", self.own_tag())));
        }
        tags
    }

    /// A dot in the name does not make a part of its own: else `git.x` would bear the tag of `git`.
    fn own_tag(&self) -> String {
        format!("{DEFAULT_TAG}.{}", self.name.as_str().replace('.', "_"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ServerName, ToolSpec, TransportSpec};

    const READS: &[u8] = br#"{"name":"t","annotations":{"readOnlyHint":true}}"#;

    fn spec(name: &str) -> ServerSpec {
        ServerSpec::new(ServerName::new(name).unwrap(), TransportSpec::BuiltIn)
    }

    #[test]
    fn tags_follow_from_the_name_and_of_a_trusted_server_from_annotations() {
        let plain = spec("files");
        assert_eq!(plain.tool_tags("t", READS), ["mcp", "mcp.files"]);
        let trusted = ServerSpec { trust: true, ..spec("files") };
        assert_eq!(trusted.tool_tags("t", READS), ["mcp", "mcp.files", "mcp.files.read"]);
        assert_eq!(trusted.tool_tags("t", b"{}"), ["mcp", "mcp.files"]);
        assert_eq!(trusted.server_tags(), ["mcp", "mcp.files"]);
        assert_eq!(spec("git.x").server_tags(), ["mcp", "mcp.git_x"]);
    }

    #[test]
    fn what_a_file_names_is_all_there_is() {
        let mut named = ServerSpec { trust: true, tags: Some(vec!["web".into()]), ..spec("files") };
        assert_eq!(named.tool_tags("t", READS), ["web"]);
        let own = ToolSpec { tags: Some(vec!["x.y".into()]), ..ToolSpec::default() };
        named.selection.tools.insert("t".into(), own);
        assert_eq!(named.tool_tags("t", READS), ["x.y"]);
        assert_eq!(named.possible_tags(), ["x.y", "web"]);
    }
}
