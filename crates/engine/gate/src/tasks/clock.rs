//! The time of day as tasks write it: RFC 3339, UTC.

use std::time::SystemTime;

use toolgate_store::journal::rfc3339_of;

pub(crate) fn now() -> String {
    rfc3339_of(SystemTime::now())
}
