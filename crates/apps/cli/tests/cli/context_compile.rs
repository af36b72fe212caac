//! `compile-resource`: what a server says becomes part of the local context, if the user said so.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Place, Running, Said, run};

const SHELF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/shelf.py");

/// A place with a server whose resources stand in a file, in the user's own config.
struct Library {
    place: Place,
}

impl Library {
    fn new(more: &str, arguments: &[&str]) -> Self {
        let library = Self { place: Place::new() };
        std::fs::create_dir_all(library.place.home()).unwrap();
        let entry = library.entry(more, arguments);
        std::fs::write(library.place.home().join("config.toml"), entry).unwrap();
        library.put(&json!({}));
        library
    }

    fn entry(&self, more: &str, arguments: &[&str]) -> String {
        let (args, shelf) = ([&[SHELF], arguments].concat(), self.shelf());
        format!(
            "[servers.wiki]\ncommand = \"python3\"\nargs = {args:?}\nenv = {{ SHELF = {shelf:?} }}\n\
             {more}\n"
        )
    }

    fn shelf(&self) -> PathBuf {
        self.place.work().join("shelf.json")
    }

    fn put(&self, shelf: &Value) {
        // In one step: the server reads it all the time.
        let fresh = self.place.work().join("shelf.new");
        std::fs::write(&fresh, shelf.to_string()).unwrap();
        std::fs::rename(fresh, self.shelf()).unwrap();
    }

    /// The one resource `w://page` holds this text.
    fn page(&self, text: &str) {
        self.put(&json!({ "w://page": { "contents": [part("w://page", "text/markdown", text)] } }));
    }

    fn compile(&self, words: &[&str]) -> Said {
        let mut verb = self.place.verb(&["compile-resource", "wiki"]);
        run(verb.args(words))
    }

    fn search(&self, query: &str) -> Value {
        run(&mut self.place.verb(&["context", "search", "--json", query])).json()
    }
}

fn part(uri: &str, mime: &str, text: &str) -> Value {
    json!({ "uri": uri, "mimeType": mime, "text": text })
}

#[test]
fn a_resource_is_kept_with_where_it_came_from() {
    for arguments in [&[][..], &["modern"]] {
        let library = Library::new("compile = true", arguments);
        library.page("# Handbook\n\n## Travel\n\nTrains are booked by Ada.\n");
        let said = library.compile(&["w://page", "--json"]);
        assert_eq!(said.code, 0, "{arguments:?}: {said:?}");
        let compiled = said.json();
        assert_eq!(compiled["outcome"], "added", "{compiled}");
        assert_eq!(compiled["source"], "resource:wiki w://page");
        assert_eq!((&compiled["server"], &compiled["uri"]), (&json!("wiki"), &json!("w://page")));
        assert_eq!(
            (&compiled["trust"], &compiled["title"]),
            (&json!("untrusted"), &json!("Handbook"))
        );
        assert!(compiled["digest"].as_str().unwrap().starts_with("sha256:"));
        let found = library.search("who books trains");
        assert_eq!(found[0]["source"], "resource:wiki w://page", "{found}");
        assert_eq!(found[0]["trust"], "untrusted");
        assert!(found[0]["heading"].as_str().unwrap().contains("Travel"), "{found}");
    }
}

#[test]
fn compiling_again_updates_and_says_so() {
    let library = Library::new("compile = true", &[]);
    library.page("# One\n\nThe old words about trains.\n");
    assert!(library.compile(&["w://page"]).out.starts_with("added resource:wiki w://page: "));
    assert!(library.compile(&["w://page"]).out.starts_with("unchanged "));
    library.page("# One\n\nThe new words about planes.\n");
    assert!(library.compile(&["w://page"]).out.starts_with("changed "));
    assert_eq!(library.search("planes")[0]["source"], "resource:wiki w://page");
    assert_eq!(library.search("trains"), json!([]), "what it said before is gone");
    let status = run(&mut library.place.verb(&["context", "status", "--json"])).json();
    assert_eq!(status["servers"], json!([{ "server": "wiki", "documents": 1 }]));
}

#[test]
fn nothing_is_compiled_that_the_user_did_not_allow() {
    let library = Library::new("", &[]);
    library.page("words\n");
    let said = library.compile(&["w://page"]);
    assert_eq!((said.code, said.out.as_str()), (3, ""), "{said:?}");
    assert!(said.err.contains("`compile = true` in [servers.wiki] in "), "{said:?}");
    assert!(said.err.contains("config.toml"), "{said:?}");
    assert_eq!(library.search("words"), json!([]));
    // With a living owner it is the same.
    let (owner, _) = Running::serve(&mut library.place.verb(&[]));
    assert_eq!(library.compile(&["w://page"]).code, 3);
    owner.signal(Signal::TERM);
    owner.end();
}

