//! Turns the arguments of `add` into a transport: a process to start or an endpoint to connect to.
//!
//! Error messages never repeat values from the command line, because they may be credentials.

use std::collections::BTreeMap;

use toolgate_host::config::{VariableSyntax, check_address, template};
use toolgate_host::{HttpSpec, HttpTransportKind, Secret, StdioSpec, TransportSpec};
use toolgate_model::redact_url;

use super::{AddArgs, TransportArg};
use crate::exit::{CliError, ErrorCode, Result};

/// Global options that a server's command may have as well.
const SHARED_OPTIONS: [&str; 5] = ["--config", "--debug", "--verbose", "-v", "--home"];

/// Returns the transport that the arguments of `add` describe.
pub fn parse_transport(add: &AddArgs) -> Result<TransportSpec> {
    match (&add.url, add.words.split_first()) {
        (Some(_), Some((first, _))) => Err(usage_error(
            format!("`{}` cannot be combined with --url", redact_url(first)),
            "remove one of the two",
        )),
        (None, None) => Err(usage_error(
            format!("`{}` has neither a command nor a URL", add.name),
            "add a command after the name, or --url URL",
        )),
        (Some(url), None) => http_transport(add, url),
        (None, Some((first, rest))) => match add.transport {
            None | Some(TransportArg::Stdio) if !is_url(first) => {
                process_transport(add, first, rest)
            }
            transport if !rest.is_empty() && transport != Some(TransportArg::Stdio) => {
                Err(usage_error("a URL takes no arguments", "remove the arguments after the URL"))
            }
            _ => http_transport(add, first),
        },
    }
}

fn process_transport(add: &AddArgs, command: &str, args: &[String]) -> Result<TransportSpec> {
    let for_endpoints = [
        ("--header", !add.header.is_empty()),
        ("--bearer-token-env-var", add.bearer_token_env_var.is_some()),
    ];
    reject_options("an endpoint", &for_endpoints, "use -e NAME=VALUE to configure a command")?;
    Ok(TransportSpec::Stdio(StdioSpec {
        command: normalize_variables(command),
        args: args.iter().map(|arg| normalize_variables(arg)).collect(),
        cwd: add.cwd.as_ref().map(|cwd| normalize_variables(cwd).into()),
        env: parse_pairs(
            &add.env,
            "--env",
            &['='],
            "write -e NAME=VALUE, or put `--` before options of the command",
        )?,
        ..StdioSpec::default()
    }))
}

fn http_transport(add: &AddArgs, url: &str) -> Result<TransportSpec> {
    if add.transport == Some(TransportArg::Stdio) {
        return Err(usage_error(
            "--transport stdio needs a command, got a URL",
            "remove --transport, or use --transport http",
        ));
    }
    if !is_url(url) && !url.starts_with("${") {
        return Err(usage_error(
            format!("`{}` is not a URL", redact_url(url)),
            "start it with https://, or remove --transport to start a command",
        ));
    }
    // A URL that begins with a variable is checked when the variable is expanded.
    if !url.starts_with("${") {
        check_address(url).map_err(|why| {
            usage_error(
                format!("cannot add `{}`: {why}", add.name),
                "write the whole URL: https://host/path",
            )
        })?;
    }
    let for_processes = [("--env", !add.env.is_empty()), ("--cwd", add.cwd.is_some())];
    reject_options("a command", &for_processes, "use -H 'NAME: VALUE' to configure an endpoint")?;
    let hint = "write -H 'NAME: VALUE', with one header per option";
    let mut headers = parse_pairs(&add.header, "--header", &[':', '='], hint)?;
    if let Some(variable) = &add.bearer_token_env_var {
        let value = Secret::new(format!("Bearer ${{env:{variable}}}"));
        if headers.insert("Authorization".to_owned(), value).is_some() {
            return Err(usage_error(
                "the Authorization header is set twice",
                "remove --bearer-token-env-var or the header",
            ));
        }
    }
    let kind = match add.transport {
        Some(TransportArg::Sse) => HttpTransportKind::Sse,
        Some(TransportArg::StreamableHttp) => HttpTransportKind::Streamable,
        _ => HttpTransportKind::Auto,
    };
    Ok(TransportSpec::Http(HttpSpec {
        url: normalize_variables(url),
        headers,
        kind,
        ..HttpSpec::default()
    }))
}

/// Fails if one of these options is given, which are valid only for `valid_for`.
fn reject_options(valid_for: &str, options: &[(&str, bool)], hint: &str) -> Result<()> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(usage_error(format!("{option} is only valid for {valid_for}"), hint))
        }
        None => Ok(()),
    }
}

