//! Scans all texts of a server's catalog, for one server alone and for all servers together.

use std::collections::BTreeSet;

use toolgate_model::{CapabilityId, CapabilityKind, Catalog, ServerName};
use toolgate_wire::{scan, string};

use crate::finding::{Finding, FindingCode, FindingSeverity, excerpt};
use crate::text::{hidden_chars, strip_text};
use crate::{lookalike, mention, poison};

/// The maximum number of findings per server. A hostile server must not hide the findings of
/// others.
const MOST: usize = 200;

/// Members without prose, such as addresses and image data.
const NO_WORDS: [&str; 2] = ["icons", "$schema"];

/// One text of a server's catalog.
pub(crate) struct CatalogTextField<'a> {
    pub(crate) server: &'a ServerName,
    pub(crate) capability: Option<&'a CapabilityId>,
    /// A JSON pointer into the definition, `name` or `instructions`.
    pub(crate) at: String,
    pub(crate) text: std::borrow::Cow<'a, str>,
    /// True if the text is the key of a member.
    pub(crate) is_key: bool,
}

impl<'a> CatalogTextField<'a> {
    /// Returns the name of a capability or, without one, of the server itself.
    pub(crate) fn name(server: &'a ServerName, capability: Option<&'a CapabilityId>) -> Self {
        let text = capability.map_or(server.as_str(), |id| &*id.name).into();
        Self { server, capability, at: "name".to_owned(), text, is_key: false }
    }

    /// Creates a finding about this text.
    pub(crate) fn finding(
        &self,
        code: FindingCode,
        severity: FindingSeverity,
        excerpt: String,
        message: String,
    ) -> Finding {
        Finding {
            code,
            severity,
            server: self.server.clone(),
            capability: self.capability.cloned(),
            at: self.at.clone(),
            excerpt,
            message,
        }
    }
}

/// Returns the findings in the texts of one server.
pub fn find_in_server(server: &ServerName, catalog: &Catalog) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(lookalike::find_mixed_scripts(&CatalogTextField::name(server, None)));
    each_text(server, catalog, &mut |text| {
        if found.len() >= MOST {
            return;
        }
        if text.at == "name" {
            found.extend(lookalike::find_mixed_scripts(text));
        }
        in_text(text, &mut found);
    });
    found.truncate(MOST);
    found
}

/// Returns the findings that need several servers: texts that mention other servers, and names that
/// can be mistaken for names of other servers.
pub fn find_across_servers(servers: &[(&ServerName, &Catalog)]) -> Vec<Finding> {
    let mut found = lookalike::find_lookalikes(servers);
    found.extend(mention::find_mentions(servers));
    let mut counts = std::collections::BTreeMap::<ServerName, usize>::new();
    found.retain(|finding| {
        let count = counts.entry(finding.server.clone()).or_default();
        *count += 1;
        *count <= MOST
    });
    found
}

fn in_text(text: &CatalogTextField<'_>, found: &mut Vec<Finding>) {
    let unseen = hidden_chars(&text.text);
    if let Some(first) = unseen.first() {
        let code = if text.is_key { FindingCode::HiddenKey } else { FindingCode::HiddenCharacters };
        let excerpt = excerpt(&text.text, text.text.find(*first).unwrap_or_default());
        let severity = hidden_char_severity(code, &unseen);
        found.push(text.finding(code, severity, excerpt, named(&unseen)));
    }
    if !text.is_key {
        let visible = strip_text(&text.text);
        found.extend(poison::find_poisoning(&text.text).into_iter().map(|hit| {
            let excerpt = excerpt(&visible, hit.at);
            text.finding(hit.code, hit.code.severity(), excerpt, hit.message.to_owned())
        }));
    }
}

/// Returns the severity of hidden characters. Tags, direction overrides and terminal sequences are
/// rarely an accident; a stray zero-width space often is.
fn hidden_char_severity(code: FindingCode, unseen: &[char]) -> FindingSeverity {
    let never_innocent = |c: &char| {
        matches!(c, '\u{1b}' | '\u{80}'..='\u{9f}' | '\u{202A}'..='\u{202E}'
            | '\u{2066}'..='\u{2069}' | '\u{E0000}'..='\u{E0FFF}')
    };
    match unseen.iter().any(never_innocent) {
        true => FindingSeverity::High,
        false => code.severity(),
    }
}

fn named(unseen: &[char]) -> String {
    const SHOWN: usize = 8;
    let numbers = unseen.iter().take(SHOWN).map(|c| format!("U+{:04X}", *c as u32));
    let numbers: Vec<_> = numbers.collect();
    let more = if unseen.len() > SHOWN { ", …" } else { "" };
    format!("contains invisible characters ({}{more})", numbers.join(", "))
}

/// Calls `tell` with every text of a catalog. The name of a definition comes before its other
/// texts.
pub(crate) fn each_text(
    server: &ServerName,
    catalog: &Catalog,
    tell: &mut dyn FnMut(&CatalogTextField<'_>),
) {
    if let Some(instructions) = &catalog.instructions {
        let (at, text) = ("instructions".to_owned(), instructions.as_str().into());
        tell(&CatalogTextField { server, capability: None, at, text, is_key: false });
    }
    visit_json_texts((server, None), &catalog.server_info, &mut "/serverInfo".to_owned(), tell);
    for kind in CapabilityKind::ALL {
        let mut names = BTreeSet::new();
        for definition in catalog.definitions(kind) {
            if !names.insert(&definition.name) {
                continue; // if a name occurs twice, the first definition counts
            }
            let name = definition.name.clone();
            let id = CapabilityId { server: server.clone(), kind, name };
            tell(&CatalogTextField::name(server, Some(&id)));
            visit_json_texts((server, Some(&id)), &definition.raw, &mut String::new(), tell);
        }
    }
}

fn visit_json_texts(
    of: (&ServerName, Option<&CapabilityId>),
    raw: &[u8],
    at: &mut String,
    tell: &mut dyn FnMut(&CatalogTextField<'_>),
) {
    let (base, (server, capability)) = (at.len(), of);
    match raw.first() {
        Some(b'"') => {
            if let Some(text) = string::decode(raw) {
                let at = if at.is_empty() { "/".to_owned() } else { at.clone() };
                tell(&CatalogTextField { server, capability, at, text, is_key: false });
            }
        }
        Some(b'{') => {
            let top = at.is_empty();
            for (key, value) in scan::members(raw) {
                // `each_text` has already visited the name.
                let is_name = top && capability.is_some_and(|id| id.kind.json_keys().1 == key);
                if is_name || NO_WORDS.contains(&key.as_ref()) {
                    continue;
                }
                at.push('/');
                at.push_str(&key.replace('~', "~0").replace('/', "~1"));
                let text = key;
                tell(&CatalogTextField { server, capability, at: at.clone(), text, is_key: true });
                visit_json_texts(of, value.slice(raw), at, tell);
                at.truncate(base);
            }
        }
        Some(b'[') => {
            for (number, value) in scan::elements(raw).enumerate() {
                at.push_str(&format!("/{number}"));
                visit_json_texts(of, value.slice(raw), at, tell);
                at.truncate(base);
            }
        }
        _ => {}
    }
}
