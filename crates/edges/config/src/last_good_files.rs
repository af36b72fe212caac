//! Remembers the last valid content of each file, so that a typo does not stop servers.
//!
//! When files are read again, a file that now has an error and lacks a server or setting that it
//! had keeps its previous content as a whole, and the error is reported. Any other problem affects
//! only the entry it concerns, as on the first read. Other files are used as they are. A deleted
//! file has no effect any more. A file that is still being written
//! ([`stable_read`](crate::stable_read)) and lacks something keeps its previous content until the
//! writer is done.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use toolgate_dialects::{FileSettings, ParsedFile, Permissions};
use toolgate_model::{ConfigScope, Diagnostic, DiagnosticSeverity, ErrorCode};

use crate::files::ConfigLayer;

/// The last valid content of each file.
#[derive(Debug, Clone, Default)]
pub struct LastGoodFiles(BTreeMap<(PathBuf, ConfigScope), ParsedFile>);

impl LastGoodFiles {
    /// Returns true if nothing has been read yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if a file has changed and may still be being written.
    pub(crate) fn has_unstable_changes(&self, layers: &[ConfigLayer]) -> bool {
        let differs = |layer: &ConfigLayer| self.0.get(&key(layer)) != Some(&layer.parsed);
        !self.is_empty() && layers.iter().any(|layer| !layer.stable && differs(layer))
    }

    /// Returns true if a file that was read before is gone.
    pub(crate) fn has_missing_files(&self, layers: &[ConfigLayer]) -> bool {
        let there = |file: &(PathBuf, ConfigScope)| layers.iter().any(|layer| key(layer) == *file);
        !self.0.keys().all(there)
    }

    /// Replaces the content of broken files by their last valid content.
    pub(crate) fn restore_broken(&mut self, layers: &mut [ConfigLayer]) {
        let before = std::mem::take(&mut self.0);
        for layer in layers {
            let file = key(layer);
            let has_error = layer.parsed.diagnostics.iter().any(is_error);
            let is_doubtful = !layer.stable || has_error;
            let lost = |good: &&ParsedFile| is_doubtful && has_lost_content(good, &layer.parsed);
            let Some(good) = before.get(&file).filter(lost) else {
                self.0.insert(file, layer.parsed.clone());
                continue;
            };
            let mut kept = good.clone();
            if layer.stable {
                kept.diagnostics = std::mem::take(&mut layer.parsed.diagnostics);
                report_kept(&mut kept.diagnostics);
            }
            layer.parsed = kept;
            self.0.insert(file, good.clone());
        }
    }
}

fn key(layer: &ConfigLayer) -> (PathBuf, ConfigScope) {
    (layer.file.path().to_owned(), layer.scope())
}

/// Returns true if something that the file had before is gone.
fn has_lost_content(good: &ParsedFile, now: &ParsedFile) -> bool {
    !content_names(good).is_subset(&content_names(now))
}

/// Returns a name for everything that a file contains.
fn content_names(file: &ParsedFile) -> BTreeSet<String> {
    let FileSettings { permissions, approvals, timeouts, context, .. } = &file.settings;
    let FileSettings { profiles, clients, .. } = &file.settings;
    let settings = [
        ("roots", file.settings.roots.is_some()),
        ("naming", file.settings.naming.is_some()),
        ("prefix", file.settings.prefix.is_some()),
        ("foreign", file.settings.foreign.is_some()),
        ("posture", file.settings.posture.is_some()),
        ("recheck", file.settings.recheck.is_some()),
        ("mode", permissions.mode.is_some()),
        ("taint", permissions.taint.is_some()),
        ("yolo_floor", permissions.yolo_floor.is_some()),
        ("via", approvals.via.is_some()),
        ("wait", approvals.wait.is_some()),
        ("expiry", approvals.expiry.is_some()),
        ("from_client_terminal", approvals.from_client_terminal.is_some()),
        ("start", timeouts.start.is_some()),
        ("call", timeouts.call.is_some()),
        ("max", timeouts.max.is_some()),
        ("offer", context.offer.is_some()),
        ("names", context.names.is_some()),
        ("folders", context.folders.is_some()),
        ("trusted", context.trusted.is_some()),
    ];
    let mut names: BTreeSet<_> =
        settings.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (*name).to_owned()).collect();
    names.extend(file.servers.iter().map(|it| format!("server {}", it.spec.name)));
    names.extend(profiles.keys().map(|name| format!("profile {name}")));
    names.extend(clients.keys().map(|name| format!("client {name}")));
    names.extend(approvals.clients.keys().map(|name| format!("approvals of {name}")));
    let Permissions { allow, ask, deny, .. } = permissions;
    let lists = [("allow", allow.len()), ("ask", ask.len()), ("deny", deny.len())];
    for (list, count) in lists.into_iter().chain([("override", file.overrides.len())]) {
        names.extend((0..count).map(|index| format!("{list} {index}")));
    }
    names
}

