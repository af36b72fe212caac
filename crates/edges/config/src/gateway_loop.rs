//! Detects entries that lead back to this gateway: a gateway must not start itself.
//!
//! Detection uses only the entry, before anything is started: it recognizes the toolgate binary by
//! its name or because it is the running program, also behind shells and runners. It does not
//! detect a gateway started by a custom script.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use toolgate_model::{ServerSpec, StdioSpec, TransportSpec};

/// Returns why the entry would be a Toolgate gateway; `None` if it would not.
pub(crate) fn gateway_loop_reason(
    spec: &ServerSpec,
    own_endpoints: &[String],
) -> Option<&'static str> {
    match &spec.transport {
        TransportSpec::Stdio(stdio) if starts_a_gateway(stdio, own_program()) => {
            Some("would start a gateway inside the gateway")
        }
        TransportSpec::Http(http) => {
            let target = authority(&http.url)?;
            let ours = own_endpoints.iter().any(|own| authority(own).as_ref() == Some(&target));
            ours.then_some("points at this gateway itself")
        }
        TransportSpec::Stdio(_) | TransportSpec::BuiltIn => None,
    }
}

/// Toolgate's program name and the subcommand that starts a gateway.
const NAME: &str = "toolgate";
const VERB: &str = "serve";
/// The subcommand whose `serve` is an ordinary server: it starts no gateway.
const CONTEXT: &str = "context";
/// Toolgate's options that precede a subcommand and take a value.
const OWN_VALUED: [&str; 3] = ["--home", "--config", "--as"];
/// Programs that start another program given as an argument, and words that occur in such commands.
const WRAPPERS: &str = "\
    env sh bash zsh dash ksh fish busybox cmd powershell pwsh start nice ionice nohup time \
    timeout stdbuf setsid caffeinate sudo doas exec npx npm pnpm dlx bunx bun uvx uv tool \
    run pipx";
/// Options of these programs that take a value.
const VALUED: [&str; 7] = ["-u", "-g", "-n", "-p", "--package", "--from", "--with"];
/// Characters after which a shell expects a command.
const SEPARATORS: [char; 6] = [';', '&', '|', '(', ')', '\n'];

/// Returns true if the entry starts the toolgate binary as a gateway. Its sample server is an
/// ordinary server.
fn starts_a_gateway(stdio: &StdioSpec, own: Option<&Path>) -> bool {
    // Most entries do not contain the subcommand, and need no lookup.
    if !stdio.args.iter().any(|arg| arg.contains(VERB)) {
        return false;
    }
    let is_us = |word: &str| {
        let found =
            || find_program(word, stdio.cwd.as_deref()).and_then(|it| it.canonicalize().ok());
        program(word) == NAME || own.is_some_and(|own| found().as_deref() == Some(own))
    };
    if is_us(&stdio.command) {
        return is_serve_command(stdio.args.iter().map(String::as_str));
    }
    is_wrapper(&stdio.command) && names_a_gateway(&stdio.args, is_us)
}

/// Returns true if these arguments make toolgate run as a gateway. `context serve` does not.
fn is_serve_command<'a>(mut args: impl Iterator<Item = &'a str> + Clone) -> bool {
    let has_verb = args.clone().any(|arg| arg == VERB);
    let verb = loop {
        match args.next() {
            Some(option) if OWN_VALUED.contains(&option) => drop(args.next()),
            Some(word) if word.starts_with('-') || word == "mcp" => {}
            verb => break verb,
        }
    };
    has_verb && verb != Some(CONTEXT)
}

/// Returns true if toolgate, followed by the subcommand, is where a program name is expected.
fn names_a_gateway(args: &[String], is_us: impl Fn(&str) -> bool) -> bool {
    let apart = args.iter().map(|arg| arg.replace(SEPARATORS, " ; ")).collect::<Vec<_>>();
    let words = apart.iter().flat_map(|arg| arg.split_whitespace());
    let words: Vec<_> = words.map(|word| word.trim_matches(['"', '\''])).collect();
    let (mut begins, mut has_value) = (true, false);
    for (index, word) in words.iter().enumerate() {
        if begins
            && !has_value
            && is_us(word)
            && is_serve_command(words[index + 1..].iter().copied())
        {
            return true;
        }
        let goes_on = begins && (has_value || can_precede_program(word));
        begins = goes_on || *word == ";" || *word == "--" || *word == "exec";
        has_value = VALUED.contains(word);
    }
    false
}

/// Returns true if a word may precede the name of the program that is started.
fn can_precede_program(word: &str) -> bool {
    let is_length = word.starts_with(|c: char| c.is_ascii_digit());
    word.starts_with('-') || word.contains('=') || word == "/c" || is_length || is_wrapper(word)
}

