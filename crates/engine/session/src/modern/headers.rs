//! What a modern HTTP request repeats of its body in headers.
//!
//! The headers that never change are put together once. The arguments a tool wants repeated are
//! known from its definition, as the server last listed it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use toolgate_wire::method::Target;
use toolgate_wire::mirror::{self, Rule};
use toolgate_wire::{Frame, method, scan, string};

use crate::Outbound;

const METHOD: HeaderName = HeaderName::from_static(mirror::METHOD);
const NAME: HeaderName = HeaderName::from_static(mirror::NAME);

/// Headers of every request; cloned with room for what differs.
pub(crate) struct Templates {
    named: HeaderMap,
    plain: HeaderMap,
}

impl Templates {
    /// Adds to what every POST says.
    pub(crate) fn new(posting: &HeaderMap) -> Self {
        let mut plain = posting.clone();
        plain.insert(METHOD, HeaderValue::from_static(method::TOOLS_CALL));
        let mut named = plain.clone();
        // Its place is taken; a call only puts another value there.
        named.insert(NAME, HeaderValue::from_static("-"));
        Self { named, plain }
    }

    /// The headers of a request of our own that is about nothing in particular.
    pub(crate) fn plain(&self, method: &'static str) -> HeaderMap {
        let mut headers = self.plain.clone();
        headers.insert(METHOD, HeaderValue::from_static(method));
        headers
    }

    /// The headers of one request.
    pub(crate) fn of(&self, mirror: &Mirror, outbound: &Outbound) -> HeaderMap {
        let frame = &outbound.frame;
        let method = frame.method().unwrap_or_default();
        let name = name_of(outbound, &method);
        let value = name.as_ref().and_then(header);
        let mut headers = match value {
            Some(value) => {
                let mut headers = self.named.clone();
                headers.insert(NAME, value);
                headers
            }
            None => self.plain.clone(),
        };
        if method != method::TOOLS_CALL {
            if let Ok(value) = HeaderValue::from_str(&mirror::encode(&method)) {
                headers.insert(METHOD, value);
            }
        } else if mirror.any.load(Ordering::Relaxed)
            && let Some(name) = name.as_deref().and_then(string::decode)
        {
            mirror.add(&mut headers, &name, frame);
        }
        headers
    }
}

/// What the request is about as the server calls it: a raw JSON string.
fn name_of(outbound: &Outbound, method: &str) -> Option<Bytes> {
    let frame = &outbound.frame;
    let span = frame.name_span()?;
    if !matches!(Target::of(method), Some(Target::Name | Target::Uri | Target::Task)) {
        return None;
    }
    match &outbound.rename {
        Some((at, raw)) if *at == span => Some(raw.clone()),
        _ => Some(frame.bytes().slice(span.start()..span.end())),
    }
}

/// The header value of a raw JSON string; shares its bytes where it can.
fn header(raw: &Bytes) -> Option<HeaderValue> {
    let text = string::decode(raw)?;
    match (mirror::encode(&text), &text) {
        (Cow::Borrowed(_), Cow::Borrowed(_)) => {
            HeaderValue::from_maybe_shared(raw.slice(1..raw.len() - 1)).ok()
        }
        (spelled, _) => HeaderValue::from_str(&spelled).ok(),
    }
}

/// The marked arguments of each tool that has any, by its own name.
type Rules = HashMap<String, Arc<[(HeaderName, Rule)]>>;

/// The arguments the server's tools want repeated.
#[derive(Default)]
pub(crate) struct Mirror {
    /// Whether there are any, so that the common case costs one load.
    any: AtomicBool,
    rules: RwLock<Rules>,
}

/// The same, while a list is being read.
#[derive(Default)]
pub(crate) struct Lesson(Rules);

impl Lesson {
    /// Notes a tool's marks; `false` if they cannot be followed, so that the tool cannot be called.
    pub(crate) fn note(&mut self, tool: &str, definition: &[u8]) -> bool {
        let rules = match mirror::rules(definition) {
            Ok(rules) if rules.is_empty() => return true,
            Ok(rules) => rules,
            Err(error) => {
                tracing::warn!(target: "toolgate::session", tool, %error, "tool left out");
                return false;
            }
        };
        let named = |rule: Rule| Some((HeaderName::try_from(&rule.header).ok()?, rule));
        self.0.insert(tool.to_owned(), rules.into_iter().filter_map(named).collect());
        true
    }
}

impl Mirror {
    /// From now on the list that was just read counts.
    pub(crate) fn learn(&self, lesson: Lesson) {
        self.any.store(!lesson.0.is_empty(), Ordering::Relaxed);
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = lesson.0;
    }

    fn add(&self, headers: &mut HeaderMap, tool: &str, frame: &Frame) {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner).get(tool).cloned();
        let Some(rules) = rules else { return };
        let params = frame.params().unwrap_or_default();
        let arguments = scan::member(params, "arguments").map(|span| span.of(params));
        for (header, rule) in rules.iter() {
            let value = rule.value(arguments.unwrap_or_default());
            let value = value.and_then(|value| HeaderValue::from_str(&mirror::encode(&value)).ok());
            if let Some(value) = value {
                headers.insert(header.clone(), value);
            }
        }
    }
}
