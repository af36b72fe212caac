//! What the words of `add` mean: a process to start, or an endpoint to connect to.
//!
//! Nothing that was typed as a value is ever repeated in a complaint: it may be a credential.

use std::collections::BTreeMap;

use toolgate_host::config::{Grammar, check_address, template};
use toolgate_host::{HttpKind, HttpSpec, Secret, StdioSpec, TransportSpec};
use toolgate_model::shown_url;

use super::{Add, Transport};
use crate::exit::Failure;

/// Options of every verb that a server could have too. Those that take a value are told apart by
/// nobody: the whole word counts.
const SHARED: [&str; 5] = ["--config", "--debug", "--verbose", "-v", "--home"];

/// How the server is to be reached.
pub fn transport(add: &Add) -> Result<TransportSpec, Failure> {
    match (&add.url, add.words.split_first()) {
        (Some(_), Some((first, _))) => {
            Err(wrong(format!("use `{}` beside --url", shown(first)), "keep one of the two"))
        }
        (None, None) => Err(wrong(
            format!("add `{}`: nothing says what to start or where to connect", add.name),
            "give a command after the name, or --url URL",
        )),
        (Some(url), None) => endpoint(add, url),
        (None, Some((first, rest))) => match add.transport {
            Some(Transport::Stdio) if is_url(first) => Err(wrong(
                "start a URL as a program",
                "leave --transport out, or say --transport http",
            )),
            None | Some(Transport::Stdio) if !is_url(first) => process(add, first, rest),
            _ if !rest.is_empty() => {
                Err(wrong("give arguments to an endpoint", "remove what follows the URL"))
            }
            _ => endpoint(add, first),
        },
    }
}

fn process(add: &Add, command: &str, args: &[String]) -> Result<TransportSpec, Failure> {
    let for_endpoints =
        [("--header", !add.header.is_empty()), ("--bearer-token-env-var", bearer(add).is_some())];
    not_for("a process", &for_endpoints, "a process takes variables: -e NAME=VALUE")?;
    Ok(TransportSpec::Stdio(StdioSpec {
        command: typed(command),
        args: args.iter().map(|arg| typed(arg)).collect(),
        cwd: add.cwd.as_ref().map(|cwd| typed(cwd).into()),
        env: pairs(
            &add.env,
            "--env",
            &['='],
            "write -e NAME=VALUE; `--` before an option makes it the command's",
        )?,
        ..StdioSpec::default()
    }))
}

fn endpoint(add: &Add, url: &str) -> Result<TransportSpec, Failure> {
    if add.transport == Some(Transport::Stdio) {
        return Err(wrong("start a URL as a program", "leave --transport out, or say http"));
    }
    if !is_url(url) && !url.starts_with("${") {
        return Err(wrong(
            format!("connect to `{}`: it is no URL", shown(url)),
            "begin it with https://, or leave --transport out to start a program",
        ));
    }
    // What a variable stands for is checked when it is expanded.
    if !url.starts_with("${") {
        check_address(url).map_err(|why| {
            wrong(
                format!("add `{}`: {why}", add.name),
                "write the whole address: https://host/path",
            )
        })?;
    }
    let for_processes = [("--env", !add.env.is_empty()), ("--cwd", add.cwd.is_some())];
    not_for("an endpoint", &for_processes, "an endpoint takes headers: -H 'NAME: VALUE'")?;
    let hint = "write -H 'NAME: VALUE', one header each time";
    let mut headers = pairs(&add.header, "--header", &[':', '='], hint)?;
    if let Some(variable) = bearer(add) {
        let value = Secret::new(format!("Bearer ${{env:{variable}}}"));
        if headers.insert("Authorization".to_owned(), value).is_some() {
            return Err(wrong("send two Authorization headers", "keep one of the two"));
        }
    }
    let kind = match add.transport {
        Some(Transport::Sse) => HttpKind::Sse,
        Some(Transport::StreamableHttp) => HttpKind::Streamable,
        _ => HttpKind::Auto,
    };
    Ok(TransportSpec::Http(HttpSpec { url: typed(url), headers, kind, ..HttpSpec::default() }))
}

fn bearer(add: &Add) -> Option<&str> {
    add.bearer_token_env_var.as_deref()
}

fn not_for(what: &str, options: &[(&str, bool)], hint: &str) -> Result<(), Failure> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(wrong(format!("use {option} for {what}"), hint)),
        None => Ok(()),
    }
}