#[test]
fn a_project_cannot_allow_it() {
    let library = Library::new("", &[]);
    library.page("words\n");
    let entry = library.entry("compile = true", &[]);
    std::fs::write(library.place.home().join("config.toml"), "").unwrap();
    std::fs::write(library.place.work().join("toolgate.toml"), entry).unwrap();
    let consent = run(&mut library.place.verb(&["consent", "wiki", "--yes"]));
    assert_eq!(consent.code, 0, "{consent:?}");
    let read = run(&mut library.place.verb(&["read-resource", "wiki", "w://page"]));
    assert_eq!(read.code, 0, "it may be read: {read:?}");
    let said = library.compile(&["w://page"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("a project's file cannot allow this"), "{said:?}");
}

#[test]
fn text_of_a_trusted_server_is_trusted() {
    let library = Library::new("compile = true\ntrust = true", &[]);
    library.page("words to trust\n");
    assert_eq!(library.compile(&["w://page", "--json"]).json()["trust"], "trusted");
    assert_eq!(library.search("words")[0]["trust"], "trusted");
    // Trust taken back counts for what was compiled before, too, once it is compiled again.
    let entry = library.entry("compile = true", &[]);
    std::fs::write(library.place.home().join("config.toml"), entry).unwrap();
    assert_eq!(library.compile(&["w://page", "--json"]).json()["outcome"], "changed");
    assert_eq!(library.search("words")[0]["trust"], "untrusted");
}

#[test]
fn all_parts_are_kept_and_what_is_no_text_is_named() {
    let library = Library::new("compile = true", &[]);
    library.put(&json!({
        "w://many": { "title": "Many things", "contents": [
            part("w://many/a.md", "", "# Alpha\n\nAbout antelopes.\n"),
            part("w://many/b", "text/html", "<h1>Beta</h1><p>About <b>badgers</b>.</p>"),
            { "uri": "w://many/c.txt", "mimeType": "text/plain", "blob": "QWJvdXQgY2FtZWxzLg==" },
            { "uri": "w://many/d.png", "mimeType": "image/png", "blob": "iVBORwAA" },
        ] },
        "w://picture": { "contents": [
            { "uri": "w://picture", "mimeType": "image/png", "blob": "iVBORwAA" },
        ] },
        "w://empty": { "contents": [part("w://empty", "text/plain", "")] },
        "w://broken": { "contents": [{ "uri": "w://broken", "blob": "!!!" }] },
        "w://neither": { "contents": [{ "uri": "w://neither" }] },
    }));
    let said = library.compile(&["w://many", "--json"]);
    let compiled = said.json();
    assert_eq!(
        (&compiled["parts"], &compiled["title"]),
        (&json!(4), &json!("Many things")),
        "{said:?}"
    );
    assert_eq!(compiled["skipped"][0]["uri"], "w://many/d.png", "{compiled}");
    assert!(compiled["skipped"][0]["why"].as_str().unwrap().contains("image/png"), "{compiled}");
    assert!(said.err.contains("note: w://many/d.png: it is image/png"), "{said:?}");
    for (query, part) in
        [("antelopes", "w://many/a.md"), ("badgers", "w://many/b"), ("camels", "w://many/c.txt")]
    {
        let found = library.search(query);
        assert_eq!(found[0]["source"], "resource:wiki w://many", "{query}: {found}");
        assert!(found[0]["heading"].as_str().unwrap().starts_with(part), "{query}: {found}");
        assert!(!found[0]["text"].as_str().unwrap().contains("<b>"), "{found}");
    }
    let picture = library.compile(&["w://picture"]);
    assert_eq!(picture.code, 1, "{picture:?}");
    assert!(picture.err.contains("it is image/png, which has no text"), "{picture:?}");
    assert_eq!(library.compile(&["w://empty", "--json"]).json()["passages"], 0);
    for (uri, why) in [
        ("w://broken", "not valid base64"),
        ("w://neither", "neither text nor a blob"),
        ("w://missing", "wiki"),
    ] {
        let said = library.compile(&[uri]);
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.err.contains(why), "{said:?}");
    }
    let nobody = run(&mut library.place.verb(&["compile-resource", "nobody", "w://x"]));
    assert_eq!(nobody.code, 1, "{nobody:?}");
}

#[test]
fn a_uri_that_fits_a_template_is_compiled() {
    let library = Library::new("compile = true", &[]);
    let said = library.compile(&["t://anything", "--json"]);
    assert_eq!(said.json()["source"], "resource:wiki t://anything", "{said:?}");
    assert_eq!(library.search("made")[0]["text"], "made for t://anything");
    let forget = ["context", "forget", "t://anything", "--yes", "--json"];
    assert_eq!(run(&mut library.place.verb(&forget)).json()["forgotten"], 1, "by its URI");
}

#[test]
fn the_reading_is_in_the_journal() {
    let library = Library::new("compile = true", &[]);
    library.page("words\n");
    library.compile(&["w://page"]);
    let said = run(&mut library.place.verb(&["audit", "tail", "--json"]));
    assert!(said.out.contains("w://page"), "{said:?}");
}

/// What `--watch` prints next.
fn next(watch: &Running) -> Value {
    serde_json::from_str(&watch.line()).unwrap()
}

