//! The naming styles, one file each: the name that a host would give to each member of a set.
//!
//! Styles propose names even if two members get the same one; `assign` separates those. Only where
//! a host has its own way to separate names (Codex, LLxprt) does the style follow it.

mod claude;
mod codex;
mod core_agent;
mod gemini;
mod llxprt;
mod opencode;
mod sidekick;
mod toolgate;

use toolgate_model::NamingStyle;

use crate::NamingOptions;
use crate::naming::bounds::NameBounds;
use crate::naming::candidates::{NameChoices, NamingCandidate, fit_name};

/// Returns the choices of each member, in order. No member gets a name in `reserved`.
pub(crate) fn name_choices(
    members: &[NamingCandidate<'_>],
    style: &NamingOptions,
    reserved: &[&str],
) -> Vec<NameChoices> {
    let bounds = NameBounds::of(style);
    let each = |wish: fn(&NamingCandidate<'_>, NameBounds) -> NameChoices| {
        members.iter().map(|member| wish(member, bounds)).collect()
    };
    let mut wishes: Vec<NameChoices> = match style.naming {
        NamingStyle::Toolgate => toolgate::name_choices(members, style.prefix, bounds),
        NamingStyle::Claude => each(claude::name_choices),
        NamingStyle::CoreAgent => each(core_agent::name_choices),
        NamingStyle::Llxprt => llxprt::name_choices(members, reserved, bounds),
        NamingStyle::Gemini => each(gemini::name_choices),
        NamingStyle::Codex => codex::name_choices(members, bounds),
        NamingStyle::Opencode => each(opencode::name_choices),
        NamingStyle::Sidekick => each(sidekick::name_choices),
    };
    let own = NameBounds::of_own(style);
    let bounds =
        if style.naming == NamingStyle::Toolgate { toolgate::narrow(bounds) } else { bounds };
    for (member, wish) in members.iter().zip(&mut wishes).filter(|(member, _)| member.own) {
        wish.plain = vec![match own.allow(member.name) {
            true => member.name.to_owned(),
            false => fit_name(&bounds.sanitised(member.name), member, bounds),
        }];
    }
    wishes
}
