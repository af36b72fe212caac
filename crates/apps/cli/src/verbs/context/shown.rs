//! Passages as they are shown and as they are given to programs: the words for their place, time,
//! trust and source.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use toolgate_context::reading::Place;
use toolgate_context::{Hit, Trust};
use toolgate_host::audit::rfc3339_of;

use crate::out;

/// The stable shape of a passage.
pub fn shape(hit: &Hit) -> Value {
    json!({
        "id": hit.passage,
        "source": hit.key,
        "title": hit.title,
        "heading": hit.heading,
        "place": place(hit.place),
        "text": hit.text,
        "modified": time(hit.modified),
        "trust": trust(hit.trust),
        "score": hit.score,
    })
}

/// Where a passage stands, in words.
pub fn place(place: Place) -> String {
    match place {
        Place::Lines { first, last } if first == last => format!("line {first}"),
        Place::Lines { first, last } => format!("lines {first}-{last}"),
        Place::Page(page) => format!("page {page}"),
    }
}

/// Where a passage stands, as editors take it: the source with its first line.
pub fn position(hit: &Hit) -> String {
    let source = source(&hit.key);
    match hit.place {
        Place::Lines { first, .. } => format!("{source}:{first}"),
        Place::Page(page) => format!("{source}, page {page}"),
    }
}

/// A source as it is shown: a file below the current folder is named from there.
pub fn source(key: &str) -> String {
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|here| Path::new(key).strip_prefix(here).ok());
    let below = below.and_then(Path::to_str).filter(|below| !below.is_empty());
    out::visible(below.unwrap_or(key))
}

/// The document's title and the headings the passage stands under, in one line.
pub fn under(hit: &Hit) -> String {
    match (hit.title.as_str(), hit.heading.as_str()) {
        (title, "") => title.to_owned(),
        ("", heading) => heading.to_owned(),
        // The outermost heading is often the title.
        (title, heading) if heading.starts_with(title) => heading.to_owned(),
        (title, heading) => format!("{title} > {heading}"),
    }
}

/// A point in time that is counted in milliseconds since 1970.
pub fn time(milliseconds: i64) -> String {
    let since = Duration::from_millis(u64::try_from(milliseconds).unwrap_or_default());
    rfc3339_of(UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH))
}

/// Whose word it is.
pub fn trust(trust: Trust) -> &'static str {
    match trust {
        Trust::Trusted => "trusted",
        Trust::Untrusted => "untrusted",
    }
}

/// So many of something.
pub fn count(number: u64, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    }
}

/// Whether what goes to stdout is coloured.
pub fn has_colour() -> bool {
    io::stdout().is_terminal() && !out::colour_is_declined()
}
