//! Adapted schemas against generated ones: within the provider's subset, no narrower than the
//! original, and whatever only they admit is stopped with its path.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod generate;
mod hold;

use generate::Dice;
use generate::schemas;
use hold::Counts;

const SCHEMAS: u64 = 200;

fn schemas() -> u64 {
    if std::env::var_os("TOOLGATE_SOAK").is_some() { 10 * SCHEMAS } else { SCHEMAS }
}

#[test]
fn what_the_original_admits_the_adapted_admits_and_the_rest_is_stopped() {
    let mut counts = Counts::default();
    for seed in 0..schemas() {
        let mut dice = Dice::new(seed);
        let size = usize::try_from(seed % 40).unwrap();
        let schema = schemas::input(&mut dice, size);
        hold::check(&schema, seed, &mut counts);
    }
    println!("{counts}");
    let usable = counts.schemas - counts.unusable;
    assert!(usable * 10 > counts.schemas * 9, "too many unusable schemas: {counts}");
    assert!(counts.barren * 5 < usable, "too many schemas that nothing fits: {counts}");
    assert!(counts.strict * 8 > usable, "too few strict schemas: {counts}");
    assert!(counts.fitting * 4 > counts.objects, "too few fitting objects: {counts}");
    assert!(counts.only_adapted > 0, "nothing was lost anywhere: {counts}");
}
