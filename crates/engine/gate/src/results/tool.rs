//! How kept results are offered: a tool for models, a resource template for clients.

use bytes::Bytes;
use toolgate_bridge::{self as bridge, Passage};
use toolgate_wire::{Frame, Revision, build, method, scan, string};

use super::query::Query;
use super::{PREFIX, gone, read};
use crate::present::own_frame;
use crate::{Caller, Gate, Refusal, own};

/// The name of the tool.
pub(super) const NAME: &str = own::READ_RESULT;

/// The definition of the tool.
pub(crate) fn listed_tool() -> Bytes {
    let definition = format!(
        concat!(
            r#"{{"name":"{name}","title":"Read a kept result","description":{description},"#,
            r#""inputSchema":{{"type":"object","properties":{{"#,
            r#""uri":{{"type":"string","description":"The {prefix}… that the result named."}},"#,
            r#""offset":{{"type":"integer","minimum":0,"description":"From which byte on."}},"#,
            r#""length":{{"type":"integer","minimum":1,"description":"How many bytes."}},"#,
            r#""lines":{{"type":"string","description":"Which lines instead, such as 1-100."}},"#,
            r#""search":{{"type":"string","description":"#,
            r#""A text to find; answers with its places and what stands around them."}},"#,
            r#""form":{{"type":"string","enum":["text","structured","raw"],"description":"#,
            r#""text is what is shown; raw is the JSON of the result."}}}},"#,
            r#""required":["uri"]}},"annotations":{{"readOnlyHint":true,"openWorldHint":false}}}}"#,
        ),
        name = NAME,
        prefix = PREFIX,
        description = string::encode(
            "Reads on in a tool's result that was too long to be shown whole: by byte offset, by \
             lines, or by a text to find."
        ),
    );
    definition.into()
}

/// The resource template.
pub(crate) fn listed_template() -> Bytes {
    let definition = format!(
        r#"{{"uriTemplate":"{PREFIX}{{id}}{{?offset,length,lines,search,context,case,form,part}}","name":"results","title":"Kept results","description":{},"mimeType":"text/plain"}}"#,
        string::encode(
            "Tools' results that were too long to be shown whole. offset and length are bytes, \
             lines a range such as 1-100, search a text to find; form is text, structured or raw, \
             part the number of a binary block."
        ),
    );
    definition.into()
}

/// The answer to a call of the tool.
pub(super) async fn call(
    gate: &Gate,
    request: &Frame,
    caller: &Caller,
    room: read::Room,
) -> Result<Frame, Refusal> {
    let params = request.params().unwrap_or_default();
    let arguments = scan::member(params, "arguments").map_or(&b"{}"[..], |at| at.of(params));
    let query = match Query::of_arguments(arguments) {
        Ok(query) if query.is_part => {
            let wrong = "a binary block is read as a resource, not by this tool";
            return own::error(wrong, caller.revision);
        }
        Ok(query) => query,
        Err(wrong) => return own::error(&wrong, caller.revision),
    };
    let Some(kept) = gate.kept(&query.id, caller) else {
        let uri = format!("{PREFIX}{}", query.id);
        return own::error(&gone(&uri).message, caller.revision);
    };
    match read::read(kept, query, room).await? {
        Err(wrong) => own::error(&wrong, caller.revision),
        Ok(reading) => {
            let answer = own_frame(build::response("0", &read::as_text(&reading)))?;
            let (from, to) = (Revision::LATEST_LEGACY, caller.revision);
            Ok(bridge::result(answer, &Passage { method: method::TOOLS_CALL, from, to }, None))
        }
    }
}
