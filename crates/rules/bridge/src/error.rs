//! Translates error codes that change their meaning between revisions or concern one hop only.
//!
//! All other errors of a server pass unchanged.

use toolgate_wire::view::RpcError;
use toolgate_wire::{Era, Frame, Revision, build, code, method, scan, string};

use crate::ResponseTranslation;

/// Translates a server's error for the caller.
pub fn translate_error(answer: Frame, translation: &ResponseTranslation<'_>) -> Frame {
    let Some(at) = answer.error_span() else { return answer };
    let Some(error) = RpcError::of(at.slice(answer.bytes())) else { return answer };
    let Some(verdict) = classify_error(&error, translation) else { return answer };
    let translated = match verdict {
        ErrorTranslation::Code(code) => {
            let number = scan::member(at.slice(answer.bytes()), "code");
            let number = number.map(|number| number.within(at));
            number.map(|number| answer.edit().replace(number, code.to_string()))
        }
        ErrorTranslation::GatewayFault => {
            let reason = error.message.as_deref().unwrap_or_default();
            let message = format!("the server did not accept the gateway's request: {reason}");
            let ours = build::error_object(code::INTERNAL_ERROR, &message, None);
            Some(answer.edit().replace(at, ours))
        }
    };
    translated.and_then(|edit| edit.finish_frame().ok()).unwrap_or(answer)
}

/// How an error is translated.
enum ErrorTranslation {
    /// The error gets another code.
    Code(i32),
    /// The error concerns the gateway's request, not the caller's.
    GatewayFault,
}

fn classify_error(
    error: &RpcError<'_>,
    translation: &ResponseTranslation<'_>,
) -> Option<ErrorTranslation> {
    let code = i32::try_from(error.code?).ok()?;
    match (code, translation.eras()) {
        // The server has read the caller's own declaration, so the error concerns the caller.
        (code::MISSING_CLIENT_CAPABILITY, (Era::Modern, Era::Modern)) => None,
        (_, (Era::Legacy, Era::Legacy)) => None,
        (
            code::HEADER_MISMATCH
            | code::MISSING_CLIENT_CAPABILITY
            | code::UNSUPPORTED_PROTOCOL_VERSION,
            _,
        ) => Some(ErrorTranslation::GatewayFault),
        (code::RESOURCE_NOT_FOUND, (_, Era::Modern)) => {
            Some(ErrorTranslation::Code(code::INVALID_PARAMS))
        }
        (code::URL_ELICITATION_REQUIRED, (_, Era::Modern)) => {
            Some(ErrorTranslation::Code(code::INTERNAL_ERROR))
        }
        (code::INVALID_PARAMS, (Era::Modern, Era::Legacy))
            if is_missing_resource(error, translation) =>
        {
            Some(ErrorTranslation::Code(code::RESOURCE_NOT_FOUND))
        }
        _ => None,
    }
}

/// Returns true if the error reports a missing resource: modern servers name its URI.
fn is_missing_resource(error: &RpcError<'_>, translation: &ResponseTranslation<'_>) -> bool {
    let uri = error.data.and_then(|data| scan::member(data, "uri").map(|at| at.slice(data)));
    translation.method == method::RESOURCES_READ && uri.and_then(string::decode).is_some()
}

/// Returns the code for the gateway's own error to a caller of this revision. Modern callers do not
/// know the SDKs' codes, and use another code for a missing resource.
pub fn gateway_error_code(own: i32, to: Revision) -> i32 {
    match (to.era(), own) {
        (Era::Legacy, _) => own,
        (Era::Modern, code::RESOURCE_NOT_FOUND) => code::INVALID_PARAMS,
        (Era::Modern, -32019..=-32000 | code::URL_ELICITATION_REQUIRED) => code::INTERNAL_ERROR,
        (Era::Modern, _) => own,
    }
}