/// Says in the error that removed something that the last content stays in force. The usual hint
/// would say that nothing of the file is used.
fn report_kept(diagnostics: &mut [Diagnostic]) {
    for found in diagnostics.iter_mut() {
        if matches!(found.code, ErrorCode::ConfigSyntax | ErrorCode::ConfigUnreadable) {
            found.hint = None;
        }
    }
    if let Some(error) = diagnostics.iter_mut().find(|found| is_error(found)) {
        error.message += "; the last valid content of the file stays in force until it is fixed";
    }
}

fn is_error(found: &Diagnostic) -> bool {
    found.severity == DiagnosticSeverity::Error
}

#[cfg(test)]
mod tests {
    use toolgate_dialects::{Dialect, FileRef};

    use super::*;
    use crate::ConfigDocument;
    use crate::file_locations::FileRank;

    const GOOD: &str =
        "prefix = \"never\"\n[servers.a]\ncommand = \"a\"\n[servers.b]\ncommand = \"b\"\n";

    fn layer(text: &str) -> ConfigLayer {
        let at = FileRef::new("/h/config.toml", ConfigScope::User);
        let file = ConfigDocument { dialect: Dialect::Toolgate, at };
        let parsed = file.read(text);
        ConfigLayer { file, rank: FileRank::only_file(), parsed, stable: true }
    }

    /// Reads these texts one after the other. Returns the resulting servers, and whether previous
    /// content was kept.
    fn after(texts: &[&str]) -> (Vec<String>, bool) {
        let mut good = LastGoodFiles::default();
        let mut layers = Vec::new();
        for text in texts {
            layers = vec![layer(text)];
            good.restore_broken(&mut layers);
        }
        let ParsedFile { servers, diagnostics, .. } = &layers[0].parsed;
        let kept = diagnostics.iter().any(|found| found.message.contains("stays in force"));
        (servers.iter().map(|server| server.spec.name.to_string()).collect(), kept)
    }

    fn servers(names: &[&str], kept: bool) -> (Vec<String>, bool) {
        (names.iter().map(|&name| name.to_owned()).collect(), kept)
    }

    #[test]
    fn a_text_that_cannot_be_understood_changes_nothing() {
        assert_eq!(after(&[GOOD, "[servers"]), servers(&["a", "b"], true));
        assert_eq!(
            after(&[GOOD, "[servers", "[servers.c]\ncommand = 7"]),
            servers(&["a", "b"], true)
        );
    }

    #[test]
    fn an_entry_that_became_wrong_keeps_the_whole_file() {
        let wrong = "[servers.a]\ncommand = 7\n[servers.c]\ncommand = \"c\"\n";
        assert_eq!(after(&[GOOD, wrong]), servers(&["a", "b"], true));
    }

    #[test]
    fn a_new_entry_that_is_wrong_costs_only_itself() {
        let more = format!("{GOOD}[servers.c]\ncommand = 7\n");
        assert_eq!(after(&[GOOD, &more]), servers(&["a", "b"], false));
    }

    #[test]
    fn a_profile_that_became_wrong_keeps_the_whole_file() {
        let profile = |expose: &str| format!("{GOOD}[profiles.p]\nexpose = \"{expose}\"\n");
        let wrong = profile("serch").replace("[servers.b]\ncommand = \"b\"\n", "");
        assert_eq!(after(&[&profile("search"), &wrong]), servers(&["a", "b"], true));
        assert_eq!(after(&[GOOD, &profile("serch")]), servers(&["a", "b"], false));
    }

    #[test]
    fn what_was_never_right_is_not_kept() {
        assert_eq!(after(&["[servers", "[servers.a]\ncommand = 7"]), servers(&[], false));
    }

    #[test]
    fn a_right_text_is_taken_also_after_a_wrong_one() {
        assert_eq!(
            after(&[GOOD, "[servers", "[servers.c]\ncommand = \"c\""]),
            servers(&["c"], false)
        );
    }

    #[test]
    fn a_file_that_is_gone_says_nothing_and_begins_anew() {
        let mut good = LastGoodFiles::default();
        good.restore_broken(&mut [layer(GOOD)]);
        good.restore_broken(&mut []);
        let mut wrong = [layer("[servers")];
        good.restore_broken(&mut wrong);
        assert!(wrong[0].parsed.servers.is_empty());
    }
}
