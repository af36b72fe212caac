//! Adds or removes the members that only modern results have.
//!
//! Modern to legacy: removes `resultType`, `ttlMs`, `cacheScope` and the server info, and wraps
//! structured output that is not an object. Legacy to modern: adds them, with values that promise
//! nothing. Values that belong to extensions (such as `resultType: "task"`) stay. Questions do not
//! pass through here.

use toolgate_wire::{Era, Frame, JsonEdit, Revision, Span, meta, method, scan};

use crate::{ResponseTranslation, content, definition};

/// The gateway's name and version for modern peers, as raw JSON.
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

/// Translates a result for the caller's revision. `tool` is the server's definition of the called
/// tool.
pub fn translate_result(
    answer: Frame,
    translation: &ResponseTranslation<'_>,
    tool: Option<&[u8]>,
) -> Frame {
    if translation.from == translation.to {
        return answer;
    }
    let Some(object) = ResultObject::of(&answer) else { return answer };
    let edit = match translation.eras() {
        (Era::Modern, Era::Legacy) => convert_to_legacy(answer.edit(), object, translation, tool),
        (Era::Legacy, Era::Modern) => convert_to_modern(answer.edit(), object, translation),
        _ => answer.edit(),
    };
    let edit = content::text_replacements(object.raw, translation, answer.detached_values())
        .into_iter()
        .fold(edit, |edit, (at, block)| edit.replace(at.within(object.at), block));
    edit.finish_frame().unwrap_or(answer)
}

/// Marks a result as private to one caller, so that no cache gives it to another, whatever the
/// server declares.
pub fn mark_private(answer: Frame, translation: &ResponseTranslation<'_>) -> Frame {
    if translation.to.era() == Era::Legacy || !translation.is_cacheable() {
        return answer;
    }
    let Some(object) = ResultObject::of(&answer) else { return answer };
    if object.member(SCOPE).is_some_and(|scope| scope.raw == PRIVATE) {
        return answer;
    }
    answer.edit().set_member(object.at, SCOPE, PRIVATE).finish_frame().unwrap_or(answer)
}

/// Returns the members that make one of the gateway's own lists modern, to append to the list.
pub fn modern_list_members(ttl_ms: u32, public: bool) -> String {
    let scope = if public { "public" } else { "private" };
    format!(
        r#","{RESULT_TYPE}":"complete","{TTL}":{ttl_ms},"{SCOPE}":"{scope}","_meta":{{"{}":{SERVER_INFO}}}"#,
        meta::SERVER_INFO
    )
}

/// A result object with its span.
#[derive(Clone, Copy)]
struct ResultObject<'a> {
    at: Span,
    raw: &'a [u8],
}

impl<'a> ResultObject<'a> {
    fn of(answer: &'a Frame) -> Option<Self> {
        let at = answer.result_span()?;
        let raw = at.slice(answer.bytes());
        raw.starts_with(b"{").then_some(Self { at, raw })
    }

    fn member(self, key: &str) -> Option<Self> {
        let at = scan::member(self.raw, key)?;
        Some(Self { at: at.within(self.at), raw: at.slice(self.raw) })
    }

    fn is_object(self) -> bool {
        self.raw.starts_with(b"{")
    }
}

fn convert_to_legacy<'a>(
    mut edit: JsonEdit<'a>,
    result: ResultObject<'_>,
    translation: &ResponseTranslation<'_>,
    tool: Option<&[u8]>,
) -> JsonEdit<'a> {
    // Any type other than `complete` belongs to an extension and stays.
    if scan::member_text(result.raw, RESULT_TYPE).as_deref() == Some("complete") {
        edit = edit.delete_member(result.at, RESULT_TYPE);
    }
    if translation.is_cacheable() {
        edit = edit.delete_member(result.at, TTL).delete_member(result.at, SCOPE);
    }
    let named =
        |meta: &ResultObject<'_>| meta.is_object() && meta.member(meta::SERVER_INFO).is_some();
    if let Some(meta) = result.member("_meta").filter(named) {
        let alone = scan::members(meta.raw).all(|(key, _)| key == meta::SERVER_INFO);
        edit = match alone {
            true => edit.delete_member(result.at, "_meta"),
            false => edit.delete_member(meta.at, meta::SERVER_INFO),
        };
    }
    match result.member(STRUCTURED) {
        Some(output) if must_wrap_output(output, translation, tool) => {
            edit.replace(output.at, [b"{\"result\":", output.raw, b"}"].concat())
        }
        _ => edit,
    }
}

/// Returns true if structured output must be wrapped: if its schema is wrapped, or if it is not an
/// object, which the revisions with structured output require.
fn must_wrap_output(
    output: ResultObject<'_>,
    translation: &ResponseTranslation<'_>,
    tool: Option<&[u8]>,
) -> bool {
    let wrapped = |tool| definition::needs_wrapping(tool, translation.from, translation.to);
    translation.method == method::TOOLS_CALL
        && translation.to >= Revision::V2025_06_18
        && (!output.is_object() || tool.is_some_and(wrapped))
}

fn convert_to_modern<'a>(
    mut edit: JsonEdit<'a>,
    result: ResultObject<'_>,
    translation: &ResponseTranslation<'_>,
) -> JsonEdit<'a> {
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
    if translation.is_cacheable() {
        if lacks(SCOPE) {
            edit = edit.insert_member(result.at, SCOPE, PRIVATE);
        }
        if lacks(TTL) {
            edit = edit.insert_member(result.at, TTL, b"0");
        }
    }
    match scan::member_text(result.raw, RESULT_TYPE).as_deref() {
        // A legacy server cannot ask through a result; the caller would take it for a question of
        // the gateway.
        None | Some("input_required") => edit.set_member(result.at, RESULT_TYPE, COMPLETE),
        Some(_) => edit,
    }
}
