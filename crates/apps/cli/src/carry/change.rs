//! What a change of a file looks like, before it is made.
//!
//! A diff shows lines of a file that is somebody's own, so every text in it that does not belong to
//! what is being written is hidden: a token stands beside the entry as easily as inside it.

use std::path::PathBuf;

use similar::TextDiff;
use toolgate_host::config::{Dialect, FileRef, FileSettings};
use toolgate_model::{Mask, ServerSpec};

/// A file before and after.
#[derive(Debug)]
pub struct Change {
    /// Which.
    pub path: PathBuf,
    /// How it is written.
    pub dialect: Dialect,
    /// What it holds; empty where it does not exist.
    pub before: String,
    /// What it is to hold.
    pub after: String,
}

impl Change {
    /// The lines that change, and some around them. Of all texts only those are shown that one of
    /// these servers says.
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
        Mask::new(hidden.flat_map(|text| spellings(&text)))
    }
}

/// How a text may stand in a file: as it is, line by line, or with what JSON and its like escape.
fn spellings(text: &str) -> Vec<String> {
    let mut spelled: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    if let Ok(quoted) = serde_json::to_string(text) {
        spelled.push(quoted.trim_matches('"').to_owned());
    }
    spelled.push(text.replace('\'', "''"));
    spelled.push(text.to_owned());
    spelled
}

#[cfg(test)]
mod tests {
    use toolgate_model::{Scope, ServerName, StdioSpec, TransportSpec};

    use super::*;

    #[test]
    fn only_what_is_written_is_shown_of_texts() {
        let stdio = StdioSpec { command: "toolgate".into(), ..StdioSpec::default() };
        let name = ServerName::new("gate").unwrap();
        let spec = ServerSpec::new(name, TransportSpec::Stdio(stdio));
        let at = FileRef::new("/p/settings.json", Scope::User);
        let before = r#"{ "key": "canary\"bird", "mcpServers": {} }"#.to_owned();
        let after = before.replace("{} }", "{ \"gate\": { \"command\": \"toolgate\" } } }");
        let change = Change { path: "/p/x".into(), dialect: Dialect::Gemini, before, after };
        let diff = change.diff(&[spec], &at);
        assert!(!diff.contains("canary"), "{diff}");
        assert!(diff.contains("+{ \"key\": \"***\""), "{diff}");
        assert!(diff.starts_with("--- /p/x\n+++ /p/x\n@@"), "{diff}");
    }
}
