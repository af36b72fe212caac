//! The receiver of session events that belong to no call.

use toolgate_model::CapabilityKind;
use toolgate_wire::Frame;

/// Receives the events of a session that belong to no call. The session's reader calls these
/// methods, so implementations must not block. By default an event is ignored.
pub trait SessionEventHandler: Send + Sync {
    /// Called when a list changed. Calls can come in bursts.
    fn on_list_changed(&self, _kind: CapabilityKind) {}

    /// Called for a notification that belongs to no call: `resources/updated`, a log message, a
    /// task status, or an unknown notification.
    fn on_notification(&self, _frame: Frame) {}

    /// Called when an elicitation was declined because no client could answer it.
    fn on_declined(&self, _why: &str) {}

    /// Called when the connection ended.
    fn on_ended(&self, _reason: &str) {}
}
