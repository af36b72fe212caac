//! Which tools are not listed but found, so that a list costs no more than it may.
//!
//! Only tools are ever deferred: nobody searches for prompts and resources.

use std::cmp::Reverse;

use toolgate_model::{CapabilityKind, Expose};

use crate::judge::Judged;
use crate::{Because, Exposure, OwnTools, Seen, Terms, summary};

/// Marks what is deferred, in the rows and in the exposure.
pub(crate) fn defer(judged: &mut [Judged], terms: &Terms<'_>, exposure: &mut Exposure) {
    let profile = &terms.declared.profile;
    exposure.expose = profile.expose.unwrap_or(terms.expose);
    exposure.own = terms.own;
    let budget = profile.budget.unwrap_or(u32::MAX);
    exposure.room = budget.saturating_sub(terms.own.listed(true)).min(summary::WHOLE);
    let is_listed = |judged: &Judged| {
        judged.row.id.kind == CapabilityKind::Tool && judged.row.seen == Seen::Listed
    };
    let tools: Vec<_> = (0..judged.len()).filter(|at| is_listed(&judged[*at])).collect();
    let name = terms.profile;
    let (deferred, rule) = match exposure.expose {
        Expose::Search => {
            let who = if profile.expose.is_some() {
                format!("profile {name}")
            } else {
                "the gateway".into()
            };
            (tools, format!("deferred: {who} exposes by search"))
        }
        Expose::Auto if tools.len() > Expose::FEW => {
            let few = Expose::FEW;
            let rule = format!("deferred: {} tools, profile {name} lists up to {few}", tools.len());
            exposure.summarised = true;
            (tools, rule)
        }
        Expose::All | Expose::Auto => match profile.budget {
            Some(budget) => {
                let rule = format!("deferred: over the budget of {budget} tokens");
                (over(judged, tools, budget, terms.own), rule)
            }
            None => return,
        },
    };
    exposure.searching = !deferred.is_empty();
    for at in deferred {
        let row = &mut judged[at].row;
        row.seen = Seen::Deferred;
        row.because = Because::new(rule.as_str(), &terms.declared.origin);
        exposure.deferred.insert(row.id.clone());
    }
}

/// What does not fit a budget: the most expensive first, and what the profile names last. As soon
/// as something is deferred, the tools that find it are listed and cost their part.
fn over(judged: &[Judged], mut tools: Vec<usize>, budget: u32, own: OwnTools) -> Vec<usize> {
    let tokens = |at: usize| u64::from(judged[at].row.tokens);
    let servers: u64 = tools.iter().map(|at| tokens(*at)).sum();
    if servers + u64::from(own.listed(false)) <= u64::from(budget) {
        return Vec::new();
    }
    let mut sum = servers + u64::from(own.listed(true));
    tools.sort_by_key(|at| {
        let Judged { row, spelled_out, .. } = &judged[*at];
        (*spelled_out, Reverse(row.tokens), &row.id)
    });
    let fits = |at: &usize| {
        let over = sum > u64::from(budget);
        sum = sum.saturating_sub(tokens(*at));
        over
    };
    tools.into_iter().take_while(fits).collect()
}
