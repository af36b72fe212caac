//! What each host would call a set of tools, written down once more and without regard to names
//! that come out the same: what the real thing is compared with.

use std::collections::BTreeMap;

use sha1::{Digest, Sha1};
use toolgate_exposure::NamingOptions;
use toolgate_model::{CapabilityId, CapabilityKind, NamingStyle, PrefixMode};

/// One tool, with the name its file gives it and the place of its server in the configuration.
pub(crate) struct Tool<'a> {
    pub id: &'a CapabilityId,
    pub called: &'a str,
    pub place: usize,
}

/// The names, in the order of the tools; this program's own are bare in every style.
pub(crate) fn names(tools: &[Tool<'_>], style: &NamingOptions) -> Vec<String> {
    let own = |tool: &Tool<'_>| style.own.contains(&tool.id.server);
    let mut names = match style.naming {
        NamingStyle::Toolgate => toolgate(tools, style),
        NamingStyle::Claude => {
            each(tools, |server, tool| format!("mcp__{}__{}", js(server, "_-"), js(tool, "_-")))
        }
        NamingStyle::CoreAgent => {
            each(tools, |server, tool| format!("{}_{}", plain(server, "_"), plain(tool, "_")))
        }
        NamingStyle::Llxprt => llxprt(tools, style),
        NamingStyle::Gemini => each(tools, gemini),
        NamingStyle::Codex => codex(tools, style),
        NamingStyle::Opencode => {
            each(tools, |server, tool| format!("{}_{}", js(server, "_-"), js(tool, "_-")))
        }
        NamingStyle::Sidekick => each(tools, |_, tool| plain(tool, "_-./")),
    };
    for (tool, name) in tools.iter().zip(&mut names).filter(|(tool, _)| own(tool)) {
        *name = match style.naming {
            NamingStyle::Toolgate => as_written(tool.called),
            NamingStyle::Claude | NamingStyle::Opencode => js(tool.called, "_-"),
            NamingStyle::CoreAgent | NamingStyle::Codex => plain(tool.called, "_"),
            NamingStyle::Llxprt => js(tool.called, "_.-"),
            NamingStyle::Gemini => js(tool.called, "_-.:"),
            NamingStyle::Sidekick => plain(tool.called, "_-./"),
        };
    }
    names
}

fn each(tools: &[Tool<'_>], name: impl Fn(&str, &str) -> String) -> Vec<String> {
    tools.iter().map(|tool| name(tool.id.server.as_str(), tool.called)).collect()
}

/// One `_` for every character outside.
fn plain(text: &str, marks: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || marks.contains(c);
    text.chars().map(|c| if keep(c) { c } else { '_' }).collect()
}

/// One `_` for every UTF-16 unit outside.
fn js(text: &str, marks: &str) -> String {
    let unit = |unit: u16| char::from_u32(unit.into()).unwrap_or('\u{fffd}');
    let units: String = text.encode_utf16().map(unit).collect();
    plain(&units, marks)
}

fn as_written(name: &str) -> String {
    let wide = plain(name, "_-./");
    if wide == name && name.len() <= 49 { wide } else { plain(name, "_-") }
}

/// A tool's name without its server's, as ours has it where it stands alone.
pub(crate) fn bare(tool: &Tool<'_>) -> String {
    plain(tool.called, "_-")
}

fn toolgate(tools: &[Tool<'_>], style: &NamingOptions) -> Vec<String> {
    let prefixed = |tool: &Tool<'_>| {
        format!("{}__{}", plain(tool.id.server.as_str(), "_-"), plain(tool.called, "_-"))
    };
    let own = |tool: &Tool<'_>| style.own.contains(&tool.id.server);
    let bare = |tool: &Tool<'_>| {
        if own(tool) { as_written(tool.called) } else { plain(tool.called, "_-") }
    };
    let alone = |tool: &Tool<'_>| {
        let same = tools.iter().filter(|other| bare(other) == bare(tool)).count();
        same == 1 && !style.reserved.contains(&bare(tool).as_str()) && bare(tool).len() <= 49
    };
    let name = |tool: &Tool<'_>| match style.prefix {
        PrefixMode::Always => prefixed(tool),
        PrefixMode::OnCollision if alone(tool) => bare(tool),
        PrefixMode::OnCollision => prefixed(tool),
        PrefixMode::Never => as_written(tool.called),
    };
    tools.iter().map(name).collect()
}

