//! The current time as tasks write it: RFC 3339, UTC.

use std::time::SystemTime;

use toolgate_model::time::rfc3339_from_time;

pub(crate) fn now() -> String {
    rfc3339_from_time(SystemTime::now())
}
