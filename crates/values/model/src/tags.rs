//! The tags of capabilities: declared in files, or derived from the server.
//!
//! If neither the tool nor its server declares tags, a tool gets `mcp` and `mcp.<server>`. If the
//! server is trusted, its annotations add `mcp.<server>.read`, `.write`, `.destructive` and
//! `.idempotent`. Annotations of an untrusted server add no tag, so that they cannot satisfy a rule
//! that allows.

use toolgate_wire::view::ToolHints;

use crate::{DEFAULT_TAG, ServerSpec};

impl ServerSpec {
    /// Returns the declared tags of a tool: its own, otherwise those of its server.
    pub fn declared_tags(&self, tool: &str) -> Option<&[String]> {
        let own = self.selection.tools.get(tool).and_then(|tool| tool.tags.as_deref());
        own.or(self.tags.as_deref())
    }

    /// Returns the tags of capabilities other than tools.
    pub fn server_tags(&self) -> Vec<String> {
        self.tags.clone().unwrap_or_else(|| vec![DEFAULT_TAG.to_owned(), self.own_tag()])
    }

    /// Returns the tags of a tool with this definition.
    pub fn tool_tags(&self, tool: &str, definition: &[u8]) -> Vec<String> {
        if let Some(written) = self.declared_tags(tool) {
            return written.to_vec();
        }
        let mut tags = self.server_tags();
        let hints = if self.trust { ToolHints::of(definition) } else { ToolHints::default() };
        let implied = [
            ("read", hints.read_only == Some(true)),
            ("write", hints.read_only == Some(false)),
            ("destructive", hints.destructive == Some(true)),
            ("idempotent", hints.idempotent == Some(true)),
        ];
        let implied = implied.into_iter().filter(|(_, is_set)| *is_set);
        tags.extend(implied.map(|(word, _)| format!("{}.{word}", self.own_tag())));
        tags
    }

    /// Returns every tag that a capability of the server can have, whatever its annotations.
    pub fn possible_tags(&self) -> Vec<String> {
        let own = self.selection.tools.values().filter_map(|tool| tool.tags.clone());
        let mut tags: Vec<_> = own.flatten().chain(self.server_tags()).collect();
        if self.tags.is_none() && self.trust {
            let words = ["read", "write", "destructive", "idempotent"];
            tags.extend(words.map(|word| format!("{}.{word}", self.own_tag())));
        }
        tags
    }

    /// Returns the server's own tag. Dots in the name become underscores, otherwise `git.x` would
    /// have the tag of `git`.
    fn own_tag(&self) -> String {
        format!("{DEFAULT_TAG}.{}", self.name.as_str().replace('.', "_"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeclaredTool, ServerName, TransportSpec};

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
        let own = DeclaredTool { tags: Some(vec!["x.y".into()]), ..DeclaredTool::default() };
        named.selection.tools.insert("t".into(), own);
        assert_eq!(named.tool_tags("t", READS), ["x.y"]);
        assert_eq!(named.possible_tags(), ["x.y", "web"]);
    }
}
