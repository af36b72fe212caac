//! The members of `params` that something is decided on, found while `params` is scanned.
//!
//! The method may stand behind `params`, so every candidate is noted and the choice is made once
//! both are known.

use crate::{
    Fault, Span,
    keys::Key,
    meta::{self, Claim},
    method::{self, Target},
    scan,
    scanner::{Doubtful, Scanner},
    string,
};

/// Members a case-insensitive peer must not be able to read differently.
const DECIDED_ON: [&str; 5] = ["name", "uri", "taskId", "arguments", "_meta"];

/// Where the candidates stand.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Params {
    name: Option<Span>,
    uri: Option<Span>,
    task_id: Option<Span>,
    progress_token: Option<Span>,
    request_id: Option<Span>,
    meta: Option<Span>,
    meta_token: Option<Span>,
    claim: Claim,
    /// `_meta` holds something besides the envelope.
    says_more: bool,
    is_retry: bool,
    lookalike: Option<Fault>,
}

impl Params {
    /// Scans the value of `params`. Keys are unique at every depth.
    pub(crate) fn read(&mut self, scanner: &mut Scanner<'_>) -> Result<Span, Fault> {
        if scanner.peek() != b'{' {
            return scanner.value(Doubtful::Refused);
        }
        scanner.object(Doubtful::Refused, |scanner, key| self.member(scanner, key))
    }

    fn member<'a>(&mut self, scanner: &mut Scanner<'a>, key: Key<'a>) -> Result<(), Fault> {
        let decoded = key.decoded();
        let place = match &*decoded {
            b"name" => &mut self.name,
            b"uri" => &mut self.uri,
            b"taskId" => &mut self.task_id,
            b"progressToken" => &mut self.progress_token,
            b"requestId" => &mut self.request_id,
            b"inputResponses" | b"requestState" => {
                self.is_retry = true;
                return scanner.value(Doubtful::Refused).map(drop);
            }
            b"_meta" => {
                self.meta = Some(self.read_meta(scanner)?);
                return Ok(());
            }
            other => {
                if self.lookalike.is_none() && is_lookalike(other, &DECIDED_ON) {
                    self.lookalike = Some(scanner.lookalike());
                }
                return scanner.value(Doubtful::Refused).map(drop);
            }
        };
        *place = Some(scanner.value(Doubtful::Refused)?);
        Ok(())
    }

    fn read_meta(&mut self, scanner: &mut Scanner<'_>) -> Result<Span, Fault> {
        if scanner.peek() != b'{' {
            return scanner.value(Doubtful::Refused);
        }
        if let Some((place, claim)) = scanner.recall() {
            self.claim = claim;
            return Ok(place);
        }
        scanner.object(Doubtful::Refused, |scanner, key| {
            let decoded = key.decoded();
            let value = scanner.value(Doubtful::Refused)?;
            let name = decoded.strip_prefix(meta::SPECIFIED.as_bytes());
            if !name.is_some_and(|name| self.claim.note(name, value)) {
                self.says_more = true;
                if *decoded == *b"progressToken" {
                    self.meta_token = Some(value);
                }
            }
            Ok(())
        })
    }

    /// Where it is written what the method is about; `at` is the place of `params` in `bytes`.
    pub(crate) fn target(
        &self,
        method: &str,
        bytes: &[u8],
        at: Span,
    ) -> Result<Option<Span>, Fault> {
        let Some(target) = Target::of(method) else {
            return Ok(None);
        };
        if let Some(fault) = self.lookalike {
            return Err(fault);
        }
        let place = match target {
            Target::Name => self.name,
            Target::Uri => self.uri,
            Target::Task => self.task_id,
            Target::Reference => reference(at.of(bytes)).map(|span| span.within(at)),
        };
        Ok(place.filter(|place| place.of(bytes).first() == Some(&b'"')))
    }

    /// The progress token: announced by a request, or reported on by a notification.
    pub(crate) fn token(&self, method: &str) -> Option<Span> {
        if method == method::PROGRESS { self.progress_token } else { self.meta_token }
    }

    /// The request a cancellation is about.
    pub(crate) fn cancelled(&self, method: &str) -> Option<Span> {
        self.request_id.filter(|_| method == method::CANCELLED)
    }

    /// What `params._meta` says of the sender.
    pub(crate) fn claim(&self) -> Claim {
        self.claim
    }

    /// Whether `params._meta` is an envelope and nothing else.
    pub(crate) fn is_plain(&self) -> bool {
        self.claim.is_made() && !self.says_more
    }

    /// Whether it brings what only the retry of a modern request has.
    pub(crate) fn is_retry(&self) -> bool {
        self.is_retry
    }

    /// `params._meta`.
    pub(crate) fn meta(&self) -> Option<Span> {
        self.meta
    }
}

/// The name or URI that `completion/complete` refers to, by the type of its reference.
fn reference(params: &[u8]) -> Option<Span> {
    let at = scan::member(params, "ref")?;
    let reference = at.of(params);
    let kind = string::decode(scan::member(reference, "type")?.of(reference))?;
    let key = if kind == "ref/resource" { "uri" } else { "name" };
    Some(scan::member(reference, key)?.within(at))
}

/// Whether a key is none of `known`, but equals one but for case. The folding is Unicode's, as in
/// the parsers this is about: `ſ` counts as `s`.
pub(crate) fn is_lookalike(key: &[u8], known: &[&str]) -> bool {
    let Ok(key) = std::str::from_utf8(key) else {
        return false;
    };
    let alike = |known: &&str| {
        if key.is_ascii() { key.eq_ignore_ascii_case(known) } else { folded(key).eq(folded(known)) }
    };
    !known.contains(&key) && known.iter().any(alike)
}

fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}