/// Parses the values of a repeatable option into names and values.
fn parse_pairs(
    words: &[String],
    option: &str,
    separators: &[char],
    hint: &str,
) -> Result<BTreeMap<String, Secret<String>>> {
    let mut found = BTreeMap::new();
    for (index, word) in words.iter().enumerate() {
        let pair = word.split_once(|c| separators.contains(&c));
        let Some((name, value)) = pair.filter(|(name, _)| !name.trim().is_empty()) else {
            let number = index + 1;
            return Err(usage_error(format!("{option} number {number} has no name"), hint));
        };
        // White space around a header's value is ignored; in a variable's value it counts.
        let value = if separators.contains(&':') { value.trim() } else { value };
        if found.insert(name.trim().to_owned(), Secret::new(normalize_variables(value))).is_some() {
            let message = format!("`{}` is set twice", name.trim());
            return Err(usage_error(message, "remove one of the two"));
        }
    }
    Ok(found)
}

/// Rewrites variables of other clients (`${NAME}`) in toolgate's syntax (`${env:NAME}`). Variables
/// in toolgate's syntax stay as they are.
fn normalize_variables(text: &str) -> String {
    if text.contains("$${") {
        return text.to_owned();
    }
    let pieces = template::parse_template(text).into_iter().flat_map(|piece| match piece {
        template::ConfigTemplatePart::Text(text) => VariableSyntax::Braces.parse(&text),
        variable => vec![variable],
    });
    template::render(&pieces.collect::<Vec<_>>())
}

/// Returns true if an argument is the URL of an endpoint.
fn is_url(word: &str) -> bool {
    let begins = |scheme: &str| {
        word.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    begins("http://") || begins("https://")
}

fn usage_error(message: impl Into<String>, hint: &str) -> CliError {
    CliError::new(ErrorCode::CliUsage, message).hint(hint)
}

/// Returns toolgate's options among the arguments of the command, before any `--`. The user may
/// have meant them for the command.
pub fn ambiguous_options(argv: &[String], words: &[String]) -> Vec<String> {
    let Some(command) = words.first().filter(|word| !is_url(word)) else { return Vec::new() };
    let after = argv.iter().skip_while(|word| *word != command).skip(1);
    let before_dashes = after.take_while(|word| *word != "--");
    let name = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
    before_dashes.map(name).filter(|name| SHARED_OPTIONS.contains(&name.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser};

    use super::*;
    use crate::cli::Cli;

    /// A parsed `add` command line.
    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        add: AddArgs,
    }

    fn meant(words: &[&str]) -> Result<TransportSpec> {
        let argv = ["toolgate", "add"].iter().chain(words).map(Into::into);
        let mut argv = super::super::reorder_add_options(Cli::command, argv.collect());
        argv.remove(0);
        let line = Line::try_parse_from(argv);
        parse_transport(&line.unwrap_or_else(|error| panic!("{words:?}: {error}")).add)
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
            assert_eq!((http.url.as_str(), http.kind), (url, HttpTransportKind::Auto), "{words:?}");
        }
        assert_eq!(reached(&["-t", "sse", "n", url]).kind, HttpTransportKind::Sse);
        assert_eq!(
            reached(&["n", url, "-t", "streamable-http"]).kind,
            HttpTransportKind::Streamable
        );
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
        assert_eq!(
            normalize_variables("a ${TOKEN} ${env:B} ${C:-d}"),
            "a ${env:TOKEN} ${env:B} ${env:C:-d}"
        );
        assert_eq!(normalize_variables("$${TOKEN} $HOME"), "$${TOKEN} $HOME");
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
            assert_eq!(failure.exit(), Exit::Usage, "{words:?}");
            assert!(!format!("{failure:?}").contains("canary"), "{words:?}: {failure:?}");
            assert!(failure.hint.is_some(), "{words:?}");
        }
    }

    #[test]
    fn an_option_of_ours_among_the_commands_is_told_of() {
        let argv = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let taken = |line: &[&str]| ambiguous_options(&argv(line), &argv(&["srv", "x"]));
        assert_eq!(taken(&["toolgate", "add", "n", "srv", "--config=f", "x"]), ["--config"]);
        assert_eq!(taken(&["toolgate", "-v", "add", "n", "srv", "x"]), Vec::<String>::new());
        assert_eq!(taken(&["toolgate", "add", "n", "srv", "--", "-v"]), Vec::<String>::new());
    }
}
