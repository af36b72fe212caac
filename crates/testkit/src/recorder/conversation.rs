//! Tracks the revision of each conversation and matches answers to requests.
//!
//! A conversation is a process on stdio, a session over HTTP, a stream with its endpoint over
//! HTTP+SSE, and otherwise one HTTP exchange. Validation is left to `validator`.

use std::collections::HashMap;

use serde_json::Value;

use super::log::{MessageDirection, RecordedTransportKind, RecordingEntry};
use super::schemas::SchemaRevision;

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// Identifies the conversation of an entry.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum ConversationKey {
    Process(String),
    Session(String),
    /// The path that messages are posted to while a stream carries the answers.
    Endpoint(String),
    Exchange(String, u64),
}

/// A request in a recording.
#[derive(Clone, Debug)]
pub(super) struct RecordedRequest {
    pub(super) method: String,
    pub(super) revision: SchemaRevision,
    /// Whether it wanted to become a task, in the form of 2025-11-25.
    pub(super) as_task: bool,
}

/// The kind of a message.
#[derive(Clone, Debug)]
pub(super) enum RecordedMessageKind {
    Request(String),
    Notification(String),
    /// An answer, with the request if there was one of its id.
    Answer(Option<RecordedRequest>),
    /// No JSON-RPC message at all.
    Nothing,
}

/// A message with its kind and the revision of its conversation.
#[derive(Clone, Debug)]
pub(super) struct ClassifiedMessage {
    pub(super) kind: RecordedMessageKind,
    pub(super) revision: SchemaRevision,
}

impl ClassifiedMessage {
    /// Whether it answers a request of this method.
    pub(super) fn answers(&self, method: &str) -> bool {
        matches!(&self.kind, RecordedMessageKind::Answer(Some(asked)) if asked.method == method)
    }
}

/// The state of one conversation: its revision and its open requests.
#[derive(Debug, Default)]
struct ConversationState {
    /// What `initialize` agreed upon, or the version of the last envelope until then.
    revision: Option<SchemaRevision>,
    initialized: bool,
    asked: HashMap<(MessageDirection, String), RecordedRequest>,
}

/// The conversation and the revision of one HTTP exchange.
#[derive(Debug)]
struct HttpExchange {
    place: ConversationKey,
    /// What its request said about the revision.
    revision: Option<SchemaRevision>,
}

/// All conversations of a recording so far.
#[derive(Debug, Default)]
pub(super) struct RecordedConversations {
    all: HashMap<ConversationKey, ConversationState>,
    exchanges: HashMap<(String, u64), HttpExchange>,
}

impl RecordedConversations {
    /// Finds the place of an entry, and what its head tells about it.
    pub(super) fn place(
        &mut self,
        entry: &RecordingEntry,
        message: Option<&Value>,
    ) -> ConversationKey {
        let (RecordedTransportKind::Http, Some(number)) = (entry.carrier, entry.exchange) else {
            return ConversationKey::Process(entry.connection.clone());
        };
        let key = (entry.connection.clone(), number);
        match entry.direction {
            MessageDirection::ToServer => {
                let place = self.place_of_request(entry, number, message);
                let revision =
                    header(entry, "mcp-protocol-version").and_then(SchemaRevision::parse);
                self.exchanges.insert(key, HttpExchange { place: place.clone(), revision });
                place
            }
            MessageDirection::ToClient => self.place_of_response(entry, key),
        }
    }

    fn place_of_request(
        &self,
        entry: &RecordingEntry,
        number: u64,
        message: Option<&Value>,
    ) -> ConversationKey {
        let alone = ConversationKey::Exchange(entry.connection.clone(), number);
        if message.and_then(envelope).is_some_and(SchemaRevision::is_modern) {
            return alone;
        }
        if let Some(session) = header(entry, "mcp-session-id") {
            return ConversationKey::Session(session.to_owned());
        }
        let path = entry.http.as_ref().and_then(|head| head.path.clone());
        let endpoint =
            path.map(ConversationKey::Endpoint).filter(|place| self.all.contains_key(place));
        endpoint.unwrap_or(alone)
    }

    fn place_of_response(&mut self, entry: &RecordingEntry, key: (String, u64)) -> ConversationKey {
        let alone = ConversationKey::Exchange(key.0.clone(), key.1);
        let before = self.exchanges.get(&key).map_or(alone.clone(), |known| known.place.clone());
        let moved = match (entry.event.as_deref(), &entry.text) {
            (Some("endpoint"), Some(uri)) => {
                Some(ConversationKey::Endpoint(path_of(uri).to_owned()))
            }
            // The answer to `initialize` names the session that begins with it.
            _ if before == alone && self.opens(&before) => {
                header(entry, "mcp-session-id").map(|id| ConversationKey::Session(id.to_owned()))
            }
            _ => None,
        };
        let Some(place) = moved else { return before };
        let conversation = self.all.remove(&before).unwrap_or_default();
        self.all.insert(place.clone(), conversation);
        let exchange = HttpExchange { place: place.clone(), revision: None };
        self.exchanges.entry(key).or_insert(exchange).place = place.clone();
        place
    }

