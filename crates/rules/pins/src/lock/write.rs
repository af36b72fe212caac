//! Formats a lock file as TOML.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toolgate_model::{Digest, is_invisible};

use super::{LockFile, LockedServer};

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
    let mut line = |key: &str, value: String| {
        let _ = writeln!(out, "{key} = {value}");
    };
    line("transport", quoted(&server.transport));
    if let Some(command) = &server.command {
        line("command", quoted(command));
        line("args", list(&server.args));
    }
    if let Some(cwd) = &server.cwd {
        line("cwd", quoted(cwd));
    }
    if !server.env.is_empty() {
        line("env", list(&server.env));
    }
    if !server.env_file.is_empty() {
        line("env_file", list(&server.env_file));
    }
    if !server.files.is_empty() {
        line("files", list(&server.files));
    }
    if let Some(url) = &server.url {
        line("url", quoted(url));
    }
    if !server.headers.is_empty() {
        line("headers", list(&server.headers));
    }
    line("identity", quoted(&server.identity.to_string()));
    if let Some(package) = &server.package {
        let fields = [
            ("ecosystem", Some(package.ecosystem.as_str())),
            ("name", Some(&package.name)),
            ("version", package.version.as_deref()),
            ("integrity", package.integrity.as_deref()),
        ];
        let set = fields.iter().filter_map(|(key, value)| Some((key, (*value)?)));
        let set: Vec<_> = set.map(|(key, value)| format!("{key} = {}", quoted(value))).collect();
        line("package", format!("{{ {} }}", set.join(", ")));
    }
    line("instructions", quoted(&server.instructions.to_string()));
    definitions(out, &at, "tools", &server.tools);
    definitions(out, &at, "templates", &server.templates);
    definitions(out, &at, "prompts", &server.prompts);
}

fn definitions(out: &mut String, at: &str, kind: &str, all: &BTreeMap<String, Digest>) {
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n[{at}.{kind}]");
    for (name, digest) in all {
        let _ = writeln!(out, "{} = {}", key(name), quoted(&digest.to_string()));
    }
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