fn follows(library: &Library) {
    library.page("# First\n\nAbout antelopes.\n");
    let words = ["compile-resource", "wiki", "w://page", "--watch", "--json"];
    let watch = Running::start(&mut library.place.verb(&words));
    assert_eq!(next(&watch)["outcome"], "added");
    for (text, title) in
        [("# Second\n\nAbout badgers.\n", "Second"), ("# Third\n\nAbout camels.\n", "Third")]
    {
        library.page(text);
        let compiled = next(&watch);
        assert_eq!((&compiled["outcome"], &compiled["title"]), (&json!("changed"), &json!(title)));
    }
    assert_eq!(library.search("camels")[0]["source"], "resource:wiki w://page");
    assert_eq!(library.search("antelopes"), json!([]));
    watch.signal(Signal::INT);
    let (code, err) = watch.end();
    assert_eq!((code, err.as_str()), (0, ""), "to stop is how watching ends");
}

#[test]
fn changes_are_followed_in_both_eras() {
    follows(&Library::new("compile = true", &[]));
    follows(&Library::new("compile = true", &["modern"]));
}

#[test]
fn changes_are_followed_through_a_living_owner() {
    for arguments in [&[][..], &["modern"]] {
        let library = Library::new("compile = true", arguments);
        let (owner, _) = Running::serve(&mut library.place.verb(&[]));
        follows(&library);
        let words = ["compile-resource", "wiki", "w://page", "--watch"];
        let watch = Running::start(&mut library.place.verb(&words));
        assert!(watch.line().starts_with("unchanged "));
        owner.signal(Signal::TERM);
        owner.end();
        let (code, err) = watch.end();
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("the gateway that serves this home has stopped"), "{err}");
    }
}

#[test]
fn a_resource_that_vanishes_is_told_and_stays() {
    let library = Library::new("compile = true", &[]);
    library.page("About antelopes.\n");
    let words = ["compile-resource", "wiki", "w://page", "--watch", "--json"];
    let watch = Running::start(&mut library.place.verb(&words));
    assert_eq!(next(&watch)["outcome"], "added");
    library.put(&json!({}));
    assert_eq!(next(&watch)["outcome"], "unlisted");
    library.page("About badgers.\n");
    // The server tells both, in whichever order.
    let mut told = [next(&watch), next(&watch)].map(|line| line["outcome"].to_string());
    told.sort();
    assert_eq!(told, ["\"changed\"", "\"listed\""], "it is taken up again");
    watch.signal(Signal::INT);
    let (code, err) = watch.end();
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("wiki no longer lists w://page; the compiled document stays"), "{err}");
    assert!(err.contains("`toolgate context forget 'resource:wiki w://page'`"), "{err}");
    assert!(err.contains("wiki lists w://page again"), "{err}");
}

#[test]
fn a_word_taken_back_ends_the_watch() {
    let library = Library::new("compile = true", &[]);
    library.page("About antelopes.\n");
    let (owner, _) = Running::serve(&mut library.place.verb(&[]));
    let words = ["compile-resource", "wiki", "w://page", "--watch", "--json"];
    let watch = Running::start(&mut library.place.verb(&words));
    assert_eq!(next(&watch)["outcome"], "added");
    let entry = library.entry("", &[]);
    std::fs::write(library.place.home().join("config.toml"), entry).unwrap();
    owner.signal(Signal::HUP);
    let end = Instant::now() + Duration::from_secs(20);
    let mut change = 0;
    // However it meets the reload, some change after it is refused.
    while library.compile(&["w://page"]).code != 3 {
        assert!(Instant::now() < end, "the reload did not come");
    }
    let ended = std::thread::spawn(move || watch.end());
    while !ended.is_finished() {
        assert!(Instant::now() < end, "the watch goes on");
        change += 1;
        library.page(&format!("About badgers, {change}.\n"));
        std::thread::sleep(Duration::from_millis(200));
    }
    let (code, err) = ended.join().unwrap();
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("`compile = true`"), "{err}");
}

#[test]
fn a_server_that_tells_nothing_is_looked_at() {
    for arguments in [&["deaf"][..], &["deaf", "modern"]] {
        let library = Library::new("compile = true", arguments);
        library.page("About antelopes.\n");
        let said = library.compile(&["w://page", "--watch"]);
        assert_eq!(said.code, 1, "{arguments:?}: {said:?}");
        assert!(said.err.contains("error[TG-CALL-006]: cannot watch `w://page`"), "{said:?}");
        assert!(said.err.contains("--every"), "{said:?}");
        let words = ["compile-resource", "wiki", "w://page", "--watch", "--every", "1s", "--json"];
        let watch = Running::start(&mut library.place.verb(&words));
        assert_eq!(next(&watch)["outcome"], "added");
        library.page("About badgers.\n");
        assert_eq!(next(&watch)["outcome"], "changed");
        watch.signal(Signal::INT);
        let (code, err) = watch.end();
        assert_eq!(code, 0, "{err}");
        assert!(err.contains("wiki does not report changes"), "{err}");
    }
    let library = Library::new("compile = true", &[]);
    assert_eq!(library.compile(&["w://page", "--every", "5s"]).code, 2, "only while watching");
    assert_eq!(library.compile(&["w://page", "--watch", "--every", "5ms"]).code, 2);
}
