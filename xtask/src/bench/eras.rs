//! The four pairings of a client's form of the protocol with an upstream's.
//!
//! It does NOT know what the forms look like; the load generator and the upstream do.

/// A form of the protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Era {
    /// With `initialize` and sessions.
    Legacy,
    /// 2026-07-28.
    Modern,
}

impl Era {
    /// What tells the load generator or the upstream to speak it.
    pub fn flag(self) -> Option<&'static str> {
        match self {
            Era::Legacy => None,
            Era::Modern => Some("--modern"),
        }
    }
}

/// The client and the upstream of a gateway.
#[derive(Clone, Copy, Debug)]
pub struct Pairing {
    /// Its name in the table.
    pub name: &'static str,
    /// What the client speaks.
    pub client: Era,
    /// What the upstream speaks.
    pub upstream: Era,
}

/// What the others are compared with.
pub const LEGACY: &str = "legacy-to-legacy";
/// What issue and target are about.
pub const MODERN: &str = "modern-to-modern";

/// Every pairing; each is named client first.
#[rustfmt::skip]
pub const PAIRINGS: [Pairing; 4] = [
    Pairing { name: LEGACY, client: Era::Legacy, upstream: Era::Legacy },
    Pairing { name: MODERN, client: Era::Modern, upstream: Era::Modern },
    Pairing { name: "legacy-to-modern", client: Era::Legacy, upstream: Era::Modern },
    Pairing { name: "modern-to-legacy", client: Era::Modern, upstream: Era::Legacy },
];
