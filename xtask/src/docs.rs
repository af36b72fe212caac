//! `cargo xtask docs`: writes or checks the reference of the command line, from the definitions that
//! `--help` and the manual pages come from. It asks the debug binary.

use std::fs;

use crate::VerbResult;
use crate::{shell, workspace};

/// Where it lies, from the root of the workspace.
const FILE: &str = "docs/reference/cli.md";

const HEADER: &str = "\
# Commands

`cargo xtask docs` writes this page from the definitions of the command line. [What the verbs \
do](verbs.md) describes what does not fit into `--help`. `toolgate mcp VERB` is the same as \
`toolgate VERB`.
";

/// Writes the page, or with `--check` only says whether it is stale.
pub fn run(arguments: &[String]) -> VerbResult {
    match arguments {
        [] => fs::write(workspace::root().join(FILE), page()?)
            .map_err(|error| format!("cannot write {FILE}: {error}")),
        [option] if option == "--check" => check(),
        _ => Err("usage: docs [--check]".to_owned()),
    }
}

/// Compares the page with the definitions.
pub fn check() -> VerbResult {
    let written = fs::read_to_string(workspace::root().join(FILE))
        .map_err(|error| format!("cannot read {FILE}: {error}; run `cargo xtask docs`"))?;
    match written == page()? {
        true => Ok(()),
        false => Err(format!("{FILE} is stale; run `cargo xtask docs`")),
    }
}

fn page() -> Result<String, String> {
    let main = help(&[])?;
    let (options, _) = cut(&main);
    let mut page = format!("{HEADER}\n## toolgate\n\n```text\n{options}\n```\n");
    for verb in verbs()? {
        let help = help(&verb)?;
        let (help, global) = cut(&help);
        if global.is_none() {
            return Err(format!("`toolgate {}` lacks the global options", verb.join(" ")));
        }
        let (about, rest) = help.split_once("\n\n").unwrap_or((&help, ""));
        page.push_str(&format!("\n## {}\n\n{about}.\n\n```text\n{rest}\n```\n", verb.join(" ")));
    }
    page.push_str(&format!(
        "\n## Global options\n\n```text\n{}\n```\n",
        cut(&main).1.unwrap_or_default()
    ));
    Ok(page)
}

fn help(verb: &[String]) -> Result<String, String> {
    let toolgate = workspace::root().join("target/debug/toolgate");
    let mut command = shell::command(toolgate);
    let text = shell::capture(command.args(verb).arg("--help").env_remove("COLUMNS"))?;
    let lines = text.lines().map(str::trim_end);
    Ok(lines.collect::<Vec<_>>().join("\n").trim().to_owned())
}

/// Separates the global options, which are the same everywhere, from the rest of a help text.
fn cut(help: &str) -> (String, Option<String>) {
    let Some((before, after)) = help.split_once("\n\nGlobal options:\n") else {
        return (help.to_owned(), None);
    };
    // Their lines are indented or empty; the first other line begins what follows.
    let end = after.split_inclusive('\n').take_while(|line| line.starts_with([' ', '\n']));
    let (global, rest) = after.split_at(end.map(str::len).sum());
    let rest = if rest.is_empty() { String::new() } else { format!("\n\n{rest}") };
    (format!("{before}{rest}"), Some(global.trim_end().to_owned()))
}

/// Every verb, and every verb of a verb, in the order of their names, from the manual pages: each
/// states its own command first in its synopsis.
fn verbs() -> Result<Vec<Vec<String>>, String> {
    let toolgate = workspace::root().join("target/debug/toolgate");
    let folder = std::env::temp_dir().join(format!("toolgate-docs-{}", std::process::id()));
    shell::capture(shell::command(toolgate).arg("man").arg(&folder))?;
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut verbs = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let page = fs::read_to_string(entry.map_err(failed)?.path()).map_err(failed)?;
        let synopsis = page.split(".SH SYNOPSIS\n\\fBtoolgate ").nth(1);
        let command = synopsis.and_then(|synopsis| synopsis.split("\\fR").next());
        let command = command.map(|command| command.replace("\\-", "-"));
        verbs.extend(command.map(|it| it.split(' ').map(str::to_owned).collect::<Vec<_>>()));
    }
    fs::remove_dir_all(&folder).map_err(failed)?;
    verbs.sort();
    Ok(verbs)
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn the_global_options_are_cut_out() {
        let help = "About\n\nOptions:\n  -h\n\nGlobal options:\n      --home\n          Folder\n\n  -v\n\nNote.";
        let (rest, global) = cut(help);
        assert_eq!(rest, "About\n\nOptions:\n  -h\n\nNote.");
        assert_eq!(global.unwrap(), "      --home\n          Folder\n\n  -v");
    }
}
