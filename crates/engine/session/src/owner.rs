//! What a session reports outside any call, and to whom.

use toolgate_model::CapabilityKind;
use toolgate_wire::Frame;

/// Whoever keeps a session. Called from the session's reader: implementations must not wait.
pub trait Owner: Send + Sync {
    /// A list is no longer what it was. May come in storms.
    fn list_changed(&self, kind: CapabilityKind);

    /// A notification that belongs to no call: `resources/updated`, a log line, a task's status, or
    /// one this gateway does not know.
    fn notified(&self, frame: Frame);

    /// A form or an address to visit was declined for want of somebody who could answer, and why.
    fn declined(&self, _why: &str) {}

    /// The connection is over.
    fn ended(&self, reason: &str);
}
