//! The diff of a planned change of a file.
//!
//! It shows lines of the user's file, which may hold credentials beside the changed entry. So
//! it masks every string that does not belong to the written servers.

use std::path::Path;

use similar::TextDiff;
use toolgate_host::config::{ConfigDocument, FileSettings};
use toolgate_model::{Mask, ServerSpec};

/// Returns a unified diff of a file under this name. It shows only those strings that belong to the
/// servers in `shown` and masks all others.
pub fn diff(
    file: &ConfigDocument,
    name: &Path,
    before: &str,
    after: &str,
    shown: &[ServerSpec],
) -> String {
    if before == after {
        return String::new();
    }
    let name = name.display().to_string();
    let diff = TextDiff::from_lines(before, after);
    let diff = diff.unified_diff().context_radius(3).header(&name, &name).to_string();
    let Some((header, lines)) = diff.split_once("\n@@") else { return diff };
    let open = file.dialect.write(shown, &FileSettings::default(), &file.at);
    let open = open.map(|written| file.dialect.texts(&written.text)).unwrap_or_default();
    let texts = [before, after].into_iter().flat_map(|text| file.dialect.texts(text));
    let hidden = texts.filter(|text| !open.contains(text));
    let mask = Mask::new(hidden.flat_map(|text| text_variants(&text)));
    format!("{header}{}", mask.apply(&format!("\n@@{lines}")))
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
    use toolgate_host::config::{Dialect, FileRef};
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
        let file = ConfigDocument { dialect: Dialect::Gemini, at };
        let diff = diff(&file, Path::new("/p/x"), &before, &after, &[spec]);
        assert!(!diff.contains("canary"), "{diff}");
        assert!(diff.contains("+{ \"key\": \"***\""), "{diff}");
        assert!(diff.starts_with("--- /p/x\n+++ /p/x\n@@"), "{diff}");
    }
}