    fn opens(&self, place: &ConversationKey) -> bool {
        let asked = self.all.get(place).into_iter().flat_map(|it| it.asked.values());
        asked.into_iter().any(|asked| asked.method == "initialize")
    }

    /// What was agreed upon at a place, if anything was.
    pub(super) fn agreed(&self, place: &ConversationKey) -> Option<SchemaRevision> {
        self.all.get(place).filter(|it| it.initialized).and_then(|it| it.revision)
    }

    /// Hears one message at its place.
    pub(super) fn classify(
        &mut self,
        place: &ConversationKey,
        entry: &RecordingEntry,
        message: &Value,
    ) -> ClassifiedMessage {
        let key = entry.exchange.map(|number| (entry.connection.clone(), number));
        let told = key.and_then(|key| self.exchanges.get_mut(&key));
        let conversation = self.all.entry(place.clone()).or_default();
        let usual = conversation.revision.or(told.as_ref().and_then(|told| told.revision));
        let usual = usual.unwrap_or(SchemaRevision::V2025_11_25);
        let heard = conversation.classify(entry.direction, message, usual);
        if let (Some(told), MessageDirection::ToServer) = (told, entry.direction) {
            told.revision = Some(heard.revision);
        }
        heard
    }
}

impl ConversationState {
    fn classify(
        &mut self,
        direction: MessageDirection,
        message: &Value,
        usual: SchemaRevision,
    ) -> ClassifiedMessage {
        let method = message["method"].as_str();
        match (method, message.get("id")) {
            (Some(method), Some(id)) => self.request(direction, method, id, message, usual),
            (Some(method), None) => {
                let subscribed = message["params"]["_meta"].get(SUBSCRIPTION_KEY).is_some();
                let revision = if subscribed { SchemaRevision::V2026_07_28 } else { usual };
                let revision = envelope(message).unwrap_or(revision);
                ClassifiedMessage {
                    kind: RecordedMessageKind::Notification(method.to_owned()),
                    revision,
                }
            }
            (None, id) if message.get("result").is_some() || message.get("error").is_some() => {
                self.answer(direction, id, message, usual)
            }
            _ => ClassifiedMessage { kind: RecordedMessageKind::Nothing, revision: usual },
        }
    }

    fn request(
        &mut self,
        direction: MessageDirection,
        method: &str,
        id: &Value,
        message: &Value,
        usual: SchemaRevision,
    ) -> ClassifiedMessage {
        let params = &message["params"];
        let claimed = envelope(message);
        let revision = match claimed {
            Some(revision) => revision,
            None if method == "initialize" => {
                let wanted = params["protocolVersion"].as_str().and_then(SchemaRevision::parse);
                wanted.unwrap_or(SchemaRevision::V2025_11_25)
            }
            None => usual,
        };
        if claimed.is_some() && !self.initialized {
            self.revision = claimed;
        }
        let as_task = params.get("task").is_some();
        let asked = RecordedRequest { method: method.to_owned(), revision, as_task };
        self.asked.insert((direction, id.to_string()), asked);
        ClassifiedMessage { kind: RecordedMessageKind::Request(method.to_owned()), revision }
    }

    fn answer(
        &mut self,
        direction: MessageDirection,
        id: Option<&Value>,
        message: &Value,
        usual: SchemaRevision,
    ) -> ClassifiedMessage {
        let id = id.map(Value::to_string).unwrap_or_default();
        let asked = self.asked.get(&(direction.reverse(), id)).cloned();
        let mut revision = asked.as_ref().map_or(usual, |asked| asked.revision);
        if asked.as_ref().is_some_and(|asked| asked.method == "initialize") {
            let agreed =
                message["result"]["protocolVersion"].as_str().and_then(SchemaRevision::parse);
            if let Some(agreed) = agreed {
                revision = agreed;
                (self.revision, self.initialized) = (Some(agreed), true);
            }
        }
        ClassifiedMessage { kind: RecordedMessageKind::Answer(asked), revision }
    }
}

/// The revision that a message claims for itself; a version we do not know is newer than ours.
pub(super) fn envelope(message: &Value) -> Option<SchemaRevision> {
    let version = message["params"]["_meta"][VERSION_KEY].as_str()?;
    Some(SchemaRevision::parse(version).unwrap_or(SchemaRevision::V2026_07_28))
}

fn header<'a>(entry: &'a RecordingEntry, name: &str) -> Option<&'a str> {
    entry.http.as_ref()?.headers.get(name).map(String::as_str)
}

/// The path and query of an endpoint, which may be given with or without its host.
fn path_of(uri: &str) -> &str {
    let after_scheme = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    after_scheme.find('/').map_or("/", |slash| &after_scheme[slash..])
}
