//! The environment of a child: a documented allow-list, and the variables its entry sets or
//! inherits.
//!
//! Other variables of this process (tokens, cloud credentials, agent sockets) are withheld. The
//! functions take the environment as an argument and do not read it themselves.

use std::collections::BTreeMap;

/// One entry of the documented allow-list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllowedVariable {
    /// A name, or a prefix followed by `*`.
    pub pattern: &'static str,
    /// Why every child gets it.
    pub reason: &'static str,
}

const fn allow(pattern: &'static str, reason: &'static str) -> AllowedVariable {
    AllowedVariable { pattern, reason }
}

/// The variables that every child inherits from this process.
#[cfg(not(windows))]
pub const ALLOWED: &[AllowedVariable] = &[
    allow("PATH", "to find the interpreters and tools it starts"),
    allow("HOME", "caches and settings of the tools it is made of"),
    allow("USER", "programs that ask who runs them"),
    allow("LOGNAME", "programs that ask who runs them"),
    allow("SHELL", "programs that start the user's shell"),
    allow("LANG", "language and encoding of its texts"),
    allow("LANGUAGE", "language of its texts"),
    allow("LC_*", "language and encoding of its texts"),
    allow("TERM", "libraries that refuse to load without it"),
    allow("TMPDIR", "where temporary files belong"),
    allow("TZ", "local time"),
    allow("XDG_*", "where settings, caches and data belong"),
    allow("HTTP_PROXY", "to reach the network where a proxy is required"),
    allow("HTTPS_PROXY", "to reach the network where a proxy is required"),
    allow("ALL_PROXY", "to reach the network where a proxy is required"),
    allow("NO_PROXY", "hosts that the proxy must not see"),
    allow("http_proxy", "the spelling most programs read"),
    allow("https_proxy", "the spelling most programs read"),
    allow("all_proxy", "the spelling most programs read"),
    allow("no_proxy", "the spelling most programs read"),
    allow("SSL_CERT_FILE", "certificate authorities of the site"),
    allow("SSL_CERT_DIR", "certificate authorities of the site"),
    allow("NODE_EXTRA_CA_CERTS", "certificate authorities of the site, for Node.js"),
    allow("REQUESTS_CA_BUNDLE", "certificate authorities of the site, for Python"),
    allow("CURL_CA_BUNDLE", "certificate authorities of the site, for curl"),
];

/// The variables that every child inherits from this process.
#[cfg(windows)]
pub const ALLOWED: &[AllowedVariable] = &[
    allow("PATH", "to find the interpreters and tools it starts"),
    allow("PATHEXT", "which files are programs"),
    allow("COMSPEC", "scripts need the command interpreter"),
    allow("SYSTEMROOT", "sockets and random numbers fail without it"),
    allow("SYSTEMDRIVE", "where the system lies"),
    allow("WINDIR", "where the system lies"),
    allow("TEMP", "where temporary files belong"),
    allow("TMP", "where temporary files belong"),
    allow("APPDATA", "where settings belong"),
    allow("LOCALAPPDATA", "where caches belong"),
    allow("PROGRAMDATA", "where shared settings belong"),
    allow("PROGRAMFILES*", "where programs lie"),
    allow("USERPROFILE", "the user's folder"),
    allow("HOMEDRIVE", "the user's folder"),
    allow("HOMEPATH", "the user's folder"),
    allow("USERNAME", "programs that ask who runs them"),
    allow("PROCESSOR_ARCHITECTURE", "which native parts to load"),
    allow("NUMBER_OF_PROCESSORS", "how many workers to start"),
    allow("HTTP_PROXY", "to reach the network where a proxy is required"),
    allow("HTTPS_PROXY", "to reach the network where a proxy is required"),
    allow("NO_PROXY", "hosts that the proxy must not see"),
    allow("SSL_CERT_FILE", "certificate authorities of the site"),
    allow("NODE_EXTRA_CA_CERTS", "certificate authorities of the site, for Node.js"),
    allow("REQUESTS_CA_BUNDLE", "certificate authorities of the site, for Python"),
];

