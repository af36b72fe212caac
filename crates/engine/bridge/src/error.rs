//! Errors: the codes that change their meaning between revisions, or speak of one hop only.
//!
//! Every other error of a server passes as it came.

use toolgate_wire::view::RpcError;
use toolgate_wire::{Era, Frame, Revision, build, code, method, scan, string};

use crate::Passage;

/// A server's error as this caller may read it.
pub fn error(answer: Frame, passage: &Passage<'_>) -> Frame {
    let Some(at) = answer.error_span() else { return answer };
    let Some(error) = RpcError::of(at.of(answer.bytes())) else { return answer };
    let Some(verdict) = judge(&error, passage) else { return answer };
    let translated = match verdict {
        Verdict::Code(code) => {
            let number = scan::member(at.of(answer.bytes()), "code");
            let number = number.map(|number| number.within(at));
            number.map(|number| answer.edit().replace(number, code.to_string()))
        }
        Verdict::OurHop => {
            let said = error.message.as_deref().unwrap_or_default();
            let message = format!("the server did not accept the gateway's request: {said}");
            let ours = build::error(code::INTERNAL_ERROR, &message, None);
            Some(answer.edit().replace(at, ours))
        }
    };
    translated.and_then(|edit| edit.frame().ok()).unwrap_or(answer)
}

/// What becomes of an error.
enum Verdict {
    /// It is said by another code.
    Code(i32),
    /// It is about the request the gateway sent, not about the one the caller sent.
    OurHop,
}

fn judge(error: &RpcError<'_>, passage: &Passage<'_>) -> Option<Verdict> {
    let said = i32::try_from(error.code?).ok()?;
    match (said, passage.eras()) {
        // The server has read the caller's own declaration, as he wrote it: it is him it means.
        (code::MISSING_CLIENT_CAPABILITY, (Era::Modern, Era::Modern)) => None,
        (_, (Era::Legacy, Era::Legacy)) => None,
        (
            code::HEADER_MISMATCH
            | code::MISSING_CLIENT_CAPABILITY
            | code::UNSUPPORTED_PROTOCOL_VERSION,
            _,
        ) => Some(Verdict::OurHop),
        (code::RESOURCE_NOT_FOUND, (_, Era::Modern)) => Some(Verdict::Code(code::INVALID_PARAMS)),
        (code::URL_ELICITATION_REQUIRED, (_, Era::Modern)) => {
            Some(Verdict::Code(code::INTERNAL_ERROR))
        }
        (code::INVALID_PARAMS, (Era::Modern, Era::Legacy)) if names_no_resource(error, passage) => {
            Some(Verdict::Code(code::RESOURCE_NOT_FOUND))
        }
        _ => None,
    }
}

/// A modern server that has no such resource says which one it has not.
fn names_no_resource(error: &RpcError<'_>, passage: &Passage<'_>) -> bool {
    let uri = error.data.and_then(|data| scan::member(data, "uri").map(|at| at.of(data)));
    passage.method == method::RESOURCES_READ && uri.and_then(string::decode).is_some()
}

/// The code by which the gateway itself refuses a caller of this revision: modern ones give no
/// meaning to the SDKs' codes, and another one to a missing resource.
pub fn own_code(own: i32, to: Revision) -> i32 {
    match (to.era(), own) {
        (Era::Legacy, _) => own,
        (Era::Modern, code::RESOURCE_NOT_FOUND) => code::INVALID_PARAMS,
        (Era::Modern, -32019..=-32000 | code::URL_ELICITATION_REQUIRED) => code::INTERNAL_ERROR,
        (Era::Modern, _) => own,
    }
}
