//! What was learnt of servers, kept between runs: what they offered last, and which era they speak.
//!
//! Forgetting is harmless, so a store that fails is logged and never in the way. Of an era only the
//! verdict is kept: what a server said about itself is one caller's, and never shown to another.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolgate_model::{Catalog, ServerSpec};
use toolgate_store::{FoundEra, State, StoreError};
use toolgate_wire::Era;

/// How long a server is taken for a legacy one: after an upgrade it would still answer as one.
const LEGACY: Duration = Duration::from_secs(24 * 3600);

/// So many starts in vain, and nobody counts on a server any more. The second may well succeed where
/// the first had to fetch a package.
const IN_VAIN: u32 = 2;

pub(crate) struct Memory(pub(crate) Option<Arc<dyn State>>);

impl Memory {
    pub(crate) async fn save(&self, spec: &ServerSpec, catalog: &Catalog) {
        let Some(store) = &self.0 else { return };
        let saved = store.save_catalog(&spec.name, &spec.digest(), catalog).await;
        kept(spec, saved);
    }

    pub(crate) async fn load(&self, spec: &ServerSpec) -> Option<Catalog> {
        let known = self.0.as_ref()?.catalog(&spec.name, &spec.digest()).await;
        recalled(spec, known).map(|saved| saved.catalog)
    }

    /// Whether a server of which nothing is known was tried so often before that its coming up is no
    /// longer to be waited for. Counts as one more attempt.
    pub(crate) async fn tried_in_vain(&self, spec: &ServerSpec) -> bool {
        let Some(store) = &self.0 else { return false };
        let before = store.note_attempt(&spec.digest()).await;
        recalled(spec, before.map(Some)).is_some_and(|before| before >= IN_VAIN)
    }

    /// Keeps the era a server has just been found to speak, or forgets it.
    pub(crate) async fn save_era(&self, spec: &ServerSpec, era: Option<Era>) {
        let Some(store) = &self.0 else { return };
        let saved = store.save_era(&spec.digest(), era).await;
        kept(spec, saved);
    }

    /// The era a server speaks, as far as that is still to be believed.
    pub(crate) async fn era(&self, spec: &ServerSpec) -> Option<Era> {
        let known = self.0.as_ref()?.era(&spec.digest()).await;
        believed(recalled(spec, known)?, SystemTime::now())
    }
}

fn believed(found: FoundEra, now: SystemTime) -> Option<Era> {
    // A clock that was set back makes it no fresher.
    let fresh = now.duration_since(found.found_at).is_ok_and(|age| age < LEGACY);
    (found.era == Era::Modern || fresh).then_some(found.era)
}

fn kept(spec: &ServerSpec, saved: Result<(), StoreError>) {
    if let Err(error) = saved {
        tracing::warn!(target: "toolgate::fleet", server = %spec.name, %error, "not remembered");
    }
}

fn recalled<T>(spec: &ServerSpec, known: Result<Option<T>, StoreError>) -> Option<T> {
    known.unwrap_or_else(|error| {
        tracing::warn!(target: "toolgate::fleet", server = %spec.name, %error, "not recalled");
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legacy_verdict_is_believed_for_a_day_and_a_modern_one_until_it_fails() {
        let found_at = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 30);
        let after = |era, hours: u64| {
            believed(FoundEra { era, found_at }, found_at + Duration::from_secs(hours * 3600))
        };
        assert_eq!(after(Era::Legacy, 23), Some(Era::Legacy));
        assert_eq!(after(Era::Legacy, 25), None);
        assert_eq!(after(Era::Modern, 100_000), Some(Era::Modern));
        let earlier = found_at - Duration::from_secs(1);
        assert_eq!(believed(FoundEra { era: Era::Legacy, found_at }, earlier), None);
    }
}