/// Returns the environment of a child: the variables of `parent` that match the allow-list or
/// `inherit`, overridden by `named`.
pub fn minimal_env(
    parent: impl IntoIterator<Item = (String, String)>,
    named: &BTreeMap<String, String>,
    inherit: &[String],
) -> BTreeMap<String, String> {
    let mut env: BTreeMap<String, String> =
        parent.into_iter().filter(|(name, value)| is_passed_on(name, value, inherit)).collect();
    env.extend(named.iter().map(|(name, value)| (name.clone(), value.clone())));
    env
}

/// Returns the names in `parent` that a child does not get, so that `doctor` can list them.
pub fn withheld_variables(
    parent: impl IntoIterator<Item = (String, String)>,
    named: &BTreeMap<String, String>,
    inherit: &[String],
) -> Vec<String> {
    parent
        .into_iter()
        .filter(|(name, value)| !named.contains_key(name) && !is_passed_on(name, value, inherit))
        .map(|(name, _)| name)
        .collect()
}

fn is_passed_on(name: &str, value: &str, inherit: &[String]) -> bool {
    // Such a value is an exported shell function: code that a shell in the child would run.
    let is_function = value.starts_with("()");
    let listed = ALLOWED.iter().map(|allowed| allowed.pattern);
    let wanted = inherit.iter().map(String::as_str);
    !is_function && listed.chain(wanted).any(|pattern| matches_pattern(pattern, name))
}

/// Returns true if `name` matches `pattern`, in which `*` stands for any characters.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return names_equal(pattern, name);
    };
    let Some((start, tail)) = name.split_at_checked(head.len()) else {
        return false;
    };
    names_equal(head, start)
        && (rest.is_empty()
            || tail.char_indices().any(|(at, _)| matches_pattern(rest, &tail[at..]))
            || matches_pattern(rest, ""))
}

fn names_equal(a: &str, b: &str) -> bool {
    if cfg!(windows) { a.eq_ignore_ascii_case(b) } else { a == b }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn only_listed_named_and_inherited_variables_pass() {
        let parent = pairs(&[
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("SSH_AUTH_SOCK", "x"),
            ("MY_TOOL_HOME", "/opt"),
            ("MY_OTHER", "x"),
        ]);
        let named = BTreeMap::from([("TOKEN".to_owned(), "t".to_owned())]);
        let env = minimal_env(parent.clone(), &named, &["MY_TOOL*".to_owned()]);
        assert_eq!(Vec::from_iter(env.keys()), ["LC_ALL", "MY_TOOL_HOME", "PATH", "TOKEN"]);
        assert_eq!(
            withheld_variables(parent, &named, &["MY_TOOL*".to_owned()]),
            ["AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "MY_OTHER"]
        );
    }

    #[test]
    fn a_named_variable_wins_over_the_inherited_one() {
        let named = BTreeMap::from([("PATH".to_owned(), "/mine".to_owned())]);
        assert_eq!(minimal_env(pairs(&[("PATH", "/bin")]), &named, &[])["PATH"], "/mine");
    }

    #[test]
    fn an_exported_shell_function_never_passes() {
        let parent = pairs(&[("LC_EVIL", "() { :; }; touch /tmp/x")]);
        assert!(minimal_env(parent, &BTreeMap::new(), &["*".to_owned()]).is_empty());
    }

    #[test]
    fn a_star_stands_for_any_run_of_characters() {
        for (pattern, name, expected) in [
            ("*", "ANY", true),
            ("A*", "A", true),
            ("A*", "B", false),
            ("A*Z", "ABCZ", true),
            ("A*Z", "AZ", true),
            ("A*Z", "AB", false),
            ("*_KEY", "MY_KEY", true),
            ("NAME", "NAMES", false),
            ("É*", "E", false),
        ] {
            assert_eq!(matches_pattern(pattern, name), expected, "{pattern} against {name}");
        }
    }
}
