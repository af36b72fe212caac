//! What files of other hosts say that nothing enforces yet: told, because a restriction that does
//! not hold must not look as if it did. Our own reader tells it field by field.
//!
//! A line here goes when the part that it waits for comes.

use toolgate_model::{Auth, Diagnostic, Origin, Sandbox, ServerSpec, Severity, TransportSpec};

use crate::files::Layer;

/// Tells what of one file has no effect yet.
pub(crate) fn tell(layer: &Layer, diagnostics: &mut Vec<Diagnostic>) {
    if layer.dialect.is_ours() {
        return;
    }
    for declared in layer.reading.servers.iter().filter(|declared| declared.spec.enabled) {
        let waiting = waiting(&declared.spec);
        if !waiting.is_empty() {
            let (name, waiting) = (&declared.spec.name, waiting.join(", "));
            let message = format!("server \"{name}\": without effect yet: {waiting}");
            diagnostics.push(warning(declared.origin.clone(), message));
        }
    }
}

/// The words for what is said of a server and not done.
fn waiting(spec: &ServerSpec) -> Vec<&'static str> {
    let http = match &spec.transport {
        TransportSpec::Http(http) => Some(http),
        _ => None,
    };
    let said = [
        ("its sandbox", spec.safety.sandbox != Sandbox::default()),
        ("its login", http.is_some_and(|http| *http.auth != Auth::default())),
        ("its headers helper", http.is_some_and(|http| http.headers_helper.is_some())),
    ];
    said.into_iter().filter(|(_, said)| *said).map(|(word, _)| word).collect()
}

fn warning(origin: Origin, message: String) -> Diagnostic {
    let hint = Some("a later version of toolgate will use it".to_owned());
    Diagnostic { severity: Severity::Warning, origin, excerpt: None, message, hint }
}
