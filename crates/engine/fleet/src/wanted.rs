//! What callers want of one server beyond calls: subscriptions and a log level.
//!
//! Kept by the pool, not the connection, so that a restarted server is told again.

use std::collections::{BTreeMap, BTreeSet};

use toolgate_wire::view::LogLevel;

use crate::CallerKey;

#[derive(Debug, Default)]
pub(crate) struct Wanted {
    subscriptions: BTreeMap<String, BTreeSet<CallerKey>>,
    levels: BTreeMap<CallerKey, LogLevel>,
}

impl Wanted {
    /// `true` if nobody wanted to hear of it before.
    pub(crate) fn subscribe(&mut self, uri: &str, caller: CallerKey) -> bool {
        let callers = self.subscriptions.entry(uri.to_owned()).or_default();
        let first = callers.is_empty();
        callers.insert(caller);
        first
    }

    /// `true` if nobody is left who wants to hear of it.
    pub(crate) fn unsubscribe(&mut self, uri: &str, caller: CallerKey) -> bool {
        let Some(callers) = self.subscriptions.get_mut(uri) else { return true };
        callers.remove(&caller);
        if callers.is_empty() {
            self.subscriptions.remove(uri);
            return true;
        }
        false
    }

    pub(crate) fn subscriptions(&self) -> Vec<String> {
        self.subscriptions.keys().cloned().collect()
    }

    /// `true` if the server must be told.
    pub(crate) fn set_level(&mut self, caller: CallerKey, level: LogLevel) -> bool {
        let before = self.level();
        self.levels.insert(caller, level);
        before != self.level()
    }

    /// The most talkative level anybody asked for.
    pub(crate) fn level(&self) -> Option<LogLevel> {
        self.levels.values().min().copied()
    }

    /// Takes over what was wanted of another.
    pub(crate) fn adopt(&mut self, other: Self) {
        for (uri, callers) in other.subscriptions {
            self.subscriptions.entry(uri).or_default().extend(callers);
        }
        for (caller, level) in other.levels {
            self.levels.entry(caller).or_insert(level);
        }
    }

    /// Forgets a caller; gives the resources nobody else wants to hear of.
    pub(crate) fn release(&mut self, caller: CallerKey) -> Vec<String> {
        self.levels.remove(&caller);
        let mut orphans = Vec::new();
        self.subscriptions.retain(|uri, callers| {
            let last = callers.remove(&caller) && callers.is_empty();
            if last {
                orphans.push(uri.clone());
            }
            !last
        });
        orphans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_lives_as_long_as_one_caller_wants_it() {
        let mut wanted = Wanted::default();
        let (one, two) = (CallerKey(1), CallerKey(2));
        assert!(wanted.subscribe("a", one));
        assert!(!wanted.subscribe("a", two));
        assert!(wanted.subscribe("b", two));
        assert!(!wanted.unsubscribe("a", one));
        assert_eq!(wanted.release(two), ["a", "b"]);
        assert!(wanted.subscriptions().is_empty());
    }

    #[test]
    fn the_most_talkative_level_counts() {
        let mut wanted = Wanted::default();
        assert!(wanted.set_level(CallerKey(1), LogLevel::Error));
        assert!(wanted.set_level(CallerKey(2), LogLevel::Debug));
        assert!(!wanted.set_level(CallerKey(3), LogLevel::Info));
        assert_eq!(wanted.level(), Some(LogLevel::Debug));
        wanted.release(CallerKey(2));
        assert_eq!(wanted.level(), Some(LogLevel::Info));
    }
}
