//! The gate's own tools, offered when some tools are found rather than listed: `tool_search`,
//! `call_tool` and `call_read_only_tool`.
//!
//! `tool_search` returns full definitions; the tools it found are added to the caller's list. The
//! other two are rewritten to the call they stand for before any other step, so every step sees the
//! real tool. `call_read_only_tool` declares that it only reads, which some clients require before
//! they call without asking, and it refuses all other tools. Mistakes in a call are reported as
//! tool errors, which a model can correct.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_exposure::NamingOptions;
use toolgate_exposure::{OwnToolCosts, summary};
use toolgate_model::{CapabilityId, CapabilityKind, ExposureMode, Profile};
use toolgate_search::tokens::estimate;
use toolgate_wire::{Frame, Revision, method, scan, string};

use crate::arguments::raw_arguments;
use crate::gate::GateRequest;
use crate::present::own_result;
use crate::profile_view::ProfileView;
use crate::{Caller, Gate, GateError, results};

/// The tool that finds tools.
pub(crate) const SEARCH: &str = "tool_search";
/// The tool that calls a found tool.
pub(crate) const CALL: &str = "call_tool";
/// The tool that calls a found tool if it only reads.
pub(crate) const CALL_READ_ONLY: &str = "call_read_only_tool";
/// The tool that reads more of a kept result.
pub(crate) const READ_RESULT: &str = "read_result";

/// The default and maximum number of tools in one search result.
const LIMIT: usize = 5;
const LIMIT_AT_MOST: usize = 20;
/// The longest query, in bytes. The rest is ignored.
const LONGEST_QUERY: usize = 2_000;

/// Returns the naming options with the names reserved that the profile may need for the gate's
/// tools.
pub(crate) fn reserve_names(
    style: &NamingOptions,
    profile: &Profile,
    expose: ExposureMode,
) -> NamingOptions {
    let mut style = style.clone();
    if profile.expose.unwrap_or(expose) != ExposureMode::All || profile.budget.is_some() {
        style.reserved.extend([SEARCH, CALL, CALL_READ_ONLY]);
    }
    if profile.result_limit.is_some() {
        style.reserved.push(READ_RESULT);
    }
    style
}

/// Returns the definitions of the gate's tools that a view lists.
pub(crate) fn listed_definitions(view: &ProfileView) -> Vec<Bytes> {
    let mut own = match view.exposure.searching {
        true => finding_definitions(&deferred_summary(view)).to_vec(),
        false => Vec::new(),
    };
    own.extend(results::limit(view).map(|_| results::tool_definition()));
    own
}

/// Returns the token cost of the gate's tools for a profile.
pub(crate) fn cost(profile: &Profile) -> OwnToolCosts {
    OwnToolCosts {
        finding: finding_definitions("").iter().map(|definition| estimate(definition)).sum(),
        always: profile.result_limit.map_or(0, |_| estimate(&results::tool_definition())),
    }
}

/// Returns the definitions of the tools that find and call deferred tools.
fn finding_definitions(deferred: &str) -> [Bytes; 3] {
    [search_definition(deferred), call_definition(), read_only_definition()]
}

/// Returns a line about each deferred tool, if the profile gets a summary.
fn deferred_summary(view: &ProfileView) -> String {
    let about = |id: &CapabilityId| view.definition(id).map(|raw| &raw[..]);
    summary(&view.exposure, &about)
}

fn search_definition(deferred: &str) -> Bytes {
    let mut description = String::from(
        "Finds tools by what you want to do. The list of tools does not contain all tools; this \
         tool searches the others and returns their full definitions, best match first. Call a \
         found tool with call_read_only_tool if it only reads, otherwise with call_tool.",
    );
    if !deferred.is_empty() {
        description.push_str("\n\nTools that can be found:\n\n");
        description.push_str(deferred.trim_end());
    }
    let definition = format!(
        concat!(
            r#"{{"name":"{name}","title":"Search tools","description":{description},"#,
            r#""inputSchema":{{"type":"object","properties":{{"#,
            r#""query":{{"type":"string","description":"What you want to do, in your own words."}},"#,
            r#""limit":{{"type":"integer","minimum":1,"maximum":{most},"#,
            r#""description":"The maximum number of tools to return; default {few}."}}}},"#,
            r#""required":["query"]}},"annotations":{{"readOnlyHint":true,"openWorldHint":false}}}}"#,
        ),
        name = SEARCH,
        description = string::encode(&description),
        most = LIMIT_AT_MOST,
        few = LIMIT,
    );
    definition.into()
}

