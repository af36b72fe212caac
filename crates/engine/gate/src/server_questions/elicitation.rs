//! Questions to a person: adds the server's name, and refuses what must not be asked.

use toolgate_findings::{FindingCode, find_secret_field, hidden_chars};
use toolgate_model::ServerName;
use toolgate_session::{Answer, Question};
use toolgate_wire::{JsonEdit, Span, scan, string};

use crate::sanitize::strip_json;

use super::{refuse_question, visit_url, with_params};

/// Checks a form. It must not ask for a secret.
pub(super) fn form(question: Question) -> Result<Question, Answer> {
    let raw = question.frame.params().unwrap_or_default();
    let params = strip_json(raw);
    if let Some(asked) = find_secret_field(&params) {
        let what = match &asked.field {
            Some(field) => format!("the field `{}`", toolgate_model::escape_invisible(field)),
            None => "the message".to_owned(),
        };
        let why = format!(
            "a form must not ask for secrets ({}: {what} asks for `{}`); MCP has url mode for that",
            FindingCode::AsksForSecret,
            asked.word
        );
        return Err(refuse_question(&question, &why));
    }
    let fields = scan::pointer(&params, &["requestedSchema", "properties"]);
    let fields = fields.map(|at| at.slice(&params)).unwrap_or_default();
    if scan::members(fields).any(|(key, _)| !hidden_chars(&key).is_empty()) {
        return Err(refuse_question(&question, "a field name contains invisible characters"));
    }
    let message = prefix_message(&question.server, "", &params);
    let whole = Span::new(0, params.len());
    let worded = JsonEdit::new(&params).set_member(whole, "message", message).finish().ok();
    with_params(question, worded)
}

/// Checks a URL to visit, and names its host in the message.
pub(super) fn visit(question: Question) -> Result<Question, Answer> {
    let raw = question.frame.params().unwrap_or_default();
    let judged = visit_url::vet_url(&scan::member_text(raw, "url").unwrap_or_default());
    let address = judged.map_err(|why| refuse_question(&question, why))?;
    let params = strip_json(raw);
    let whole = Span::new(0, params.len());
    let before = format!("asks you to visit {}: ", address.host);
    let message = prefix_message(&question.server, &before, &params);
    let mut edit = JsonEdit::new(&params).set_member(whole, "message", message);
    if let Some(spelled) = &address.ascii {
        edit = edit.set_member(whole, "url", string::encode(spelled));
    }
    let worded = edit.finish().ok();
    with_params(question, worded)
}

/// Returns the message as JSON, prefixed with the server's name and `words`. The server's own text
/// keeps its spelling.
fn prefix_message(server: &ServerName, words: &str, params: &[u8]) -> Vec<u8> {
    let mut message = string::encode(&format!("[{server}] {words}")).into_bytes();
    let own = scan::member(params, "message").map(|at| at.slice(params));
    if let Some(own) = own.and_then(|own| own.strip_prefix(b"\"")) {
        message.pop(); // the closing quote: the server's string ends with its own
        message.extend_from_slice(own);
    }
    message
}
