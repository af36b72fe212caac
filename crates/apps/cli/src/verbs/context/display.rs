//! Formats passages for the terminal and as JSON: their location, time, trust and source.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use serde_json::{Value, json};
use toolgate_context::reading::PassageLocation;
use toolgate_context::{DocumentTrust, PassageHit};
use toolgate_model::time::rfc3339;

use crate::out;

/// Returns a passage in its stable JSON form.
pub fn hit_json(hit: &PassageHit) -> Value {
    json!({
        "id": hit.passage,
        "source": hit.key,
        "title": hit.title,
        "heading": hit.heading,
        "place": location_text(hit.place),
        "text": hit.text,
        "modified": format_time(hit.modified),
        "trust": trust_text(hit.trust),
        "score": hit.score,
    })
}

/// Returns the location of a passage within its document as text.
pub fn location_text(place: PassageLocation) -> String {
    match place {
        PassageLocation::Lines { first, last } if first == last => format!("line {first}"),
        PassageLocation::Lines { first, last } => format!("lines {first}-{last}"),
        PassageLocation::Page(page) => format!("page {page}"),
    }
}

/// Returns the location of a passage in the form that editors accept: `source:line`.
pub fn editor_location(hit: &PassageHit) -> String {
    let source = display_source(&hit.key);
    match hit.place {
        PassageLocation::Lines { first, .. } => format!("{source}:{first}"),
        PassageLocation::Page(page) => format!("{source}, page {page}"),
    }
}

/// Returns a source for display. The path of a file below the current folder is relative.
pub fn display_source(key: &str) -> String {
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|here| Path::new(key).strip_prefix(here).ok());
    let below = below.and_then(Path::to_str).filter(|below| !below.is_empty());
    out::escape_invisible(below.unwrap_or(key))
}

/// Returns the document's title and the passage's headings in one line.
pub fn heading_path(hit: &PassageHit) -> String {
    match (hit.title.as_str(), hit.heading.as_str()) {
        (title, "") => title.to_owned(),
        ("", heading) => heading.to_owned(),
        // The outermost heading is often the title.
        (title, heading) if heading.starts_with(title) => heading.to_owned(),
        (title, heading) => format!("{title} > {heading}"),
    }
}

/// Formats a time given in milliseconds since 1970.
pub fn format_time(milliseconds: i64) -> String {
    rfc3339(u64::try_from(milliseconds).unwrap_or_default())
}

/// Returns the word for a trust level.
pub fn trust_text(trust: DocumentTrust) -> &'static str {
    match trust {
        DocumentTrust::Trusted => "trusted",
        DocumentTrust::Untrusted => "untrusted",
    }
}

/// Formats a number with its noun, singular or plural.
pub fn format_count(number: u64, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    }
}

/// Returns true if output on stdout is coloured.
pub fn stdout_has_colour() -> bool {
    io::stdout().is_terminal() && !out::is_colour_disabled()
}
