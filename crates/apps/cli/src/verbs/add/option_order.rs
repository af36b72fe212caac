//! Separates toolgate's options from those of the command that `add` declares.
//!
//! The arguments are reordered so that clap can parse them unambiguously: toolgate's options first,
//! then `--`, the name and the command. Before the command every option must be toolgate's. After
//! it, unknown options belong to the command; after `--`, all options do.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

/// Reorders the arguments of a command line if its verb is `add`; returns others unchanged.
pub fn reorder_add_options(cli: impl FnOnce() -> Command, argv: Vec<OsString>) -> Vec<OsString> {
    // Building the whole clap definition takes time; other verbs skip it.
    if !argv.iter().any(|word| word == "add") {
        return argv;
    }
    let mut cli = cli();
    cli.build();
    let top: Vec<_> = cli.get_arguments().cloned().collect();
    let Some(verb) = find_verb(&argv, &top).filter(|at| argv[*at] == "add") else { return argv };
    let Some(add) = cli.find_subcommand("add") else { return argv };
    let (before, after) = argv.split_at(verb + 1);
    let options: Vec<_> = add.get_arguments().filter(|arg| !arg.is_positional()).collect();
    let split = split_words(after, &options);
    let dashes = OsString::from("--");
    before
        .iter()
        .cloned()
        .chain(split.own_options)
        .chain([dashes])
        .chain(split.command_words)
        .collect()
}

/// Returns the index of the verb in the command line.
fn find_verb(argv: &[OsString], globals: &[Arg]) -> Option<usize> {
    let globals: Vec<_> = globals.iter().collect();
    let mut at = 1;
    loop {
        let word = argv.get(at)?;
        at += match match_own_option(word, &globals) {
            Some(OptionForm::Alone) => 1,
            Some(OptionForm::WithNext) => 2,
            None if word == "mcp" => 1,
            None => return Some(at),
        };
    }
}

/// The arguments of `add`, separated into toolgate's options and everything else.
#[derive(Default)]
struct SplitCommandLine {
    own_options: Vec<OsString>,
    command_words: Vec<OsString>,
}

fn split_words(words: &[OsString], options: &[&Arg]) -> SplitCommandLine {
    let mut split = SplitCommandLine::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            split.command_words.extend(rest.cloned());
            break;
        }
        match match_own_option(word, options) {
            Some(OptionForm::Alone) => split.own_options.push(word.clone()),
            Some(OptionForm::WithNext) => {
                split.own_options.push(word.clone());
                split.own_options.extend(rest.next().cloned());
            }
            // An unknown option before the command is left for clap to reject.
            None if is_option(word) && split.command_words.len() < 2 => {
                split.own_options.push(word.clone())
            }
            None => split.command_words.push(word.clone()),
        }
    }
    split
}

/// How a known option is written on the command line.
enum OptionForm {
    /// As one argument: a flag, or an option with its value attached.
    Alone,
    /// With its value in the next argument.
    WithNext,
}

fn is_option(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-") && word != "-"
}

/// Returns how an argument uses one of these options, or `None` if it is none of them.
fn match_own_option(word: &OsStr, options: &[&Arg]) -> Option<OptionForm> {
    let word = word.to_str()?;
    let next = |arg: &Arg, has_value: bool| match takes_next(arg) && !has_value {
        true => OptionForm::WithNext,
        false => OptionForm::Alone,
    };
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, false), |(name, _)| (name, true));
        let is_named = |arg: &&&Arg| {
            let mut aliases = arg.get_all_aliases().unwrap_or_default().into_iter();
            arg.get_long() == Some(name) || aliases.any(|alias| alias == name)
        };
        return options.iter().find(is_named).map(|arg| next(arg, value));
    }
    let mut letters = word.strip_prefix('-')?.chars();
    let known = |letter: char| options.iter().find(|arg| arg.get_short() == Some(letter));
    let first = known(letters.next()?)?;
    let attached = letters.as_str();
    // After a flag letter, only more known letters may follow.
    let is_ours = takes_next(first) || attached.chars().all(|it| known(it).is_some());
    is_ours.then(|| next(first, !attached.is_empty()))
}

/// Returns true if the option's value is the next argument, not joined with `=`.
fn takes_next(arg: &Arg) -> bool {
    arg.get_action().takes_values() && !arg.is_require_equals_set()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    fn arrange(words: &[&str]) -> Vec<String> {
        let argv = std::iter::once("toolgate").chain(words.iter().copied()).map(OsString::from);
        let arranged = super::reorder_add_options(Cli::command, argv.collect());
        arranged.into_iter().skip(1).map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn options_are_told_apart_wherever_they_stand() {
        for (typed, meant) in [
            ("add n npx -y pkg", "add -- n npx -y pkg"),
            ("add n -- npx -e x", "add -- n npx -e x"),
            ("add n npx -e A=1 pkg", "add -e A=1 -- n npx pkg"),
            ("add -eA=1 n npx", "add -eA=1 -- n npx"),
            ("add n python s.py -- --arg v", "add -- n python s.py --arg v"),
            ("add n x -- a -- b", "add -- n x a -- b"),
            ("add n --url U --json", "add --url U --json -- n"),
            ("mcp add n x --scope=user -p80", "mcp add --scope=user -- n x -p80"),
            ("--home H -v mcp add n x", "--home H -v mcp add -- n x"),
            ("add n x --type http --debug pkg", "add --type http --debug -- n x pkg"),
            ("add n x -vy -", "add -- n x -vy -"),
            ("add n --nonsense x", "add --nonsense -- n x"),
            ("call add -y x", "call add -y x"),
            ("servers --wait 1", "servers --wait 1"),
        ] {
            let words: Vec<_> = typed.split(' ').collect();
            assert_eq!(arrange(&words).join(" "), meant, "{typed}");
        }
    }
}