fn call_definition() -> Bytes {
    let description =
        format!("Calls a tool that {SEARCH} found and that is not in the list of tools.");
    // It stands for any tool.
    let annotations = r#"{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}"#;
    caller_definition(CALL, "Call a tool", &description, annotations)
}

fn read_only_definition() -> Bytes {
    let description = format!(
        "Calls a tool that {SEARCH} found and that is known to only read. It refuses all other \
         tools; use {CALL} for those."
    );
    let annotations = r#"{"readOnlyHint":true,"openWorldHint":true}"#;
    caller_definition(CALL_READ_ONLY, "Call a tool that only reads", &description, annotations)
}

/// Returns the definition of a tool that calls another tool.
fn caller_definition(name: &str, title: &str, description: &str, annotations: &str) -> Bytes {
    let definition = format!(
        concat!(
            r#"{{"name":"{name}","title":"{title}","description":{description},"#,
            r#""inputSchema":{{"type":"object","properties":{{"#,
            r#""name":{{"type":"string","description":"The name that {search} returned."}},"#,
            r#""arguments":{{"type":"object","#,
            r#""description":"The arguments, as required by the tool's inputSchema."}}}},"#,
            r#""required":["name"]}},"annotations":{annotations}}}"#,
        ),
        name = name,
        title = title,
        search = SEARCH,
        description = string::encode(description),
        annotations = annotations,
    );
    definition.into()
}

/// Returns true if a request calls one of the tools that find or call others, in this view.
pub(crate) fn is_own_tool_call(view: &ProfileView, request: &Frame) -> bool {
    view.exposure.searching
        && request.is(method::TOOLS_CALL)
        && request.name().is_some_and(|name| [SEARCH, CALL, CALL_READ_ONLY].contains(&&*name))
}

impl Gate {
    /// Answers a call of one of the gate's own tools.
    pub(crate) async fn call_own_tool(
        &self,
        view: &Arc<ProfileView>,
        request: GateRequest<'_>,
    ) -> Result<Frame, GateError> {
        let caller = request.caller;
        let done = match request.frame.name().as_deref() {
            Some(SEARCH) => self.run_tool_search(view, request.frame, caller).await,
            by => match inner_call(request.frame, by.unwrap_or(CALL)) {
                Ok(meant) if meant.name().as_deref() == Some(SEARCH) => {
                    self.run_tool_search(view, &meant, caller).await
                }
                Ok(meant) if results::reads_kept_result(view, &meant) => {
                    return self.read_kept(view, &meant, caller).await;
                }
                Ok(meant) => match check_callable(view, &meant, by == Some(CALL_READ_ONLY)) {
                    Ok(()) => {
                        let meant = GateRequest { frame: &meant, ..request };
                        return self.pass_to_server(view, meant).await;
                    }
                    Err(wrong) => Err(wrong),
                },
                Err(wrong) => Err(wrong),
            },
        };
        match done {
            Ok(result) => tool_result(&result, caller.revision),
            Err(message) => tool_error(&message, caller.revision),
        }
    }

