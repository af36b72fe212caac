//! Any text at all, and any small damage to a good file: no panic, and every complaint has a line.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

#[macro_use]
mod common;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};
use toolgate_dialects::Dialect;

/// How much damage each reader has to bear; `PROPTEST_CASES` asks for more.
const CASES: u32 = 10_000;

fn check(dialect: Dialect, text: &str) {
    let reading = dialect.read(text, &common::place(dialect));
    for found in &reading.diagnostics {
        assert!(found.origin.line > 0 && found.origin.column > 0, "{found} in {text:?}");
        let _ = found.to_string();
    }
}

/// Which file, where to cut, how much, and what to put there instead.
fn damage() -> impl Strategy<Value = (Index, Index, usize, String)> {
    let put = prop_oneof![
        "[\\PC\n\"{}\\[\\]=,:#' -]{0,6}",
        Just("null".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just("1".to_owned()),
        Just("\"${\"".to_owned()),
    ];
    (any::<Index>(), any::<Index>(), 0..12_usize, put)
}

fn survives(dialect: Dialect) {
    let fixtures = common::of(dialect);
    // Where characters begin, so that a cut never parts one.
    let starts = |text: &str| text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let starts: Vec<Vec<usize>> = fixtures.iter().map(|it| starts(&it.text)).collect();
    let cases = Config::default().cases.max(CASES);
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let survived = runner.run(&damage(), |(which, at, cut, put)| {
        let which = which.index(fixtures.len());
        let (text, starts) = (&fixtures[which].text, &starts[which]);
        let at = at.index(starts.len());
        let (from, to) = (starts[at], starts[(at + cut).min(starts.len() - 1)]);
        check(dialect, &[&text[..from], &put, &text[to..]].concat());
        Ok(())
    });
    survived.unwrap_or_else(|error| panic!("{dialect}: {error}"));
}

/// A test for each, so that they run side by side.
macro_rules! every_reader_survives_damage {
    ($($name:ident: $dialect:ident,)*) => {
        $(
            #[test]
            fn $name() {
                survives(Dialect::$dialect);
            }
        )*

        #[test]
        fn no_reader_is_left_out() {
            assert_eq!([$(Dialect::$dialect),*], Dialect::ALL);
        }
    };
}

every_dialect!(every_reader_survives_damage);

proptest! {
    #[test]
    fn any_text_is_survived(text in "\\PC{0,60}") {
        for dialect in Dialect::ALL {
            check(dialect, &text);
        }
    }
}