/// Names and values, each pair in one word.
fn pairs(
    words: &[String],
    option: &str,
    separators: &[char],
    hint: &str,
) -> Result<BTreeMap<String, Secret<String>>, Failure> {
    let mut found = BTreeMap::new();
    for (index, word) in words.iter().enumerate() {
        let pair = word.split_once(|c| separators.contains(&c));
        let Some((name, value)) = pair.filter(|(name, _)| !name.trim().is_empty()) else {
            let number = index + 1;
            return Err(wrong(format!("understand {option} number {number}"), hint));
        };
        // A header's value is what follows the blank; a variable's is every character.
        let value = if separators.contains(&':') { value.trim() } else { value };
        if found.insert(name.trim().to_owned(), Secret::new(typed(value))).is_some() {
            return Err(wrong(format!("set `{}` twice", name.trim()), "keep one of the two"));
        }
    }
    Ok(found)
}

/// A text as it was typed, its variables in our grammar: ours as they are, and `${NAME}`, which
/// people bring from other programs.
fn typed(text: &str) -> String {
    if text.contains("$${") {
        return text.to_owned();
    }
    let pieces = template::pieces(text).into_iter().flat_map(|piece| match piece {
        template::Piece::Text(text) => Grammar::Braces.pieces(&text),
        variable => vec![variable],
    });
    template::render(&pieces.collect::<Vec<_>>())
}