    async fn run_tool_search(
        &self,
        view: &Arc<ProfileView>,
        request: &Frame,
        caller: &Arc<Caller>,
    ) -> Result<String, String> {
        let arguments = raw_arguments(request);
        let query = scan::member_text(arguments, "query");
        let query = query.filter(|query| !query.trim().is_empty());
        let query = query.ok_or_else(|| {
            format!("{SEARCH} needs `query`: a few words about what you want to do")
        })?;
        let limit = match scan::member(arguments, "limit").map(|at| at.slice(arguments)) {
            None | Some(b"null") => LIMIT,
            Some(raw) => std::str::from_utf8(raw)
                .ok()
                .and_then(|raw| raw.parse::<usize>().ok())
                .filter(|limit| *limit > 0)
                .ok_or("`limit` must be a whole number above 0")?,
        };
        let query = &query[..query.floor_char_boundary(LONGEST_QUERY)];
        let found = self.tool_index.search(view, query, limit.min(LIMIT_AT_MOST)).await;
        let ids: Vec<_> = found.iter().map(|hit| hit.id.clone()).collect();
        let tools = ids.iter().filter_map(|id| view.listed_tool(id, caller.revision));
        let tools: Vec<_> = tools.map(|tool| String::from_utf8_lossy(&tool).into_owned()).collect();
        self.add_found_tools(caller, &ids);
        Ok(found_result(&tools, caller.revision))
    }
}

fn found_result(tools: &[String], to: Revision) -> String {
    let all = format!("{{\"tools\":[{}]}}", tools.join(","));
    let text = match tools.is_empty() {
        true => string::encode("No tool matches. Try other words, or describe the task."),
        false => string::encode(&all),
    };
    let structured = match to.has_structured_output() {
        true => format!(",\"structuredContent\":{all}"),
        false => String::new(),
    };
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}]{structured}}}")
}

/// Returns an error unless a request calls a known tool that, if `reads`, is known to only read: from
/// an operator's tag or a trusted server's annotation.
fn check_callable(view: &ProfileView, request: &Frame, reads: bool) -> Result<(), String> {
    let name = request.name().unwrap_or_default();
    match (view.names().id_of(CapabilityKind::Tool, &name), &*name) {
        (Some(id), name)
            if reads && view.tools.get(id).is_some_and(|it| !it.attributes.read_only) =>
        {
            Err(format!(
                "{name:?} is not known to only read, so {CALL_READ_ONLY} does not call it; use {CALL}"
            ))
        }
        (Some(_), _) => Ok(()),
        (None, name @ (CALL | CALL_READ_ONLY)) => {
            Err(format!("{name} cannot be called this way; pass the name of the tool to call"))
        }
        (None, name) => Err(format!("no tool named {name:?}; find its name with {SEARCH}")),
    }
}

/// Returns the call that a call of the tool `by` stands for: the same request with another name and
/// other arguments. Everything else, such as a progress token, is kept.
fn inner_call(request: &Frame, by: &str) -> Result<Frame, String> {
    let needs = || format!("{by} needs `name`: the name of a tool, as returned by {SEARCH}");
    let params = request.params_span().ok_or_else(needs)?;
    let raw = request.params().unwrap_or_default();
    let outer = scan::member(raw, "arguments").ok_or_else(needs)?;
    let own = outer.slice(raw);
    let name = scan::member(own, "name").map(|at| at.slice(own)).ok_or_else(needs)?;
    string::decode(name).ok_or_else(needs)?;
    let edit = request.edit().replace_found(request.name_span(), name);
    let edit = match scan::member(own, "arguments").map(|at| at.slice(own)) {
        None | Some(b"null") => edit.delete_member(params, "arguments"),
        Some(inner) if inner.starts_with(b"{") => edit.replace(outer.within(params), inner),
        Some(_) => {
            return Err(format!(
                "`arguments` of {by} must be an object, such as {{\"key\": \"value\"}}"
            ));
        }
    };
    edit.finish_frame().map_err(|_| needs())
}

/// Returns a tool result of the gate in the caller's revision.
pub(crate) fn tool_result(result: &str, to: Revision) -> Result<Frame, GateError> {
    own_result(method::TOOLS_CALL, result.as_bytes(), to)
}

/// Returns a tool error of the gate, which a model can read and correct.
pub(crate) fn tool_error(message: &str, to: Revision) -> Result<Frame, GateError> {
    let text = string::encode(message);
    let result = format!(r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true}}"#);
    tool_result(&result, to)
}
