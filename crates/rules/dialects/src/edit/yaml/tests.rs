//! Tests that an edit makes its change and nothing else.

use proptest::prelude::*;
use toolgate_model::ConfigValue;

use super::*;
use crate::common::tree::{TreeNode, TreeValue};
use crate::syntax::yaml::parse;

fn data(text: &str) -> ConfigValue {
    TreeNode { at: 0, value: TreeValue::Table(parse(text).unwrap()) }.data()
}

fn path(text: &str) -> Vec<PathStep> {
    let step = |word: &str| match word.strip_prefix('@') {
        Some(name) => PathStep::NamedItem(name.to_owned()),
        None => PathStep::Key(word.to_owned()),
    };
    text.split('.').map(step).collect()
}

fn server(command: &str, args: &[&str]) -> ConfigValue {
    ConfigValue::Table(vec![
        ("command".into(), ConfigValue::text(command)),
        ("args".into(), ConfigValue::texts(args.iter().copied())),
    ])
}

/// Returns the changed text; `set` itself checks its content.
fn changed(text: &str, at: &str, value: &ConfigValue) -> String {
    let made = set(text, &path(at), value).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    assert_eq!(set(&made, &path(at), value).unwrap(), made, "a second time changes nothing");
    made
}

#[test]
fn a_server_is_added_behind_the_last_and_taken_away_again() {
    let text = "# mine\nextensions:\n    a: # first\n        cmd: x  # why\n    # about b\n    b:\n        cmd: y\n\n# the rest\nother: 1\n";
    let made = changed(text, "extensions.c", &server("npx", &["-y", "it"]));
    let wanted = text.replace(
        "        cmd: y\n",
        "        cmd: y\n    c:\n        command: npx\n        args:\n            - \"-y\"\n            - it\n",
    );
    assert_eq!(made, wanted);
    assert_eq!(remove(&made, &path("extensions.c")).unwrap().unwrap(), text);
    assert_eq!(remove(text, &path("extensions.none")).unwrap(), None);
    assert_eq!(remove(text, &path("none.x")).unwrap(), None);
}

#[test]
fn line_ends_and_a_missing_last_one_stay() {
    let text = "s:\r\n- name: a\r\n  command: x\r\nt: end";
    let added = changed(text, "s.@b", &server("y", &[]));
    assert_eq!(
        added,
        "s:\r\n- name: a\r\n  command: x\r\n- name: b\r\n  command: \"y\"\r\n  args: []\r\nt: end"
    );
    assert_eq!(remove(&added, &path("s.@b")).unwrap().unwrap(), text);
    let last = changed(text, "u", &ConfigValue::Integer(1));
    assert_eq!(last, format!("{text}\r\nu: 1"));
    assert_eq!(remove(&last, &path("u")).unwrap().unwrap(), text);
}

#[test]
fn only_the_fields_that_differ_change() {
    let text = "s:\n  - name: a # the first\n    command: x # why\n    args: [1, 2] # flow\n    old: gone\n    env:\n      # about A\n      A: '1'\n      B: 2\n  - name: b\n";
    let value = ConfigValue::Table(vec![
        ("name".into(), ConfigValue::text("a")),
        ("command".into(), ConfigValue::text("z: #")),
        (
            "args".into(),
            ConfigValue::List(vec![
                ConfigValue::Integer(1),
                ConfigValue::Integer(3),
                ConfigValue::text("x,y"),
            ]),
        ),
        (
            "env".into(),
            ConfigValue::Table(vec![
                ("A".into(), ConfigValue::text("1")),
                ("C".into(), ConfigValue::text("on")),
            ]),
        ),
    ]);
    assert_eq!(
        changed(text, "s.@a", &value),
        "s:\n  - name: a # the first\n    command: \"z: #\" # why\n    args: [1, 3, \"x,y\"] # flow\n    env:\n      # about A\n      A: '1'\n      C: \"on\"\n  - name: b\n"
    );
}

