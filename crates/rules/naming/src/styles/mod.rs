//! The manners of naming, one file for each: what every member of a set would be called.
//!
//! They say what a host would do, also where two members come out the same; telling those apart is
//! `assign`'s work. Only where a host has its own way to tell apart (Codex, LLxprt) is it followed
//! here.

mod claude;
mod codex;
mod core_agent;
mod gemini;
mod llxprt;
mod opencode;
mod sidekick;
mod toolgate;

use toolgate_model::Naming;

use crate::Style;
use crate::bounds::Bounds;
use crate::names::{Member, Wish, fitted};

/// What each member would be called, in their order; `reserved` are names that none can have.
pub(crate) fn wishes(members: &[Member<'_>], style: &Style, reserved: &[&str]) -> Vec<Wish> {
    let bounds = Bounds::of(style);
    let each = |wish: fn(&Member<'_>, Bounds) -> Wish| {
        members.iter().map(|member| wish(member, bounds)).collect()
    };
    let mut wishes: Vec<Wish> = match style.naming {
        Naming::Toolgate => toolgate::wishes(members, style.prefix, bounds),
        Naming::Claude => each(claude::wish),
        Naming::CoreAgent => each(core_agent::wish),
        Naming::Llxprt => llxprt::wishes(members, reserved, bounds),
        Naming::Gemini => each(gemini::wish),
        Naming::Codex => codex::wishes(members, bounds),
        Naming::Opencode => each(opencode::wish),
        Naming::Sidekick => each(sidekick::wish),
    };
    let own = Bounds::of_own(style);
    let bounds = if style.naming == Naming::Toolgate { toolgate::narrow(bounds) } else { bounds };
    for (member, wish) in members.iter().zip(&mut wishes).filter(|(member, _)| member.own) {
        wish.plain = vec![match own.allow(member.name) {
            true => member.name.to_owned(),
            false => fitted(&bounds.sanitised(member.name), member, bounds),
        }];
    }
    wishes
}
