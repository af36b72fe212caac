//! Every file under `tests/dialects`: a server is added, switched, changed and taken out, and all
//! else stays what and where it is. Each dialect has a file with comments wherever they may stand.

use similar::{ChangeTag, TextDiff};
use toolgate_dialects::{Dialect, EditError, ParsedFile};
use toolgate_model::{Diagnostic, DiagnosticSeverity, ServerName, ServerSpec};

use super::common::{self, Fixture};
use super::{difference, endpoint, is_grown, server};

/// What may give way to the first server of a file.
const NOTHING: [&str; 4] = ["[]", "{}", "null", "~"];

/// What the comments say, in the files that have them everywhere, that are about no server.
const COMMENTS: [&str; 7] =
    ["mine", "about all of them", "more to come", "the end\n", "the rest", "the second", "in hex"];

/// All files are tried, whatever happens to one.
fn every_file(check: impl Fn(&Fixture, &ParsedFile) + std::panic::RefUnwindSafe) {
    let fixtures = Dialect::ALL.into_iter().flat_map(common::of);
    let holds = |it: &Fixture| std::panic::catch_unwind(|| check(it, &it.read())).is_ok();
    let damaged: Vec<_> = fixtures
        .filter(|fixture| !holds(fixture))
        .map(|it| format!("{} {}", it.dialect, it.name))
        .collect();
    assert!(damaged.is_empty(), "{damaged:#?}");
}

fn added() -> ServerSpec {
    ServerSpec { transport: server("x").transport, ..endpoint("added-here") }
}

/// The servers but one, as they are read, whichever project they are for.
fn others(reading: &ParsedFile, name: &ServerName) -> Vec<ServerSpec> {
    let others = reading.servers.iter().filter(|it| it.spec.name != *name);
    others.map(|it| it.spec.clone()).collect()
}

/// Whether servers are switched by lists beside them, which an edit may have to change too.
fn is_listed(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Gemini | Dialect::Llxprt)
}

#[test]
fn a_server_is_added_and_nothing_else_changes() {
    every_file(|fixture, reading| {
        let (dialect, place, spec) = (fixture.dialect, common::place(fixture.dialect), added());
        let unread = |found: &Diagnostic| found.message.contains("cannot read the file");
        let is_readable = !reading.diagnostics.iter().any(unread);
        let text = match dialect.set(&fixture.text, &spec, &place) {
            Ok(written) => written.text,
            Err(error) => {
                let is_syntax = matches!(error, EditError::Syntax { .. });
                assert_eq!(is_readable, !is_syntax, "{error}");
                return assert!(reading.servers.is_empty(), "{error}");
            }
        };
        assert!(is_readable);
        match is_listed(dialect) {
            true => assert!(keeps_all(&fixture.text, &text), "{text}"),
            false => assert!(is_grown(&fixture.text, &text, &NOTHING), "{text}"),
        }
        let now = dialect.read(&text, &place);
        assert_eq!(now.servers.len(), reading.servers.len() + 1, "{text}");
        assert_eq!(others(&now, &spec.name), others(reading, &spec.name), "{text}");
        assert_eq!(common::said(&now.settings), common::said(&reading.settings), "{text}");
        assert_eq!(dialect.set(&text, &spec, &place).unwrap().text, text, "twice is once");

        let removed = dialect.remove(&text, &spec.name).unwrap().unwrap();
        leaves_a_place(&fixture.text, &removed, reading);
        let again = dialect.set(&removed, &spec, &place).unwrap().text;
        assert_eq!(again, text, "added again");
    });
}

/// Whether no line of a text has lost anything.
fn keeps_all(before: &str, after: &str) -> bool {
    let diff = TextDiff::from_chars(before, after);
    diff.iter_all_changes().all(|change| change.tag() != ChangeTag::Delete)
}

/// What was added and removed leaves no trace; but where there was no place for servers yet, there
/// is an empty one now.
fn leaves_a_place(before: &str, after: &str, reading: &ParsedFile) {
    if before == after {
        return;
    }
    assert!(reading.servers.iter().all(|it| it.only_in.is_some()), "{after}");
    assert!(is_grown(before, after, &["null", "~"]), "{after}");
    let (_, left) = difference(before, after);
    let is_key = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
    let words: Vec<_> = left.split([' ', ',', ':', '"', '{', '}', '[', ']', '\n', '\r']).collect();
    assert!(words.iter().all(|word| is_key(word)), "{left:?}");
    assert!(left.contains("{}") || left.contains("[]") || left.ends_with(':'), "{left:?}");
}

#[test]
fn a_switch_changes_one_line_or_adds_one() {
    every_file(|fixture, reading| {
        // A server of one project stands elsewhere, and is switched in another way.
        for declared in reading.servers.iter().filter(|it| it.only_in.is_none()) {
            switched(fixture, reading, &declared.spec);
        }
    });
}

