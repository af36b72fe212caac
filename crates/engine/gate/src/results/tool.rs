//! Offers kept results: as a tool for models and a resource template for clients.

use bytes::Bytes;
use toolgate_wire::{Frame, string};

use super::query::ResultQuery;
use super::{PREFIX, read, result_not_found};
use crate::arguments::raw_arguments;
use crate::{Caller, Gate, GateError, own_tools};

/// The name of the tool.
pub(super) const NAME: &str = own_tools::READ_RESULT;

/// Returns the definition of the tool.
pub(crate) fn tool_definition() -> Bytes {
    let definition = format!(
        concat!(
            r#"{{"name":"{name}","title":"Read a kept result","description":{description},"#,
            r#""inputSchema":{{"type":"object","properties":{{"#,
            r#""uri":{{"type":"string","description":"The {prefix}… URI in the result."}},"#,
            r#""offset":{{"type":"integer","minimum":0,"description":"The first byte to read."}},"#,
            r#""length":{{"type":"integer","minimum":1,"description":"The number of bytes."}},"#,
            r#""lines":{{"type":"string","description":"A range of lines, such as 1-100."}},"#,
            r#""search":{{"type":"string","description":"#,
            r#""A text to find; returns its positions with context."}},"#,
            r#""form":{{"type":"string","enum":["text","structured","raw"],"description":"#,
            r#""text is what a reader sees; raw is the JSON of the result."}}}},"#,
            r#""required":["uri"]}},"annotations":{{"readOnlyHint":true,"openWorldHint":false}}}}"#,
        ),
        name = NAME,
        prefix = PREFIX,
        description = string::encode(
            "Reads more of a tool result that was too long to show whole: by byte offset, by \
             lines, or by a text to find."
        ),
    );
    definition.into()
}

/// Returns the resource template.
pub(crate) fn template_definition() -> Bytes {
    let definition = format!(
        r#"{{"uriTemplate":"{PREFIX}{{id}}{{?offset,length,lines,search,context,case,form,part}}","name":"results","title":"Kept results","description":{},"mimeType":"text/plain"}}"#,
        string::encode(
            "Tool results that were too long to show whole. offset and length are in bytes, lines \
             is a range such as 1-100, search is a text to find; form is text, structured or raw, \
             part is the number of a binary block."
        ),
    );
    definition.into()
}

/// Answers a call of the tool.
pub(super) async fn call(
    gate: &Gate,
    request: &Frame,
    caller: &Caller,
    room: read::ReadLimits,
) -> Result<Frame, GateError> {
    let query = match ResultQuery::from_arguments(raw_arguments(request)) {
        Ok(query) if query.is_part => {
            let wrong = "a binary block cannot be read with this tool; read it as a resource";
            return own_tools::tool_error(wrong, caller.revision);
        }
        Ok(query) => query,
        Err(wrong) => return own_tools::tool_error(&wrong, caller.revision),
    };
    let Some(kept) = gate.find_kept(&query.id, caller) else {
        let uri = format!("{PREFIX}{}", query.id);
        return own_tools::tool_error(&result_not_found(&uri).text(), caller.revision);
    };
    match read::read(kept, query, room).await? {
        Err(wrong) => own_tools::tool_error(&wrong, caller.revision),
        Ok(reading) => own_tools::tool_result(&read::to_tool_result(&reading), caller.revision),
    }
}
