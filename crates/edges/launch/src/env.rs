//! The environment of a child: a documented allow-list, and the variables its entry sets or
//! inherits.
//!
//! Other variables of this process (tokens, cloud credentials, agent sockets) are withheld. The
//! functions take the environment as an argument and do not read it themselves.

use std::collections::BTreeMap;

use toolgate_model::matches_glob;

/// The variables that every child inherits from this process, each with the reason. `*` stands for
/// any characters.
#[cfg(not(windows))]
pub const ALLOWED: &[&str] = &[
    // To find the interpreters and tools it starts.
    "PATH",
    // Caches and settings of the tools it is made of.
    "HOME",
    // Programs that ask who runs them.
    "USER",
    "LOGNAME",
    // Programs that start the user's shell.
    "SHELL",
    // Language and encoding of its texts.
    "LANG",
    // Language of its texts.
    "LANGUAGE",
    // Language and encoding of its texts.
    "LC_*",
    // Libraries that refuse to load without it.
    "TERM",
    // Where temporary files belong.
    "TMPDIR",
    // Local time.
    "TZ",
    // Where settings, caches and data belong.
    "XDG_*",
    // To reach the network where a proxy is required.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    // Hosts that the proxy must not see.
    "NO_PROXY",
    // The spelling most programs read.
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    // Certificate authorities of the site.
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    // Certificate authorities of the site, for Node.js.
    "NODE_EXTRA_CA_CERTS",
    // Certificate authorities of the site, for Python.
    "REQUESTS_CA_BUNDLE",
    // Certificate authorities of the site, for curl.
    "CURL_CA_BUNDLE",
];

/// The variables that every child inherits from this process, each with the reason. `*` stands for
/// any characters.
#[cfg(windows)]
pub const ALLOWED: &[&str] = &[
    // To find the interpreters and tools it starts.
    "PATH",
    // Which files are programs.
    "PATHEXT",
    // Scripts need the command interpreter.
    "COMSPEC",
    // Sockets and random numbers fail without it.
    "SYSTEMROOT",
    // Where the system lies.
    "SYSTEMDRIVE",
    "WINDIR",
    // Where temporary files belong.
    "TEMP",
    "TMP",
    // Where settings belong.
    "APPDATA",
    // Where caches belong.
    "LOCALAPPDATA",
    // Where shared settings belong.
    "PROGRAMDATA",
    // Where programs lie.
    "PROGRAMFILES*",
    // The user's folder.
    "USERPROFILE",
    "HOMEDRIVE",
    "HOMEPATH",
    // Programs that ask who runs them.
    "USERNAME",
    // Which native parts to load.
    "PROCESSOR_ARCHITECTURE",
    // How many workers to start.
    "NUMBER_OF_PROCESSORS",
    // To reach the network where a proxy is required.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    // Hosts that the proxy must not see.
    "NO_PROXY",
    // Certificate authorities of the site.
    "SSL_CERT_FILE",
    // Certificate authorities of the site, for Node.js.
    "NODE_EXTRA_CA_CERTS",
    // Certificate authorities of the site, for Python.
    "REQUESTS_CA_BUNDLE",
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
    let listed = ALLOWED.iter().copied();
    let wanted = inherit.iter().map(String::as_str);
    !is_function && listed.chain(wanted).any(|pattern| matches_pattern(pattern, name))
}

/// Returns true if `name` matches `pattern`. On Windows the case of letters does not count.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    match cfg!(windows) {
        true => matches_glob(&pattern.to_ascii_lowercase(), &name.to_ascii_lowercase()),
        false => matches_glob(pattern, name),
    }
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
