//! Validates one message against the schema of its revision.
//!
//! It also checks what a schema cannot express: that the sender may send such a message, and that
//! an answer belongs to a request. It ignores the transport.

use serde_json::Value;

use super::conversation::{ClassifiedMessage, RecordedMessageKind, RecordedRequest};
use super::log::MessageDirection;
use super::schemas::{MessageUnion, ProtocolSchema, ProtocolSchemas};

/// Methods of extensions whose schemas no package bundles: they are held to the envelope only.
const EXTENSIONS: [&str; 4] = ["tasks/get", "tasks/update", "tasks/cancel", "notifications/tasks"];

/// What a message is, and what is wrong with it.
pub(super) fn validate_message(
    schemas: &ProtocolSchemas,
    direction: MessageDirection,
    heard: &ClassifiedMessage,
    message: &Value,
) -> (String, Vec<String>) {
    let (schema, is_modern) = (schemas.of(heard.revision), heard.revision.is_modern());
    let judge = MessageValidator { schemas, schema, is_modern, direction, message };
    match &heard.kind {
        RecordedMessageKind::Request(method) => {
            (format!("request {method}"), judge.request(method))
        }
        RecordedMessageKind::Notification(method) => {
            (format!("notification {method}"), judge.notification(method))
        }
        RecordedMessageKind::Answer(asked) => {
            let what = if message.get("error").is_some() { "error" } else { "result" };
            let to = asked.as_ref().map_or("no request", |asked| asked.method.as_str());
            (format!("{what} of {to}"), judge.answer(asked.as_ref()))
        }
        RecordedMessageKind::Nothing => {
            ("message".to_owned(), vec!["no JSON-RPC message".to_owned()])
        }
    }
}

/// Validates one message against the schema of its revision.
struct MessageValidator<'a> {
    schemas: &'a ProtocolSchemas,
    schema: &'a ProtocolSchema,
    is_modern: bool,
    direction: MessageDirection,
    message: &'a Value,
}

impl MessageValidator<'_> {
    fn request(&self, method: &str) -> Vec<String> {
        let mut problems = self.schema.problems("JSONRPCRequest", self.message);
        if self.is_modern && self.direction == MessageDirection::ToClient {
            problems.push("a server asks nothing in this revision".to_owned());
        }
        match self.schema.message(MessageUnion::Request, self.direction, method) {
            Some(definition) => problems.extend(self.schema.problems(definition, self.message)),
            None => problems.extend(self.misplaced_method_problem(method)),
        }
        if self.is_modern {
            // Said by no definition of an extension's request, and true of it all the same.
            let params = &self.message["params"];
            problems.extend(self.schema.problems("RequestParams", params));
        }
        problems
    }

    fn notification(&self, method: &str) -> Vec<String> {
        let mut problems = self.schema.problems("JSONRPCNotification", self.message);
        match self.schema.message(MessageUnion::Notification, self.direction, method) {
            Some(definition) => problems.extend(self.schema.problems(definition, self.message)),
            None => problems.extend(self.misplaced_method_problem(method)),
        }
        problems
    }

    /// Reports a method that MCP defines, but not for this revision or sender. A method that MCP does
    /// not define at all is an extension.
    fn misplaced_method_problem(&self, method: &str) -> Option<String> {
        let is_extension = self.is_modern && EXTENSIONS.contains(&method);
        let is_known = self.schemas.defines_method(method) && !is_extension;
        is_known.then(|| "no message of this side in this revision".to_owned())
    }

    fn answer(&self, asked: Option<&RecordedRequest>) -> Vec<String> {
        let mut problems = match self.message.get("error") {
            Some(error) => self.error(error),
            None => self.result(asked),
        };
        if asked.is_none() && self.message.get("id").is_some_and(|id| !id.is_null()) {
            problems.push("nobody asked".to_owned());
        }
        if self.is_modern && self.direction == MessageDirection::ToServer {
            problems.push("a client answers nothing in this revision".to_owned());
        }
        problems
    }

    fn error(&self, error: &Value) -> Vec<String> {
        let own = error["code"].as_i64().and_then(|code| self.schema.error(code));
        let general = self.schema.first(&["JSONRPCErrorResponse", "JSONRPCError"]);
        self.schema.problems(own.or(general).unwrap_or("JSONRPCError"), self.message)
    }

    fn result(&self, asked: Option<&RecordedRequest>) -> Vec<String> {
        let envelope = self.schema.first(&["JSONRPCResultResponse", "JSONRPCResponse"]);
        let envelope = envelope.unwrap_or("JSONRPCResponse");
        let mut problems = self.schema.problems(envelope, self.message);
        let Some(asked) = asked else { return problems };
        let result = &self.message["result"];
        let request =
            self.schema.message(MessageUnion::Request, self.direction.reverse(), &asked.method);
        let definition = match result["resultType"].as_str().filter(|_| self.is_modern) {
            Some("input_required") => {
                if !request.is_some_and(|request| self.schema.may_ask_back(request)) {
                    problems.push("this request is not answered with questions".to_owned());
                }
                Some("InputRequiredResult".to_owned())
            }
            // A result of an extension, whose form only the extension knows.
            Some(other) if other != "complete" => None,
            _ if asked.as_task && result.get("task").is_some() => {
                Some("CreateTaskResult".to_owned())
            }
            _ => request.map(|request| self.schema.result(request)),
        };
        problems.extend(definition.iter().flat_map(|it| self.schema.problems(it, result)));
        problems
    }
}
