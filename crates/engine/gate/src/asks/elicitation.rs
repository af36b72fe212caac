//! Questions to a person: whose they are is said, and what must not be asked is not.

use toolgate_findings::{Code, hidden, secret_asked, strip_json};
use toolgate_model::ServerName;
use toolgate_session::{Answer, Question};
use toolgate_wire::{Span, Splice, scan, string};

use super::{address, refused, reworded};

/// A form, unless it asks for a secret.
pub(super) fn form(question: Question) -> Result<Question, Answer> {
    let raw = question.frame.params().unwrap_or_default();
    let params = strip_json(raw);
    if let Some(asked) = secret_asked(&params) {
        let what = match &asked.field {
            Some(field) => format!("the field `{}`", toolgate_model::visible(field)),
            None => "the message".to_owned(),
        };
        let why = format!(
            "a form must not ask for secrets ({}: {what} asks for `{}`); MCP has url mode for that",
            Code::AsksForSecret,
            asked.word
        );
        return Err(refused(&question, &why));
    }
    let fields = scan::pointer(&params, &["requestedSchema", "properties"]);
    let fields = fields.map(|at| at.of(&params)).unwrap_or_default();
    if scan::members(fields).any(|(key, _)| !hidden(&key).is_empty()) {
        return Err(refused(&question, "the name of a field holds what nobody sees"));
    }
    let message = spoken_by(&question.server, "", &params);
    let edit = Splice::new(&params);
    let edit = edit.set_member(Span::new(0, params.len()), "message", message);
    let worded = edit.finish().map_err(|_| refused(&question, "it asks for nothing"))?;
    reworded(question, &worded)
}

/// An address to visit, named by its host.
pub(super) fn visit(question: Question) -> Result<Question, Answer> {
    let raw = question.frame.params().unwrap_or_default();
    let judged = address::judged(&scan::text(raw, "url").unwrap_or_default());
    let address = judged.map_err(|why| refused(&question, why))?;
    let params = strip_json(raw);
    let whole = Span::new(0, params.len());
    let before = format!("asks you to visit {}: ", address.host);
    let message = spoken_by(&question.server, &before, &params);
    let mut edit = Splice::new(&params).set_member(whole, "message", message);
    if let Some(spelled) = &address.spelled {
        edit = edit.set_member(whole, "url", string::encode(spelled));
    }
    let worded = edit.finish().map_err(|_| refused(&question, "it asks for nothing"))?;
    reworded(question, &worded)
}

/// The message as JSON, with the name of the server and some words before it. The server's own stay
/// as they are spelled.
fn spoken_by(server: &ServerName, words: &str, params: &[u8]) -> Vec<u8> {
    let mut message = string::encode(&format!("[{server}] {words}")).into_bytes();
    let own = scan::member(params, "message").map(|at| at.of(params));
    if let Some(own) = own.and_then(|own| own.strip_prefix(b"\"")) {
        message.pop(); // the quote: the server's ends it
        message.extend_from_slice(own);
    }
    message
}
