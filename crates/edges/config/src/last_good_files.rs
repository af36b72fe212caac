//! Remembers the last valid content of each file, so that a typo does not stop servers.
//!
//! When files are read again, a file that now has an error and lacks a server or setting that it
//! had keeps its previous content as a whole, and the error is reported. Any other problem affects
//! only the entry it concerns, as on the first read. Other files are used as they are. A deleted
//! file has no effect any more. A file that is still being written
//! ([`stable_read`](crate::stable_read)) and lacks something keeps its previous content until the
//! writer is done.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toolgate_dialects::{FileApprovals, FileContext, ParsedFile, Permissions};
use toolgate_model::{
    ConfigScope, Diagnostic, DiagnosticSeverity, ErrorCode, RuleSpec, ServerTimeouts,
};

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
            let good = before.get(&file);
            if let Some(good) =
                good.filter(|good| !layer.stable && has_lost_content(good, &layer.parsed))
            {
                layer.parsed = good.clone();
                self.0.insert(file, good.clone());
            } else if let Some(good) = good.filter(|good| lost_by_error(good, &layer.parsed)) {
                let mut diagnostics = std::mem::take(&mut layer.parsed.diagnostics);
                diagnostics.iter_mut().for_each(correct_hint);
                if let Some(error) = diagnostics.iter_mut().find(|found| is_error(found)) {
                    append_kept_notice(error);
                }
                layer.parsed = ParsedFile { diagnostics, ..good.clone() };
                self.0.insert(file, good.clone());
            } else {
                self.0.insert(file, layer.parsed.clone());
            }
        }
    }
}

fn key(layer: &ConfigLayer) -> (PathBuf, ConfigScope) {
    (layer.file.path.to_path_buf(), layer.file.scope)
}

/// Returns true if an error removed something that the file had before.
fn lost_by_error(good: &ParsedFile, now: &ParsedFile) -> bool {
    now.diagnostics.iter().any(is_error) && has_lost_content(good, now)
}

/// Returns true if something that the file had before is gone.
fn has_lost_content(good: &ParsedFile, now: &ParsedFile) -> bool {
    let has = |name| now.servers.iter().any(|server| server.spec.name == name);
    let lacks_server = good.servers.iter().any(|server| !has(server.spec.name.clone()));
    let lacks_amendment = good.overrides.len() > now.overrides.len();
    lacks_server || lacks_amendment || lacks_setting(good, now)
}

fn lacks_setting(good: &ParsedFile, now: &ParsedFile) -> bool {
    let (good, now) = (&good.settings, &now.settings);
    good.roots.is_some() && now.roots.is_none()
        || good.naming.is_some() && now.naming.is_none()
        || good.prefix.is_some() && now.prefix.is_none()
        || lacks_key(&good.profiles, &now.profiles)
        || lacks_key(&good.clients, &now.clients)
        || good.foreign.is_some() && now.foreign.is_none()
        || lacks_rule(&good.permissions, &now.permissions)
        || lacks_approvals(&good.approvals, &now.approvals)
        || good.posture.is_some() && now.posture.is_none()
        || good.recheck.is_some() && now.recheck.is_none()
        || lacks_limit(&good.timeouts, &now.timeouts)
        || lacks_context(&good.context, &now.context)
}

fn lacks_limit(good: &ServerTimeouts, now: &ServerTimeouts) -> bool {
    good.start.is_some() && now.start.is_none()
        || good.call.is_some() && now.call.is_none()
        || good.max.is_some() && now.max.is_none()
}

fn lacks_rule(good: &Permissions, now: &Permissions) -> bool {
    let fewer = |good: &[RuleSpec], now: &[RuleSpec]| now.len() < good.len();
    good.mode.is_some() && now.mode.is_none()
        || good.taint.is_some() && now.taint.is_none()
        || good.yolo_floor.is_some() && now.yolo_floor.is_none()
        || fewer(&good.allow, &now.allow)
        || fewer(&good.ask, &now.ask)
        || fewer(&good.deny, &now.deny)
}

fn lacks_approvals(good: &FileApprovals, now: &FileApprovals) -> bool {
    good.via.is_some() && now.via.is_none()
        || good.wait.is_some() && now.wait.is_none()
        || good.expiry.is_some() && now.expiry.is_none()
        || good.from_client_terminal.is_some() && now.from_client_terminal.is_none()
        || lacks_key(&good.clients, &now.clients)
}

fn lacks_context(good: &FileContext, now: &FileContext) -> bool {
    good.offer.is_some() && now.offer.is_none()
        || good.names.is_some() && now.names.is_none()
        || good.folders.is_some() && now.folders.is_none()
        || good.trusted.is_some() && now.trusted.is_none()
}

fn lacks_key<T>(good: &BTreeMap<String, T>, now: &BTreeMap<String, T>) -> bool {
    good.keys().any(|name| !now.contains_key(name))
}

/// Removes the hint that an unreadable file is not used: here its last valid content is.
fn correct_hint(found: &mut Diagnostic) {
    if matches!(found.code, ErrorCode::ConfigSyntax | ErrorCode::ConfigUnreadable) {
        found.hint = None;
    }
}

/// Adds a notice to the first error, so that both are reported together.
fn append_kept_notice(error: &mut Diagnostic) {
    error.message += "; the last valid content of the file stays in force until it is fixed";
}

fn is_error(found: &Diagnostic) -> bool {
    found.severity == DiagnosticSeverity::Error
}

#[cfg(test)]
mod tests {
    use toolgate_dialects::{Dialect, FileRef};

    use super::*;
    use crate::file_locations::FileRank;

    const GOOD: &str =
        "prefix = \"never\"\n[servers.a]\ncommand = \"a\"\n[servers.b]\ncommand = \"b\"\n";

    fn layer(text: &str) -> ConfigLayer {
        let file = FileRef::new("/h/config.toml", ConfigScope::User);
        let reading = Dialect::Toolgate.read(text, &file);
        ConfigLayer {
            file,
            dialect: Dialect::Toolgate,
            rank: FileRank::only_file(),
            parsed: reading,
            stable: true,
        }
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
