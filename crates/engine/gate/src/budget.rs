//! How many records a server may cause that nobody asked for: so many at once, then one now and then.
//!
//! There is a budget of each server and one of all together. The first few records of a server pass
//! whatever the others did. What does not pass is counted, and told with the next one that does.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;
use toolgate_model::ServerName;

/// Records of one server at once.
const OF_SERVER: u32 = 100;
/// Records of all servers at once.
const IN_ALL: u32 = 1000;
/// Of its own budget, so many a server has whatever the others did.
const RESERVED: u32 = 20;
/// How long it takes until a server may cause one more, and until all together may.
const REFILL: Duration = Duration::from_secs(60);
const REFILL_IN_ALL: Duration = Duration::from_secs(6);

/// What is left to all servers.
#[derive(Debug)]
pub(crate) struct Budget {
    servers: HashMap<ServerName, Account>,
    all: Bucket,
}

#[derive(Debug)]
struct Account {
    bucket: Bucket,
    /// How many did not pass since the last that did.
    refused: u64,
}

/// So many at once, and one more after each period.
#[derive(Debug)]
struct Bucket {
    left: u32,
    most: u32,
    filled: Instant,
    period: Duration,
}

impl Bucket {
    fn full(most: u32, period: Duration) -> Self {
        Self { left: most, most, filled: Instant::now(), period }
    }

    fn refill(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.filled);
        let gained = u32::try_from(elapsed.as_millis() / self.period.as_millis());
        let gained = gained.unwrap_or(self.most).min(self.most);
        if gained > 0 {
            self.left = (self.left + gained).min(self.most);
            self.filled = now;
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self { servers: HashMap::new(), all: Bucket::full(IN_ALL, REFILL_IN_ALL) }
    }
}

impl Budget {
    /// Takes one record of a server, and gives how many were not taken before it; `None` if this one
    /// is not taken either.
    pub(crate) fn take(&mut self, server: &ServerName) -> Option<u64> {
        let now = Instant::now();
        let fresh = || Account { bucket: Bucket::full(OF_SERVER, REFILL), refused: 0 };
        let account = self.servers.entry(server.clone()).or_insert_with(fresh);
        account.bucket.refill(now);
        self.all.refill(now);
        let reserved = account.bucket.left > OF_SERVER - RESERVED;
        if account.bucket.left == 0 || self.all.left == 0 && !reserved {
            account.refused += 1;
            return None;
        }
        account.bucket.left -= 1;
        self.all.left = self.all.left.saturating_sub(1);
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
        let (mut budget, server) = (Budget::default(), named(0));
        let taken = (0..10_000).filter(|_| budget.take(&server).is_some()).count();
        assert_eq!(taken, OF_SERVER as usize);
        tokio::time::advance(REFILL).await;
        assert_eq!(budget.take(&server), Some(10_000 - u64::from(OF_SERVER)), "they are counted");
        assert_eq!(budget.take(&server), None);
    }

    #[tokio::test(start_paused = true)]
    async fn many_servers_leave_something_for_the_next() {
        let mut budget = Budget::default();
        let mut taken = |from: u32, to: u32| {
            let each = (from..to).flat_map(|number| (0..200).map(move |_| named(number)));
            each.filter(|server| budget.take(server).is_some()).count()
        };
        assert_eq!(taken(0, 10), IN_ALL as usize);
        assert_eq!(taken(10, 12), 2 * RESERVED as usize);
    }
}
