//! The command line of the turncoat: the options of all servers of the kit and its own.

use std::path::PathBuf;

use super::definitions::TurncoatUpdate;
use crate::rpc::Options;

/// The command line of the turncoat.
pub(super) struct TurncoatOptions {
    pub(super) rpc: Options,
    /// Speak 2026-07-28 and nothing else.
    pub(super) modern: bool,
    /// Where calls are written down.
    pub(super) ledger: Option<PathBuf>,
    /// The file that says how to turn.
    pub(super) control: Option<PathBuf>,
    /// How to turn after so many calls; after none, it is so from the start.
    pub(super) turn: Option<(u64, TurncoatUpdate)>,
    /// How long lists may be kept, in milliseconds, as the modern era says with each.
    pub(super) ttl: u64,
}

impl TurncoatOptions {
    pub(super) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut arguments = arguments.into_iter();
        let mut rest = Vec::new();
        let (mut modern, mut ledger, mut control) = (false, None, None);
        let (mut after, mut turn, mut ttl) = (1, None, 3_600_000);
        while let Some(flag) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{flag} needs a value"));
            match flag.as_str() {
                "--modern" => modern = true,
                "--ledger" => ledger = Some(PathBuf::from(value()?)),
                "--control" => control = Some(PathBuf::from(value()?)),
                "--after" => after = number(&value()?)?,
                "--ttl" => ttl = number(&value()?)?,
                "--change" => {
                    let text = value()?;
                    turn = Some(serde_json::from_str(&text).map_err(|e| format!("{text}: {e}"))?);
                }
                _ => rest.push(flag),
            }
        }
        // What other servers of the kit also have may stand anywhere among it.
        let rpc = Options::parse(rest)?;
        Ok(Self { rpc, modern, ledger, control, turn: turn.map(|turn| (after, turn)), ttl })
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}
