//! Everything counts, however it is spelled, and nothing can make it panic.

use toolgate_model::CapabilityKind::Tool;
use toolgate_pins::{compare_definitions, definition_digest};

use crate::definitions::{definition, mutations, places, spelled};
use crate::generate::Dice;
use crate::times;

#[test]
fn every_change_at_every_place_changes_the_digest_and_is_told() {
    let (mut seed, mut changed) = (0, 0);
    while changed < times(100_000) {
        seed += 1;
        let mut dice = Dice::new(seed);
        let whole = definition(&mut dice);
        let raw = whole.to_string();
        let before = definition_digest(Tool, raw.as_bytes());
        assert!(compare_definitions(Tool, raw.as_bytes(), raw.as_bytes()).is_empty());
        for place in places(&whole) {
            for mutated in mutations(&whole, &place, &mut dice) {
                let mutated = mutated.to_string();
                changed += 1;
                let now = definition_digest(Tool, mutated.as_bytes());
                assert_ne!(before, now, "{place:?}\n{raw}\n{mutated}");
                let told = compare_definitions(Tool, raw.as_bytes(), mutated.as_bytes());
                assert!(!told.is_empty(), "{place:?}\n{raw}\n{mutated}");
                let one_line = |text: &str| !text.chars().any(toolgate_model::is_invisible);
                assert!(told.iter().all(|change| one_line(&change.text)), "{told:?}");
            }
        }
    }
    println!("{changed} changes of {seed} definitions");
}

#[test]
fn the_same_in_other_words_is_the_same() {
    for seed in 0..times(100_000) {
        let mut dice = Dice::new(seed);
        let whole = definition(&mut dice);
        let raw = whole.to_string();
        let mut other = String::new();
        spelled(&whole, &mut dice, &mut other);
        let same =
            definition_digest(Tool, raw.as_bytes()) == definition_digest(Tool, other.as_bytes());
        assert!(same, "{raw}\n{other}");
        assert!(compare_definitions(Tool, raw.as_bytes(), other.as_bytes()).is_empty());
    }
}

#[test]
fn whatever_bytes_there_are_have_a_digest_of_their_own() {
    for seed in 0..times(100_000) {
        let mut dice = Dice::new(seed);
        let raw = definition(&mut dice).to_string().into_bytes();
        let mut damaged = raw.clone();
        for _ in 0..=dice.below(3) {
            let at = dice.below(damaged.len());
            match dice.below(3) {
                0 => damaged[at] = u8::try_from(dice.below(256)).unwrap(),
                1 => damaged.truncate(at),
                _ => damaged.insert(at, *dice.pick(br#"{}[]",:\0eE.-"#)),
            }
            if damaged.is_empty() {
                damaged.push(b' ');
            }
        }
        let differs = definition_digest(Tool, &raw) != definition_digest(Tool, &damaged);
        assert_eq!(differs, !compare_definitions(Tool, &raw, &damaged).is_empty());
        if std::str::from_utf8(&damaged).is_err() {
            assert!(differs);
        }
    }
}
