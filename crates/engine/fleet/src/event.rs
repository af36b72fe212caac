//! Events that the fleet reports.

use toolgate_model::{CapabilityKind, ServerName};
use toolgate_wire::Frame;

use toolgate_session::CallerId;

/// An event that does not belong to a call.
#[derive(Debug, Clone)]
pub enum FleetEvent {
    /// The state of a server changed.
    StateChanged(ServerName),
    /// The catalog of a server changed.
    CatalogChanged {
        /// The server.
        server: ServerName,
        /// The kinds of capabilities that changed.
        kinds: Vec<CapabilityKind>,
    },
    /// Everything derived from the catalogs must be rebuilt, although no catalog changed.
    RebuildRequested,
    /// A server sent a notification that belongs to no call.
    Notified {
        /// The server.
        server: ServerName,
        /// The caller that the connection belongs to, if it serves one caller. No other caller may
        /// receive the notification.
        caller: Option<CallerId>,
        /// The notification as it arrived.
        frame: Frame,
    },
}
