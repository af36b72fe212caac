//! Every text a server gives with its definitions, looked at: each server alone, and all together.

use std::collections::BTreeSet;

use toolgate_model::{CapabilityId, CapabilityKind, Catalog, ServerName};
use toolgate_wire::{scan, string};

use crate::finding::{Code, Finding, Severity, excerpt};
use crate::text::{hidden, stripped};
use crate::{lookalike, mention, poison};

/// How many findings of one server are told: a hostile one must not drown the others.
const MOST: usize = 200;

/// Members whose texts are no words: addresses and data of pictures.
const NO_WORDS: [&str; 2] = ["icons", "$schema"];

/// One text of a server.
pub(crate) struct Text<'a> {
    pub(crate) capability: Option<&'a CapabilityId>,
    /// A JSON pointer into the definition, `name` or `instructions`.
    pub(crate) at: String,
    pub(crate) text: std::borrow::Cow<'a, str>,
    /// Whether it is the key of a member.
    pub(crate) is_key: bool,
}

/// What is suspicious in the words of one server.
pub fn of_server(server: &ServerName, catalog: &Catalog) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(lookalike::mixed(server, None, server.as_str()));
    each_text(server, catalog, &mut |text| {
        if found.len() >= MOST {
            return;
        }
        if text.at == "name" {
            found.extend(lookalike::mixed(server, text.capability, &text.text));
        }
        in_text(server, text, &mut found);
    });
    found.truncate(MOST);
    found
}

/// What is suspicious in the words of servers beside each other: who names whom, and whose names
/// can be taken for another's.
pub fn across(servers: &[(&ServerName, &Catalog)]) -> Vec<Finding> {
    let mut found = lookalike::of_all(servers);
    found.extend(mention::of_all(servers));
    let mut told = std::collections::BTreeMap::<ServerName, usize>::new();
    found.retain(|finding| {
        let count = told.entry(finding.server.clone()).or_default();
        *count += 1;
        *count <= MOST
    });
    found
}

fn in_text(server: &ServerName, text: &Text<'_>, found: &mut Vec<Finding>) {
    let mut add = |code: Code, severity: Severity, excerpt: String, message: String| {
        found.push(Finding {
            code,
            severity,
            server: server.clone(),
            capability: text.capability.cloned(),
            at: text.at.clone(),
            excerpt,
            message,
        });
    };
    let unseen = hidden(&text.text);
    if let Some(first) = unseen.first() {
        let code = if text.is_key { Code::HiddenKey } else { Code::HiddenCharacters };
        let at = text.text.find(*first).unwrap_or_default();
        add(code, weight(code, &unseen), excerpt(&text.text, at), named(&unseen));
    }
    if !text.is_key {
        let visible = stripped(&text.text);
        for hit in poison::hits(&text.text) {
            let severity = hit.code.severity();
            add(hit.code, severity, excerpt(&visible, hit.at), hit.message.to_owned());
        }
    }
}

/// Tags, overrides of direction and commands to a terminal are hardly ever an accident; a stray
/// zero-width space often is.
fn weight(code: Code, unseen: &[char]) -> Severity {
    let never_innocent = |c: &char| {
        matches!(c, '\u{1b}' | '\u{80}'..='\u{9f}' | '\u{202A}'..='\u{202E}'
            | '\u{2066}'..='\u{2069}' | '\u{E0000}'..='\u{E0FFF}')
    };
    match unseen.iter().any(never_innocent) {
        true => Severity::High,
        false => code.severity(),
    }
}

fn named(unseen: &[char]) -> String {
    const SHOWN: usize = 8;
    let numbers = unseen.iter().take(SHOWN).map(|c| format!("U+{:04X}", *c as u32));
    let numbers: Vec<_> = numbers.collect();
    let more = if unseen.len() > SHOWN { ", …" } else { "" };
    format!("it holds characters nobody sees ({}{more})", numbers.join(", "))
}

/// Every text of a catalog, names first.
pub(crate) fn each_text(server: &ServerName, catalog: &Catalog, tell: &mut dyn FnMut(&Text<'_>)) {
    if let Some(instructions) = &catalog.instructions {
        let (at, text) = ("instructions".to_owned(), instructions.as_str().into());
        tell(&Text { capability: None, at, text, is_key: false });
    }
    in_value(None, &catalog.server_info, &mut "/serverInfo".to_owned(), tell);
    for kind in CapabilityKind::ALL {
        let mut names = BTreeSet::new();
        for definition in catalog.of(kind) {
            if !names.insert(&definition.name) {
                continue; // of two with the same name the first counts
            }
            let name = definition.name.clone();
            let id = CapabilityId { server: server.clone(), kind, name };
            let (at, text) = ("name".to_owned(), (&*id.name).into());
            tell(&Text { capability: Some(&id), at, text, is_key: false });
            in_value(Some(&id), &definition.raw, &mut String::new(), tell);
        }
    }
}

fn in_value(
    capability: Option<&CapabilityId>,
    raw: &[u8],
    at: &mut String,
    tell: &mut dyn FnMut(&Text<'_>),
) {
    let base = at.len();
    match raw.first() {
        Some(b'"') => {
            if let Some(text) = string::decode(raw) {
                let at = if at.is_empty() { "/".to_owned() } else { at.clone() };
                tell(&Text { capability, at, text, is_key: false });
            }
        }
        Some(b'{') => {
            let top = at.is_empty();
            for (key, value) in scan::members(raw) {
                // The name was told already, and under no pointer.
                let is_name = top && capability.is_some_and(|id| id.kind.members().1 == key);
                if is_name || NO_WORDS.contains(&key.as_ref()) {
                    continue;
                }
                at.push('/');
                at.push_str(&key.replace('~', "~0").replace('/', "~1"));
                tell(&Text { capability, at: at.clone(), text: key, is_key: true });
                in_value(capability, value.of(raw), at, tell);
                at.truncate(base);
            }
        }
        Some(b'[') => {
            for (number, value) in scan::elements(raw).enumerate() {
                at.push_str(&format!("/{number}"));
                in_value(capability, value.of(raw), at, tell);
                at.truncate(base);
            }
        }
        _ => {}
    }
}
