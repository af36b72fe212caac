//! Recognises the package that a command runs if the command is a common package runner.
//!
//! It only parses the command line; it never asks a registry whether the package exists.

/// A package of a package ecosystem, as a command line names it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerPackage {
    /// `npm`, `pypi` or `oci`.
    pub ecosystem: String,
    /// The name within the ecosystem.
    pub name: String,
    /// The requested version, if it is exact.
    pub version: Option<String>,
    /// The digest of the package's content, if known.
    pub integrity: Option<String>,
}

/// Flags of `npx` and similar runners that take a value.
const NPM_VALUES: [&str; 8] =
    ["-w", "--workspace", "--cache", "--userconfig", "--prefix", "--registry", "-c", "--call"];
/// Flags of `uvx` that take a value.
const UV_VALUES: [&str; 14] = [
    "-p",
    "--python",
    "--with",
    "--with-editable",
    "--with-requirements",
    "-i",
    "--index",
    "--default-index",
    "--index-url",
    "--extra-index-url",
    "-f",
    "--find-links",
    "--directory",
    "--project",
];
/// Flags of `docker run` that take no value.
const OCI_SWITCHES: [&str; 14] = [
    "-i",
    "-t",
    "-it",
    "-ti",
    "-d",
    "-q",
    "-P",
    "--rm",
    "--interactive",
    "--tty",
    "--detach",
    "--init",
    "--read-only",
    "--privileged",
];

impl ServerPackage {
    /// Returns the package that a command runs, if it runs one.
    pub fn from_command(command: &str, args: &[String]) -> Option<Self> {
        let program = command.rsplit(['/', '\\']).next().unwrap_or_default();
        let program = program.strip_suffix(".cmd").or(program.strip_suffix(".exe"));
        let program = program.unwrap_or(command.rsplit(['/', '\\']).next().unwrap_or_default());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        match (program, args.as_slice()) {
            ("npx" | "bunx" | "pnpx", rest) => npm(rest),
            ("npm", ["exec" | "x", rest @ ..]) => npm(rest),
            ("pnpm" | "yarn", ["dlx", rest @ ..]) => npm(rest),
            ("bun", ["x", rest @ ..]) => npm(rest),
            ("uvx", rest) => pypi(rest),
            ("uv", ["tool", "run", rest @ ..]) => pypi(rest),
            ("pipx", ["run", rest @ ..]) => pypi(rest),
            ("docker" | "podman" | "nerdctl", ["run", rest @ ..]) => oci(rest),
            ("docker" | "podman", ["container", "run", rest @ ..]) => oci(rest),
            _ => None,
        }
    }
}

fn npm(args: &[&str]) -> Option<ServerPackage> {
    let spec = flag_value(args, &["-p", "--package"]).or_else(|| first(args, &NPM_VALUES))?;
    // A leading `@` begins a scope, not a version.
    let (name, version) = match spec.char_indices().skip(1).find(|(_, c)| *c == '@') {
        Some((at, _)) => (&spec[..at], Some(&spec[at + 1..])),
        None => (spec, None),
    };
    let is_package = !name.starts_with(['.', '/']) && !name.contains(':');
    is_package.then(|| package("npm", name, version.filter(|version| is_exact(version))))
}

fn pypi(args: &[&str]) -> Option<ServerPackage> {
    let spec = flag_value(args, &["--from", "--spec"]).or_else(|| first(args, &UV_VALUES))?;
    let (name, version) = spec.split_once("==").or(spec.split_once('@')).unwrap_or((spec, ""));
    let name = name.split(['[', '<', '>', '~', '!', '=', ' ']).next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_package = !name.is_empty() && name.chars().all(plain) && !name.starts_with('.');
    let version = Some(version).filter(|version| is_exact(version));
    is_package.then(|| package("pypi", name, version))
}

fn oci(args: &[&str]) -> Option<ServerPackage> {
    let mut rest = args.iter();
    let image = loop {
        let arg = *rest.next()?;
        if !arg.starts_with('-') {
            break arg;
        }
        if !OCI_SWITCHES.contains(&arg) && !arg.contains('=') {
            rest.next()?;
        }
    };
    let (named, integrity) = match image.split_once('@') {
        Some((named, digest)) => (named, Some(digest.to_owned())),
        None => (image, None),
    };
    // A colon before a slash begins a port, not a tag.
    let (name, tag) = match named.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (named, None),
    };
    let version = tag.filter(|tag| *tag != "latest").map(str::to_owned);
    Some(ServerPackage { ecosystem: "oci".into(), name: name.into(), version, integrity })
}

fn package(ecosystem: &str, name: &str, version: Option<&str>) -> ServerPackage {
    let version = version.map(str::to_owned);
    ServerPackage { ecosystem: ecosystem.into(), name: name.into(), version, integrity: None }
}

/// Returns the value of the first of these flags before `--`.
fn flag_value<'a>(args: &[&'a str], flags: &[&str]) -> Option<&'a str> {
    let own = args.iter().take_while(|arg| **arg != "--");
    let mut own = own.copied();
    while let Some(arg) = own.next() {
        let (flag, value) = arg.split_once('=').map_or((arg, None), |(f, v)| (f, Some(v)));
        if flags.contains(&flag) {
            return value.or_else(|| own.next());
        }
    }
    None
}

/// Returns the first argument that is neither a flag nor the value of a flag.
fn first<'a>(args: &[&'a str], with_value: &[&str]) -> Option<&'a str> {
    let mut rest = args.iter().copied();
    loop {
        let arg = rest.next()?;
        match arg {
            "--" => return rest.next(),
            flag if with_value.contains(&flag) => drop(rest.next()?),
            flag if flag.starts_with('-') => {}
            spec => return Some(spec),
        }
    }
}

/// Returns true if the version is a single version, not a range or a tag.
fn is_exact(version: &str) -> bool {
    let numbered = version.starts_with(|c: char| c.is_ascii_digit());
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-+!".contains(c);
    // npm reads `1` and `1.2` as ranges; `*` and `x` are parts of ranges everywhere.
    let parts = version.split(['-', '+']).next().unwrap_or_default().split('.');
    let numbers = parts.clone().all(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    numbered && numbers && version.chars().all(plain) && parts.count() >= 2
}

/// Returns the integrity value of a package from the text of a `package-lock.json`, if the file has
/// the package in this version.
pub fn npm_integrity(lock: &str, name: &str, version: &str) -> Option<String> {
    let lock = crate::canonical_json::CanonicalJson::read(lock.as_bytes())?;
    let entry = lock.get("packages")?.get(&format!("node_modules/{name}"))?;
    let text = |key: &str| Some(entry.get(key)?.text()?.to_string_lossy());
    (text("version")? == version).then(|| text("integrity")).flatten()
}
