//! The package that a command runs, where the command is one of the usual runners.
//!
//! Only what is written is read: whether such a package exists, and what it holds, nobody is asked.

/// A package of some ecosystem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// `npm`, `pypi` or `oci`.
    pub ecosystem: String,
    /// Its name there.
    pub name: String,
    /// The version that is asked for, where it is an exact one.
    pub version: Option<String>,
    /// The digest of its content, where it is known.
    pub integrity: Option<String>,
}

/// Flags of `npx` and its like that take a value.
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
/// Flags of `docker run` that take none.
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

impl Package {
    /// The package a command runs, if it runs one.
    pub fn of(command: &str, args: &[String]) -> Option<Self> {
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

fn npm(args: &[&str]) -> Option<Package> {
    let spec = named(args, &["-p", "--package"]).or_else(|| first(args, &NPM_VALUES))?;
    // The `@` at the front of a scope is not that before a version.
    let (name, version) = match spec.char_indices().skip(1).find(|(_, c)| *c == '@') {
        Some((at, _)) => (&spec[..at], Some(&spec[at + 1..])),
        None => (spec, None),
    };
    let is_package = !name.starts_with(['.', '/']) && !name.contains(':');
    is_package.then(|| package("npm", name, version.filter(|version| is_exact(version))))
}

fn pypi(args: &[&str]) -> Option<Package> {
    let spec = named(args, &["--from", "--spec"]).or_else(|| first(args, &UV_VALUES))?;
    let (name, version) = spec.split_once("==").or(spec.split_once('@')).unwrap_or((spec, ""));
    let name = name.split(['[', '<', '>', '~', '!', '=', ' ']).next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_package = !name.is_empty() && name.chars().all(plain) && !name.starts_with('.');
    let version = Some(version).filter(|version| is_exact(version));
    is_package.then(|| package("pypi", name, version))
}

fn oci(args: &[&str]) -> Option<Package> {
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
    // A colon before a slash is that of a port.
    let (name, tag) = match named.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (named, None),
    };
    let version = tag.filter(|tag| *tag != "latest").map(str::to_owned);
    Some(Package { ecosystem: "oci".into(), name: name.into(), version, integrity })
}

fn package(ecosystem: &str, name: &str, version: Option<&str>) -> Package {
    let version = version.map(str::to_owned);
    Package { ecosystem: ecosystem.into(), name: name.into(), version, integrity: None }
}

/// The value of a flag.
fn named<'a>(args: &[&'a str], flags: &[&str]) -> Option<&'a str> {
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

/// The first argument that is no flag and no flag's value.
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

/// Whether a version is one version, not a range or a tag.
fn is_exact(version: &str) -> bool {
    let numbered = version.starts_with(|c: char| c.is_ascii_digit());
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-+!".contains(c);
    // `1` and `1.2` are ranges to npm; `*` and `x` are parts of one everywhere.
    let parts = version.split(['-', '+']).next().unwrap_or_default().split('.');
    let numbers = parts.clone().all(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    numbered && numbers && version.chars().all(plain) && parts.count() >= 2
}

/// What a `package-lock.json` says of the content of a package.
pub fn npm_integrity(lock: &str, name: &str, version: &str) -> Option<String> {
    let lock = crate::tree::Json::read(lock.as_bytes())?;
    let entry = lock.get("packages")?.get(&format!("node_modules/{name}"))?;
    let text = |key: &str| Some(entry.get(key)?.text()?.lossy());
    (text("version")? == version).then(|| text("integrity")).flatten()
}
