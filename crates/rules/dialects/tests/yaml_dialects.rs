//! The dialects that are written in YAML: any server is written so that it is read again, or it is
//! said what is lost; and a file full of remarks keeps every other line when it is changed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use toolgate_dialects::{Dialect, FileSettings, template};
use toolgate_model::{
    HttpSpec, HttpTransportKind, SafetySpec, SandboxSpec, Secret, ServerName, ServerSpec,
    StdioSpec, TransportSpec,
};

const YAML: [Dialect; 3] = [Dialect::SecondBrain, Dialect::Continue, Dialect::Goose];

/// Texts with everything that means something to YAML or looks like a variable.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,6}",
        1 => "[ -~é\n]{1,8}",
        1 => "(no|~|null|1|0x1F|1e3|- a|a: b|a #b|\\[a\\]|\\{a\\}|&a|\\*a|!a|%a|@a|`a|'|\"|\\\\|<<)",
        1 => "(\\$A|\\$\\{A\\}|\\$\\{env:A\\}|\\$\\{secret:k\\}|\\$\\{\\{ secrets.K \\}\\}|x\\$\\$\\{A\\}){1,2}",
    ]
}

/// The same as our grammar spells it: what looks like a variable and is none can be said twice.
fn template() -> impl Strategy<Value = String> {
    text().prop_map(|text| template::render(&template::parse_template(&text)))
}

fn secrets(names: &'static str) -> impl Strategy<Value = BTreeMap<String, Secret<String>>> {
    let value = template().prop_map(|text| Secret::new(text.replace('\n', " ")));
    prop::collection::btree_map(names, value, 0..3)
}

fn transport() -> impl Strategy<Value = TransportSpec> {
    let args = prop::collection::vec(template(), 0..3);
    let stdio = (template(), args, secrets("[A-Z]{1,3}"), any::<bool>());
    let stdio = stdio.prop_map(|(command, args, env, cwd)| {
        let cwd = cwd.then(|| "/srv/app".into());
        TransportSpec::Stdio(StdioSpec { command, args, env, cwd, ..StdioSpec::default() })
    });
    let kind = prop::sample::select(vec![
        HttpTransportKind::Auto,
        HttpTransportKind::Streamable,
        HttpTransportKind::Sse,
    ]);
    let http = (template(), secrets("[A-Z][a-z]{1,3}"), kind).prop_map(|(path, headers, kind)| {
        let url = format!("https://example.com/{}", path.replace('\n', " "));
        TransportSpec::Http(HttpSpec { url, headers, kind, ..HttpSpec::default() })
    });
    prop_oneof![stdio, http]
}

fn safety() -> impl Strategy<Value = SafetySpec> {
    let word = || prop::option::of(text());
    let commands = prop::collection::vec(text(), 0..3);
    (commands, word(), word(), word(), word()).prop_map(|it| SafetySpec {
        allowed_commands: it.0,
        manifest_digest: it.1,
        manifest_signature: it.2,
        sandbox: SandboxSpec { profile: it.3, ..SandboxSpec::default() },
        client_consent: it.4,
    })
}