#[test]
fn empty_containers_become_blocks_and_empty_again() {
    for (text, wanted) in [
        ("a: 1\ns: [] # none yet\nb: 2\n", "a: 1\ns: # none yet\n  - name: x\n    k: v\nb: 2\n"),
        ("s: []\n", "s:\n  - name: x\n    k: v\n"),
        ("s:\n", "s:\n  - name: x\n    k: v\n"),
        ("s: ~\nb: 2\n", "s:\n  - name: x\n    k: v\nb: 2\n"),
        ("# nothing\n", "# nothing\ns:\n  - name: x\n    k: v\n"),
        ("# nothing", "# nothing\ns:\n  - name: x\n    k: v"),
        ("", "s:\n  - name: x\n    k: v\n"),
        ("{}\n", "s:\n  - name: x\n    k: v\n"),
        ("---\n", "---\ns:\n  - name: x\n    k: v\n"),
    ] {
        let value = ConfigValue::Table(vec![("k".into(), ConfigValue::text("v"))]);
        assert_eq!(changed(text, "s.@x", &value), wanted, "{text:?}");
    }
    let text = "a: 1\ns: {} # none yet\n";
    let made = changed(text, "s.x", &server("c", &[]));
    assert_eq!(remove(&made, &path("s.x")).unwrap().unwrap(), text);
    let text = "s:\n  # about x\n  x: 1\nb: 2\n";
    let gone = remove(text, &path("s.x")).unwrap().unwrap();
    assert_eq!(gone, "s: {}\nb: 2\n");
    let text = "s: # all\n  # about all\n\n  # about x\n  x: |\n    # text\n    # below it\n # odd\n  # about y\n  y: 1\nb: 2\n";
    let gone = remove(text, &path("s.y")).unwrap().unwrap();
    assert_eq!(gone, text.replace("  # about y\n  y: 1\n", ""));
    let gone = remove(text, &path("s.x")).unwrap().unwrap();
    assert_eq!(gone, "s: # all\n  # about all\n\n # odd\n  # about y\n  y: 1\nb: 2\n");
}

#[test]
fn flow_containers_are_changed_within_their_brackets() {
    let text = "s: {a: {command: x, args: []}, b: {command: y}} # all\n";
    assert_eq!(
        changed(text, "s.c", &server("npx", &["a b", "c,d"])),
        "s: {a: {command: x, args: []}, b: {command: \"y\"}, c: {command: npx, args: [a b, \"c,d\"]}} # all\n"
            .replace("\"y\"", "y")
    );
    assert_eq!(
        changed(text, "s.a", &server("x", &["1"])),
        text.replace("args: []", "args: [\"1\"]")
    );
    assert_eq!(remove(text, &path("s.a")).unwrap().unwrap(), "s: {b: {command: y}} # all\n");
    assert_eq!(
        remove(text, &path("s.b")).unwrap().unwrap(),
        "s: {a: {command: x, args: []}} # all\n"
    );
    let lines = "s: [\n  {name: a},\n  {name: b}\n]\n";
    assert_eq!(
        changed(lines, "s.@c.enabled", &ConfigValue::Bool(false)),
        "s: [\n  {name: a},\n  {name: b}, {name: c, enabled: false}\n]\n"
    );
}

#[test]
fn what_is_shared_or_stands_in_the_way_is_left_alone() {
    let shared = "base: &b\n  k: 1\ns: *b\nt:\n  <<: *b\n  own: 1\n";
    let unsupported = |at: &str| set(shared, &path(at), &ConfigValue::Integer(2)).unwrap_err();
    assert!(matches!(unsupported("base.k"), EditError::Unsupported(_)));
    assert!(matches!(unsupported("s.k"), EditError::Unsupported(_)));
    assert_eq!(
        changed(shared, "t.k", &ConfigValue::Integer(2)),
        format!("{shared}  k: 2\n"),
        "its own word wins over what is taken over"
    );
    assert!(matches!(remove(shared, &path("t.k")), Err(EditError::Unsupported(_))));
    let found = set("s: text\n", &path("s.x"), &ConfigValue::Null).unwrap_err();
    assert_eq!(found, EditError::WrongKind { at: "s".into(), found: "a string" });
    let broken = set("a: 1\nb: [\n", &path("s"), &ConfigValue::Null).unwrap_err();
    assert!(matches!(broken, EditError::Syntax { line, .. } if line >= 2), "{broken:?}");
}

