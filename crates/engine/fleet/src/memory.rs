//! What servers offered the last time, kept between runs.
//!
//! Forgetting is harmless, so a store that fails is logged and never in the way.

use std::sync::Arc;

use toolgate_model::{Catalog, ServerSpec};
use toolgate_store::State;

pub(crate) struct Memory(pub(crate) Option<Arc<dyn State>>);

impl Memory {
    pub(crate) async fn save(&self, spec: &ServerSpec, catalog: &Catalog) {
        let Some(store) = &self.0 else { return };
        if let Err(error) = store.save_catalog(&spec.name, &spec.digest(), catalog).await {
            tracing::warn!(target: "toolgate::fleet", server = %spec.name, %error, "not remembered");
        }
    }

    pub(crate) async fn load(&self, spec: &ServerSpec) -> Option<Catalog> {
        match self.0.as_ref()?.catalog(&spec.name, &spec.digest()).await {
            Ok(known) => known.map(|saved| saved.catalog),
            Err(error) => {
                tracing::warn!(target: "toolgate::fleet", server = %spec.name, %error, "not recalled");
                None
            }
        }
    }
}
