//! Logs: on stderr, by area. Data never goes through here.

use std::io::{self, Write, stderr};
use std::str::FromStr;
use std::time::Instant;

use tracing::callsite::Identifier;
use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::cli::{Cli, Verb};
use crate::log_limit::{LineKind, LogLimit};
use crate::out::{self, harmless};

/// What can be looked at in detail.
const AREAS: [&str; 8] =
    ["config", "launch", "transport", "session", "fleet", "gate", "gateway", "context"];

/// The areas somebody wants to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Areas(Vec<&'static str>);

impl FromStr for Areas {
    type Err = String;

    /// Reads areas and patterns of them. `*`, `all` and `debug` mean all areas, `ga*` those that
    /// begin so. The prefixes `toolgate:` and `mcp:` may stand before each, as in the patterns of
    /// other programs.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut areas = Vec::new();
        for word in text.split(',').map(str::trim) {
            let bare = word.strip_prefix("toolgate:").unwrap_or(word);
            let bare = bare.strip_prefix("mcp:").unwrap_or(bare).trim_start_matches(':');
            let fits = |area: &str| match bare.strip_suffix('*') {
                Some(beginning) => area.starts_with(beginning),
                None => area == bare || ["all", "debug"].contains(&bare),
            };
            let found = AREAS.into_iter().filter(|area| fits(area)).collect::<Vec<_>>();
            if found.is_empty() {
                let areas = AREAS.join(", ");
                return Err(format!("`{word}` is no area; there are {areas}, and * for all"));
            }
            areas.extend(found);
        }
        areas.sort_unstable();
        areas.dedup();
        Ok(Self(areas))
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
        .with_writer(Sink { limit: cli.globals.debug.is_none().then(LogLimit::default) })
        .with_ansi(out::stderr_has_colour())
        // It would report to standard error, and panic where that is closed.
        .log_internal_errors(false)
        .init();
}

/// Where log lines go. Whoever looks into an area in detail gets all of them.
struct Sink {
    limit: Option<LogLimit>,
}

impl<'a> MakeWriter<'a> for Sink {
    type Writer = Shown<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        Shown { limit: None }
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> Self::Writer {
        let limited = [Level::INFO, Level::WARN].contains(metadata.level());
        let limit = self.limit.as_ref().filter(|_| limited);
        Shown { limit: limit.map(|limit| (limit, metadata.callsite())) }
    }
}

/// Standard error for log lines: whatever they quote of servers, none of it is obeyed, hides, or
/// passes for a line of its own.
struct Shown<'a> {
    limit: Option<(&'a LogLimit, Identifier)>,
}

impl Write for Shown<'_> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        // An event is written whole.
        let text = String::from_utf8_lossy(event);
        let admitted = match &self.limit {
            Some((limit, place)) => limit.admit(LineKind::of(place.clone(), &text), Instant::now()),
            None => Some(0),
        };
        let Some(left_out) = admitted else { return Ok(event.len()) };
        let mut text = harmless(&text, "    ");
        if left_out > 0 {
            text.insert_str(0, &format!("{left_out} lines like the next were left out\n"));
        }
        // Whoever closed standard error reads no logs; the work goes on without.
        let _ = stderr().write_all(text.as_bytes());
        Ok(event.len())
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
        assert!("gates".parse::<Areas>().unwrap_err().contains("gateway"));
    }

    #[test]
    fn patterns_stand_for_the_areas_they_fit() {
        let areas = |text: &str| text.parse::<Areas>().unwrap().0;
        for all in ["*", "all", "debug", "toolgate:*", "toolgate:mcp:*", "mcp:*", "*,gate"] {
            assert_eq!(areas(all).len(), AREAS.len(), "{all}");
        }
        assert_eq!(areas("toolgate:ga*"), ["gate", "gateway"]);
        assert_eq!(areas("toolgate::session, mcp:fleet"), ["fleet", "session"]);
        for none in ["", "x*", "toolgate:", "toolgate"] {
            assert!(none.parse::<Areas>().is_err(), "{none}");
        }
    }
}
