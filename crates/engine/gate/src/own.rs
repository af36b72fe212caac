//! The gate's own tools, offered where some tools are found rather than listed: `tool_search`,
//! `call_tool` and `call_read_only_tool`.
//!
//! `tool_search` answers with whole definitions; what a caller found joins the caller's list. The other two
//! are rewritten to the call they stand for before any other step, so that every step sees the real
//! tool. `call_read_only_tool` declares that it only reads, which some clients demand before they
//! call without a question, and keeps to it: it calls nothing else. What is wrong with a call of one
//! of them is told as a tool's error, for a model to correct.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_bridge::{self as bridge, Passage};
use toolgate_exposure::{OwnTools, summary};
use toolgate_model::{CapabilityId, CapabilityKind, Expose, Profile};
use toolgate_naming::Style;
use toolgate_search::tokens::estimate;
use toolgate_session::Interactor;
use toolgate_wire::{Frame, Revision, build, method, scan, string};

use crate::present::own_frame;
use crate::view::View;
use crate::{Caller, Gate, Refusal, results};

/// Finds tools.
pub(crate) const SEARCH: &str = "tool_search";
/// Calls a tool that was found.
pub(crate) const CALL: &str = "call_tool";
/// Calls a tool that was found and only reads.
pub(crate) const CALL_READ_ONLY: &str = "call_read_only_tool";
/// Reads on in a result that was kept aside.
pub(crate) const READ_RESULT: &str = "read_result";

/// How many tools are given for one query, if the caller does not say, and at most.
const LIMIT: usize = 5;
const LIMIT_AT_MOST: usize = 20;
/// The longest query that is looked at, in bytes.
const LONGEST_QUERY: usize = 2_000;

/// The style with the names set apart that a profile may need for the gate's own tools.
pub(crate) fn reserving(style: &Style, profile: &Profile, expose: Expose) -> Style {
    let mut style = style.clone();
    if profile.expose.unwrap_or(expose) != Expose::All || profile.budget.is_some() {
        style.reserved.extend([SEARCH, CALL, CALL_READ_ONLY]);
    }
    if profile.result_limit.is_some() {
        style.reserved.push(READ_RESULT);
    }
    style
}

/// The definitions of those that a view offers.
pub(crate) fn listed(view: &View) -> Vec<Bytes> {
    let mut own = match view.exposure.searching {
        true => vec![search_definition(&told(view)), call_definition(), read_only_definition()],
        false => Vec::new(),
    };
    own.extend(results::limit(view).map(|_| results::listed_tool()));
    own
}

/// What they cost whoever has a profile.
pub(crate) fn cost(profile: &Profile) -> OwnTools {
    OwnTools {
        finding: [search_definition(""), call_definition(), read_only_definition()]
            .iter()
            .map(|definition| estimate(definition))
            .sum(),
        always: profile.result_limit.map_or(0, |_| estimate(&results::listed_tool())),
    }
}

/// A line about each tool that is there to be found, where the caller is sent that.
fn told(view: &View) -> String {
    let about = |id: &CapabilityId| view.definition(id).map(|raw| &raw[..]);
    summary(&view.exposure, &about)
}

