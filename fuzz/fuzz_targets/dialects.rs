//! What must hold of every dialect of a syntax, whatever its file says: reading it finds a line for
//! every complaint, and a server that is added and taken away again leaves the others alone.

use toolgate_dialects::{Dialect, FileRef, ParsedFile, Syntax};
use toolgate_model::{ConfigScope, ServerName, ServerSpec, DiagnosticSeverity, StdioSpec, TransportSpec};

/// A name no input has by chance.
const NEW: &str = "added-by-the-fuzzer";

pub fn check(syntax: Syntax, input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for dialect in Dialect::ALL.into_iter().filter(|dialect| dialect.syntax() == syntax) {
        let at = FileRef::new("/home/me/file", ConfigScope::User);
        let reading = dialect.read(text, &at);
        for found in &reading.diagnostics {
            assert!(found.origin.line > 0 && found.origin.column > 0, "{dialect}: {found}");
            let _ = found.to_string();
        }
        if !text.contains(NEW) {
            edit(dialect, text, &at, &reading);
        }
    }
}

fn specs(reading: &ParsedFile) -> Vec<ServerSpec> {
    reading.servers.iter().map(|declared| declared.spec.clone()).collect()
}

/// Adds a server and takes it away again. A document may refuse to be changed; if it lets itself be
/// changed, the other servers are what they were.
fn edit(dialect: Dialect, text: &str, at: &FileRef, reading: &ParsedFile) {
    let before = specs(reading);
    let before = before.as_slice();
    // A file of another dialect may take what is added for something else.
    let is_fine = reading.diagnostics.iter().all(|found| found.severity < DiagnosticSeverity::Error);
    let name = ServerName::new(NEW).expect("a name");
    let stdio = StdioSpec {
        command: "server".to_owned(),
        args: vec!["--flag".to_owned(), "# two: words, [é]".to_owned()],
        ..StdioSpec::default()
    };
    let spec = ServerSpec::new(name.clone(), TransportSpec::Stdio(stdio));
    let Ok(added) = dialect.set(text, &spec, at) else { return };
    let reading = dialect.read(&added.text, at);
    let (new, others): (Vec<_>, Vec<_>) =
        specs(&reading).into_iter().partition(|spec| spec.name.as_str() == NEW);
    assert!(new.len() == 1 || !is_fine, "{dialect}: {text:?} => {:?}", added.text);
    assert_eq!(others, before, "{dialect}: {text:?} => {:?}", added.text);

    let Some(switched) = dialect.set_enabled(&added.text, &name, false).ok().flatten() else {
        return gone(dialect, &added.text, at, before);
    };
    let off = dialect.read(&switched, at).servers.into_iter().find(|it| it.spec.name == name);
    assert!(!is_fine || off.is_some_and(|off| !off.spec.enabled), "{dialect}: {switched:?}");
    gone(dialect, &switched, at, before);
}

fn gone(dialect: Dialect, text: &str, at: &FileRef, before: &[ServerSpec]) {
    let name = ServerName::new(NEW).expect("a name");
    let Ok(removed) = dialect.remove(text, &name) else { return };
    let removed = removed.expect("it was there");
    assert_eq!(specs(&dialect.read(&removed, at)), before, "{dialect}: {text:?} => {removed:?}");
}
