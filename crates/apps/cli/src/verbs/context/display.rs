//! Formats passages for the terminal and as JSON: their location, time, trust and source.

use std::path::Path;

use serde_json::{Value, json};
use toolgate_context::reading::PassageLocation;
use toolgate_context::{PassageHit, format_time};

use crate::verbs::declaration::messages::display_path;

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
    let source = display_path(Path::new(&hit.key));
    match hit.place {
        PassageLocation::Lines(first, _) => format!("{source}:{first}"),
        PassageLocation::Page(page) => format!("{source}, page {page}"),
    }
}
