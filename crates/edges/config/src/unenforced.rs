//! Reports settings in files of other hosts that Toolgate does not enforce yet: a restriction
//! without effect must not look effective. The reader of Toolgate's own dialect reports them per
//! field.
//!
//! Remove a line here when Toolgate enforces the setting.

use toolgate_model::{AuthSpec, Diagnostic, ErrorCode, SandboxSpec, ServerSpec, TransportSpec};

use crate::files::ConfigLayer;

/// Reports the settings of one file that are not enforced yet.
pub(crate) fn report_unenforced(layer: &ConfigLayer, diagnostics: &mut Vec<Diagnostic>) {
    if layer.file.dialect.is_toolgate() {
        return;
    }
    for declared in layer.parsed.servers.iter().filter(|declared| declared.spec.enabled) {
        let waiting = unenforced_fields(&declared.spec);
        if !waiting.is_empty() {
            let (name, waiting) = (&declared.spec.name, waiting.join(", "));
            let message = format!("server \"{name}\": not enforced yet: {waiting}");
            let code = ErrorCode::ConfigUnenforced;
            let warning = Diagnostic::warning(code, declared.origin.clone(), message).about(name);
            diagnostics.push(warning.hint("a later version of toolgate will enforce it"));
        }
    }
}

/// Returns descriptions of the settings of a server that are not enforced.
fn unenforced_fields(spec: &ServerSpec) -> Vec<&'static str> {
    let http = match &spec.transport {
        TransportSpec::Http(http) => Some(http),
        _ => None,
    };
    let fields = [
        ("its sandbox", spec.safety.sandbox != SandboxSpec::default()),
        ("its login", http.is_some_and(|http| *http.auth != AuthSpec::default())),
        ("its headers helper", http.is_some_and(|http| http.headers_helper.is_some())),
    ];
    fields.into_iter().filter(|(_, is_set)| *is_set).map(|(word, _)| word).collect()
}
