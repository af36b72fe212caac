//! What each file said when it could last be understood: a slip of the pen tears nothing down.
//!
//! The rule: when files are read again, a file that now has an error, and lacks a server or setting
//! that it had, keeps what it said before, as a whole, and the error is told. Whatever else is wrong
//! with a file costs only what it concerns, as at the first reading. Other files are taken as they
//! are now. A file that is gone says nothing any more: deleting it is no slip. One that somebody is
//! still writing ([`steady`](crate::steady)) and that lacks something keeps it until he is done.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toolgate_dialects::{FileApprovals, FileContext, Permissions, Reading};
use toolgate_model::{Diagnostic, Scope, Severity, Timeouts, WrittenRule};

use crate::files::Layer;

/// What each file said when it could last be understood.
#[derive(Debug, Clone, Default)]
pub struct LastGood(BTreeMap<(PathBuf, Scope), Reading>);

impl LastGood {
    /// Whether nothing was read yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a file says something else than before, and somebody may be writing it.
    pub(crate) fn doubts(&self, layers: &[Layer]) -> bool {
        let differs = |layer: &Layer| self.0.get(&key(layer)) != Some(&layer.reading);
        !self.is_empty() && layers.iter().any(|layer| !layer.steady && differs(layer))
    }

    /// Whether a file that spoke before is gone.
    pub(crate) fn misses(&self, layers: &[Layer]) -> bool {
        let there = |file: &(PathBuf, Scope)| layers.iter().any(|layer| key(layer) == *file);
        !self.0.keys().all(there)
    }

    /// Puts what a file said before in the place of what it says by mistake.
    pub(crate) fn settle(&mut self, layers: &mut [Layer]) {
        let before = std::mem::take(&mut self.0);
        for layer in layers {
            let file = key(layer);
            let good = before.get(&file);
            if let Some(good) = good.filter(|good| !layer.steady && lacks(good, &layer.reading)) {
                layer.reading = good.clone();
                self.0.insert(file, good.clone());
            } else if let Some(good) = good.filter(|good| is_slip(good, &layer.reading)) {
                let mut diagnostics = std::mem::take(&mut layer.reading.diagnostics);
                diagnostics.iter_mut().for_each(correct_hint);
                if let Some(error) = diagnostics.iter_mut().find(|found| is_error(found)) {
                    kept(error);
                }
                layer.reading = Reading { diagnostics, ..good.clone() };
                self.0.insert(file, good.clone());
            } else {
                self.0.insert(file, layer.reading.clone());
            }
        }
    }
}

fn key(layer: &Layer) -> (PathBuf, Scope) {
    (layer.file.path.to_path_buf(), layer.file.scope)
}

/// Whether an error took away something that was there.
fn is_slip(good: &Reading, now: &Reading) -> bool {
    now.diagnostics.iter().any(is_error) && lacks(good, now)
}

/// Whether something is gone that was there.
fn lacks(good: &Reading, now: &Reading) -> bool {
    let has = |name| now.servers.iter().any(|server| server.spec.name == name);
    let lacks_server = good.servers.iter().any(|server| !has(server.spec.name.clone()));
    let lacks_amendment = good.amendments.len() > now.amendments.len();
    lacks_server || lacks_amendment || lacks_setting(good, now)
}

fn lacks_setting(good: &Reading, now: &Reading) -> bool {
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

fn lacks_limit(good: &Timeouts, now: &Timeouts) -> bool {
    good.start.is_some() && now.start.is_none()
        || good.call.is_some() && now.call.is_none()
        || good.max.is_some() && now.max.is_none()
}

fn lacks_rule(good: &Permissions, now: &Permissions) -> bool {
    let fewer = |good: &[WrittenRule], now: &[WrittenRule]| now.len() < good.len();
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

/// A text that cannot be read at all comes with the remark that nothing in it is used; here
/// something is.
fn correct_hint(found: &mut Diagnostic) {
    if found.hint.as_ref().is_some_and(|hint| hint.starts_with("nothing in")) {
        found.hint = None;
    }
}

/// Said with the first error itself, so that whoever is told of it knows both.
fn kept(error: &mut Diagnostic) {
    error.message += "; what the file said before stays in force until it is put right";
}

fn is_error(found: &Diagnostic) -> bool {
    found.severity == Severity::Error
}

#[cfg(test)]
mod tests {
    use toolgate_dialects::{Dialect, FileRef};

    use super::*;
    use crate::places::Rank;

    const GOOD: &str =
        "prefix = \"never\"\n[servers.a]\ncommand = \"a\"\n[servers.b]\ncommand = \"b\"\n";

    fn layer(text: &str) -> Layer {
        let file = FileRef::new("/h/config.toml", Scope::User);
        let reading = Dialect::Toolgate.read(text, &file);
        Layer { file, dialect: Dialect::Toolgate, rank: Rank::alone(), reading, steady: true }
    }

    /// The servers after these texts, read one after the other, and whether something was kept.
    fn after(texts: &[&str]) -> (Vec<String>, bool) {
        let mut good = LastGood::default();
        let mut layers = Vec::new();
        for text in texts {
            layers = vec![layer(text)];
            good.settle(&mut layers);
        }
        let Reading { servers, diagnostics, .. } = &layers[0].reading;
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
        let mut good = LastGood::default();
        good.settle(&mut [layer(GOOD)]);
        good.settle(&mut []);
        let mut wrong = [layer("[servers")];
        good.settle(&mut wrong);
        assert!(wrong[0].reading.servers.is_empty());
    }
}