fn gemini(server: &str, tool: &str) -> String {
    let joined = format!("{server}_{tool}");
    let joined = if joined.starts_with("mcp_") { joined } else { format!("mcp_{joined}") };
    let name = js(&joined, "_-.:");
    ends(name, 30, "...", 30)
}

fn ends(name: String, head: usize, middle: &str, tail: usize) -> String {
    let length = name.len();
    if length <= 63 { name } else { [&name[..head], middle, &name[length - tail..]].concat() }
}

fn llxprt(tools: &[Tool<'_>], style: &NamingOptions) -> Vec<String> {
    let own = |tool: &Tool<'_>| style.own.contains(&tool.id.server);
    let cut = |name: &str| ends(js(name, "_.-"), 28, "___", 32);
    let mut order: Vec<_> = tools.iter().collect();
    order.sort_by_key(|tool| (!own(tool), tool.place, &tool.id.server));
    let mut first = BTreeMap::new();
    for tool in order {
        first.entry(cut(tool.called)).or_insert(&tool.id.server);
    }
    let name = |tool: &Tool<'_>| {
        let bare = cut(tool.called);
        let is_first = first.get(&bare) == Some(&&tool.id.server);
        if is_first && !style.reserved.contains(&bare.as_str()) {
            return bare;
        }
        let between = if tool.id.kind == CapabilityKind::Prompt { "_" } else { "__" };
        cut(&format!("{}{between}{}", tool.id.server, tool.called))
    };
    tools.iter().map(name).collect()
}

fn hash12(text: &str) -> String {
    let digest = Sha1::digest(text.as_bytes());
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// Codex's two parts, joined. It tells most things apart by itself.
fn codex(tools: &[Tool<'_>], style: &NamingOptions) -> Vec<String> {
    let own = |tool: &Tool<'_>| style.own.contains(&tool.id.server);
    let server_key = |tool: &Tool<'_>| {
        let server = tool.id.server.as_str();
        format!("{server}\0{server}\0")
    };
    let key = |tool: &Tool<'_>| format!("{}\0{}\0{}", server_key(tool), tool.called, tool.id.name);
    let base = |tool: &Tool<'_>| {
        let clean = plain(tool.id.server.as_str(), "_");
        if clean.starts_with("mcp__") { clean } else { format!("mcp__{clean}") }
    };
    let theirs: Vec<_> = tools.iter().filter(|tool| !own(tool)).collect();
    let namespace = |tool: &Tool<'_>| {
        let meets =
            |other: &&&Tool<'_>| base(other) == base(tool) && other.id.server != tool.id.server;
        if theirs.iter().find(meets).is_none() {
            return base(tool);
        }
        let digest = hash12(&server_key(tool));
        match base(tool).strip_suffix("__") {
            Some(base) => format!("{base}_{digest}__"),
            None => format!("{}_{digest}", base(tool)),
        }
    };
    let clean = |tool: &Tool<'_>| plain(tool.called, "_");
    let mut parts: BTreeMap<String, (String, String)> = BTreeMap::new();
    for tool in &theirs {
        let meets = |other: &&&Tool<'_>| {
            (namespace(other), clean(other)) == (namespace(tool), clean(tool))
                && key(other) != key(tool)
        };
        let digest = hash12(&key(tool));
        let name = match theirs.iter().find(meets) {
            Some(_) => format!("{}_{digest}", clean(tool)),
            None => clean(tool),
        };
        parts.insert(key(tool), (namespace(tool), name));
    }
    let mut taken: Vec<String> = Vec::new();
    for (key, (namespace, name)) in &mut parts {
        let mut wanted = (namespace.clone(), name.clone());
        let mut attempt = 0;
        while wanted.0.len() + wanted.1.len() + 2 > 128
            || taken.contains(&format!("{}{}", wanted.0, wanted.1))
        {
            let text = if attempt == 0 { key.clone() } else { format!("{key}\0{attempt}") };
            let digest = hash12(&text);
            let room = 128 - 2 - 13;
            wanted = if namespace.len() <= room {
                let kept = &name[..name.len().min(room - namespace.len())];
                (namespace.clone(), format!("{kept}_{digest}"))
            } else {
                (namespace[..room].to_owned(), format!("_{digest}"))
            };
            attempt += 1;
        }
        taken.push(format!("{}{}", wanted.0, wanted.1));
        (*namespace, *name) = wanted;
    }
    let join = |tool: &Tool<'_>| {
        parts.get(&key(tool)).map_or_else(String::new, |(space, name)| format!("{space}__{name}"))
    };
    tools.iter().map(join).collect()
}