fn switched(fixture: &Fixture, reading: &ParsedFile, spec: &ServerSpec) {
    let (dialect, text) = (fixture.dialect, &fixture.text);
    let now = match dialect.set_enabled(text, &spec.name, !spec.enabled) {
        Ok(Some(now)) => now,
        Ok(None) => return,
        Err(error) => return refused(text, &error),
    };
    let diff = TextDiff::from_lines(text, &now);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let (removed, more) = (count(ChangeTag::Delete), count(ChangeTag::Insert));
    // A line that gets a comma is the one above the new line. Where servers are switched by a list
    // beside them, the first of them begins that list.
    let most = if is_listed(dialect) { 4 } else { 2 };
    assert!(more <= most && removed <= 1, "{}: -{removed} +{more}\n{now}", spec.name);
    let (gone, put) = difference(text, &now);
    let flag = |text: &str| text.replace("true", "false");
    let is_flipped = flag(text) == flag(&now);
    // A name that goes from such a list, or one that joins it.
    let is_name =
        is_listed(dialect) && (keeps_all(text, &now) || gone.contains(spec.name.as_str()));
    assert!(is_flipped || is_name || is_grown(text, &now, &NOTHING), "{gone:?} {put:?}");

    let changed = dialect.read(&now, &common::place(dialect));
    assert_eq!(others(&changed, &spec.name), others(reading, &spec.name), "{now}");
    let found = changed.servers.iter().find(|it| it.spec.name == spec.name && it.only_in.is_none());
    assert_eq!(found.unwrap().spec.enabled, !spec.enabled, "{now}");
    let twice = dialect.set_enabled(&now, &spec.name, !spec.enabled).unwrap().unwrap();
    assert_eq!(twice, now, "twice is once");
    let back = dialect.set_enabled(&now, &spec.name, spec.enabled).unwrap().unwrap();
    let forth = dialect.set_enabled(&back, &spec.name, !spec.enabled).unwrap().unwrap();
    assert_eq!(forth, now, "back and forth");
}

/// What cannot be changed for a reason that is in the text.
fn refused(text: &str, error: &EditError) {
    let EditError::Unsupported(why) = error else { panic!("{error}") };
    // Which of two would be meant is for a person to say; an entry that others take a part of
    // cannot change alone.
    let is_shared = ["&", "<<:"].iter().any(|it| text.contains(it));
    assert!(why.contains("is there twice") || is_shared, "{error}");
}

#[test]
fn any_server_is_set_to_what_it_is_or_taken_out_and_the_others_stay() {
    every_file(|fixture, reading| {
        let (dialect, place) = (fixture.dialect, common::place(fixture.dialect));
        for declared in reading.servers.iter().filter(|it| it.only_in.is_none()) {
            let spec = &declared.spec;
            match dialect.set(&fixture.text, spec, &place) {
                Ok(written) => {
                    let now = dialect.read(&written.text, &place);
                    assert_eq!(others(&now, &spec.name), others(reading, &spec.name));
                    let twice = dialect.set(&written.text, spec, &place).unwrap().text;
                    assert_eq!(twice, written.text, "{} twice is once", spec.name);
                }
                Err(error) => refused(&fixture.text, &error),
            }
            let removed = match dialect.remove(&fixture.text, &spec.name) {
                Ok(removed) => removed.unwrap(),
                Err(error) => {
                    refused(&fixture.text, &error);
                    continue;
                }
            };
            let now = dialect.read(&removed, &place);
            assert_eq!(others(&now, &spec.name), others(reading, &spec.name), "{removed}");
            assert!(is_shrunk(&fixture.text, &removed), "{}\n{removed}", spec.name);
        }
    });
}

/// Whether all that happened to a text is that things were taken out of it, and what was left empty
/// says so.
fn is_shrunk(before: &str, after: &str) -> bool {
    let bare = |text: &str| text.replace([' ', '\n', '\r', '\t', ',', '{', '}', '[', ']'], "");
    keeps_all(&bare(after), &bare(before))
}

#[test]
fn every_dialect_has_a_file_whose_comments_stay_where_they_are() {
    for dialect in Dialect::ALL {
        let fixture = common::of(dialect).into_iter().find(|it| it.name.starts_with("edit-comm"));
        let fixture = fixture.unwrap_or_else(|| panic!("{dialect} has no file with comments"));
        let reading = fixture.read();
        let errors =
            reading.diagnostics.iter().filter(|it| it.severity == DiagnosticSeverity::Error);
        assert_eq!(errors.map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
        assert!(reading.servers.len() >= 2, "{dialect}");
        let about = |name: &str| format!("about {}", name.split(' ').next().unwrap());
        let names: Vec<_> = reading.servers.iter().map(|it| it.spec.name.as_str()).collect();
        for gone in &names {
            let text = super::remove(dialect, &fixture.text, gone);
            assert!(!text.contains(&about(gone)), "{dialect}: what was about {gone}\n{text}");
            let others = names.iter().filter(|it| *it != gone).map(|it| about(it));
            for comment in COMMENTS.iter().map(|it| (*it).to_owned()).chain(others) {
                let count = |text: &str| text.matches(&comment).count();
                let (before, after) = (count(&fixture.text), count(&text));
                assert_eq!(after, before, "{dialect}: {comment:?} went with {gone}\n{text}");
            }
        }
    }
}
