//! Checks that no code reads the text of an error. Codes and fields carry what programs need; the
//! text is for people and may change. A message also stands alone, so none begins with "failed to".

use syn::visit::{self, Visit};

use super::is_test;

/// Variables that hold an error, and fields that hold its text.
const ERRORS: &[&str] = &["error", "err", "failure", "fault", "refusal", "refused"];
const TEXTS: &[&str] = &["message", "hint", "cause"];
/// Methods that turn an error into text, and those that look into a text.
const CONVERSIONS: &[&str] = &["to_string", "message", "text", "as_str", "as_ref", "as_deref"];
const READS: &[&str] = &[
    "contains",
    "starts_with",
    "ends_with",
    "find",
    "split",
    "split_once",
    "rsplit_once",
    "strip_prefix",
    "strip_suffix",
    "parse",
];

/// Returns the faults of one file.
pub(super) fn faults(path: &str, file: &syn::File) -> Vec<String> {
    let mut finder = ErrorTextLint { path, faults: Vec::new() };
    finder.visit_file(file);
    finder.faults
}

/// Finds code that reads the text of an error, without that of tests.
struct ErrorTextLint<'a> {
    path: &'a str,
    faults: Vec<String>,
}

impl ErrorTextLint<'_> {
    fn check_tokens(&mut self, tokens: &str) {
        if tokens.contains("\"failed to ") {
            self.faults.push(format!("{}: a message begins with \"failed to\"", self.path));
        }
    }
}

impl<'ast> Visit<'ast> for ErrorTextLint<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if READS.contains(&&*call.method.to_string()) && is_error_text(&call.receiver) {
            let fault = format!("{}: `{}` reads the text of an error", self.path, call.method);
            self.faults.push(fault);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        if literal.value().starts_with("failed to ") {
            self.check_tokens("\"failed to ");
        }
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.check_tokens(&item.tokens.to_string());
    }

    fn visit_meta_list(&mut self, item: &'ast syn::MetaList) {
        self.check_tokens(&item.tokens.to_string());
    }
}

/// Whether an expression is an error, or the text of one.
fn is_error_text(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Path(path) => {
            path.path.get_ident().is_some_and(|name| ERRORS.contains(&&*name.to_string()))
        }
        syn::Expr::Field(field) => match &field.member {
            syn::Member::Named(name) => TEXTS.contains(&&*name.to_string()),
            syn::Member::Unnamed(_) => false,
        },
        syn::Expr::MethodCall(call) => {
            CONVERSIONS.contains(&&*call.method.to_string()) && is_error_text(&call.receiver)
        }
        syn::Expr::Paren(inner) => is_error_text(&inner.expr),
        syn::Expr::Reference(inner) => is_error_text(&inner.expr),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        faults("a.rs", &syn::parse_file(text).unwrap()).len()
    }

    #[test]
    fn reading_the_text_of_an_error_is_a_fault() {
        assert_eq!(found("fn f() { error.to_string().contains(\"x\"); }"), 1);
        assert_eq!(found("fn f() { found.message.starts_with(\"x\"); }"), 1);
        assert_eq!(found("fn f() { match failure.message().split_once(\"; \") { _ => {} } }"), 1);
        assert_eq!(found("#[test]\nfn f() { error.to_string().contains(\"x\"); }"), 0);
        assert_eq!(found("fn f() { text.contains(\"x\"); }"), 0);
    }

    #[test]
    fn a_message_that_begins_with_failed_to_is_a_fault() {
        assert_eq!(found("#[error(\"failed to read\")]\nstruct E;"), 1);
        assert_eq!(found("fn f() { g(\"failed to read\"); format!(\"failed to {x}\"); }"), 2);
    }
}
