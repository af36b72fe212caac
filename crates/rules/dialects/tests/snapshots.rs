//! Every file under `tests/dialects`: the servers it declares and what is said about it, as a
//! snapshot beside it.
//!
//! `INSTA_UPDATE=always cargo test -p toolgate-dialects --test snapshots` writes them anew. Values
//! that are secrets are shown, because these are nobody's.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

#[macro_use]
mod common;

use std::fmt::Write as _;

use toolgate_dialects::{Declaration, Dialect, ParsedFile};
use toolgate_model::{HttpSpec, Secret, StdioSpec, TransportSpec};

/// One test per dialect, so that a run names the one that differs.
macro_rules! dialects {
    ($($test:ident: $dialect:ident,)*) => { $(
        #[test]
        fn $test() {
            check(Dialect::$dialect);
        }
    )* };
}

every_dialect!(dialects);

fn check(dialect: Dialect) {
    for fixture in common::of(dialect) {
        let mut settings = insta::Settings::new();
        settings.set_snapshot_path(common::folder(dialect));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(fixture.name.clone(), shown(&fixture.read())));
    }
}

fn shown(reading: &ParsedFile) -> String {
    let mut text = String::new();
    for declared in &reading.servers {
        server(&mut text, declared);
    }
    for amendment in &reading.overrides {
        let _ = writeln!(
            text,
            "amendment {}: enabled = {}\n",
            amendment.name,
            amendment.enabled.is_none_or(|it| it)
        );
    }
    if reading.settings != Default::default() {
        let _ = writeln!(text, "settings: {:#?}\n", reading.settings);
    }
    for (dialect, extra) in &reading.settings.extras {
        let _ = writeln!(text, "settings extra.{dialect}: {:?}\n", extra.expose());
    }
    for found in &reading.diagnostics {
        let _ = writeln!(text, "{found}");
    }
    text
}

fn server(text: &mut String, declared: &Declaration) {
    let Declaration { spec, origin, only_in, blocked } = declared;
    let _ = writeln!(text, "server {} ({origin})", spec.name);
    match &spec.transport {
        TransportSpec::Stdio(stdio) => {
            let StdioSpec { command, args, cwd, env, env_file, env_inherit, files: _ } = stdio;
            let _ = writeln!(text, "  command: {command:?} {args:?}");
            pairs(text, "env", env.iter());
            line(text, "cwd", cwd.as_ref());
            line(text, "env_file", env_file.as_ref());
            line(text, "env_inherit", Some(env_inherit).filter(|it| !it.is_empty()));
        }
        TransportSpec::Http(http) => {
            let HttpSpec { url, headers, headers_helper, kind, auth } = http;
            let _ = writeln!(text, "  url: {url:?} {kind:?}");
            pairs(text, "headers", headers.iter());
            line(text, "headers_helper", headers_helper.as_ref().map(Secret::expose));
            line(text, "auth", Some(auth).filter(|auth| **auth != Default::default()));
            line(text, "client_secret", auth.oauth.client_secret.as_ref().map(Secret::expose));
        }
        TransportSpec::BuiltIn => text.push_str("  built in\n"),
    }
    let usual = Default::default();
    line(text, "disabled", (!spec.enabled).then_some(()));
    line(text, "timeouts", Some(spec.timeouts).filter(|it| *it != usual));
    line(text, "pool", Some(spec.pool).filter(|it| *it != Default::default()));
    line(text, "description", spec.description.as_ref());
    line(text, "tags", spec.tags.as_ref());
    line(text, "trust", spec.trust.then_some(()));
    line(text, "sampling", spec.sampling.as_ref());
    line(text, "compile", spec.compile.then_some(()));
    line(text, "required", spec.required.then_some(()));
    line(text, "selection", Some(&spec.selection).filter(|it| **it != Default::default()));
    line(text, "safety", Some(&spec.safety).filter(|it| **it != Default::default()));
    for (dialect, extra) in &spec.extras {
        let _ = writeln!(text, "  extra.{dialect}: {:?}", extra.expose());
    }
    line(text, "only in", only_in.as_ref());
    line(text, "blocked", blocked.as_ref());
    text.push('\n');
}

fn line(text: &mut String, label: &str, value: Option<impl std::fmt::Debug>) {
    if let Some(value) = value {
        let _ = writeln!(text, "  {label}: {value:?}");
    }
}

fn pairs<'a>(
    text: &mut String,
    label: &str,
    values: impl Iterator<Item = (&'a String, &'a Secret<String>)>,
) {
    for (name, value) in values {
        let _ = writeln!(text, "  {label} {name}: {:?}", value.expose());
    }
}
