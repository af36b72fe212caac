//! The methods of all MCP revisions, and what each one targets.

/// Opens a legacy session.
pub const INITIALIZE: &str = "initialize";
/// Checks that the peer is alive.
pub const PING: &str = "ping";
/// Lists tools.
pub const TOOLS_LIST: &str = "tools/list";
/// Calls a tool.
pub const TOOLS_CALL: &str = "tools/call";
/// Lists resources.
pub const RESOURCES_LIST: &str = "resources/list";
/// Lists resource templates.
pub const RESOURCES_TEMPLATES_LIST: &str = "resources/templates/list";
/// Reads a resource.
pub const RESOURCES_READ: &str = "resources/read";
/// Subscribes to the changes of a resource.
pub const RESOURCES_SUBSCRIBE: &str = "resources/subscribe";
/// Ends a subscription.
pub const RESOURCES_UNSUBSCRIBE: &str = "resources/unsubscribe";
/// Lists prompts.
pub const PROMPTS_LIST: &str = "prompts/list";
/// Renders a prompt.
pub const PROMPTS_GET: &str = "prompts/get";
/// Completes an argument.
pub const COMPLETION_COMPLETE: &str = "completion/complete";
/// Sets the minimum level of log messages.
pub const LOGGING_SET_LEVEL: &str = "logging/setLevel";
/// Asks the client for its roots.
pub const ROOTS_LIST: &str = "roots/list";
/// Asks the client's model.
pub const SAMPLING_CREATE_MESSAGE: &str = "sampling/createMessage";
/// Asks the client's user.
pub const ELICITATION_CREATE: &str = "elicitation/create";
/// Lists tasks (2025-11-25).
pub const TASKS_LIST: &str = "tasks/list";
/// Gets the state of a task.
pub const TASKS_GET: &str = "tasks/get";
/// Gets the result of a task (2025-11-25).
pub const TASKS_RESULT: &str = "tasks/result";
/// Cancels a task.
pub const TASKS_CANCEL: &str = "tasks/cancel";
/// Answers the questions of a task (extension of 2026-07-28).
pub const TASKS_UPDATE: &str = "tasks/update";
/// Gets the identity and capabilities of a modern server.
pub const SERVER_DISCOVER: &str = "server/discover";
/// Opens a stream of change notifications (2026-07-28).
pub const SUBSCRIPTIONS_LISTEN: &str = "subscriptions/listen";

/// The client has received the response to `initialize`.
pub const INITIALIZED: &str = "notifications/initialized";
/// A request is cancelled.
pub const CANCELLED: &str = "notifications/cancelled";
/// The progress of a request.
pub const PROGRESS: &str = "notifications/progress";
/// A log message.
pub const MESSAGE: &str = "notifications/message";
/// A subscribed resource changed.
pub const RESOURCES_UPDATED: &str = "notifications/resources/updated";
/// The list of resources changed.
pub const RESOURCES_LIST_CHANGED: &str = "notifications/resources/list_changed";
/// The list of tools changed.
pub const TOOLS_LIST_CHANGED: &str = "notifications/tools/list_changed";
/// The list of prompts changed.
pub const PROMPTS_LIST_CHANGED: &str = "notifications/prompts/list_changed";
/// The client's roots changed.
pub const ROOTS_LIST_CHANGED: &str = "notifications/roots/list_changed";
/// The user has completed a URL elicitation (2025-11-25).
pub const ELICITATION_COMPLETE: &str = "notifications/elicitation/complete";
/// The state of a task changed.
pub const TASKS_STATUS: &str = "notifications/tasks/status";
/// The state of a task changed (extension of 2026-07-28).
pub const TASKS_CHANGED: &str = "notifications/tasks";
/// The server has opened a listen stream (2026-07-28).
pub const SUBSCRIPTIONS_ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// All methods, the most frequent first.
const KNOWN: [&str; 36] = [
    TOOLS_CALL,
    PROGRESS,
    TOOLS_LIST,
    RESOURCES_READ,
    PROMPTS_GET,
    INITIALIZE,
    PING,
    RESOURCES_LIST,
    RESOURCES_TEMPLATES_LIST,
    RESOURCES_SUBSCRIBE,
    RESOURCES_UNSUBSCRIBE,
    PROMPTS_LIST,
    COMPLETION_COMPLETE,
    LOGGING_SET_LEVEL,
    ROOTS_LIST,
    SAMPLING_CREATE_MESSAGE,
    ELICITATION_CREATE,
    TASKS_LIST,
    TASKS_GET,
    TASKS_RESULT,
    TASKS_CANCEL,
    TASKS_UPDATE,
    SERVER_DISCOVER,
    SUBSCRIPTIONS_LISTEN,
    INITIALIZED,
    CANCELLED,
    MESSAGE,
    RESOURCES_UPDATED,
    RESOURCES_LIST_CHANGED,
    TOOLS_LIST_CHANGED,
    PROMPTS_LIST_CHANGED,
    ROOTS_LIST_CHANGED,
    ELICITATION_COMPLETE,
    TASKS_STATUS,
    TASKS_CHANGED,
    SUBSCRIPTIONS_ACKNOWLEDGED,
];

/// Returns the static name of `method` if any revision has it.
pub(crate) fn static_name(method: &str) -> Option<&'static str> {
    KNOWN.into_iter().find(|known| *known == method)
}

/// The member of `params` that names the target of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MethodTarget {
    /// `name`: a tool or a prompt.
    Name,
    /// `uri`: a resource.
    Uri,
    /// `taskId`: a task.
    Task,
    /// `ref.name` or `ref.uri`: the prompt or resource template of a completion.
    Reference,
}

impl MethodTarget {
    /// Returns the target member of a method, or `None` if the method has no single target.
    pub fn from_method(method: &str) -> Option<MethodTarget> {
        match method {
            TOOLS_CALL | PROMPTS_GET => Some(MethodTarget::Name),
            RESOURCES_READ | RESOURCES_SUBSCRIBE | RESOURCES_UNSUBSCRIBE | RESOURCES_UPDATED => {
                Some(MethodTarget::Uri)
            }
            TASKS_GET | TASKS_RESULT | TASKS_CANCEL | TASKS_UPDATE | TASKS_STATUS
            | TASKS_CHANGED => Some(MethodTarget::Task),
            COMPLETION_COMPLETE => Some(MethodTarget::Reference),
            _ => None,
        }
    }
}
