//! Results: what a modern one says of itself, put on or taken off.
//!
//! Modern to legacy: `resultType`, `ttlMs`, `cacheScope` and the server's name go, structured
//! output that is no object is wrapped. Legacy to modern: they come, with the values that promise
//! nothing. What a member means to an extension (`resultType: "task"`, say) is not touched, but a
//! question is none: questions pass the question port.

use toolgate_wire::{Edit, Era, Frame, Revision, Span, meta, method, scan};

use crate::{Passage, content, definition};

/// What the gateway calls itself to modern peers, as raw JSON.
pub const SERVER_INFO: &str = concat!(
    r#"{"name":"toolgate","title":"Toolgate","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}"#
);

const RESULT_TYPE: &str = "resultType";
const COMPLETE: &str = "\"complete\"";
const TTL: &str = "ttlMs";
const SCOPE: &str = "cacheScope";
const PRIVATE: &[u8] = b"\"private\"";
const STRUCTURED: &str = "structuredContent";

/// A result as the caller's revision has it. `tool` is the definition of the tool that was called,
/// as its server wrote it.
pub fn result(answer: Frame, passage: &Passage<'_>, tool: Option<&[u8]>) -> Frame {
    if passage.is_straight() {
        return answer;
    }
    let Some(object) = Object::of(&answer) else { return answer };
    let edit = match passage.eras() {
        (Era::Modern, Era::Legacy) => age(answer.edit(), object, passage, tool),
        (Era::Legacy, Era::Modern) => modernise(answer.edit(), object, passage),
        _ => answer.edit(),
    };
    let edit = content::degraded(object.raw, passage, answer.aside())
        .into_iter()
        .fold(edit, |edit, (at, block)| edit.replace(at.within(object.at), block));
    edit.frame().unwrap_or(answer)
}

/// The same result for one caller alone: a cache must not give it to another, whatever the server
/// believes.
pub fn confined(answer: Frame, passage: &Passage<'_>) -> Frame {
    if passage.to.era() == Era::Legacy || !passage.is_cacheable() {
        return answer;
    }
    let Some(object) = Object::of(&answer) else { return answer };
    if object.member(SCOPE).is_some_and(|scope| scope.raw == PRIVATE) {
        return answer;
    }
    answer.edit().set_member(object.at, SCOPE, PRIVATE).frame().unwrap_or(answer)
}

/// The members that make a list of the gateway's own modern, after those of the list itself.
pub fn list_tail(ttl_ms: u32, public: bool) -> String {
    let scope = if public { "public" } else { "private" };
    format!(
        r#","{RESULT_TYPE}":"complete","{TTL}":{ttl_ms},"{SCOPE}":"{scope}","_meta":{{"{}":{SERVER_INFO}}}"#,
        meta::SERVER_INFO
    )
}

/// A result that is an object, and where it stands.
#[derive(Clone, Copy)]
struct Object<'a> {
    at: Span,
    raw: &'a [u8],
}

impl<'a> Object<'a> {
    fn of(answer: &'a Frame) -> Option<Self> {
        let at = answer.result_span()?;
        let raw = at.of(answer.bytes());
        raw.starts_with(b"{").then_some(Self { at, raw })
    }

    fn member(self, key: &str) -> Option<Self> {
        let at = scan::member(self.raw, key)?;
        Some(Self { at: at.within(self.at), raw: at.of(self.raw) })
    }

    fn is_object(self) -> bool {
        self.raw.starts_with(b"{")
    }
}

fn age<'a>(
    mut edit: Edit<'a>,
    result: Object<'_>,
    passage: &Passage<'_>,
    tool: Option<&[u8]>,
) -> Edit<'a> {
    // Another type than `complete` is an extension's word, and not ours to take away.
    if scan::text(result.raw, RESULT_TYPE).as_deref() == Some("complete") {
        edit = edit.delete_member(result.at, RESULT_TYPE);
    }
    if passage.is_cacheable() {
        edit = edit.delete_member(result.at, TTL).delete_member(result.at, SCOPE);
    }
    let named = |meta: &Object<'_>| meta.is_object() && meta.member(meta::SERVER_INFO).is_some();
    if let Some(meta) = result.member("_meta").filter(named) {
        let alone = scan::members(meta.raw).all(|(key, _)| key == meta::SERVER_INFO);
        edit = match alone {
            true => edit.delete_member(result.at, "_meta"),
            false => edit.delete_member(meta.at, meta::SERVER_INFO),
        };
    }
    match result.member(STRUCTURED) {
        Some(output) if is_to_be_wrapped(output, passage, tool) => {
            edit.replace(output.at, [b"{\"result\":", output.raw, b"}"].concat())
        }
        _ => edit,
    }
}

/// Output goes as its schema goes; and without one it must still be the object that the revisions
/// with structured output know.
fn is_to_be_wrapped(output: Object<'_>, passage: &Passage<'_>, tool: Option<&[u8]>) -> bool {
    let wrapped = |tool| definition::is_wrapped(tool, passage.from, passage.to);
    passage.method == method::TOOLS_CALL
        && passage.to >= Revision::V2025_06_18
        && (!output.is_object() || tool.is_some_and(wrapped))
}

fn modernise<'a>(mut edit: Edit<'a>, result: Object<'_>, passage: &Passage<'_>) -> Edit<'a> {
    let lacks = |key: &str| result.member(key).is_none();
    match result.member("_meta") {
        None => {
            let meta = format!(r#"{{"{}":{SERVER_INFO}}}"#, meta::SERVER_INFO);
            edit = edit.insert_member(result.at, "_meta", meta);
        }
        Some(meta) if meta.is_object() && meta.member(meta::SERVER_INFO).is_none() => {
            edit = edit.insert_member(meta.at, meta::SERVER_INFO, SERVER_INFO);
        }
        Some(_) => {}
    }
    if passage.is_cacheable() {
        if lacks(SCOPE) {
            edit = edit.insert_member(result.at, SCOPE, PRIVATE);
        }
        if lacks(TTL) {
            edit = edit.insert_member(result.at, TTL, b"0");
        }
    }
    match scan::text(result.raw, RESULT_TYPE).as_deref() {
        // No legacy server can ask by a result: the caller would believe that the gateway asks.
        None | Some("input_required") => edit.set_member(result.at, RESULT_TYPE, COMPLETE),
        Some(_) => edit,
    }
}
