//! Limits how many unsolicited journal records a server causes: a burst, then a slow rate.
//!
//! Each server has a budget, and so have all servers together. The first few records of a server
//! pass even if the others used up the common budget. Records that do not pass are counted, and the
//! next one that passes reports the count.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;
use toolgate_model::{ServerName, TokenBucket};

/// The most records of one server in a burst.
const OF_SERVER: u32 = 100;
/// The most records of all servers in a burst.
const IN_ALL: u32 = 1000;
/// The part of a server's budget that does not depend on the common budget.
const RESERVED: u32 = 20;
/// The time after which one server, and all servers together, may cause one more.
const REFILL: Duration = Duration::from_secs(60);
const REFILL_IN_ALL: Duration = Duration::from_secs(6);

/// The budgets of all servers.
#[derive(Debug)]
pub(crate) struct JournalRecordLimiter {
    servers: HashMap<ServerName, ServerRecordLimit>,
    all: TokenBucket,
}

/// The budget of one server.
#[derive(Debug)]
struct ServerRecordLimit {
    bucket: TokenBucket,
    /// How many records were dropped since the last one that passed.
    refused: u64,
}

impl Default for JournalRecordLimiter {
    fn default() -> Self {
        let now = Instant::now().into_std();
        Self { servers: HashMap::new(), all: TokenBucket::full(IN_ALL, REFILL_IN_ALL, now) }
    }
}

impl JournalRecordLimiter {
    /// Takes one record of a server and returns how many were dropped before it; `None` if this one
    /// is dropped too.
    pub(crate) fn take(&mut self, server: &ServerName) -> Option<u64> {
        let now = Instant::now().into_std();
        let fresh =
            || ServerRecordLimit { bucket: TokenBucket::full(OF_SERVER, REFILL, now), refused: 0 };
        let account = self.servers.entry(server.clone()).or_insert_with(fresh);
        let is_reserved = account.bucket.available(now) > OF_SERVER - RESERVED;
        let may_pass = is_reserved || self.all.available(now) > 0;
        if !may_pass || !account.bucket.take(now) {
            account.refused += 1;
            return None;
        }
        // A reserved record passes even if the common budget is empty.
        self.all.take(now);
        Some(std::mem::take(&mut account.refused))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(number: u32) -> ServerName {
        ServerName::new(&format!("s{number}")).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_changes_endlessly_is_recorded_now_and_then() {
        let (mut budget, server) = (JournalRecordLimiter::default(), named(0));
        let taken = (0..10_000).filter(|_| budget.take(&server).is_some()).count();
        assert_eq!(taken, OF_SERVER as usize);
        tokio::time::advance(REFILL).await;
        assert_eq!(budget.take(&server), Some(10_000 - u64::from(OF_SERVER)), "they are counted");
        assert_eq!(budget.take(&server), None);
    }

    #[tokio::test(start_paused = true)]
    async fn many_servers_leave_something_for_the_next() {
        let mut budget = JournalRecordLimiter::default();
        let mut taken = |from: u32, to: u32| {
            let each = (from..to).flat_map(|number| (0..200).map(move |_| named(number)));
            each.filter(|server| budget.take(server).is_some()).count()
        };
        assert_eq!(taken(0, 10), IN_ALL as usize);
        assert_eq!(taken(10, 12), 2 * RESERVED as usize);
    }
}
