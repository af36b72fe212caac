//! What a client that listens wants to hear of, as it says it and as it is told back.

use serde_json::{Map, Value, json};
use toolgate_model::CapabilityKind;
use toolgate_wire::{meta, scan, string};

/// How many resources and tasks one listen may name.
const MOST: usize = 1024;

/// The notifications a listen is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    tools: bool,
    prompts: bool,
    resources: bool,
    pub(crate) uris: Vec<String>,
    pub(crate) tasks: Vec<String>,
}

impl Filter {
    /// Reads the `params` of the request.
    pub(crate) fn of(params: &[u8]) -> Result<Self, &'static str> {
        let wanted = scan::member(params, "notifications").map(|at| at.of(params));
        let Some(wanted) = wanted.filter(|wanted| wanted.starts_with(b"{")) else {
            return Err("notifications must be an object");
        };
        Ok(Self {
            tools: flag(wanted, "toolsListChanged")?,
            prompts: flag(wanted, "promptsListChanged")?,
            resources: flag(wanted, "resourcesListChanged")?,
            uris: texts(wanted, "resourceSubscriptions")?,
            tasks: texts(wanted, "taskIds")?,
        })
    }

    /// What of it can be heard of where the gateway declares these capabilities to a client with
    /// those. Which resources can be subscribed to is for the servers to say.
    pub(crate) fn within(mut self, own: &[u8], clients: &[u8]) -> Self {
        let declared = |kind: &str| {
            scan::pointer(own, &[kind, "listChanged"]).is_some_and(|at| at.of(own) == b"true")
        };
        self.tools &= declared("tools");
        self.prompts &= declared("prompts");
        self.resources &= declared("resources");
        let path = ["extensions", meta::TASKS_EXTENSION];
        if scan::pointer(own, &path).is_none() || scan::pointer(clients, &path).is_none() {
            self.tasks.clear();
        }
        self
    }

    /// Whether it is about a list of this kind.
    pub(crate) fn lists(&self, kind: CapabilityKind) -> bool {
        match kind {
            CapabilityKind::Tool => self.tools,
            CapabilityKind::Prompt => self.prompts,
            CapabilityKind::Resource | CapabilityKind::Template => self.resources,
            CapabilityKind::Method => false,
        }
    }

    /// As it is told back to the client: what is not there is not heard of.
    pub(crate) fn acknowledged(&self) -> Value {
        let mut honoured = Map::new();
        for (key, wanted) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if wanted {
                honoured.insert(key.into(), true.into());
            }
        }
        for (key, named) in [("resourceSubscriptions", &self.uris), ("taskIds", &self.tasks)] {
            if !named.is_empty() {
                honoured.insert(key.into(), json!(named));
            }
        }
        honoured.into()
    }
}

fn flag(object: &[u8], key: &str) -> Result<bool, &'static str> {
    match scan::member(object, key).map(|at| at.of(object)) {
        None | Some(b"false") => Ok(false),
        Some(b"true") => Ok(true),
        Some(_) => Err("a kind of notification is wanted or not: true or false"),
    }
}

fn texts(object: &[u8], key: &str) -> Result<Vec<String>, &'static str> {
    const WRONG: &str = "resourceSubscriptions and taskIds must be arrays of strings";
    let Some(array) = scan::member(object, key).map(|at| at.of(object)) else {
        return Ok(Vec::new());
    };
    if !array.starts_with(b"[") {
        return Err(WRONG);
    }
    let mut texts = Vec::new();
    for (at, element) in scan::elements(array).enumerate() {
        if at >= MOST {
            return Err("too many resources or tasks for one listen");
        }
        let text = string::decode(element.of(array)).ok_or(WRONG)?.into_owned();
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
        let filter = Filter::of(asked).unwrap();
        let own = br#"{"tools":{"listChanged":true},"prompts":{},
            "extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
        let clients = br#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
        assert_eq!(
            filter.clone().within(own, clients).acknowledged(),
            json!({
                "toolsListChanged": true, "resourceSubscriptions": ["a", "b"], "taskIds": ["t"],
            })
        );
        assert!(filter.within(own, b"{}").tasks.is_empty());
    }

    #[test]
    fn repetitions_count_against_what_one_listen_may_name() {
        let naming = |times: usize| {
            let uris = vec!["a:b"; times];
            Filter::of(
                json!({"notifications": {"resourceSubscriptions": uris}}).to_string().as_bytes(),
            )
        };
        assert_eq!(naming(MOST).map(|filter| filter.uris), Ok(vec!["a:b".to_owned()]));
        assert!(naming(MOST + 1).is_err());
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
            assert!(Filter::of(params.as_bytes()).is_err(), "{params}");
        }
    }
}
