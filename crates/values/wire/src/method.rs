//! The methods of all MCP revisions, and what each one targets.

/// Defines a constant for each method, and the table of all of them.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)+) => {
        $($(#[$doc])* pub const $name: &str = $text;)+

        /// All methods.
        const KNOWN: &[&str] = &[$($name),+];
    };
}

// The most frequent methods come first, because they are looked up in this order.
methods! {
    /// Calls a tool.
    TOOLS_CALL = "tools/call";
    /// The progress of a request.
    PROGRESS = "notifications/progress";
    /// Lists tools.
    TOOLS_LIST = "tools/list";
    /// Reads a resource.
    RESOURCES_READ = "resources/read";
    /// Renders a prompt.
    PROMPTS_GET = "prompts/get";
    /// Opens a legacy session.
    INITIALIZE = "initialize";
    /// Checks that the peer is alive.
    PING = "ping";
    /// Lists resources.
    RESOURCES_LIST = "resources/list";
    /// Lists resource templates.
    RESOURCES_TEMPLATES_LIST = "resources/templates/list";
    /// Subscribes to the changes of a resource.
    RESOURCES_SUBSCRIBE = "resources/subscribe";
    /// Ends a subscription.
    RESOURCES_UNSUBSCRIBE = "resources/unsubscribe";
    /// Lists prompts.
    PROMPTS_LIST = "prompts/list";
    /// Completes an argument.
    COMPLETION_COMPLETE = "completion/complete";
    /// Sets the minimum level of log messages.
    LOGGING_SET_LEVEL = "logging/setLevel";
    /// Asks the client for its roots.
    ROOTS_LIST = "roots/list";
    /// Asks the client's model.
    SAMPLING_CREATE_MESSAGE = "sampling/createMessage";
    /// Asks the client's user.
    ELICITATION_CREATE = "elicitation/create";
    /// Lists tasks (2025-11-25).
    TASKS_LIST = "tasks/list";
    /// Gets the state of a task.
    TASKS_GET = "tasks/get";
    /// Gets the result of a task (2025-11-25).
    TASKS_RESULT = "tasks/result";
    /// Cancels a task.
    TASKS_CANCEL = "tasks/cancel";
    /// Answers the questions of a task (extension of 2026-07-28).
    TASKS_UPDATE = "tasks/update";
    /// Gets the identity and capabilities of a modern server.
    SERVER_DISCOVER = "server/discover";
    /// Opens a stream of change notifications (2026-07-28).
    SUBSCRIPTIONS_LISTEN = "subscriptions/listen";
    /// The client has received the response to `initialize`.
    INITIALIZED = "notifications/initialized";
    /// A request is cancelled.
    CANCELLED = "notifications/cancelled";
    /// A log message.
    MESSAGE = "notifications/message";
    /// A subscribed resource changed.
    RESOURCES_UPDATED = "notifications/resources/updated";
    /// The list of resources changed.
    RESOURCES_LIST_CHANGED = "notifications/resources/list_changed";
    /// The list of tools changed.
    TOOLS_LIST_CHANGED = "notifications/tools/list_changed";
    /// The list of prompts changed.
    PROMPTS_LIST_CHANGED = "notifications/prompts/list_changed";
    /// The client's roots changed.
    ROOTS_LIST_CHANGED = "notifications/roots/list_changed";
    /// The user has completed a URL elicitation (2025-11-25).
    ELICITATION_COMPLETE = "notifications/elicitation/complete";
    /// The state of a task changed.
    TASKS_STATUS = "notifications/tasks/status";
    /// The state of a task changed (extension of 2026-07-28).
    TASKS_CHANGED = "notifications/tasks";
    /// The server has opened a listen stream (2026-07-28).
    SUBSCRIPTIONS_ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
}

/// Returns the static name of `method` if any revision has it.
pub(crate) fn static_name(method: &str) -> Option<&'static str> {
    KNOWN.iter().copied().find(|known| *known == method)
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
