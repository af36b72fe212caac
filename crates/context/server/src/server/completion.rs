//! Completion of `query` and `limit`.

use toolgate_host::local::{Completion, CompletionRequest, HandlerError};

use crate::arguments::MAX_LIMIT;
use crate::passage::single_line;
use crate::service::{ContextService, describe_error};

/// The maximum number of queries and titles offered.
const OFFERED: usize = 20;
/// Suggested limits; others can be typed.
const LIMITS: [usize; 6] = [3, 5, 8, 12, 20, MAX_LIMIT];

/// Completes a query from past queries and document titles.
pub(super) async fn query(
    service: ContextService,
    typed: CompletionRequest,
) -> Result<Completion, HandlerError> {
    let Some(library) = service.library().await? else { return Ok(Vec::new().into()) };
    let found =
        library.complete(typed.value.trim_start(), OFFERED + 1).await.map_err(describe_error)?;
    let more = found.len() > OFFERED;
    let mut values: Vec<String> = Vec::new();
    for value in found.iter().take(OFFERED).map(|value| single_line(value)) {
        if !value.is_empty() && !values.contains(&value) {
            values.push(value);
        }
    }
    Ok(Completion { total: (!more).then_some(values.len()), more, values })
}

/// Completes a limit.
pub(super) fn limit(typed: &str) -> Completion {
    let typed = typed.trim();
    let mut values: Vec<String> = LIMITS.iter().map(usize::to_string).collect();
    values.retain(|value| value.starts_with(typed));
    // A valid number that is not a suggestion is offered, too.
    let will_do = typed.parse().is_ok_and(|number: usize| (1..=MAX_LIMIT).contains(&number));
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