fn search_definition(told: &str) -> Bytes {
    let mut description = String::from(
        "Finds tools by what you want to do. Not all tools there are stand in the list of tools; \
         this one searches the others and answers with their full definitions, best first. Then \
         call them with call_read_only_tool if they only read, and with call_tool otherwise.",
    );
    if !told.is_empty() {
        description.push_str("\n\nThese are there to be found:\n\n");
        description.push_str(told.trim_end());
    }
    let definition = format!(
        concat!(
            r#"{{"name":"{name}","title":"Search tools","description":{description},"#,
            r#""inputSchema":{{"type":"object","properties":{{"#,
            r#""query":{{"type":"string","description":"What you want to do, in your own words."}},"#,
            r#""limit":{{"type":"integer","minimum":1,"maximum":{most},"#,
            r#""description":"How many tools to answer with; {few} if not given."}}}},"#,
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
        format!("Calls a tool that {SEARCH} found and that is not in the list of tools itself.");
    // It stands for any tool there is.
    let annotations = r#"{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}"#;
    caller_definition(CALL, "Call a tool", &description, annotations)
}

fn read_only_definition() -> Bytes {
    let description = format!(
        "Calls a tool that {SEARCH} found and that is known to only read. It refuses every other \
         tool: use {CALL} for those."
    );
    let annotations = r#"{"readOnlyHint":true,"openWorldHint":true}"#;
    caller_definition(CALL_READ_ONLY, "Call a tool that only reads", &description, annotations)
}

/// The definition of a tool that calls another one.
fn caller_definition(name: &str, title: &str, description: &str, annotations: &str) -> Bytes {
    let definition = format!(
        concat!(
            r#"{{"name":"{name}","title":"{title}","description":{description},"#,
            r#""inputSchema":{{"type":"object","properties":{{"#,
            r#""name":{{"type":"string","description":"The name of the tool, as {search} gave it."}},"#,
            r#""arguments":{{"type":"object","#,
            r#""description":"What the tool's inputSchema asks for."}}}},"#,
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

/// Whether a request calls one of them, as this view offers them.
pub(crate) fn concerns(view: &View, request: &Frame) -> bool {
    view.exposure.searching
        && request.is(method::TOOLS_CALL)
        && request.name().is_some_and(|name| [SEARCH, CALL, CALL_READ_ONLY].contains(&&*name))
}

/// What a caller did wrong, for his model to read.
struct Wrong(String);

impl Gate {
    /// Takes a call of one of the gate's own tools.
    pub(crate) async fn pass_own(
        &self,
        view: &Arc<View>,
        request: &Frame,
        caller: &Arc<Caller>,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, Refusal> {
        let done = match request.name().as_deref() {
            Some(SEARCH) => self.find(view, request, caller).await,
            by => match meant(request, by.unwrap_or(CALL)) {
                Ok(meant) if meant.name().as_deref() == Some(SEARCH) => {
                    self.find(view, &meant, caller).await
                }
                Ok(meant) if results::concerns(view, &meant) => {
                    return self.read_kept(view, &meant, caller).await;
                }
                Ok(meant) if by == Some(CALL_READ_ONLY) && may_write(view, &meant) => {
                    Err(may_write_text(&meant.name().unwrap_or_default()))
                }
                Ok(meant) if is_known(view, &meant) => {
                    return self.pass_to_server(view, &meant, caller, port).await;
                }
                Ok(meant) => Err(no_such_tool(&meant.name().unwrap_or_default())),
                Err(wrong) => Err(wrong),
            },
        };
        match done {
            Ok(result) => answer(&result, caller.revision),
            Err(Wrong(message)) => error(&message, caller.revision),
        }
    }

    async fn find(
        &self,
        view: &Arc<View>,
        request: &Frame,
        caller: &Arc<Caller>,
    ) -> Result<String, Wrong> {
        let arguments = arguments(request).unwrap_or(b"{}");
        let query = scan::text(arguments, "query");
        let query = query.filter(|query| !query.trim().is_empty());
        let query = query.ok_or_else(|| {
            Wrong(format!("{SEARCH} needs `query`: say in a few words what you want to do"))
        })?;
        let limit = match scan::member(arguments, "limit").map(|at| at.of(arguments)) {
            None | Some(b"null") => LIMIT,
            Some(raw) => std::str::from_utf8(raw)
                .ok()
                .and_then(|raw| raw.parse::<usize>().ok())
                .filter(|limit| *limit > 0)
                .ok_or_else(|| Wrong("`limit` must be a whole number from 1 on".to_owned()))?,
        };
        let query = &query[..query.floor_char_boundary(LONGEST_QUERY)];
        let found = self.finder.search(view, query, limit.min(LIMIT_AT_MOST)).await;
        let ids: Vec<_> = found.iter().map(|hit| hit.id.clone()).collect();
        let tools = ids.iter().filter_map(|id| view.listed_tool(id, caller.revision));
        let tools: Vec<_> = tools.map(|tool| String::from_utf8_lossy(&tool).into_owned()).collect();
        self.join(caller, &ids);
        Ok(found_result(&tools, caller.revision))
    }
}

fn found_result(tools: &[String], to: Revision) -> String {
    let all = format!("{{\"tools\":[{}]}}", tools.join(","));
    let text = match tools.is_empty() {
        true => string::encode("No tool fits. Try other words, or say what is to be done."),
        false => string::encode(&all),
    };
    let structured = match to.structured_output() {
        true => format!(",\"structuredContent\":{all}"),
        false => String::new(),
    };
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}]{structured}}}")
}

fn arguments(request: &Frame) -> Option<&[u8]> {
    let params = request.params()?;
    scan::member(params, "arguments").map(|at| at.of(params))
}

fn is_known(view: &View, request: &Frame) -> bool {
    let name = request.name().unwrap_or_default();
    view.names().id_of(CapabilityKind::Tool, &name).is_some()
}

/// Whether a request calls a tool that is not known to only read: by an operator's tag, or by the
/// annotation of a trusted server.
fn may_write(view: &View, request: &Frame) -> bool {
    let name = request.name().unwrap_or_default();
    let tool = view.names().id_of(CapabilityKind::Tool, &name);
    tool.and_then(|id| view.offered_tool(id)).is_some_and(|tool| !tool.marks.read_only)
}

fn may_write_text(name: &str) -> Wrong {
    Wrong(format!(
        "{name:?} is not known to only read, so {CALL_READ_ONLY} does not call it; use {CALL}"
    ))
}

fn no_such_tool(name: &str) -> Wrong {
    match name {
        CALL | CALL_READ_ONLY => {
            Wrong(format!("{name} cannot be called this way; give the name of the tool you mean"))
        }
        name => Wrong(format!("there is no tool {name:?}; find its name with {SEARCH}")),
    }
}

/// The call that a call of the tool `by` stands for: the same request, with another name and other
/// arguments. All else it brings, such as a progress token, goes with it.
fn meant(request: &Frame, by: &str) -> Result<Frame, Wrong> {
    let needs = || Wrong(format!("{by} needs `name`: the name of a tool, as {SEARCH} gave it"));
    let params = request.params_span().ok_or_else(needs)?;
    let raw = request.params().unwrap_or_default();
    let outer = scan::member(raw, "arguments").ok_or_else(needs)?;
    let own = outer.of(raw);
    let name = scan::member(own, "name").map(|at| at.of(own)).ok_or_else(needs)?;
    string::decode(name).ok_or_else(needs)?;
    let edit = request.edit().replace_name(name);
    let edit = match scan::member(own, "arguments").map(|at| at.of(own)) {
        None | Some(b"null") => edit.delete_member(params, "arguments"),
        Some(inner) if inner.starts_with(b"{") => edit.replace(outer.within(params), inner),
        Some(_) => {
            return Err(Wrong(format!("`arguments` of {by} must be an object: {{\"…\": …}}")));
        }
    };
    edit.frame().map_err(|_| needs())
}

/// A result of the gate's own, in the caller's revision.
pub(crate) fn answer(result: &str, to: Revision) -> Result<Frame, Refusal> {
    let answer = own_frame(build::response("0", result.as_bytes()))?;
    let passage = Passage { method: method::TOOLS_CALL, from: Revision::LATEST_LEGACY, to };
    Ok(bridge::result(answer, &passage, None))
}

/// A tool's error of the gate's own: what a model reads and corrects.
pub(crate) fn error(message: &str, to: Revision) -> Result<Frame, Refusal> {
    let text = string::encode(message);
    let result = format!(r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true}}"#);
    answer(&result, to)
}
