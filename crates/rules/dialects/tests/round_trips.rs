//! What a file says survives being read and written again, in its own dialect and through ours.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod common;

use toolgate_dialects::{Dialect, FileRef, FileSettings, ParsedFile};
use toolgate_model::ServerSpec;

fn specs(reading: &ParsedFile) -> Vec<ServerSpec> {
    reading.servers.iter().map(|declared| declared.spec.clone()).collect()
}

/// Writes servers in a dialect and reads them again.
fn through(
    dialect: Dialect,
    servers: &[ServerSpec],
    settings: &FileSettings,
    at: &FileRef,
) -> ParsedFile {
    let written = dialect.write(servers, settings, at).unwrap();
    assert_eq!(written.losses, [], "{}", written.text);
    let reading = dialect.read(&written.text, at);
    let errors: Vec<_> = reading.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(specs(&reading), servers, "{errors:#?}\n{}", written.text);
    assert_eq!(common::said(&reading.settings), common::said(settings), "{}", written.text);
    reading
}

#[test]
fn every_file_survives_its_own_dialect() {
    for dialect in Dialect::ALL {
        for fixture in common::of(dialect) {
            let reading = fixture.read();
            eprintln!("{dialect} {}", fixture.name);
            through(dialect, &specs(&reading), &reading.settings, &common::place(dialect));
        }
    }
}

/// `import` writes ours, `export` the other way: nothing is lost that the dialect can say.
#[test]
fn every_file_survives_the_way_through_ours() {
    for dialect in Dialect::ALL {
        for fixture in common::of(dialect) {
            let reading = fixture.read();
            eprintln!("{dialect} {}", fixture.name);
            let ours = common::place(Dialect::Toolgate);
            let imported = through(Dialect::Toolgate, &specs(&reading), &reading.settings, &ours);
            let place = common::place(dialect);
            through(dialect, &specs(&imported), &imported.settings, &place);
        }
    }
}
