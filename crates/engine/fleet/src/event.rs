//! What the fleet reports.

use toolgate_model::{CapabilityKind, ServerName};
use toolgate_wire::Frame;

use crate::CallerKey;

/// Something that happened outside any call.
#[derive(Debug, Clone)]
pub enum FleetEvent {
    /// A server stands differently now.
    StateChanged(ServerName),
    /// What a server offers is different now, in these kinds.
    CatalogChanged {
        /// Which server.
        server: ServerName,
        /// What changed.
        kinds: Vec<CapabilityKind>,
    },
    /// Whatever is made of the catalogs is to be made again, though none of them changed.
    Renewed,
    /// A server sent a notification that belongs to no call.
    Notified {
        /// Which server.
        server: ServerName,
        /// Whose connection it came on, if it is one caller's: nobody else may hear of it.
        caller: Option<CallerKey>,
        /// As it came.
        frame: Frame,
    },
}
