//! Files that change while a gateway serves: they are read again and what they say now is taken
//! over, when one of them changes and at once on SIGHUP. Whether the local context is offered is
//! decided anew then too, and once it was filled or emptied.
//!
//! What is taken over, and what a mistake costs, is decided where files are read and servers are
//! kept; here it is only begun, one at a time, and told: one line on stderr, and what is newly
//! wrong with the files.

use toolgate_host::config::Watch;
use toolgate_host::{Applied, Hangups, ServerName, SetupOptions};

use crate::control::{Desk, Reloaded};
use crate::exit::Failure;
use crate::out;

/// Waits for reasons to read the files again.
pub struct Reloading {
    watch: Watch,
    hangups: Hangups,
}

impl Reloading {
    /// Watches from now on: to be made before the files are first read, so that no change is
    /// missed. From now on SIGHUP does not end this process any more.
    pub fn new(options: &SetupOptions) -> Result<Self, Failure> {
        let watch = Watch::new(options.files());
        Ok(Self { watch, hangups: hangups()? })
    }

    /// Reads the files again whenever there is a reason to. Never ends by itself.
    pub async fn run(mut self, desk: &Desk) {
        self.follow(desk).await;
        loop {
            let asked = tokio::select! {
                () = self.watch.changed() => false,
                () = self.hangups.next() => true,
                () = desk.stock().changed() => false,
            };
            let reloaded = desk.reload().await;
            tell(reloaded, asked);
            self.follow(desk).await;
        }
    }

    /// Watches the files that count since the last reading. One that is new among them may have
    /// changed before it was watched, so everything is read once more.
    async fn follow(&mut self, desk: &Desk) {
        if self.watch.follow(desk.files().await) {
            tell(desk.reload().await, false);
        }
    }
}

/// From now on SIGHUP does not end this process any more.
pub fn hangups() -> Result<Hangups, Failure> {
    Hangups::new().map_err(|error| Failure::failed(format!("listen for signals: {error}")))
}

/// Files are written for many reasons; only what means something to us is told, unless it was
/// asked for.
fn tell(reloaded: Result<Reloaded, Failure>, asked: bool) {
    match reloaded {
        Ok(reloaded) if reloaded.is_nothing() && !asked => {}
        Ok(reloaded) => {
            out::note(&format!("reloaded: {}", summary(&reloaded)));
            for (name, reason) in &reloaded.blocked {
                let (name, reason) = (out::visible(name.as_str()), out::visible(reason));
                out::note(&format!("  {name}: blocked: {reason}"));
            }
            out::findings(&reloaded.news);
        }
        Err(failure) => out::note(&format!(
            "not reloaded: failed to {}; everything stays as it was",
            out::visible(&failure.to_string())
        )),
    }
}

fn summary(reloaded: &Reloaded) -> String {
    let Applied { added, changed, removed, .. } = &reloaded.applied;
    let parts = [("added", added), ("changed", changed), ("removed", removed)];
    let parts = parts.iter().filter(|(_, names)| !names.is_empty());
    let mut parts: Vec<_> = parts.map(|(what, names)| format!("{what} {}", list(names))).collect();
    if reloaded.settings {
        parts.push("settings changed".to_owned());
    }
    if parts.is_empty() {
        parts.push("nothing changed".to_owned());
    }
    let wrong = reloaded.news.iter().filter(|finding| finding.is_error()).count();
    match wrong {
        0 => {}
        1 => parts.push("1 error".to_owned()),
        more => parts.push(format!("{more} errors")),
    }
    parts.join("; ")
}

fn list(names: &[ServerName]) -> String {
    names.iter().map(|name| out::visible(name.as_str())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Finding;

    #[test]
    fn one_line_says_what_became_of_everything() {
        let names = |names: &[&str]| names.iter().map(|it| ServerName::new(it).unwrap()).collect();
        let mut reloaded = Reloaded::default();
        assert!(reloaded.is_nothing());
        assert_eq!(summary(&reloaded), "nothing changed");
        reloaded.applied.added = names(&["a", "b"]);
        reloaded.applied.removed = names(&["c"]);
        reloaded.settings = true;
        reloaded.news = vec![Finding::error("wrong".into())];
        assert!(!reloaded.is_nothing());
        assert_eq!(summary(&reloaded), "added a, b; removed c; settings changed; 1 error");
    }
}
