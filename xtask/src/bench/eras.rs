//! The four pairings of the eras of client and upstream. The load generator and the upstream
//! implement the eras.

/// An era of the protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BenchEra {
    /// With `initialize` and sessions.
    Legacy,
    /// 2026-07-28.
    Modern,
}

impl BenchEra {
    /// What tells the load generator or the upstream to speak it.
    pub fn flag(self) -> Option<&'static str> {
        match self {
            BenchEra::Legacy => None,
            BenchEra::Modern => Some("--modern"),
        }
    }
}

/// The eras of the client and the upstream of a gateway.
#[derive(Clone, Copy, Debug)]
pub struct EraPairing {
    /// Its name in the table.
    pub name: &'static str,
    /// What the client speaks.
    pub client: BenchEra,
    /// What the upstream speaks.
    pub upstream: BenchEra,
}

/// What the others are compared with.
pub const LEGACY: &str = "legacy-to-legacy";
/// What issue and target are about.
pub const MODERN: &str = "modern-to-modern";

/// Every pairing; each is named client first.
#[rustfmt::skip]
pub const PAIRINGS: [EraPairing; 4] = [
    EraPairing { name: LEGACY, client: BenchEra::Legacy, upstream: BenchEra::Legacy },
    EraPairing { name: MODERN, client: BenchEra::Modern, upstream: BenchEra::Modern },
    EraPairing { name: "legacy-to-modern", client: BenchEra::Legacy, upstream: BenchEra::Modern },
    EraPairing { name: "modern-to-legacy", client: BenchEra::Modern, upstream: BenchEra::Legacy },
];
