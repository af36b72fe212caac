//! Whatever is said about decisions: what a dialect does not report as lost comes back the same, and
//! whatever a file says about them opens no more than what it says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod common;

use std::time::Duration;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use toolgate_dialects::{
    Dialect, FileApprovalSettings, FileContextSettings, FileSettings, LocatedValue, Permissions,
    PolicyMode,
};
use toolgate_model::{
    ApprovalChannel, ArgumentCondition, ConfigValue, ContextNamingStyle, ContextOfferMode,
    ExpectedArgumentValue, Posture, RuleSpec,
};

fn said<T: std::fmt::Debug + Clone>(
    of: impl Strategy<Value = T>,
) -> impl Strategy<Value = Option<LocatedValue<T>>> {
    option::of(of.prop_map(|value| LocatedValue { value, at: (0, 0) }))
}

fn value() -> impl Strategy<Value = ConfigValue> {
    let plain = prop_oneof![
        any::<bool>().prop_map(ConfigValue::Bool),
        any::<i64>().prop_map(ConfigValue::Integer),
        Just(ConfigValue::Decimal("1.50".to_owned())),
        ".{0,6}".prop_map(ConfigValue::Text),
        Just(ConfigValue::Null),
    ];
    plain.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(ConfigValue::List),
            btree_map("[a-z.\" ]{1,3}", inner, 0..3)
                .prop_map(|fields| ConfigValue::Table(fields.into_iter().collect())),
        ]
    })
}

fn rule() -> impl Strategy<Value = RuleSpec> {
    let about = prop_oneof![
        "mcp:[a-z]{1,3}/[a-z*]{1,3}",
        "mcp__[a-z]{1,3}__[a-z]{1,3}",
        "mcp:[a-z]:[a-z]",
        ".{1,8}"
    ];
    let is = prop_oneof![
        "[a-z/*]{0,4}".prop_map(ExpectedArgumentValue::Glob),
        value().prop_map(ExpectedArgumentValue::Value)
    ];
    let condition = ("(/[a-z~0]{0,2}){0,2}", is)
        .prop_map(|(at, is)| ArgumentCondition { pointer: at, expected: is });
    let pattern = || option::weighted(0.2, "[a-z*]{0,3}");
    let when = prop_oneof![3 => Just(Vec::new()), 1 => vec(condition, 1..3)];
    (about, pattern(), pattern(), when).prop_map(|(about, client, profile, when)| RuleSpec {
        subject: about,
        client,
        profile,
        when,
        position: (0, 0),
    })
}

fn settings() -> impl Strategy<Value = FileSettings> {
    let mode = said(select(vec![PolicyMode::Ask, PolicyMode::Limited, PolicyMode::Full]));
    let rules = || vec(rule(), 0..3);
    let flags = (said(any::<bool>()), said(any::<bool>()));
    let permissions = (mode, rules(), rules(), rules(), flags).prop_map(
        |(mode, allow, ask, deny, (taint, yolo_floor))| Permissions {
            mode,
            allow,
            ask,
            deny,
            taint,
            yolo_floor,
        },
    );
    let via = || select(ApprovalChannel::ALL.to_vec());
    let time = || (1..600_000_u64).prop_map(Duration::from_millis);
    let clients = btree_map(
        "[a-z .\"-]{1,5}",
        via().prop_map(|value| LocatedValue { value, at: (0, 0) }),
        0..3,
    );
    let approvals = (said(via()), clients, said(time()), said(time()), said(any::<bool>()))
        .prop_map(|(via, clients, wait, expiry, from_client_terminal)| FileApprovalSettings {
            via,
            clients,
            wait,
            expiry,
            from_client_terminal,
        });
    let recheck = (0..600_000_u64).prop_map(Duration::from_millis);
    let paths = || vec("[~a-z ./\"]{1,9}".prop_map(std::path::PathBuf::from), 0..3);
    let names = said(select(ContextNamingStyle::ALL.to_vec()));
    let context =
        (said(select(ContextOfferMode::ALL.to_vec())), names, said(paths()), said(paths()))
            .prop_map(|(offer, names, folders, trusted)| FileContextSettings {
                offer,
                names,
                folders,
                trusted,
            });
    (permissions, approvals, said(select(Posture::ALL.to_vec())), said(recheck), context).prop_map(
        |(permissions, approvals, posture, recheck, context)| FileSettings {
            permissions,
            approvals,
            posture,
            recheck,
            context,
            ..FileSettings::default()
        },
    )
}

/// The rules that a dialect without conditions can say.
fn plain(rules: &[RuleSpec]) -> Vec<RuleSpec> {
    let bare = |rule: &&RuleSpec| **rule == RuleSpec::from(rule.subject.clone());
    rules.iter().filter(bare).cloned().collect()
}

fn back(dialect: Dialect, settings: &FileSettings) -> (FileSettings, Vec<String>, String) {
    let at = common::place(dialect);
    let written = dialect.write(&[], settings, &at).unwrap();
    let reading = dialect.read(&written.text, &at);
    assert_eq!(reading.diagnostics, [], "{}", written.text);
    let lost = written.losses.into_iter().map(|loss| loss.field).collect();
    (common::said(&reading.settings), lost, written.text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Ours says everything but what TOML has no word for, and such a rule is left out and told.
    #[test]
    fn our_own_file_says_it_all(settings in settings()) {
        let (read, lost, text) = back(Dialect::Toolgate, &settings);
        let all = |it: &FileSettings| {
            let Permissions { allow, ask, deny, .. } = &it.permissions;
            [allow, ask, deny].map(|rules| rules.clone())
        };
        if lost.is_empty() {
            prop_assert_eq!(&read, &settings, "{}", text);
        } else {
            for (read, given) in all(&read).into_iter().zip(all(&settings)) {
                prop_assert!(read.iter().all(|rule| given.contains(rule)), "{}", text);
            }
            let without = |mut it: FileSettings| {
                let Permissions { allow, ask, deny, .. } = &mut it.permissions;
                [allow, ask, deny].into_iter().for_each(Vec::clear);
                it
            };
            prop_assert_eq!(without(read), without(settings), "{}", text);
        }
    }

    /// Others say rules without conditions as they are written, and no others.
    #[test]
    fn another_file_says_what_it_has_words_for(settings in settings()) {
        for dialect in [Dialect::Nyzhi, Dialect::CoreAgent, Dialect::ClaudeCode] {
            let (read, lost, text) = back(dialect, &settings);
            let (given, read) = (&settings.permissions, &read.permissions);
            for (rules, again, name) in [
                (&given.allow, &read.allow, "permissions.allow"),
                (&given.ask, &read.ask, "permissions.ask"),
                (&given.deny, &read.deny, "permissions.deny"),
            ] {
                prop_assert_eq!(&plain(rules), again, "{} {}", dialect, text);
                let told = lost.iter().filter(|field| *field == name).count();
                prop_assert_eq!(told, rules.len() - again.len(), "{} {}", dialect, name);
            }
            prop_assert_eq!(read.mode, given.mode, "{} {}", dialect, text);
            prop_assert_eq!(lost.contains(&"policy.taint".to_owned()), given.taint.is_some());
            let approvals = settings.approvals != FileApprovalSettings::default();
            prop_assert_eq!(lost.contains(&"approvals".to_owned()), approvals);
        }
    }
}
