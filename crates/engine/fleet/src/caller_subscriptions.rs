//! The subscriptions and log levels that callers requested from one server.
//!
//! The pool keeps them, not the connection, so that it can send them again to a restarted server.

use std::collections::{BTreeMap, BTreeSet};

use toolgate_wire::view::LogLevel;

use toolgate_session::CallerId;

/// The resource subscriptions and log levels of all callers of one pool.
#[derive(Debug, Default)]
pub(crate) struct CallerSubscriptions {
    subscriptions: BTreeMap<String, BTreeSet<CallerId>>,
    levels: BTreeMap<CallerId, LogLevel>,
}

impl CallerSubscriptions {
    /// Adds a subscription. Returns true if it is the first one to this resource.
    pub(crate) fn subscribe(&mut self, uri: &str, caller: CallerId) -> bool {
        let callers = self.subscriptions.entry(uri.to_owned()).or_default();
        let first = callers.is_empty();
        callers.insert(caller);
        first
    }

    /// Removes a subscription. Returns true if no caller is subscribed to the resource any more.
    pub(crate) fn unsubscribe(&mut self, uri: &str, caller: CallerId) -> bool {
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

    /// Sets the level of a caller. Returns true if the level to send to the server changed.
    pub(crate) fn set_level(&mut self, caller: CallerId, level: LogLevel) -> bool {
        let before = self.level();
        self.levels.insert(caller, level);
        before != self.level()
    }

    /// Returns the most verbose level that any caller requested.
    pub(crate) fn level(&self) -> Option<LogLevel> {
        self.levels.values().min().copied()
    }

    /// Merges the subscriptions and levels of another pool into this one.
    pub(crate) fn adopt(&mut self, other: Self) {
        for (uri, callers) in other.subscriptions {
            self.subscriptions.entry(uri).or_default().extend(callers);
        }
        for (caller, level) in other.levels {
            self.levels.entry(caller).or_insert(level);
        }
    }

    /// Removes a caller. Returns the resources that no other caller is subscribed to.
    pub(crate) fn release_caller(&mut self, caller: CallerId) -> Vec<String> {
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
        let mut wanted = CallerSubscriptions::default();
        let (one, two) = (CallerId(1), CallerId(2));
        assert!(wanted.subscribe("a", one));
        assert!(!wanted.subscribe("a", two));
        assert!(wanted.subscribe("b", two));
        assert!(!wanted.unsubscribe("a", one));
        assert_eq!(wanted.release_caller(two), ["a", "b"]);
        assert!(wanted.subscriptions().is_empty());
    }

    #[test]
    fn the_most_talkative_level_counts() {
        let mut wanted = CallerSubscriptions::default();
        assert!(wanted.set_level(CallerId(1), LogLevel::Error));
        assert!(wanted.set_level(CallerId(2), LogLevel::Debug));
        assert!(!wanted.set_level(CallerId(3), LogLevel::Info));
        assert_eq!(wanted.level(), Some(LogLevel::Debug));
        wanted.release_caller(CallerId(2));
        assert_eq!(wanted.level(), Some(LogLevel::Info));
    }
}
