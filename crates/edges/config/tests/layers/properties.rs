//! Whatever files there are, no declared server is lost in silence.

use proptest::prelude::*;
use toolgate_config::{Dialect, known_files};

use crate::world::{World, declaring};

/// A few names and commands, so that they meet.
fn declarations() -> impl Strategy<Value = Vec<(usize, u8, u8)>> {
    proptest::collection::vec((any::<prop::sample::Index>(), 0..4_u8, 0..4_u8), 1..12)
        .prop_map(|list| list.into_iter().map(|(at, a, b)| (at.index(1000), a, b)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn every_declared_server_is_an_entry_a_shadow_or_in_a_finding(list in declarations()) {
        let world = World::new();
        let mut places = known_files(&world.sources());
        places.retain(|file| !file.path().ends_with(".agents/config.json"));
        let mut declared = Vec::new();
        for (at, name, command) in list {
            let file = &places[at % places.len()];
            let (name, command) = (format!("s{name}"), format!("c{command}"));
            if file.path().exists() {
                continue;
            }
            let text = match command.as_str() {
                "c3" => declaring(file.dialect, &name, "toolgate", &["serve", "--stdio"]),
                command => declaring(file.dialect, &name, command, &[]),
            };
            std::fs::create_dir_all(file.path().parent().unwrap()).unwrap();
            std::fs::write(file.path(), text).unwrap();
            declared.push((file.path().to_owned(), file.dialect, name));
        }
        let plan = world.plan();
        for (path, dialect, name) in declared {
            let in_file = |origin: &toolgate_model::Origin| {
                origin.file.as_ref().is_some_and(|file| **file == path)
            };
            let entry = plan.entries.iter().any(|it| {
                it.spec.name.as_str() == name
                    && (in_file(&it.origin) || it.shadows.iter().any(|it| in_file(&it.origin)))
            });
            // One that won and then was found to be another name's server takes its shadows along.
            let told = plan.diagnostics.iter().any(|it| {
                it.message.contains(&format!("{name:?}"))
                    && (in_file(&it.origin) || it.message.contains("is the same as"))
            });
            prop_assert!(entry || told, "{name} of {dialect} in {}: {plan:#?}", path.display());
        }
        let names: std::collections::BTreeSet<_> =
            plan.entries.iter().map(|entry| entry.spec.name.clone()).collect();
        prop_assert_eq!(names.len(), plan.entries.len());
        prop_assert!(plan.entries.iter().all(|entry| entry.dialect != Dialect::OpenCodeV2));
    }
}