/// Whether a word is the URL of an endpoint.
fn is_url(word: &str) -> bool {
    let begins = |scheme: &str| {
        word.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    begins("http://") || begins("https://")
}

fn shown(word: &str) -> String {
    shown_url(word)
}

fn wrong(what: impl Into<String>, hint: &str) -> Failure {
    Failure::usage(what).hint(hint)
}

/// Options of ours that stand among the arguments of the command, before any `--`: whoever typed
/// them may have meant the command's.
pub fn taken_from_the_command(argv: &[String], words: &[String]) -> Vec<String> {
    let Some(command) = words.first().filter(|word| !is_url(word)) else { return Vec::new() };
    let after = argv.iter().skip_while(|word| *word != command).skip(1);
    let before_dashes = after.take_while(|word| *word != "--");
    let name = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
    before_dashes.map(name).filter(|name| SHARED.contains(&name.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser};

    use super::*;
    use crate::cli::Cli;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        add: Add,
    }

    fn meant(words: &[&str]) -> Result<TransportSpec, Failure> {
        let argv = ["toolgate", "add"].iter().chain(words).map(Into::into);
        let mut argv = super::super::arranged(Cli::command, argv.collect());
        argv.remove(0);
        let line = Line::try_parse_from(argv);
        transport(&line.unwrap_or_else(|error| panic!("{words:?}: {error}")).add)
    }

    fn started(words: &[&str]) -> (String, Vec<String>) {
        match meant(words).unwrap() {
            TransportSpec::Stdio(stdio) => (stdio.command, stdio.args),
            other => panic!("{words:?}: {other:?}"),
        }
    }

    fn reached(words: &[&str]) -> HttpSpec {
        match meant(words).unwrap() {
            TransportSpec::Http(http) => http,
            other => panic!("{words:?}: {other:?}"),
        }
    }

    #[test]
    fn a_command_is_taken_in_every_form() {
        for (words, command, args) in [
            (&["n", "--", "npx", "-y", "pkg"][..], "npx", &["-y", "pkg"][..]),
            (&["n", "npx", "-y", "pkg"], "npx", &["-y", "pkg"]),
            (
                &["n", "npx", "--yes", "pkg", "--port=80", "-p80"],
                "npx",
                &["--yes", "pkg", "--port=80", "-p80"],
            ),
            (
                &["n", "python", "server.py", "--", "--arg", "v"],
                "python",
                &["server.py", "--arg", "v"],
            ),
            (
                &["-e", "A=1", "-e", "B=2", "n", "/path/to/server", "a", "b"],
                "/path/to/server",
                &["a", "b"],
            ),
            (&["n", "npx", "-e", "A=1", "pkg"], "npx", &["pkg"]),
            (&["n", "--", "npx", "-e", "A=1", "--", "x"], "npx", &["-e", "A=1", "--", "x"]),
            (&["--transport", "stdio", "n", "npx"], "npx", &[]),
            (&["n", "-s", "user", "npx", "--trust", "-"], "npx", &["-"]),
            (&["n", "npx", "https://example.com/x"], "npx", &["https://example.com/x"]),
        ] {
            let expected = (command.to_owned(), args.iter().map(ToString::to_string).collect());
            assert_eq!(started(words), expected, "{words:?}");
        }
    }

    #[test]
    fn one_value_belongs_to_one_option() {
        let TransportSpec::Stdio(stdio) =
            meant(&["-e", "API_KEY=a=b", "-e", "DEBUG=", "n", "x"]).unwrap()
        else {
            panic!("a process");
        };
        let env: Vec<_> =
            stdio.env.iter().map(|(k, v)| (k.as_str(), v.expose().as_str())).collect();
        assert_eq!(env, [("API_KEY", "a=b"), ("DEBUG", "")]);
    }

    #[test]
    fn a_url_is_an_endpoint_wherever_it_stands() {
        let url = "https://example.com/mcp";
        for words in [
            &["n", "--url", url][..],
            &["--url", url, "n"],
            &["n", url],
            &["n", "--", url],
            &["-t", "http", "n", url],
            &["n", url, "--type", "http"],
        ] {
            let http = reached(words);
            assert_eq!((http.url.as_str(), http.kind), (url, HttpKind::Auto), "{words:?}");
        }
        assert_eq!(reached(&["-t", "sse", "n", url]).kind, HttpKind::Sse);
        assert_eq!(reached(&["n", url, "-t", "streamable-http"]).kind, HttpKind::Streamable);
    }

    #[test]
    fn headers_are_written_in_both_ways() {
        let words = ["-t", "http", "n", "https://x.test", "--header", "Authorization: Bearer a:b="];
        let http = reached(&[&words[..], &["-H", "X-Key=1:2"]].concat());
        let sent: Vec<_> =
            http.headers.iter().map(|(k, v)| (k.as_str(), v.expose().as_str())).collect();
        assert_eq!(sent, [("Authorization", "Bearer a:b="), ("X-Key", "1:2")]);
        let http = reached(&["n", "https://x.test", "--bearer-token-env-var", "TOKEN"]);
        assert_eq!(http.headers["Authorization"].expose(), "Bearer ${env:TOKEN}");
    }

    #[test]
    fn variables_of_either_spelling_are_ours() {
        assert_eq!(typed("a ${TOKEN} ${env:B} ${C:-d}"), "a ${env:TOKEN} ${env:B} ${env:C:-d}");
        assert_eq!(typed("$${TOKEN} $HOME"), "$${TOKEN} $HOME");
    }

    #[test]
    fn what_does_not_fit_together_is_bad_usage_and_repeats_no_value() {
        use crate::exit::Exit;
        for words in [
            &["n"][..],
            &["n", "npx", "--url", "https://canary@x.test"],
            &["n", "-t", "stdio", "https://canary@x.test"],
            &["n", "-t", "stdio", "--url", "https://canary@x.test"],
            &["n", "-t", "http", "npx"],
            &["n", "https://canary@x.test", "more"],
            &["n", "https://x.test", "-e", "A=canary"],
            &["n", "https://x.test", "--cwd", "canary"],
            &["n", "npx", "-H", "A: canary"],
            &["n", "npx", "-e", "canary"],
            &["n", "npx", "-e", "=canary"],
            &["n", "npx", "-e", "A=canary", "-e", "A=canary"],
            &["n", "https://x.test", "-H", "canary"],
        ] {
            let failure = meant(words).unwrap_err();
            assert_eq!(failure.exit, Exit::Usage, "{words:?}");
            assert!(!format!("{failure:?}").contains("canary"), "{words:?}: {failure:?}");
            assert!(failure.hint.is_some(), "{words:?}");
        }
    }

    #[test]
    fn an_option_of_ours_among_the_commands_is_told_of() {
        let argv = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let taken = |line: &[&str]| taken_from_the_command(&argv(line), &argv(&["srv", "x"]));
        assert_eq!(taken(&["toolgate", "add", "n", "srv", "--config=f", "x"]), ["--config"]);
        assert_eq!(taken(&["toolgate", "-v", "add", "n", "srv", "x"]), Vec::<String>::new());
        assert_eq!(taken(&["toolgate", "add", "n", "srv", "--", "-v"]), Vec::<String>::new());
    }
}
