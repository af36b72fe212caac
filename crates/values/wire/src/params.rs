//! The members of `params` that decisions depend on, found while `params` is scanned.
//!
//! The method may follow `params`, so the scan records every candidate, and the choice is made once
//! both are known.

use crate::{
    Span, WireErrorKind,
    keys::JsonKey,
    meta::{self, ClientMetaSpans},
    method::{self, MethodTarget},
    scan,
    scanner::{AmbiguousJsonHandling, JsonScanner},
    string,
};

/// Members that a case-insensitive peer must not be able to read differently.
const DECIDED_ON: [&str; 5] = ["name", "uri", "taskId", "arguments", "_meta"];

/// The spans of the candidates in `params`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ParamsSpans {
    name: Option<Span>,
    uri: Option<Span>,
    task_id: Option<Span>,
    progress_token: Option<Span>,
    request_id: Option<Span>,
    pub(crate) meta: Option<Span>,
    meta_token: Option<Span>,
    pub(crate) client_meta: ClientMetaSpans,
    /// True if `_meta` has members that do not describe the sender.
    has_other_meta: bool,
    /// True if `params` has members that only the retry of a modern request has.
    pub(crate) is_retry: bool,
    lookalike: Option<WireErrorKind>,
}

impl ParamsSpans {
    /// Scans the value of `params`. Keys must be unique at every depth.
    pub(crate) fn read(&mut self, scanner: &mut JsonScanner<'_>) -> Result<Span, WireErrorKind> {
        if scanner.peek() != b'{' {
            return scanner.value(AmbiguousJsonHandling::Refused);
        }
        scanner.object(AmbiguousJsonHandling::Refused, |scanner, key| self.member(scanner, key))
    }

    fn member<'a>(
        &mut self,
        scanner: &mut JsonScanner<'a>,
        key: JsonKey<'a>,
    ) -> Result<(), WireErrorKind> {
        let decoded = key.decode();
        let place = match &*decoded {
            b"name" => &mut self.name,
            b"uri" => &mut self.uri,
            b"taskId" => &mut self.task_id,
            b"progressToken" => &mut self.progress_token,
            b"requestId" => &mut self.request_id,
            b"inputResponses" | b"requestState" => {
                self.is_retry = true;
                return scanner.value(AmbiguousJsonHandling::Refused).map(drop);
            }
            b"_meta" => {
                self.meta = Some(self.read_meta(scanner)?);
                return Ok(());
            }
            other => {
                if self.lookalike.is_none() && is_lookalike(other, &DECIDED_ON) {
                    self.lookalike = Some(scanner.lookalike_error());
                }
                return scanner.value(AmbiguousJsonHandling::Refused).map(drop);
            }
        };
        *place = Some(scanner.value(AmbiguousJsonHandling::Refused)?);
        Ok(())
    }

    fn read_meta(&mut self, scanner: &mut JsonScanner<'_>) -> Result<Span, WireErrorKind> {
        if scanner.peek() != b'{' {
            return scanner.value(AmbiguousJsonHandling::Refused);
        }
        if let Some((place, claim)) = scanner.skip_cached_meta() {
            self.client_meta = claim;
            return Ok(place);
        }
        scanner.object(AmbiguousJsonHandling::Refused, |scanner, key| {
            let decoded = key.decode();
            let value = scanner.value(AmbiguousJsonHandling::Refused)?;
            let name = decoded.strip_prefix(meta::SPEC_PREFIX.as_bytes());
            if !name.is_some_and(|name| self.client_meta.set_member(name, value)) {
                self.has_other_meta = true;
                if *decoded == *b"progressToken" {
                    self.meta_token = Some(value);
                }
            }
            Ok(())
        })
    }

    /// Returns the span of the method's target; `at` is the span of `params` in `bytes`.
    pub(crate) fn target_span(
        &self,
        method: &str,
        bytes: &[u8],
        at: Span,
    ) -> Result<Option<Span>, WireErrorKind> {
        let Some(target) = MethodTarget::from_method(method) else {
            return Ok(None);
        };
        if let Some(fault) = self.lookalike {
            return Err(fault);
        }
        let place = match target {
            MethodTarget::Name => self.name,
            MethodTarget::Uri => self.uri,
            MethodTarget::Task => self.task_id,
            MethodTarget::Reference => reference_span(at.slice(bytes)).map(|span| span.within(at)),
        };
        Ok(place.filter(|place| place.slice(bytes).first() == Some(&b'"')))
    }

    /// Returns the span of the progress token that a request announces or a notification reports
    /// on.
    pub(crate) fn progress_token_span(&self, method: &str) -> Option<Span> {
        if method == method::PROGRESS { self.progress_token } else { self.meta_token }
    }

    /// Returns the span of the request id in a cancellation.
    pub(crate) fn cancelled_request_span(&self, method: &str) -> Option<Span> {
        self.request_id.filter(|_| method == method::CANCELLED)
    }

    /// Returns true if `params._meta` describes the sender and has no other members.
    pub(crate) fn has_only_client_meta(&self) -> bool {
        self.client_meta.has_any() && !self.has_other_meta
    }
}

/// Returns the span of the name or URI that `completion/complete` refers to, by the type of its
/// reference.
fn reference_span(params: &[u8]) -> Option<Span> {
    let at = scan::member(params, "ref")?;
    let reference = at.slice(params);
    let kind = string::decode(scan::member(reference, "type")?.slice(reference))?;
    let key = if kind == "ref/resource" { "uri" } else { "name" };
    Some(scan::member(reference, key)?.within(at))
}

/// Returns true if a key is not in `known` but equals one of them except for case. Uses Unicode
/// case folding, like the parsers this protects: `ſ` counts as `s`.
pub(crate) fn is_lookalike(key: &[u8], known: &[&str]) -> bool {
    let Ok(key) = std::str::from_utf8(key) else {
        return false;
    };
    let alike = |known: &&str| {
        if key.is_ascii() {
            key.eq_ignore_ascii_case(known)
        } else {
            fold_case(key).eq(fold_case(known))
        }
    };
    !known.contains(&key) && known.iter().any(alike)
}

fn fold_case(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}
