//! Logs: on stderr, by area. Data never goes through here.

use std::io::{self, Write, stderr};
use std::str::FromStr;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::cli::{Cli, Verb};
use crate::out::{self, harmless};

/// What can be looked at in detail.
const AREAS: [&str; 8] =
    ["config", "launch", "transport", "session", "fleet", "gate", "gateway", "context"];

/// The areas somebody wants to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Areas(Vec<&'static str>);

impl FromStr for Areas {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self(AREAS.to_vec()));
        }
        let known = |word: &str| {
            let area = AREAS.into_iter().find(|area| *area == word);
            area.ok_or_else(|| format!("`{word}` is no area; there are {}", AREAS.join(", ")))
        };
        text.split(',').map(|word| known(word.trim())).collect::<Result<_, _>>().map(Self)
    }
}

impl Areas {
    /// Everything these areas say. An area logs under its own name, or under its crate's.
    fn directives(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|area| {
            let bare = (*area == "launch").then(|| "launch=debug".to_owned());
            [format!("toolgate::{area}=debug"), format!("toolgate_{area}=debug")]
                .into_iter()
                .chain(bare)
        })
    }
}

/// Begins to log, as the command line wants it.
pub fn begin(cli: &Cli) {
    let mut filter = EnvFilter::builder().with_default_directive(usual(cli).into()).parse_lossy("");
    if let Some(areas) = &cli.globals.debug {
        let directives = areas.directives().filter_map(|directive| directive.parse().ok());
        filter = directives.fold(filter, EnvFilter::add_directive);
    }
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| Shown)
        .with_ansi(out::stderr_has_colour())
        .init();
}

/// Standard error for log lines: whatever they quote of servers, none of it is obeyed, hides, or
/// passes for a line of its own.
struct Shown;

impl Write for Shown {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        // An event is written whole.
        let text = harmless(&String::from_utf8_lossy(event), "    ");
        stderr().write_all(text.as_bytes()).map(|()| event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().flush()
    }
}

/// A gateway tells what happens to it; a verb that answers one question only what went wrong.
fn usual(cli: &Cli) -> LevelFilter {
    match cli.verb() {
        Verb::Serve(_) => LevelFilter::INFO,
        _ if cli.globals.verbose => LevelFilter::INFO,
        _ => LevelFilter::ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_opens_its_own_targets_and_an_unknown_one_is_refused() {
        let areas: Areas = "gate,launch".parse().unwrap();
        let directives: Vec<_> = areas.directives().collect();
        assert_eq!(
            directives,
            [
                "toolgate::gate=debug",
                "toolgate_gate=debug",
                "toolgate::launch=debug",
                "toolgate_launch=debug",
                "launch=debug"
            ]
        );
        assert_eq!("all".parse::<Areas>().unwrap().0, AREAS);
        assert!("gates".parse::<Areas>().unwrap_err().contains("gateway"));
    }
}
