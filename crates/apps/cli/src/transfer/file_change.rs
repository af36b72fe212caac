//! A planned change of a file, and its diff.
//!
//! The diff shows lines of the user's file, which may hold credentials beside the changed entry. So
//! it masks every string that does not belong to the written servers.

use std::path::PathBuf;

use similar::TextDiff;
use toolgate_host::config::{Dialect, FileRef, FileSettings};
use toolgate_model::{Mask, ServerSpec};

/// The text of a file before and after a change.
#[derive(Debug)]
pub struct FileChange {
    /// The path of the file.
    pub path: PathBuf,
    /// The dialect of the file.
    pub dialect: Dialect,
    /// The current text; empty if the file does not exist.
    pub before: String,
    /// The new text.
    pub after: String,
}

impl FileChange {
    /// Returns a unified diff. It shows only those strings that belong to the servers in `shown`
    /// and masks all others.
    pub fn diff(&self, shown: &[ServerSpec], at: &FileRef) -> String {
        if self.before == self.after {
            return String::new();
        }
        let name = self.path.display().to_string();
        let diff = TextDiff::from_lines(&self.before, &self.after);
        let diff = diff.unified_diff().context_radius(3).header(&name, &name).to_string();
        let (header, lines) = match diff.split_once("\n@@") {
            Some((header, lines)) => (header, format!("\n@@{lines}")),
            None => return diff,
        };
        format!("{header}{}", self.mask(shown, at).apply(&lines))
    }

    fn mask(&self, shown: &[ServerSpec], at: &FileRef) -> Mask {
        let open = self.dialect.write(shown, &FileSettings::default(), at);
        let open = open.map(|written| self.dialect.texts(&written.text)).unwrap_or_default();
        let texts = [&self.before, &self.after].into_iter().flat_map(|it| self.dialect.texts(it));
        let hidden = texts.filter(|text| !open.contains(text));
        Mask::new(hidden.flat_map(|text| text_variants(&text)))
    }
}

/// Returns the spellings that a string may have in a file: unchanged, line by line, or escaped as
/// in JSON and YAML.
fn text_variants(text: &str) -> Vec<String> {
    let mut variants: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    if let Ok(quoted) = serde_json::to_string(text) {
        variants.push(quoted.trim_matches('"').to_owned());
    }
    variants.push(text.replace('\'', "''"));
    variants.push(text.to_owned());
    variants
}

#[cfg(test)]
mod tests {
    use toolgate_model::{ConfigScope, ServerName, StdioSpec, TransportSpec};

    use super::*;

    #[test]
    fn only_what_is_written_is_shown_of_texts() {
        let stdio = StdioSpec { command: "toolgate".into(), ..StdioSpec::default() };
        let name = ServerName::new("gate").unwrap();
        let spec = ServerSpec::new(name, TransportSpec::Stdio(stdio));
        let at = FileRef::new("/p/settings.json", ConfigScope::User);
        let before = r#"{ "key": "canary\"bird", "mcpServers": {} }"#.to_owned();
        let after = before.replace("{} }", "{ \"gate\": { \"command\": \"toolgate\" } } }");
        let change = FileChange { path: "/p/x".into(), dialect: Dialect::Gemini, before, after };
        let diff = change.diff(&[spec], &at);
        assert!(!diff.contains("canary"), "{diff}");
        assert!(diff.contains("+{ \"key\": \"***\""), "{diff}");
        assert!(diff.starts_with("--- /p/x\n+++ /p/x\n@@"), "{diff}");
    }
}
