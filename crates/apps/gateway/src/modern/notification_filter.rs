//! The filter of a listen request: parses what the client asks for and renders what is accepted.

use serde_json::{Map, Value, json};
use toolgate_model::CapabilityKind;
use toolgate_wire::{meta, scan, string};

/// How many resources and tasks one listen request may name.
const MAX_NAMES: usize = 1024;

/// The lists whose changes are reported. Resource templates count as resources.
const LISTS: [CapabilityKind; 3] =
    [CapabilityKind::Tool, CapabilityKind::Prompt, CapabilityKind::Resource];

/// The notifications that a listen request asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NotificationFilter {
    /// The lists of [`LISTS`] whose changes it includes.
    pub(crate) lists: Vec<CapabilityKind>,
    pub(crate) uris: Vec<String>,
    pub(crate) tasks: Vec<String>,
}

impl NotificationFilter {
    /// Parses the `params` of the request.
    pub(crate) fn parse(params: &[u8]) -> Result<Self, &'static str> {
        let wanted = scan::member(params, "notifications").map(|at| at.slice(params));
        let Some(wanted) = wanted.filter(|wanted| wanted.starts_with(b"{")) else {
            return Err("notifications must be an object");
        };
        let mut lists = Vec::new();
        for kind in LISTS {
            if parse_flag(wanted, &list_member(kind))? {
                lists.push(kind);
            }
        }
        Ok(Self {
            lists,
            uris: parse_strings(wanted, "resourceSubscriptions")?,
            tasks: parse_strings(wanted, "taskIds")?,
        })
    }

    /// Restricts the filter to what the gateway (`own`) and the client (`clients`) declare. The
    /// servers decide which resources can be subscribed to.
    pub(crate) fn restrict_to(mut self, own: &[u8], clients: &[u8]) -> Self {
        self.lists.retain(|kind| {
            let declared = scan::pointer(own, &[kind.json_keys().0, "listChanged"]);
            declared.is_some_and(|at| at.slice(own) == b"true")
        });
        let path = ["extensions", meta::TASKS_EXTENSION];
        if scan::pointer(own, &path).is_none() || scan::pointer(clients, &path).is_none() {
            self.tasks.clear();
        }
        self
    }

    /// Returns true if the filter includes changes of this list.
    pub(crate) fn wants_list(&self, kind: CapabilityKind) -> bool {
        let list = match kind {
            CapabilityKind::Template => CapabilityKind::Resource,
            other => other,
        };
        self.lists.contains(&list)
    }

    /// Returns the filter as the client gets it back. Notifications that are not sent are left out.
    pub(crate) fn to_json(&self) -> Value {
        let mut accepted = Map::new();
        for kind in &self.lists {
            accepted.insert(list_member(*kind), true.into());
        }
        for (key, named) in [("resourceSubscriptions", &self.uris), ("taskIds", &self.tasks)] {
            if !named.is_empty() {
                accepted.insert(key.into(), json!(named));
            }
        }
        accepted.into()
    }
}

/// Returns the member of the filter for changes of a list.
fn list_member(kind: CapabilityKind) -> String {
    format!("{}ListChanged", kind.json_keys().0)
}

fn parse_flag(object: &[u8], key: &str) -> Result<bool, &'static str> {
    match scan::member(object, key).map(|at| at.slice(object)) {
        None | Some(b"false") => Ok(false),
        Some(b"true") => Ok(true),
        Some(_) => {
            Err("toolsListChanged, promptsListChanged and resourcesListChanged must be booleans")
        }
    }
}

fn parse_strings(object: &[u8], key: &str) -> Result<Vec<String>, &'static str> {
    const WRONG: &str = "resourceSubscriptions and taskIds must be arrays of strings";
    let Some(array) = scan::member(object, key).map(|at| at.slice(object)) else {
        return Ok(Vec::new());
    };
    if !array.starts_with(b"[") {
        return Err(WRONG);
    }
    let mut texts = Vec::new();
    for (at, element) in scan::elements(array).enumerate() {
        if at >= MAX_NAMES {
            return Err("too many resources or tasks in one listen request");
        }
        let text = string::decode(element.slice(array)).ok_or(WRONG)?.into_owned();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_declared_is_honoured() {
        let asked = br#"{"notifications":{"toolsListChanged":true,"promptsListChanged":true,
            "resourcesListChanged":false,"resourceSubscriptions":["a","a","b"],"taskIds":["t"]}}"#;
        let filter = NotificationFilter::parse(asked).unwrap();
        let own = br#"{"tools":{"listChanged":true},"prompts":{},
            "extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
        let clients = br#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
        assert_eq!(
            filter.clone().restrict_to(own, clients).to_json(),
            json!({
                "toolsListChanged": true, "resourceSubscriptions": ["a", "b"], "taskIds": ["t"],
            })
        );
        assert!(filter.restrict_to(own, b"{}").tasks.is_empty());
    }

    #[test]
    fn repetitions_count_against_what_one_listen_may_name() {
        let naming = |times: usize| {
            let uris = vec!["a:b"; times];
            NotificationFilter::parse(
                json!({"notifications": {"resourceSubscriptions": uris}}).to_string().as_bytes(),
            )
        };
        assert_eq!(naming(MAX_NAMES).map(|filter| filter.uris), Ok(vec!["a:b".to_owned()]));
        assert!(naming(MAX_NAMES + 1).is_err());
    }

    #[test]
    fn a_filter_of_the_wrong_shape_is_refused() {
        for params in [
            "{}",
            r#"{"notifications":[]}"#,
            r#"{"notifications":{"toolsListChanged":1}}"#,
            r#"{"notifications":{"resourceSubscriptions":"a"}}"#,
            r#"{"notifications":{"taskIds":[1]}}"#,
        ] {
            assert!(NotificationFilter::parse(params.as_bytes()).is_err(), "{params}");
        }
    }
}
