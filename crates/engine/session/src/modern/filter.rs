//! The filter of a listen request: what the session asks for and what the server acknowledged.

use std::collections::BTreeSet;

use toolgate_model::{CapabilityKind, Catalog};
use toolgate_wire::{meta, scan, string};

/// The lists whose changes a server can report: the filter member, the server capability and the
/// affected kinds.
const LISTS: [(&str, &str, &[CapabilityKind]); 3] = [
    ("toolsListChanged", "tools", &[CapabilityKind::Tool]),
    ("promptsListChanged", "prompts", &[CapabilityKind::Prompt]),
    ("resourcesListChanged", "resources", &[CapabilityKind::Resource, CapabilityKind::Template]),
];

/// What a server declared that it can report.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerListenCapabilities {
    lists: Vec<&'static str>,
    pub(crate) resources: bool,
    pub(crate) tasks: bool,
}

impl ServerListenCapabilities {
    pub(crate) fn of(welcome: &Catalog) -> Self {
        let declared = &welcome.capabilities;
        let says = |path: &[&str]| {
            scan::pointer(declared, path).is_some_and(|span| span.slice(declared) == b"true")
        };
        let lists = LISTS.into_iter().filter(|(_, kind, _)| says(&[kind, "listChanged"]));
        Self {
            lists: lists.map(|(list, ..)| list).collect(),
            resources: says(&["resources", "subscribe"]),
            tasks: scan::pointer(declared, &["extensions", meta::TASKS_EXTENSION]).is_some(),
        }
    }

    /// Returns true if the server reports list changes, so that a listen request is opened even
    /// without subscriptions.
    pub(crate) fn has_lists(&self) -> bool {
        !self.lists.is_empty()
    }

    /// Builds the filter for these targets. Returns `None` if there is nothing to listen for.
    pub(crate) fn filter(&self, wanted: &ListenSubjects) -> Option<String> {
        let lists = self.lists.iter().map(|list| format!("\"{list}\":true"));
        let named = [("resourceSubscriptions", &wanted.uris), ("taskIds", &wanted.tasks)];
        let named = named.into_iter().filter(|(_, texts)| !texts.is_empty());
        let named = named.map(|(key, texts)| format!("\"{key}\":{}", array(texts)));
        let members: Vec<_> = lists.chain(named).collect();
        (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
    }
}

fn array(texts: &BTreeSet<String>) -> String {
    let texts: Vec<_> = texts.iter().map(|text| string::encode(text)).collect();
    format!("[{}]", texts.join(","))
}

/// The resources and tasks that callers want reports about, in addition to the lists.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListenSubjects {
    /// Incremented with every change.
    pub(crate) generation: u64,
    pub(crate) uris: BTreeSet<String>,
    pub(crate) tasks: BTreeSet<String>,
}

/// The filter that a server acknowledged.
#[derive(Debug, Clone, Default)]
pub(crate) struct AcknowledgedFilter {
    pub(crate) lists: Vec<CapabilityKind>,
    pub(crate) uris: BTreeSet<String>,
}

impl AcknowledgedFilter {
    /// Parses the filter of an acknowledgement.
    pub(crate) fn of(filter: &[u8]) -> Self {
        let member = |key| scan::member(filter, key).map(|span| span.slice(filter));
        let lists = LISTS.into_iter().filter(|(list, ..)| member(list) == Some(b"true"));
        let uris = member("resourceSubscriptions").unwrap_or_default();
        let uris = scan::elements(uris).filter_map(|span| string::decode(span.slice(uris)));
        Self {
            lists: lists.flat_map(|(.., kinds)| kinds).copied().collect(),
            uris: uris.map(|uri| uri.into_owned()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use toolgate_wire::Revision;

    fn offer(capabilities: &'static str) -> ServerListenCapabilities {
        ServerListenCapabilities::of(&Catalog {
            capabilities: Bytes::from_static(capabilities.as_bytes()),
            ..Catalog::empty(Revision::V2026_07_28)
        })
    }

    #[test]
    fn only_what_is_declared_or_wanted_is_listened_for() {
        let offer_of_tools = offer(r#"{"tools":{"listChanged":true},"prompts":{}}"#);
        let mut wanted = ListenSubjects::default();
        let filter = offer_of_tools.filter(&wanted);
        assert_eq!(filter.as_deref(), Some(r#"{"toolsListChanged":true}"#));
        assert_eq!(offer(r#"{"tools":{}}"#).filter(&wanted), None);
        wanted.uris.insert("a:\"b".into());
        let filter = offer("{}").filter(&wanted);
        assert_eq!(filter.as_deref(), Some(r#"{"resourceSubscriptions":["a:\"b"]}"#));
    }

    #[test]
    fn an_acknowledgement_may_honour_less_than_was_asked() {
        let honoured = AcknowledgedFilter::of(
            br#"{"resourcesListChanged":true,"resourceSubscriptions":["u"]}"#,
        );
        assert_eq!(honoured.lists, [CapabilityKind::Resource, CapabilityKind::Template]);
        assert!(honoured.uris.contains("u"));
    }
}
