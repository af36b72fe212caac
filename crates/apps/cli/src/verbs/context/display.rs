//! Formats passages for the terminal and as JSON: their location, time, trust and source.

use std::path::Path;

use serde_json::{Value, json};
use toolgate_context::reading::PassageLocation;
use toolgate_context::{PassageHit, format_time};

use crate::out;

/// Returns a passage in its stable JSON form.
pub fn hit_json(hit: &PassageHit) -> Value {
    json!({
        "id": hit.passage,
        "source": hit.key,
        "title": hit.title,
        "heading": hit.heading,
        "place": hit.place.to_string(),
        "text": hit.text,
        "modified": format_time(hit.modified),
        "trust": hit.trust,
        "score": hit.score,
    })
}

/// Returns the location of a passage in the form that editors accept: `source:line`.
pub fn editor_location(hit: &PassageHit) -> String {
    let source = display_source(&hit.key);
    match hit.place {
        PassageLocation::Lines(first, _) => format!("{source}:{first}"),
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
