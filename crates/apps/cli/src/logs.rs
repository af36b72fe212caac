//! Logging to stderr, filtered by area.

use std::io::{self, Write, stderr};
use std::str::FromStr;
use std::time::Instant;

use tracing::callsite::Identifier;
use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::cli::{Cli, VerbCommand};
use crate::log_limit::{LogLimit, RepeatedLogKey};
use crate::out::{self, escape_for_terminal};

/// The areas that can be logged in detail.
const AREAS: [&str; 8] =
    ["config", "launch", "transport", "session", "fleet", "gate", "gateway", "context"];

/// The areas chosen with `--debug`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogAreas(Vec<&'static str>);

impl FromStr for LogAreas {
    type Err = String;

    /// Parses a comma-separated list of areas and patterns. `*`, `all` and `debug` mean all areas,
    /// `ga*` those that begin with `ga`. Each may have the prefixes `toolgate:` and `mcp:`, as in
    /// the patterns of other programs.
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
                return Err(format!("`{word}` is not a log area; use * or some of {areas}"));
            }
            areas.extend(found);
        }
        areas.sort_unstable();
        areas.dedup();
        Ok(Self(areas))
    }
}

impl LogAreas {
    /// Returns the filter directives of these areas. An area logs under its own name or under the
    /// name of its crate.
    fn directives(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|area| {
            let bare = (*area == "launch").then(|| "launch=debug".to_owned());
            [format!("toolgate::{area}=debug"), format!("toolgate_{area}=debug")]
                .into_iter()
                .chain(bare)
        })
    }
}

/// Initializes logging as the command line says.
pub fn init_logging(cli: &Cli) {
    let mut filter =
        EnvFilter::builder().with_default_directive(default_level(cli).into()).parse_lossy("");
    if let Some(areas) = &cli.globals.debug {
        let directives = areas.directives().filter_map(|directive| directive.parse().ok());
        filter = directives.fold(filter, EnvFilter::add_directive);
    }
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(LogSink { limit: cli.globals.debug.is_none().then(LogLimit::default) })
        .with_ansi(out::stderr_has_colour())
        // Internal errors are reported to stderr, with a panic if that is closed.
        .log_internal_errors(false)
        .init();
}

/// Makes a writer for each log line. With `--debug` there is no rate limit.
struct LogSink {
    limit: Option<LogLimit>,
}

impl<'a> MakeWriter<'a> for LogSink {
    type Writer = LogWriter<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LogWriter { limit: None }
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> Self::Writer {
        let limited = [Level::INFO, Level::WARN].contains(metadata.level());
        let limit = self.limit.as_ref().filter(|_| limited);
        LogWriter { limit: limit.map(|limit| (limit, metadata.callsite())) }
    }
}

/// Writes one log line to stderr. It escapes what the line quotes of servers, so that no part of it
/// controls the terminal, is invisible or looks like another log line.
struct LogWriter<'a> {
    limit: Option<(&'a LogLimit, Identifier)>,
}

impl Write for LogWriter<'_> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        // Each call receives a complete event.
        let text = String::from_utf8_lossy(event);
        let admitted = match &self.limit {
            Some((limit, place)) => {
                limit.admit(RepeatedLogKey::of(place.clone(), &text), Instant::now())
            }
            None => Some(0),
        };
        let Some(left_out) = admitted else { return Ok(event.len()) };
        let mut text = escape_for_terminal(&text, "    ");
        if left_out > 0 {
            text.insert_str(0, &format!("{left_out} lines like the next one were suppressed\n"));
        }
        // Standard error may be closed; the run continues without logs.
        let _ = stderr().write_all(text.as_bytes());
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().flush()
    }
}

/// Returns the default log level: info for a gateway and with `--verbose`, errors otherwise
/// and with `--quiet`.
fn default_level(cli: &Cli) -> LevelFilter {
    match cli.verb() {
        _ if cli.globals.quiet => LevelFilter::ERROR,
        VerbCommand::Serve(_) => LevelFilter::INFO,
        _ if cli.globals.verbose => LevelFilter::INFO,
        _ => LevelFilter::ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_opens_its_own_targets_and_an_unknown_one_is_refused() {
        let areas: LogAreas = "gate,launch".parse().unwrap();
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
        assert!("gates".parse::<LogAreas>().unwrap_err().contains("gateway"));
    }

    #[test]
    fn patterns_stand_for_the_areas_they_fit() {
        let areas = |text: &str| text.parse::<LogAreas>().unwrap().0;
        for all in ["*", "all", "debug", "toolgate:*", "toolgate:mcp:*", "mcp:*", "*,gate"] {
            assert_eq!(areas(all).len(), AREAS.len(), "{all}");
        }
        assert_eq!(areas("toolgate:ga*"), ["gate", "gateway"]);
        assert_eq!(areas("toolgate::session, mcp:fleet"), ["fleet", "session"]);
        for none in ["", "x*", "toolgate:", "toolgate"] {
            assert!(none.parse::<LogAreas>().is_err(), "{none}");
        }
    }
}
