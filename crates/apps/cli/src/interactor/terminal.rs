//! Prompts at the terminal for what servers ask. Invisible characters in a server's text are
//! escaped.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use toolgate_host::{Answer, Question, QuestionKind};

use super::form::{FormField, FormFieldKind, fields, parse_yes_no};
use crate::out::{alert, escape_invisible, escape_invisible_lines};
use crate::prompt;

/// The error of a terminal that was closed before the user answered.
struct TerminalClosed;

/// Asks the user one question of a server and returns the answer.
pub fn ask(server: &str, question: &Question) -> Answer {
    let params = question.frame.params().unwrap_or(b"{}");
    let params: Value = serde_json::from_slice(params).unwrap_or_default();
    let answered = match question.kind {
        QuestionKind::Form => fill_in(server, &params),
        QuestionKind::Url => ask_to_visit(server, &params),
        QuestionKind::Sampling | QuestionKind::Roots => return Answer::Unsupported,
    };
    let answer = answered.unwrap_or_else(|TerminalClosed| json!({ "action": "cancel" }));
    Answer::Result(Bytes::from(answer.to_string()))
}

fn fill_in(server: &str, params: &Value) -> Result<Value, TerminalClosed> {
    alert(&format!("{server} asks: {}", escape_invisible_lines(server_message(server, params))));
    if !ask_yes_no("Answer it?")? {
        return Ok(json!({ "action": "decline" }));
    }
    let mut content = Map::new();
    for field in fields(&params["requestedSchema"]) {
        if let Some(value) = fill_in_field(&field)? {
            content.insert(field.key, value);
        }
    }
    Ok(json!({ "action": "accept", "content": content }))
}

fn fill_in_field(field: &FormField) -> Result<Option<Value>, TerminalClosed> {
    if !field.description.is_empty() {
        alert(&format!("  {}", escape_invisible(&field.description)));
    }
    if let FormFieldKind::OneOf(choices) | FormFieldKind::AnyOf(choices) = &field.kind {
        for (number, choice) in choices.iter().enumerate() {
            alert(&format!("  {}: {}", number + 1, escape_invisible(&choice.label)));
        }
    }
    let default = field.default.as_ref().map(|value| format!(" [{value}]")).unwrap_or_default();
    let kind = match field.kind {
        FormFieldKind::Flag => " (y/n)",
        FormFieldKind::AnyOf(_) => " (separate several with commas)",
        _ => "",
    };
    let prompt = escape_invisible(&format!("  {}{kind}{default}: ", field.title));
    loop {
        match field.parse_answer(&read_line(&prompt)?) {
            Ok(value) => return Ok(value),
            Err(reason) => alert(&format!("  {reason}")),
        }
    }
}

/// Shows a URL that the server asks the user to visit. The user opens it; Toolgate never does.
fn ask_to_visit(server: &str, params: &Value) -> Result<Value, TerminalClosed> {
    // The gateway's message already says that the server asks for a visit.
    alert(&format!("{server} {}", escape_invisible(server_message(server, params))));
    alert(&format!("  {}", escape_invisible(params["url"].as_str().unwrap_or_default())));
    let action = if ask_yes_no("Will you open it?")? { "accept" } else { "decline" };
    Ok(json!({ "action": action }))
}

/// Returns the message of a question without the `[server]` prefix that the gateway adds, because
/// the prompt names the server itself.
fn server_message<'a>(server: &str, params: &'a Value) -> &'a str {
    let message = params["message"].as_str().unwrap_or_default();
    message.strip_prefix(&format!("[{server}] ")).unwrap_or(message)
}

fn ask_yes_no(question: &str) -> Result<bool, TerminalClosed> {
    loop {
        if let Some(answer) = parse_yes_no(&read_line(&format!("{question} (y/n) "))?) {
            return Ok(answer);
        }
    }
}

fn read_line(prompt: &str) -> Result<String, TerminalClosed> {
    prompt::read_line(prompt).ok().flatten().ok_or(TerminalClosed)
}