fn is_wrapper(word: &str) -> bool {
    let program = program(word);
    WRAPPERS.split(' ').any(|wrapper| wrapper == program)
}

/// Returns the name of a program without its folder, extension and version.
fn program(command: &str) -> String {
    let command = command.trim_matches(['"', '\'']);
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.split('@').next().unwrap_or_default().to_ascii_lowercase();
    let ending = [".exe", ".cmd", ".bat", ".ps1"].iter().find_map(|it| name.strip_suffix(it));
    ending.unwrap_or(&name).to_owned()
}

/// Returns the path of the program with this name.
fn find_program(command: &str, cwd: Option<&Path>) -> Option<PathBuf> {
    if command.contains(['/', '\\']) {
        return Some(cwd.unwrap_or(Path::new("")).join(command));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(command)).find(|it| it.is_file())
}

/// Returns the running program with symbolic links resolved: it may have been renamed.
fn own_program() -> Option<&'static Path> {
    static OWN: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    OWN.get_or_init(find).as_deref()
}

/// Returns the host and port of a URL, with one name for all aliases of this machine.
fn authority(url: &str) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host_and_port = authority.rsplit('@').next()?;
    let default = if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
    let (host, port) = match host_and_port.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => (host_and_port, default),
    };
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    let loopback = ["localhost", "::1", "0.0.0.0", "::"].contains(&host.as_str())
        || host.starts_with("127.")
        || host.ends_with(".localhost");
    Some((if loopback { "localhost".to_owned() } else { host }, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_this_machine_are_one() {
        let own = authority("http://127.0.0.1:7420/mcp");
        for url in ["http://localhost:7420", "http://[::1]:7420/x?y", "http://me@LOCALHOST:7420/"] {
            assert_eq!(authority(url), own, "{url}");
        }
        for url in ["http://127.0.0.1:7421/mcp", "http://example.com:7420/mcp", "https://localhost"]
        {
            assert_ne!(authority(url), own, "{url}");
        }
        assert_eq!(authority("http://[::1]"), Some(("localhost".into(), 80)));
    }

    #[test]
    fn only_serving_is_being_a_gateway() {
        let stdio = |command: &str, args: &[&str]| StdioSpec {
            command: command.into(),
            args: args.iter().map(ToString::to_string).collect(),
            ..StdioSpec::default()
        };
        let ours: [(&str, &[&str]); 20] = [
            ("toolgate", &["--home", "context", "serve"]),
            ("toolgate", &["serve", "--as", "context"]),
            ("sh", &["-c", "toolgate context serve & toolgate serve"]),
            ("/opt/bin/toolgate", &["serve", "--stdio"]),
            (r"C:\bin\Toolgate.EXE", &["mcp", "serve"]),
            ("toolgate", &["--home", "/h", "serve", "--stdio"]),
            ("env", &["A=b", "/opt/toolgate", "serve"]),
            ("env", &["-u", "NAME", "toolgate", "serve"]),
            ("/bin/sh", &["-c", "exec toolgate serve --stdio"]),
            ("bash", &["-lc", "cd /x && 'toolgate' serve"]),
            ("sh", &["-c", "true;toolgate serve"]),
            ("cmd", &["/c", "toolgate", "serve"]),
            ("npx", &["-y", "toolgate", "serve", "--stdio"]),
            ("npx", &["-y", "@scope/toolgate@1.2.3", "serve"]),
            ("npx", &["-p", "pkg", "toolgate", "serve"]),
            ("npm", &["exec", "--", "toolgate", "serve"]),
            ("uvx", &["--from", "pkg", "toolgate", "serve"]),
            ("sudo", &["-u", "me", "toolgate", "serve"]),
            ("timeout", &["10s", "toolgate", "serve"]),
            ("nice", &["-n", "5", "env", "A=b", "sh", "-c", "toolgate serve"]),
        ];
        for (command, args) in ours {
            assert!(starts_a_gateway(&stdio(command, args), None), "{command} {args:?}");
        }
        let others: [(&str, &[&str]); 10] = [
            ("toolgate", &["context", "serve"]),
            ("toolgate", &["--home", "/h", "-v", "mcp", "context", "serve", "--names", "x"]),
            ("sh", &["-c", "exec toolgate context serve"]),
            ("npx", &["-y", "toolgate", "--json", "context", "serve"]),
            ("sh", &["-c", "server --name toolgate serve"]),
            ("npx", &["-y", "server", "toolgate", "serve"]),
            ("sudo", &["-u", "toolgate", "server", "serve"]),
            ("toolgate", &["sample-server"]),
            ("toolgate", &["sample-server", "--name=serve"]),
            ("other", &["serve"]),
        ];
        for (command, args) in others {
            assert!(!starts_a_gateway(&stdio(command, args), None), "{command} {args:?}");
        }
    }
}
