//! Every file under `tests/dialects` is recognised: from where it usually lies always, and from
//! what it says where that is unambiguous.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

#[macro_use]
mod common;

use std::path::Path;

use proptest::prelude::*;
use toolgate_dialects::{Dialect, Syntax};

/// The hosts that share a map `mcpServers`: only some of their words tell them apart.
const FAMILY: [Dialect; 9] = [
    Dialect::McpJson,
    Dialect::ClaudeCode,
    Dialect::ClaudeDesktop,
    Dialect::Gemini,
    Dialect::Llxprt,
    Dialect::Cursor,
    Dialect::Windsurf,
    Dialect::Cline,
    Dialect::Copilot,
];

fn nowhere(syntax: Syntax) -> &'static Path {
    Path::new(match syntax {
        Syntax::Json => "/tmp/file.json",
        Syntax::Toml => "/tmp/file.toml",
        Syntax::Yaml => "/tmp/file.yaml",
    })
}

/// One module per dialect, so that a run names the one that differs.
macro_rules! dialects {
    ($($module:ident: $dialect:ident,)*) => { $(
        mod $module {
            use super::*;

            #[test]
            fn is_known_by_its_usual_place() {
                check_place(Dialect::$dialect);
            }

            #[test]
            fn is_known_by_content_where_that_is_unambiguous() {
                check_content(Dialect::$dialect);
            }

            #[test]
            fn is_told_in_a_strange_place_where_its_shape_differs() {
                check_strange_place(Dialect::$dialect);
            }
        }
    )* };
}

every_dialect!(dialects);

fn check_place(dialect: Dialect) {
    for fixture in common::of(dialect) {
        let found = Dialect::detect(&common::place(dialect).path, &fixture.text);
        // The two versions of opencode lie in one place: the content tells them apart, and an odd
        // file may hold the other one, or nothing.
        let versions = [Dialect::OpenCode, Dialect::OpenCodeV2];
        if versions.contains(&dialect) && fixture.name.starts_with("odd-") {
            assert!(versions.contains(&found), "{}: {found}", fixture.name);
            continue;
        }
        assert_eq!(found, dialect, "{}", fixture.name);
    }
}

/// The files whose content is meant to be good: a documented example, or every field.
fn good(dialect: Dialect) -> Vec<common::Fixture> {
    let mut fixtures = common::of(dialect);
    fixtures.retain(|it| !it.name.starts_with("odd-") && !it.read().servers.is_empty());
    assert!(!fixtures.is_empty(), "{dialect} has no example with servers");
    fixtures
}

fn check_content(dialect: Dialect) {
    for fixture in good(dialect) {
        let found = Dialect::detect(nowhere(dialect.syntax()), &fixture.text);
        let is_right = match FAMILY.contains(&dialect) {
            true => FAMILY.contains(&found),
            false => found == dialect,
        };
        assert!(is_right, "{}: {found}", fixture.name);
        let told = Dialect::mismatch(&common::place(dialect).path, &fixture.text);
        assert_eq!(told, None, "{}", fixture.name);
    }
}

fn check_strange_place(dialect: Dialect) {
    let place = match dialect.syntax() {
        Syntax::Json => "/projects/app/.mcp.json",
        Syntax::Toml => "/projects/app/toolgate.toml",
        Syntax::Yaml => "/home/me/.config/goose/config.yaml",
    };
    let there = Dialect::by_path(Path::new(place)).unwrap();
    let is_near = dialect == there || FAMILY.contains(&dialect);
    for fixture in good(dialect) {
        let told = Dialect::mismatch(Path::new(place), &fixture.text);
        assert_eq!(told, (!is_near).then_some(dialect), "{}", fixture.name);
    }
}

/// Files that hold a telling word are told apart even inside the family.
#[test]
fn telling_words_tell_the_family_apart() {
    let told = [
        (Dialect::Windsurf, "example.json"),
        (Dialect::Windsurf, "every-field.json"),
        (Dialect::Cline, "example.json"),
        (Dialect::Cline, "example-kilo.json"),
        (Dialect::Cline, "every-field.json"),
    ];
    for (dialect, name) in told {
        let fixture = common::of(dialect).into_iter().find(|it| it.name == name).unwrap();
        assert_eq!(Dialect::detect(nowhere(Syntax::Json), &fixture.text), dialect, "{name}");
    }
}

proptest! {
    #[test]
    fn any_path_and_text_have_a_dialect_of_their_syntax(
        path in "(/[a-zA-Z.]{0,8}){0,3}/[a-z.]{0,8}(\\.json|\\.toml|\\.yaml|)",
        text in "\\PC{0,40}",
    ) {
        let path = Path::new(&path);
        let found = Dialect::detect(path, &text);
        prop_assert_eq!(found.syntax(), Syntax::detect(path, &text));
        // Where the place says nothing there is nothing to contradict.
        if Dialect::by_path(path).is_none() {
            prop_assert_eq!(Dialect::mismatch(path, &text), None);
        }
    }

    #[test]
    fn a_known_place_wins_over_any_content(text in "\\PC{0,40}", index in 0..Dialect::ALL.len()) {
        let dialect = Dialect::ALL[index];
        let found = Dialect::detect(&common::place(dialect).path, &text);
        let either = [Dialect::OpenCode, Dialect::OpenCodeV2];
        let same = found == dialect || (either.contains(&found) && either.contains(&dialect));
        prop_assert!(same, "{} is taken for {}", dialect, found);
    }
}
