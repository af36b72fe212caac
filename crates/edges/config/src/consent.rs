//! What a consent is about: the identity it is bound to, and the text the user is shown.

use std::fmt::Write as _;

use toolgate_model::{Digest, HttpSpec, Secret, ServerSpec, StdioSpec, TransportSpec};

/// The identity of what an entry starts or reaches: a change of it asks for consent again.
///
/// An endpoint is bound with its headers as they are written, because a variable in one of them is
/// something of the user's that would be sent there.
pub fn identity(spec: &ServerSpec) -> Digest {
    match &spec.transport {
        TransportSpec::Stdio(stdio) => stdio.consent_digest(),
        TransportSpec::Http(http) => {
            let headers = http.headers.iter().flat_map(|(name, value)| [name, value.expose()]);
            let parts = ["http", &http.url].into_iter().chain(headers.map(String::as_str));
            Digest::of_parts(parts.map(str::as_bytes))
        }
        TransportSpec::BuiltIn => Digest::of_parts([b"builtin", spec.name.as_str().as_bytes()]),
    }
}

/// Everything a consent is bound to, as text. Odd characters are shown escaped, values of variables
/// and headers not at all.
pub fn consent_text(spec: &ServerSpec) -> String {
    match &spec.transport {
        TransportSpec::Stdio(stdio) => process_text(stdio),
        TransportSpec::Http(http) => endpoint_text(http),
        TransportSpec::BuiltIn => "built in".to_owned(),
    }
}

fn process_text(stdio: &StdioSpec) -> String {
    let mut text = format!("command: {:?}", stdio.command);
    for arg in &stdio.args {
        let _ = write!(text, "\n    arg: {arg:?}");
    }
    if let Some(cwd) = &stdio.cwd {
        let _ = write!(text, "\n folder: {:?}", cwd.display().to_string());
    }
    names(&mut text, "    env", stdio.env.keys());
    names(&mut text, "inherit", stdio.env_inherit.iter());
    text
}

fn endpoint_text(http: &HttpSpec) -> String {
    let mut text = format!("url: {:?}", http.url);
    names(&mut text, "headers", http.headers.keys());
    let sent: Vec<_> = http.headers.values().map(Secret::expose).collect();
    if sent.iter().any(|value| value.contains("${")) {
        text.push_str("\nheaders take values from your environment");
    }
    text
}

fn names<'a>(text: &mut String, label: &str, names: impl Iterator<Item = &'a String>) {
    let names: Vec<_> = names.map(|name| format!("{name:?}")).collect();
    if !names.is_empty() {
        let _ = write!(text, "\n{label}: {}", names.join(", "));
    }
}
