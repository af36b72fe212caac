//! Tells toolgate's options from those of the command that `add` declares, wherever they stand.
//!
//! The words are put in an order that leaves nothing to guess: our options first, then `--`, the
//! name and the command. Before the command every option must be ours; after it, one that we do not
//! have is the command's, and after `--` every one is.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

/// The words of a command line, rearranged if its verb is `add`.
pub fn arranged(cli: impl FnOnce() -> Command, argv: Vec<OsString>) -> Vec<OsString> {
    // Whoever does not say `add` need not wait for the whole definition.
    if !argv.iter().any(|word| word == "add") {
        return argv;
    }
    let mut cli = cli();
    cli.build();
    let top: Vec<_> = cli.get_arguments().cloned().collect();
    let Some(verb) = verb(&argv, &top).filter(|at| argv[*at] == "add") else { return argv };
    let Some(add) = cli.find_subcommand("add") else { return argv };
    let (before, after) = argv.split_at(verb + 1);
    let options: Vec<_> = add.get_arguments().filter(|arg| !arg.is_positional()).collect();
    let split = split(after, &options);
    let dashes = OsString::from("--");
    before.iter().cloned().chain(split.ours).chain([dashes]).chain(split.words).collect()
}

/// Where the verb stands.
fn verb(argv: &[OsString], globals: &[Arg]) -> Option<usize> {
    let globals: Vec<_> = globals.iter().collect();
    let mut at = 1;
    loop {
        let word = argv.get(at)?;
        at += match ours(word, &globals) {
            Some(Written::Alone) => 1,
            Some(Written::WithNext) => 2,
            None if word == "mcp" => 1,
            None => return Some(at),
        };
    }
}

#[derive(Default)]
struct Split {
    ours: Vec<OsString>,
    words: Vec<OsString>,
}

fn split(words: &[OsString], options: &[&Arg]) -> Split {
    let mut split = Split::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            split.words.extend(rest.cloned());
            break;
        }
        match ours(word, options) {
            Some(Written::Alone) => split.ours.push(word.clone()),
            Some(Written::WithNext) => {
                split.ours.push(word.clone());
                split.ours.extend(rest.next().cloned());
            }
            // Before there is a command an option cannot be its: let it be complained of.
            None if is_option(word) && split.words.len() < 2 => split.ours.push(word.clone()),
            None => split.words.push(word.clone()),
        }
    }
    split
}

/// How an option of ours is written.
enum Written {
    /// In one word.
    Alone,
    /// With its value in the next word.
    WithNext,
}

fn is_option(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-") && word != "-"
}

/// Whether a word is one of these options.
fn ours(word: &OsStr, options: &[&Arg]) -> Option<Written> {
    let word = word.to_str()?;
    let next = |arg: &Arg, has_value: bool| match takes_next(arg) && !has_value {
        true => Written::WithNext,
        false => Written::Alone,
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
    // Behind a letter without a value there may only be more such letters.
    let is_ours = takes_next(first) || attached.chars().all(|it| known(it).is_some());
    is_ours.then(|| next(first, !attached.is_empty()))
}

/// Whether its value is the next word. One that must be joined with `=` takes none.
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
        let arranged = super::arranged(Cli::command, argv.collect());
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
