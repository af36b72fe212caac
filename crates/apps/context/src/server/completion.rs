//! Completion of `query` and `limit`.

use toolgate_host::local::{Completing, Completion, Fault};

use crate::arguments::MOST;
use crate::desk::{Desk, told};
use crate::passage::line;

/// How many queries and titles are offered.
const OFFERED: usize = 20;
/// Numbers somebody may want; others can be typed.
const LIMITS: [usize; 6] = [3, 5, 8, 12, 20, MOST];

/// Past queries and titles that begin like what is typed.
pub(super) async fn query(desk: Desk, typed: Completing) -> Result<Completion, Fault> {
    let Some(library) = desk.library().await? else { return Ok(Vec::new().into()) };
    let found = library.complete(typed.value.trim_start(), OFFERED + 1).await.map_err(told)?;
    let more = found.len() > OFFERED;
    let mut values: Vec<String> = Vec::new();
    for value in found.iter().take(OFFERED).map(|value| line(value)) {
        if !value.is_empty() && !values.contains(&value) {
            values.push(value);
        }
    }
    Ok(Completion { total: (!more).then_some(values.len()), more, values })
}

/// Numbers that begin like what is typed.
pub(super) fn limit(typed: &str) -> Completion {
    let typed = typed.trim();
    let mut values: Vec<String> = LIMITS.iter().map(usize::to_string).collect();
    values.retain(|value| value.starts_with(typed));
    // Whoever typed a number that will do is told so.
    let will_do = typed.parse().is_ok_and(|number: usize| (1..=MOST).contains(&number));
    if will_do && !values.iter().any(|value| value == typed) {
        values.insert(0, typed.to_owned());
    }
    values.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_begin_like_what_is_typed_and_will_do() {
        assert_eq!(limit("").values, ["3", "5", "8", "12", "20", "50"]);
        assert_eq!(limit("5").values, ["5", "50"]);
        assert_eq!(limit("2").values, ["2", "20"]);
        assert_eq!(limit("7").values, ["7"]);
        assert!(limit("51").values.is_empty());
        assert!(limit("x").values.is_empty());
    }
}
