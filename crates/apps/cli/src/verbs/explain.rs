//! `explain`: prints the page of an error code. The pages are part of the binary.

use std::fmt::Write as _;

use clap::Args;
use serde::Serialize;

use crate::exit::{CliError, ErrorCode, Exit, Result, cli_error};
use crate::out;
use crate::suggest::did_you_mean;

/// The pages of all codes, in Markdown.
const PAGES: &str = include_str!("../../../../../docs/errors.md");

/// The arguments of `toolgate explain`.
#[derive(Debug, Args)]
#[command(after_help = "Example: toolgate explain TG-CONFIG-013")]
pub struct ExplainArgs {
    /// The code in an error message; without it, all codes are listed
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

/// The page of one code.
#[derive(Debug, Serialize)]
struct ErrorCodePage {
    code: ErrorCode,
    title: &'static str,
    symptom: String,
    cause: String,
    fix: String,
    exit: u8,
}

pub fn run(json: bool, options: &ExplainArgs) -> Result<Exit> {
    let pages: Vec<_> = ErrorCode::ALL.iter().filter_map(|code| find_page(*code)).collect();
    match &options.code {
        Some(code) => {
            let code = find_code(code)?;
            let page = pages.iter().find(|page| page.code == code);
            let page = page.ok_or_else(|| unknown_code_error(code.as_str()))?;
            if json { out::json(page)? } else { out::text(&page.to_text())? }
        }
        None if json => out::json(&pages)?,
        None => {
            let lines: Vec<_> =
                pages.iter().map(|page| format!("{:<16} {}", page.code, page.title)).collect();
            out::text(&lines.join("\n"))?;
        }
    }
    Ok(Exit::Done)
}

/// Returns the code that a user typed, with or without `TG-`, in any case.
fn find_code(typed: &str) -> Result<ErrorCode> {
    let with_prefix = format!("TG-{typed}");
    let found = typed.parse().or_else(|_| with_prefix.parse());
    found.map_err(|_| unknown_code_error(typed))
}

fn unknown_code_error(typed: &str) -> CliError {
    let codes: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    let otherwise = "run `toolgate explain` to list all codes";
    let digits: String = typed.chars().filter(char::is_ascii_digit).collect();
    let number = format!("-{digits:0>3}");
    let same_number = || codes.iter().filter(|code| code.ends_with(&number)).copied();
    let hint = match typed.chars().all(|c| c.is_ascii_digit()) && same_number().next().is_some() {
        true => format!("did you mean one of {}?", same_number().collect::<Vec<_>>().join(", ")),
        false => did_you_mean(&typed.to_ascii_uppercase(), &codes, otherwise),
    };
    cli_error!(CliNoCode, "no error code `{typed}`").hint(hint)
}

/// Returns the page of a code.
fn find_page(code: ErrorCode) -> Option<ErrorCodePage> {
    let header = format!("\n## {code} ");
    let (_, page) = PAGES.split_once(&header)?;
    let page = page.split("\n## ").next()?;
    let (title, body) = page.split_once('\n')?;
    let (symptom, body) = body.trim().strip_prefix("**Symptom:**")?.split_once("**Cause:**")?;
    let (cause, fix) = body.split_once("**Fix:**")?;
    let join = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (symptom, cause, fix) = (join(symptom), join(cause), join(fix));
    Some(ErrorCodePage { code, title, symptom, cause, fix, exit: code.exit() as u8 })
}

impl ErrorCodePage {
    fn to_text(&self) -> String {
        let mut text = format!("{} {}\n", self.code, self.title);
        for (name, part) in [("Symptom", &self.symptom), ("Cause", &self.cause), ("Fix", &self.fix)]
        {
            let _ = write!(text, "\n{name}: {part}\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_code_has_one_complete_page_and_every_page_a_code() {
        for code in ErrorCode::ALL {
            let page = find_page(*code).unwrap_or_else(|| panic!("{code} has no complete page"));
            for part in [page.title, &page.symptom, &page.cause, &page.fix] {
                assert!(!part.is_empty() && !part.contains("**"), "{page:?}");
            }
        }
        let headers: Vec<_> = PAGES.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let codes: Vec<_> =
            headers.iter().map(|header| header.split(' ').next().unwrap().parse()).collect();
        let all: Vec<_> = ErrorCode::ALL.iter().copied().map(Ok).collect();
        assert_eq!(codes, all, "the pages have the order of the codes");
    }

    #[test]
    fn every_command_in_a_page_is_valid() {
        let mut commands = 0;
        let text = PAGES.split_whitespace().collect::<Vec<_>>().join(" ");
        for command in text.split('`').skip(1).step_by(2) {
            if !command.starts_with("toolgate ") || command.contains('|') {
                continue;
            }
            let words: Vec<_> = command.split(' ').collect();
            if ["toolgate CODE", "toolgate --help"].contains(&command) || command.contains("CODE") {
                continue;
            }
            let parsed = Cli::parse_words(words.iter().map(Into::into).collect());
            let is_help = |error: &clap::Error| !error.use_stderr();
            assert!(parsed.as_ref().err().is_none_or(is_help), "{command}: {parsed:?}");
            commands += 1;
        }
        assert!(commands > 100, "{commands}");
    }

    #[test]
    fn a_code_is_found_however_it_is_typed() {
        assert_eq!(find_code("tg-config-013"), Ok(ErrorCode::ConfigUnset));
        assert_eq!(find_code("config-013"), Ok(ErrorCode::ConfigUnset));
        let hint = |typed| find_code(typed).unwrap_err().hint.unwrap();
        assert!(hint("TG-CONFG-013").contains("`TG-CONFIG-013`"));
        assert!(hint("12").contains("TG-CLI-012"), "{}", hint("12"));
    }
}