#[test]
fn odd_layouts_are_changed_or_refused_but_never_damaged() {
    for text in [
        "s:\n-\n  name: a\n  k: v\n- # remark\n  name: b\n",
        "s:\n  -   name: a\n      k: v\n",
        "? s\n: - name: a\n    k: v\n",
        "s: !!seq\n  - &x\n    name: a\n    k: |\n      several\n      lines\n\n  - *x\n",
        "\"s\" :\n   - { name: a, k: v }\n   -  name: b\n",
        "s:\n  - name: a\n    k: >+\n      kept\n\n\nend: 1\n",
        "s:\n  - name: a\n    k: \"over\n      lines\" # remark\n  -\n",
        "\u{feff}s:\n  - name: a\n",
        "--- # start\ns:\n  - name: a\n...\n",
    ] {
        for at in ["s.@a", "s.@a.k", "s.@new", "s.@a.deep.er", "more"] {
            let value = ConfigValue::Table(vec![
                ("name".into(), ConfigValue::text("a")),
                ("n".into(), ConfigValue::Integer(1)),
            ]);
            match set(text, &path(at), &value) {
                Ok(made) => {
                    let adds = !["s.@a", "s.@a.k"].contains(&at);
                    for remark in
                        text.lines().filter_map(|line| line.split_once('#')).filter(|_| adds)
                    {
                        assert!(made.contains(remark.1), "{at} lost {remark:?}:\n{made}");
                    }
                }
                Err(error) => {
                    assert!(matches!(error, EditError::Unsupported(_)), "{error:?} {at} {text}")
                }
            }
            if let Err(error) = remove(text, &path(at)) {
                assert!(matches!(error, EditError::Unsupported(_)), "{error:?} {at} {text}");
            }
        }
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,4}",
        "[a-z :#,'\"\\[\\]{}é\n-]{0,6}",
        "[0-9.]{1,3}",
        Just("null".to_owned())
    ]
}

fn values() -> impl Strategy<Value = ConfigValue> {
    let leaf = prop_oneof![
        Just(ConfigValue::Null),
        any::<bool>().prop_map(ConfigValue::Bool),
        any::<i32>().prop_map(|number| ConfigValue::Integer(number.into())),
        word().prop_map(ConfigValue::Text),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(ConfigValue::List),
            prop::collection::btree_map(word(), inner, 0..4)
                .prop_map(|members| ConfigValue::Table(members.into_iter().collect())),
        ]
    })
}

