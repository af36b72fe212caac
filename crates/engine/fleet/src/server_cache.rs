//! Caches the catalogs and eras of servers between runs.
//!
//! Losing an entry is harmless, so store errors are only logged. For an era only the result of the
//! probe is stored, because what a server says about itself may be specific to one caller.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolgate_model::{Catalog, ServerSpec};
use toolgate_store::{DetectedEra, StateStore, StoreError};
use toolgate_wire::Era;

/// How long a legacy result is trusted. It expires because an upgraded server still answers as a
/// legacy one.
const LEGACY: Duration = Duration::from_secs(24 * 3600);

/// After this many failed starts, discovery no longer waits for the server. One failure is not
/// enough, because the first start may have to download a package.
const FUTILE_ATTEMPTS: u32 = 2;

/// The cache of catalogs and eras; empty without a store.
pub(crate) struct ServerCache(pub(crate) Option<Arc<StateStore>>);

impl ServerCache {
    pub(crate) async fn save(&self, spec: &ServerSpec, catalog: &Catalog) {
        let Some(store) = &self.0 else { return };
        let saved = store.save_catalog(&spec.name, &spec.digest(), catalog).await;
        ok_or_log(spec, "save to", saved);
    }

    pub(crate) async fn load(&self, spec: &ServerSpec) -> Option<Catalog> {
        let known = self.0.as_ref()?.catalog(&spec.name, &spec.digest()).await;
        ok_or_log(spec, "read from", known).flatten().map(|saved| saved.catalog)
    }

    /// Counts an attempt to start a server without a known catalog. Returns true if it failed so
    /// often before that it is not worth waiting for.
    pub(crate) async fn record_attempt(&self, spec: &ServerSpec) -> bool {
        let Some(store) = &self.0 else { return false };
        let before = store.count_attempt(&spec.digest()).await;
        ok_or_log(spec, "read from", before).is_some_and(|before| before >= FUTILE_ATTEMPTS)
    }

    /// Stores the era of a server, or removes it.
    pub(crate) async fn save_era(&self, spec: &ServerSpec, era: Option<Era>) {
        let Some(store) = &self.0 else { return };
        let saved = store.save_era(&spec.digest(), era).await;
        ok_or_log(spec, "save to", saved);
    }

    /// Returns the cached era of a server, if it is still trusted.
    pub(crate) async fn era(&self, spec: &ServerSpec) -> Option<Era> {
        let known = self.0.as_ref()?.era(&spec.digest()).await;
        era_if_trusted(ok_or_log(spec, "read from", known)??, SystemTime::now())
    }
}

fn era_if_trusted(found: DetectedEra, now: SystemTime) -> Option<Era> {
    // If the clock was set back, the entry does not count as fresh.
    let fresh = now.duration_since(found.found_at).is_ok_and(|age| age < LEGACY);
    (found.era == Era::Modern || fresh).then_some(found.era)
}

/// Logs an error: without the cache, a server only starts more slowly.
fn ok_or_log<T>(spec: &ServerSpec, what: &str, done: Result<T, StoreError>) -> Option<T> {
    let log = |error: &StoreError| {
        let server = &spec.name;
        tracing::warn!(target: "toolgate::fleet", %server, %error, "cannot {what} the server cache");
    };
    done.inspect_err(log).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legacy_verdict_is_believed_for_a_day_and_a_modern_one_until_it_fails() {
        let found_at = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 30);
        let after = |era, hours: u64| {
            era_if_trusted(
                DetectedEra { era, found_at },
                found_at + Duration::from_secs(hours * 3600),
            )
        };
        assert_eq!(after(Era::Legacy, 23), Some(Era::Legacy));
        assert_eq!(after(Era::Legacy, 25), None);
        assert_eq!(after(Era::Modern, 100_000), Some(Era::Modern));
        let earlier = found_at - Duration::from_secs(1);
        assert_eq!(era_if_trusted(DetectedEra { era: Era::Legacy, found_at }, earlier), None);
    }
}
