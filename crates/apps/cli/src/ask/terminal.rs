//! Asking at the terminal. Everything a server wrote is shown with nothing hidden in it.

use std::io::{self, BufRead as _, Write as _};

use bytes::Bytes;
use serde_json::{Map, Value, json};
use toolgate_host::{Answer, AskKind, Question};

use super::form::{Field, Kind, fields, flag};
use crate::out::{note, visible, visible_lines};

/// The terminal was closed instead of answered.
struct Gone;

/// Puts one question of a server to the person.
pub fn ask(server: &str, question: &Question) -> Answer {
    let params = question.frame.params().unwrap_or(b"{}");
    let params: Value = serde_json::from_slice(params).unwrap_or_default();
    let answered = match question.kind {
        AskKind::Form => fill_in(server, &params),
        AskKind::Url => visit(server, &params),
        AskKind::Sampling | AskKind::Roots => return Answer::Unsupported,
    };
    let answer = answered.unwrap_or_else(|Gone| json!({ "action": "cancel" }));
    Answer::Result(Bytes::from(answer.to_string()))
}

fn fill_in(server: &str, params: &Value) -> Result<Value, Gone> {
    note(&format!("{server} asks: {}", visible_lines(said(server, params))));
    if !agreed("Answer it?")? {
        return Ok(json!({ "action": "decline" }));
    }
    let mut content = Map::new();
    for field in fields(&params["requestedSchema"]) {
        if let Some(value) = fill_in_one(&field)? {
            content.insert(field.key, value);
        }
    }
    Ok(json!({ "action": "accept", "content": content }))
}

fn fill_in_one(field: &Field) -> Result<Option<Value>, Gone> {
    if !field.description.is_empty() {
        note(&format!("  {}", visible(&field.description)));
    }
    if let Kind::One(choices) | Kind::Many(choices) = &field.kind {
        for (number, choice) in choices.iter().enumerate() {
            note(&format!("  {}: {}", number + 1, visible(&choice.label)));
        }
    }
    let default = field.default.as_ref().map(|value| format!(" [{value}]")).unwrap_or_default();
    let kind = match field.kind {
        Kind::Flag => " (y/n)",
        Kind::Many(_) => " (several, with commas)",
        _ => "",
    };
    let prompt = visible(&format!("  {}{kind}{default}: ", field.title));
    loop {
        match field.read(&read(&prompt)?) {
            Ok(value) => return Ok(value),
            Err(reason) => note(&format!("  {reason}")),
        }
    }
}

/// The person opens the page himself: he sees the whole address first, and we never follow it.
fn visit(server: &str, params: &Value) -> Result<Value, Gone> {
    let message = said(server, params);
    let message = message.strip_prefix("asks you to visit ").unwrap_or(message);
    note(&format!("{server} asks you to visit a page: {}", visible(message)));
    note(&format!("  {}", visible(params["url"].as_str().unwrap_or_default())));
    let action = if agreed("Will you open it?")? { "accept" } else { "decline" };
    Ok(json!({ "action": action }))
}

/// The server's words; that they are his, the gateway says before them, and so do we.
fn said<'a>(server: &str, params: &'a Value) -> &'a str {
    let message = params["message"].as_str().unwrap_or_default();
    message.strip_prefix(&format!("[{server}] ")).unwrap_or(message)
}

fn agreed(question: &str) -> Result<bool, Gone> {
    loop {
        if let Some(answer) = flag(read(&format!("{question} (y/n) "))?.trim()) {
            return Ok(answer);
        }
    }
}

fn read(prompt: &str) -> Result<String, Gone> {
    let mut stderr = io::stderr();
    let _ = stderr.write_all(prompt.as_bytes()).and_then(|()| stderr.flush());
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line) {
        Ok(1..) => Ok(line),
        _ => Err(Gone),
    }
}
