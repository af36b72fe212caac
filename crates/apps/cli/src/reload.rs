//! Reloads the config files while a gateway serves: when one of them changes, on SIGHUP, and when
//! the local context gets its first document or loses its last.
//!
//! This module triggers one reload at a time and prints a summary line and the new findings to
//! stderr. [`ControlHandler::reload`] decides what is applied.

use toolgate_host::config::{FileWatcher, watched_paths};
use toolgate_host::{ConfigSources, FleetApplyReport, ReloadSignals, ServerName};

use crate::control::{ControlHandler, ReloadReport};
use crate::exit::{ErrorCode, OrFail as _, Result};
use crate::out;

/// Watches the config files and SIGHUP, and triggers reloads.
pub struct ConfigReloader {
    watch: FileWatcher,
    hangups: ReloadSignals,
}

impl ConfigReloader {
    /// Starts watching. Call it before the files are first read, so that no change is missed. From
    /// then on SIGHUP no longer ends this process.
    pub fn new(options: &ConfigSources) -> Result<Self> {
        let watch = FileWatcher::new(watched_paths(options));
        Ok(Self { watch, hangups: hangup_signals()? })
    }

    /// Reloads the files whenever necessary. Never returns.
    pub async fn run(mut self, control: &ControlHandler) {
        self.watch_files(control).await;
        loop {
            let requested = tokio::select! {
                () = self.watch.changed() => false,
                () = self.hangups.next() => true,
                () = control.local_context.wait_for_change() => false,
            };
            let reloaded = control.reload().await;
            print_reload(reloaded, requested);
            self.watch_files(control).await;
        }
    }

    /// Watches the files of the last reload. A file that is new among them may have changed before
    /// it was watched, so the files are reloaded once more.
    async fn watch_files(&mut self, control: &ControlHandler) {
        if self.watch.set_files(control.files().await) {
            print_reload(control.reload().await, false);
        }
    }
}

/// Starts listening for SIGHUP, which from then on no longer ends this process.
pub fn hangup_signals() -> Result<ReloadSignals> {
    ReloadSignals::new().or_fail(ErrorCode::CliInternal, "cannot listen for signals")
}

/// Prints the result of a reload. A reload without changes is printed only if it was requested by
/// SIGHUP.
fn print_reload(reloaded: Result<ReloadReport>, requested: bool) {
    match reloaded {
        Ok(reloaded) if reloaded.is_unchanged() && !requested => {}
        Ok(reloaded) => {
            out::note(&format!("reloaded: {}", summary(&reloaded)));
            for (name, reason) in &reloaded.blocked {
                out::note(&format!("  {name}: blocked: {reason}"));
            }
            out::print_findings(&reloaded.new_findings);
        }
        Err(failure) => {
            out::note(&format!("not reloaded: {failure}; the previous configuration stays active"))
        }
    }
}

fn summary(reloaded: &ReloadReport) -> String {
    let FleetApplyReport { added, changed, removed, .. } = &reloaded.applied;
    let parts = [("added", added), ("changed", changed), ("removed", removed)];
    let parts = parts.iter().filter(|(_, names)| !names.is_empty());
    let mut parts: Vec<_> =
        parts.map(|(what, names)| format!("{what} {}", join_names(names))).collect();
    if reloaded.settings_changed {
        parts.push("settings changed".to_owned());
    }
    if parts.is_empty() {
        parts.push("nothing changed".to_owned());
    }
    let wrong = reloaded.new_findings.iter().filter(|finding| finding.is_error()).count();
    if wrong > 0 {
        parts.push(out::count(wrong as u64, "error"));
    }
    parts.join("; ")
}

fn join_names(names: &[ServerName]) -> String {
    names.iter().map(ServerName::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::ConfigFinding;

    #[test]
    fn one_line_says_what_became_of_everything() {
        let names = |names: &[&str]| names.iter().map(|it| ServerName::new(it).unwrap()).collect();
        let mut reloaded = ReloadReport::default();
        assert!(reloaded.is_unchanged());
        assert_eq!(summary(&reloaded), "nothing changed");
        reloaded.applied.added = names(&["a", "b"]);
        reloaded.applied.removed = names(&["c"]);
        reloaded.settings_changed = true;
        reloaded.new_findings = vec![ConfigFinding::error("wrong".into())];
        assert!(!reloaded.is_unchanged());
        assert_eq!(summary(&reloaded), "added a, b; removed c; settings changed; 1 error");
    }
}