/// Generates a document with comments on separate lines and after values.
fn document() -> impl Strategy<Value = (String, ConfigValue)> {
    let members = prop::collection::btree_map("[a-d]{1,2}", values(), 1..5);
    (members, any::<bool>(), any::<bool>(), 0..3_usize).prop_map(|(members, crlf, end, indent)| {
        let habits = render::YamlIndentation { table: 2 + indent, list: indent };
        let whole = ConfigValue::Table(members.into_iter().collect());
        let mut text = String::from("# the first line\n");
        for (index, line) in render::block(&whole, habits).into_iter().enumerate() {
            let column = line.len() - line.trim_start().len();
            if index % 3 == 1 {
                text += &format!("{}# remark {index}\n", " ".repeat(column));
            }
            text += &line;
            text += if index % 2 == 1 { " # behind\n" } else { "\n" };
        }
        if !end {
            text.pop();
        }
        (if crlf { text.replace('\n', "\r\n") } else { text }, whole)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn a_change_means_itself_and_leaves_every_other_line(
        (text, whole) in document(), key in "[a-d]{1,2}", value in values(),
    ) {
        prop_assert_eq!(&data(&text), &whole);
        let made = set(&text, &[PathStep::Key(key.clone())], &value);
        prop_assert!(made.is_ok(), "{:?}\n{}", made, text);
        let made = made.unwrap();
        let mut expected = whole.clone();
        let ConfigValue::Table(members) = &mut expected else { unreachable!() };
        match members.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => *old = value.clone(),
            None => members.push((key.clone(), value.clone())),
        }
        prop_assert_eq!(canonical(data(&made)), canonical(expected));
        // Lines that belong to other keys, and those before the first key, are all still there.
        prop_assert!(others_are_the_same(&text, &made, &key), "\n{}\n=>\n{}", text, made);
        prop_assert_eq!(text.ends_with('\n'), made.ends_with('\n'));
    }

    #[test]
    fn what_was_added_can_be_taken_away_without_a_trace(
        (text, _) in document(), value in values(), name in word(),
    ) {
        let added = set(&text, &[PathStep::Key("new".into())], &value).unwrap();
        let gone = remove(&added, &[PathStep::Key("new".into())]).unwrap().unwrap();
        prop_assert_eq!(&gone, &text);

        let holder = ConfigValue::Table(vec![("kept".into(), ConfigValue::Integer(1))]);
        let text = set(&text, &[PathStep::Key("new".into())], &holder).unwrap();
        let at = [PathStep::Key("new".into()), PathStep::Key(name.clone())];
        prop_assume!(name != "kept");
        let added = set(&text, &at, &value).unwrap();
        prop_assert_eq!(&remove(&added, &at).unwrap().unwrap(), &text);
    }

    #[test]
    fn any_key_can_be_taken_away((text, whole) in document()) {
        let ConfigValue::Table(members) = &whole else { unreachable!() };
        for (key, _) in members {
            let gone = remove(&text, &[PathStep::Key(key.clone())]).unwrap().unwrap();
            prop_assert!(others_are_the_same(&text, &gone, key), "\n{}\n=>\n{}", text, gone);
        }
    }
}

/// Returns true if the lines of all other keys are still there, in order, and only comments of this
/// key were added to them.
fn others_are_the_same(before: &str, after: &str, key: &str) -> bool {
    let (before, after) = (lines_of_others(before, key), lines_of_others(after, key));
    let mut left = after.iter();
    let all_kept = before.iter().all(|line| left.any(|kept| kept == line));
    let says = |lines: &[String]| -> Vec<String> {
        lines.iter().filter(|line| !line.trim_start().starts_with('#')).cloned().collect()
    };
    all_kept && says(&before) == says(&after)
}

/// Returns all lines except those from this key to the next top-level key, and the comments right
/// above.
fn lines_of_others(text: &str, key: &str) -> Vec<String> {
    let mut kept = Vec::new();
    let mut own = false;
    for line in text.lines() {
        if !line.starts_with([' ', '#', '-']) {
            own = line.split(':').next().map(|it| it.trim_matches('"')) == Some(key);
            while own && kept.last().is_some_and(|above: &String| above.starts_with('#')) {
                kept.pop();
            }
        }
        if !own {
            kept.push(line.to_owned());
        }
    }
    kept
}

/// Sorts the keys of every table, because the position of a new field does not matter.
fn canonical(data: ConfigValue) -> ConfigValue {
    match data {
        ConfigValue::List(items) => ConfigValue::List(items.into_iter().map(canonical).collect()),
        ConfigValue::Table(members) => {
            let members = members.into_iter().map(|(key, value)| (key, canonical(value)));
            let mut members: Vec<_> = members.collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            ConfigValue::Table(members)
        }
        other => other,
    }
}
