//! The naming styles: the name that a host would give to each member of a set.
//!
//! Styles propose names even if two members get the same one; `assign` separates those. Only where
//! a host has its own way to separate names (Codex, LLxprt) does the style follow it.

mod codex;
mod llxprt;

use toolgate_model::{NamingStyle, PrefixMode};

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
    let mut choices: Vec<NameChoices> = match style.naming {
        NamingStyle::Llxprt => llxprt::name_choices(members, reserved, bounds),
        NamingStyle::Codex => codex::name_choices(members, bounds),
        _ => members.iter().map(|member| member_choices(member, style, bounds)).collect(),
    };
    let own = NameBounds::of_own(style);
    let bounds = if style.naming == NamingStyle::Toolgate { narrow(bounds) } else { bounds };
    for (member, choices) in members.iter().zip(&mut choices).filter(|(member, _)| member.own) {
        choices.plain = vec![match own.allow(member.name) {
            true => member.name.to_owned(),
            false => bare_name(member, bounds),
        }];
    }
    choices
}

/// Returns the choices of one member in a style that does not look at the others.
fn member_choices(
    member: &NamingCandidate<'_>,
    style: &NamingOptions,
    bounds: NameBounds,
) -> NameChoices {
    let fitted =
        |name: String| NameChoices { plain: vec![fit_name(&name, member, bounds)], base: name };
    match style.naming {
        NamingStyle::Claude => fitted(format!("mcp__{}", member.qualified_name("__", bounds))),
        // core-agent itself only replaces characters in the server's name and lets the provider
        // refuse the rest. Here the whole name uses the alphabet.
        NamingStyle::CoreAgent | NamingStyle::Opencode => {
            fitted(member.qualified_name("_", bounds))
        }
        NamingStyle::Gemini => gemini_choices(member, bounds),
        // The bare name or the alias. The server's name is added only to separate equal names.
        NamingStyle::Sidekick => NameChoices {
            plain: vec![bare_name(member, bounds)],
            base: member.qualified_name("__", bounds),
        },
        NamingStyle::Toolgate | NamingStyle::Llxprt | NamingStyle::Codex => {
            toolgate_choices(member, style.prefix, bounds)
        }
    }
}

/// Returns `mcp_server_tool`; a long name loses its middle.
fn gemini_choices(member: &NamingCandidate<'_>, bounds: NameBounds) -> NameChoices {
    const PREFIX: &str = "mcp_";
    // The characters kept at each end of a long name.
    const KEPT: usize = 30;
    // A server whose name starts with the prefix does not get it twice.
    let has_prefix = format!("{}_{}", member.id.server, member.name).starts_with(PREFIX);
    let prefix = if has_prefix { "" } else { PREFIX };
    let name = format!("{prefix}{}", member.qualified_name("_", bounds));
    let cut = match name.len() <= bounds.max {
        true => name.clone(),
        false => format!("{}...{}", &name[..KEPT], &name[name.len() - KEPT..]),
    };
    NameChoices { plain: vec![cut], base: name }
}

/// Returns `server__tool`, or the bare name if the user wants that.
fn toolgate_choices(
    member: &NamingCandidate<'_>,
    prefix: PrefixMode,
    bounds: NameBounds,
) -> NameChoices {
    let narrow = narrow(bounds);
    let prefixed = member.qualified_name("__", narrow);
    let bare = || bare_name(member, narrow);
    let plain = match prefix {
        PrefixMode::Always => vec![fit_name(&prefixed, member, narrow)],
        PrefixMode::OnCollision => vec![bare(), fit_name(&prefixed, member, narrow)],
        PrefixMode::Never if bounds.allow(member.name) => vec![member.name.to_owned()],
        PrefixMode::Never => vec![bare()],
    };
    NameChoices { plain, base: prefixed }
}

/// Returns the name within the bounds, without the server.
fn bare_name(member: &NamingCandidate<'_>, bounds: NameBounds) -> String {
    fit_name(&bounds.sanitised(member.name), member, bounds)
}

/// Returns bounds that every provider accepts, for names that must be changed anyway. The wider
/// alphabet is for names that stay as their server wrote them.
fn narrow(bounds: NameBounds) -> NameBounds {
    NameBounds { marks: "_-", ..bounds }
}
