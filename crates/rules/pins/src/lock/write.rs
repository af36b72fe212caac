//! Formats a lock file as TOML.

use std::fmt::Write as _;

use toolgate_model::is_invisible;

use super::{LockFile, LockedServer, ServerPackage};

const HEADER: &str = "\
# The approved servers and the digests of their definitions.
# Written by `toolgate lock`, enforced by `toolgate serve --frozen`. Commit it; do not edit it.
version = 2
";

pub(super) fn format_lock_file(lock: &LockFile) -> String {
    let mut out = String::from(HEADER);
    for (name, server) in &lock.servers {
        table(&mut out, name, server);
    }
    out
}

fn table(out: &mut String, name: &str, server: &LockedServer) {
    let at = format!("servers.{}", key(name));
    let _ = writeln!(out, "\n[{at}]");
    let text = |text: &Option<String>| text.as_deref().map(quoted);
    let texts = |texts: &[String]| (!texts.is_empty()).then(|| list(texts));
    let fields = [
        ("transport", Some(quoted(&server.transport))),
        ("command", text(&server.command)),
        ("args", server.command.as_ref().map(|_| list(&server.args))),
        ("cwd", text(&server.cwd)),
        ("env", texts(&server.env)),
        ("env_file", texts(&server.env_file)),
        ("files", texts(&server.files)),
        ("url", text(&server.url)),
        ("headers", texts(&server.headers)),
        ("identity", Some(quoted(&server.identity.to_string()))),
        ("package", server.package.as_ref().map(package)),
        ("instructions", Some(quoted(&server.instructions.to_string()))),
    ];
    for (key, value) in fields {
        if let Some(value) = value {
            let _ = writeln!(out, "{key} = {value}");
        }
    }
    let definitions =
        [("tools", &server.tools), ("templates", &server.templates), ("prompts", &server.prompts)];
    for (kind, all) in definitions.into_iter().filter(|(_, all)| !all.is_empty()) {
        let _ = writeln!(out, "\n[{at}.{kind}]");
        for (name, digest) in all {
            let _ = writeln!(out, "{} = {}", key(name), quoted(&digest.to_string()));
        }
    }
}

fn package(package: &ServerPackage) -> String {
    let fields = [
        ("ecosystem", Some(&package.ecosystem)),
        ("name", Some(&package.name)),
        ("version", package.version.as_ref()),
        ("integrity", package.integrity.as_ref()),
    ];
    let set =
        fields.iter().filter_map(|(key, value)| Some(format!("{key} = {}", quoted((*value)?))));
    format!("{{ {} }}", set.collect::<Vec<_>>().join(", "))
}

fn list(values: &[String]) -> String {
    let values: Vec<_> = values.iter().map(|value| quoted(value)).collect();
    format!("[{}]", values.join(", "))
}

fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(bare) {
        true => name.to_owned(),
        false => quoted(name),
    }
}

/// Returns the text as a quoted TOML string. Invisible characters are escaped, so that a reviewer
/// sees them.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if is_invisible(c) => {
                let _ = match c as u32 {
                    code @ 0..=0xFFFF => write!(out, "\\u{code:04X}"),
                    code => write!(out, "\\U{code:08X}"),
                };
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