fn spec() -> impl Strategy<Value = ServerSpec> {
    let name = "[a-z][a-z0-9_ :.-]{0,8}".prop_map(|name| name.trim().to_owned());
    let times = prop::sample::select(vec![0_u64, 1, 30, 45, 600]);
    (name, transport(), any::<bool>(), prop::option::of(text()), safety(), times, any::<bool>())
        .prop_map(|(name, transport, enabled, description, safety, time, tools)| {
            let mut spec = ServerSpec::new(ServerName::new(&name).unwrap(), transport);
            if time > 0 {
                spec.timeouts.start = Some(Duration::from_secs(time));
            }
            if tools {
                spec.selection.include = vec!["read".into(), "list_*".into()];
            }
            ServerSpec { enabled, description, safety, ..spec }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_server_is_read_as_it_was_written_or_the_loss_is_told(spec in spec()) {
        for dialect in YAML {
            let at = common::place(dialect);
            let written = dialect
                .write(std::slice::from_ref(&spec), &FileSettings::default(), &at)
                .unwrap();
            let reading = dialect.read(&written.text, &at);
            let told: Vec<_> = written.losses.iter().map(ToString::to_string).collect();
            let read: Vec<_> = reading.servers.iter().map(|declared| &declared.spec).collect();
            let found: Vec<_> = reading.diagnostics.iter().map(ToString::to_string).collect();
            if written.losses.is_empty() && !found.iter().any(|it| it.contains(": error:")) {
                prop_assert_eq!(&read, &vec![&spec], "{} {:#?}\n{}", dialect, found, written.text);
            }
            // What no process can be started with is refused, as it would be in a file of theirs.
            for complaint in found.iter().filter(|it| it.contains(": error:")) {
                let known = ["empty `c", "neither http", "NUL"].iter().any(|it| complaint.contains(it));
                prop_assert!(known || !told.is_empty(), "{} {}\n{}", dialect, complaint, written.text);
            }
        }
    }
}

/// The lines of one text that another lacks; the others stand in it in the same order.
fn added<'t>(before: &str, after: &'t str) -> Option<Vec<&'t str>> {
    let mut old = before.lines().peekable();
    let new: Vec<_> =
        after.lines().filter(|line| old.next_if(|next| next == line).is_none()).collect();
    old.next().is_none().then_some(new)
}

fn new_server() -> ServerSpec {
    let stdio =
        StdioSpec { command: "uvx".into(), args: vec!["new".into()], ..StdioSpec::default() };
    ServerSpec::new(ServerName::new("new").unwrap(), TransportSpec::Stdio(stdio))
}

#[test]
fn a_server_is_added_to_every_file_by_its_own_lines_and_removed_without_a_trace() {
    let mut changed = 0;
    for dialect in YAML {
        for fixture in common::of(dialect) {
            let at = common::place(dialect);
            let spec = new_server();
            let before = fixture.read();
            let Ok(written) = dialect.set(&fixture.text, &spec, &at) else {
                assert!(
                    !before.diagnostics.is_empty(),
                    "{} is fine but unchangeable",
                    fixture.name
                );
                continue;
            };
            let lines = added(&fixture.text, &written.text);
            assert!(
                lines.is_some_and(|lines| lines.len() < 12),
                "{}\n{}",
                fixture.name,
                written.text
            );
            let again = dialect.remove(&written.text, &spec.name).unwrap().unwrap();
            assert_eq!(again, fixture.text, "{}", fixture.name);
            changed += 1;
        }
    }
    assert!(changed >= 12, "{changed}");
}

#[test]
fn every_server_is_switched_by_one_line_and_removed_alone() {
    for dialect in YAML {
        for fixture in common::of(dialect) {
            let at = common::place(dialect);
            let before = fixture.read();
            for declared in &before.servers {
                let name = &declared.spec.name;
                if let Ok(Some(text)) =
                    dialect.set_enabled(&fixture.text, name, !declared.spec.enabled)
                {
                    let (old, new) = (fixture.text.lines().count(), text.lines().count());
                    assert!(new - old <= 1, "{} {name}\n{text}", fixture.name);
                    let reading = dialect.read(&text, &at);
                    for (old, new) in before.servers.iter().zip(&reading.servers) {
                        let flipped = old.spec.name == *name;
                        assert_eq!(
                            old.spec.enabled != new.spec.enabled,
                            flipped,
                            "{}",
                            old.spec.name
                        );
                    }
                }
                match dialect.remove(&fixture.text, name) {
                    Ok(text) => {
                        let reading = dialect.read(&text.unwrap(), &at);
                        let left = before.servers.iter().filter(|it| it.spec.name != *name);
                        let left: Vec<_> = left.map(|it| &it.spec).collect();
                        let read = reading.servers.iter().filter(|it| it.spec.name != *name);
                        assert_eq!(read.map(|it| &it.spec).collect::<Vec<_>>(), left, "{name}");
                    }
                    // An anchor that others refer to cannot go.
                    Err(error) => {
                        assert!(fixture.text.contains('&'), "{} {name}: {error}", fixture.name);
                    }
                }
            }
        }
    }
}
