//! Decides which tools are deferred, so that the list stays within its budget.
//!
//! Only tools are deferred, because search does not cover prompts and resources.

use std::cmp::Reverse;

use toolgate_model::{CapabilityKind, ExposureMode};

use crate::evaluate::ExposureDraft;
use crate::{Exposure, ExposureOptions, ExposureReason, OwnToolCosts, Visibility, summary};

/// Marks the deferred tools in the drafts and in the exposure.
pub(crate) fn defer(
    judged: &mut [ExposureDraft],
    terms: &ExposureOptions<'_>,
    exposure: &mut Exposure,
) {
    let profile = &terms.declared.profile;
    exposure.expose = profile.expose.unwrap_or(terms.expose);
    exposure.own = terms.own;
    let budget = profile.budget.unwrap_or(u32::MAX);
    exposure.room = budget.saturating_sub(terms.own.listed(true)).min(summary::WHOLE);
    let is_listed = |judged: &ExposureDraft| {
        judged.entry.id.kind == CapabilityKind::Tool
            && judged.entry.visibility == Visibility::Listed
    };
    let tools: Vec<_> = (0..judged.len()).filter(|at| is_listed(&judged[*at])).collect();
    let name = terms.profile;
    let (deferred, rule) = match exposure.expose {
        ExposureMode::Search => {
            let who = if profile.expose.is_some() {
                format!("profile {name}")
            } else {
                "the gateway".into()
            };
            (tools, format!("deferred: {who} exposes by search"))
        }
        ExposureMode::Auto if tools.len() > ExposureMode::AUTO_LIMIT => {
            let few = ExposureMode::AUTO_LIMIT;
            let rule = format!("deferred: {} tools, profile {name} lists up to {few}", tools.len());
            exposure.summarised = true;
            (tools, rule)
        }
        ExposureMode::All | ExposureMode::Auto => match profile.budget {
            Some(budget) => {
                let rule = format!("deferred: over the budget of {budget} tokens");
                (over(judged, tools, budget, terms.own), rule)
            }
            None => return,
        },
    };
    exposure.searching = !deferred.is_empty();
    for at in deferred {
        let row = &mut judged[at].entry;
        row.visibility = Visibility::Deferred;
        row.because = ExposureReason::new(rule.as_str(), &terms.declared.origin);
        exposure.deferred.insert(row.id.clone());
    }
}

/// Returns the tools that do not fit the budget: the most expensive first, tools named by the
/// profile last. If any is deferred, the tools that find others are listed and count as well.
fn over(
    judged: &[ExposureDraft],
    mut tools: Vec<usize>,
    budget: u32,
    own: OwnToolCosts,
) -> Vec<usize> {
    let tokens = |at: usize| u64::from(judged[at].entry.tokens);
    let servers: u64 = tools.iter().map(|at| tokens(*at)).sum();
    if servers + u64::from(own.listed(false)) <= u64::from(budget) {
        return Vec::new();
    }
    let mut sum = servers + u64::from(own.listed(true));
    tools.sort_by_key(|at| {
        let ExposureDraft { entry: row, spelled_out, .. } = &judged[*at];
        (*spelled_out, Reverse(row.tokens), &row.id)
    });
    let fits = |at: &usize| {
        let over = sum > u64::from(budget);
        sum = sum.saturating_sub(tokens(*at));
        over
    };
    tools.into_iter().take_while(fits).collect()
}
