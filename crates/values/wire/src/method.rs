//! Methods of every MCP revision, and what each is about.

/// Opens a legacy session.
pub const INITIALIZE: &str = "initialize";
/// Asks whether the peer lives.
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
/// Asks to be told of a resource's changes.
pub const RESOURCES_SUBSCRIBE: &str = "resources/subscribe";
/// Ends a subscription.
pub const RESOURCES_UNSUBSCRIBE: &str = "resources/unsubscribe";
/// Lists prompts.
pub const PROMPTS_LIST: &str = "prompts/list";
/// Renders a prompt.
pub const PROMPTS_GET: &str = "prompts/get";
/// Completes an argument.
pub const COMPLETION_COMPLETE: &str = "completion/complete";
/// Sets the least level of log messages.
pub const LOGGING_SET_LEVEL: &str = "logging/setLevel";
/// Asks the client for its roots.
pub const ROOTS_LIST: &str = "roots/list";
/// Asks the client's model.
pub const SAMPLING_CREATE_MESSAGE: &str = "sampling/createMessage";
/// Asks the client's user.
pub const ELICITATION_CREATE: &str = "elicitation/create";
/// Lists tasks (2025-11-25).
pub const TASKS_LIST: &str = "tasks/list";
/// The state of a task.
pub const TASKS_GET: &str = "tasks/get";
/// The result of a task (2025-11-25).
pub const TASKS_RESULT: &str = "tasks/result";
/// Cancels a task.
pub const TASKS_CANCEL: &str = "tasks/cancel";
/// Answers what a task asked (extension of 2026-07-28).
pub const TASKS_UPDATE: &str = "tasks/update";
/// What a modern server is and can do.
pub const SERVER_DISCOVER: &str = "server/discover";
/// Opens a stream of change notifications (2026-07-28).
pub const SUBSCRIPTIONS_LISTEN: &str = "subscriptions/listen";

/// The client has taken the answer to `initialize`.
pub const INITIALIZED: &str = "notifications/initialized";
/// A request is no longer wanted.
pub const CANCELLED: &str = "notifications/cancelled";
/// How far a request has come.
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
/// The user is done with a URL (2025-11-25).
pub const ELICITATION_COMPLETE: &str = "notifications/elicitation/complete";
/// A task changed its state.
pub const TASKS_STATUS: &str = "notifications/tasks/status";
/// A task changed its state (extension of 2026-07-28).
pub const TASKS_CHANGED: &str = "notifications/tasks";
/// The server has opened a listen stream (2026-07-28).
pub const SUBSCRIPTIONS_ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Every method, the most frequent first.
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

/// The same text for good, if it is a method of any revision.
pub(crate) fn known(method: &str) -> Option<&'static str> {
    KNOWN.into_iter().find(|known| *known == method)
}

/// The member of `params` that says what a method is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// `name`: a tool or a prompt.
    Name,
    /// `uri`: a resource.
    Uri,
    /// `taskId`: a task.
    Task,
    /// `ref.name` or `ref.uri`: the prompt or resource template to complete for.
    Reference,
}

impl Target {
    /// What the method is about, if it is about one thing.
    pub fn of(method: &str) -> Option<Target> {
        match method {
            TOOLS_CALL | PROMPTS_GET => Some(Target::Name),
            RESOURCES_READ | RESOURCES_SUBSCRIBE | RESOURCES_UNSUBSCRIBE | RESOURCES_UPDATED => {
                Some(Target::Uri)
            }
            TASKS_GET | TASKS_RESULT | TASKS_CANCEL | TASKS_UPDATE | TASKS_STATUS
            | TASKS_CHANGED => Some(Target::Task),
            COMPLETION_COMPLETE => Some(Target::Reference),
            _ => None,
        }
    }
}
