//! What a consent is about, as the user is shown it. What it is bound to is the identity of the
//! server, [`ServerSpec::digest`].

use std::fmt::Write as _;

use toolgate_model::{HttpSpec, Secret, ServerSpec, StdioSpec, TransportSpec};

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
