//! `call`, `read-resource` and `prompt`.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Place, Running, eventually, run, sample, witness};

fn witnessed() -> Place {
    let place = Place::with("");
    std::fs::write(place.config(), witness("w", &place.work())).unwrap();
    place
}

#[test]
fn arguments_are_words_or_json_or_stdin() {
    let place = Place::with(&sample("s"));
    for words in [&["text=hi there"][..], &[r#"{"text":"hi there"}"#]] {
        let mut verb = place.configured(&["call", "s", "echo"]);
        let said = run(verb.args(words));
        assert_eq!((said.code, said.out.as_str()), (0, "hi there\n"), "{said:?}");
    }
    let file = place.work().join("arguments.json");
    std::fs::write(&file, "{\n \"text\": \"from a file\"\n}\n").unwrap();
    let mut verb = place.configured(&["call", "s", "echo", "-"]);
    let said = run(verb.stdin(Stdio::from(std::fs::File::open(file).unwrap())));
    assert_eq!((said.code, said.out.as_str()), (0, "from a file\n"), "{said:?}");
}

#[test]
fn words_become_what_the_schema_says() {
    let place = witnessed();
    let words = ["text=1", "count=3", "deep=true", "list=[1,\"a\"]", "limit=null", "other=7"];
    let mut verb = place.configured(&["call", "w", "echo"]);
    let said = run(verb.args(words));
    let expected = json!({
        "text": "1", "count": 3, "deep": true, "list": [1, "a"], "limit": null, "other": "7",
    });
    assert_eq!(said.json(), expected, "{said:?}");
    let said = run(&mut place.configured(&["call", "w", "echo", "count=many"]));
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("`count` must be of type integer, got `many`"), "{said:?}");
}

#[test]
fn json_is_the_result_as_the_server_sent_it() {
    let place = witnessed();
    let said = run(&mut place.configured(&["call", "w", "odd", "--json"]));
    assert_eq!(
        said.out,
        "{\"content\":[{\"type\":\"text\",\"text\":\"odd\",\"x\":1.50}],\
         \"_big\":12345678901234567890123,\"y\":1e2}\n"
    );
}

#[test]
fn what_is_no_text_is_named() {
    let place = witnessed();
    let said = run(&mut place.configured(&["call", "w", "picture"]));
    assert_eq!((said.code, said.out.as_str()), (0, "[image image/png, 12 KiB]\n"), "{said:?}");
}

#[test]
fn a_tool_that_fails_ends_with_1() {
    let place = witnessed();
    let said = run(&mut place.configured(&["call", "w", "fail"]));
    assert_eq!((said.code, said.out.as_str()), (1, "it broke\n"), "{said:?}");
    assert!(said.err.contains("tool `fail` on `w` returned an error"), "{said:?}");
    let said = run(&mut place.configured(&["call", "w", "nothing"]));
    assert_eq!(said.code, 1);
    assert!(said.err.contains("hint: run `toolgate discover w`"), "{said:?}");
}

#[test]
fn a_tool_may_be_called_by_its_exposed_name() {
    let place = Place::with(&sample("s"));
    let said = run(&mut place.configured(&["call", "s", "s__echo", "text=x"]));
    assert_eq!(said.out, "x\n", "{said:?}");
}

#[test]
fn only_the_server_that_is_called_is_started() {
    let place = Place::with("");
    let other = "[servers.other]\ncommand = \"sh\"\nargs = [\"-c\", \"touch started; exit 1\"]\n";
    std::fs::write(place.config(), format!("{}{other}", sample("s"))).unwrap();
    let said = run(&mut place.configured(&["call", "s", "echo", "text=x"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!place.work().join("started").exists());
}

#[test]
fn without_a_terminal_questions_are_declined_and_said_so() {
    let place = witnessed();
    let said = run(&mut place.configured(&["call", "w", "ask"]));
    assert_eq!(said.json(), json!({ "action": "decline" }), "{said:?}");
    assert_eq!(said.err.lines().count(), 1, "{said:?}");
    assert!(said.err.contains("w asks for form input: declined"), "{said:?}");
}

#[test]
fn an_interrupt_cancels_the_call_at_the_server() {
    let place = witnessed();
    let call = Running::start(&mut place.configured(&["call", "w", "slow"]));
    eventually("the call", || place.work().join("begun").exists());
    call.signal(Signal::INT);
    let (code, err) = call.end();
    assert_eq!(code, 130, "{err}");
    assert!(err.contains("interrupted"), "{err}");
    assert!(place.work().join("cancelled").exists(), "the server was not told");
}

#[test]
fn a_resource_is_read_as_text_or_into_a_file() {
    let place = witnessed();
    let said = run(&mut place.configured(&["read-resource", "w", "w://any"]));
    assert_eq!((said.code, said.out.as_str()), (0, "text of w://any\n"), "{said:?}");
    let said = run(&mut place.configured(&["read-resource", "w", "w://blob"]));
    assert_eq!(said.out, "[resource w://blob a/b, 6 B]\n", "{said:?}");
    assert!(said.err.contains("--output"), "{said:?}");
    let file = ["read-resource", "w", "w://blob", "--output", "blob"];
    assert_eq!(run(&mut place.configured(&file)).code, 0);
    assert_eq!(std::fs::read(place.work().join("blob")).unwrap(), b"\xff\xef\x00foo");
    let said = run(&mut place.configured(&["read-resource", "w", "w://blob", "--json"]));
    assert_eq!(said.json()["contents"][0]["blob"], "/+8AZm9v");
}

#[test]
fn a_prompt_is_filled_in() {
    let place = witnessed();
    let said = run(&mut place.configured(&["prompt", "w", "greet", "who=7"]));
    assert_eq!((said.code, said.out.as_str()), (0, "user: Greet 7\n"), "{said:?}");
    let said = run(&mut place.configured(&["prompt", "w", "greet", "who=7", "--json"]));
    assert_eq!(said.json()["messages"][0]["content"]["text"], "Greet 7");
}

#[test]
fn a_prompt_without_a_required_argument_fails_and_names_it() {
    let place = witnessed();
    for words in [&["prompt", "w", "greet"][..], &["prompt", "w", "greet", "other=1", "--json"]] {
        let said = run(&mut place.configured(words));
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{said:?}");
        assert!(said.err.contains("`who` is required"), "{said:?}");
    }
}

#[test]
fn a_tool_may_be_named_with_its_server_in_one_word() {
    let two = format!("{}env = {{ TWO = \"2\" }}\n", sample("s__two"));
    let place = Place::with(&format!("{}{two}", sample("s")));
    for words in [&["s__echo"][..], &["s__two", "echo"], &["s__two__echo"], &["s", "s__echo"]] {
        let said = run(place.configured(&["call"]).args(words).arg("text=hi"));
        assert_eq!((said.code, said.out.as_str()), (0, "hi\n"), "{words:?}: {said:?}");
    }
    let said = run(&mut place.configured(&["call", "s"]));
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("toolgate discover s"), "{said:?}");
}

#[test]
fn a_misspelt_tool_or_argument_is_answered_with_the_nearest() {
    let place = Place::with(&sample("files"));
    let said = run(&mut place.configured(&["call", "files", "ehco", "text=hi"]));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("did you mean `echo`?"), "{said:?}");
    let said = run(&mut place.configured(&["call", "fiels", "echo", "text=hi"]));
    assert!(said.err.contains("did you mean `files`?"), "{said:?}");
    let said = run(&mut place.configured(&["call", "files", "echo", "text=hi", "--as", "defualt"]));
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("did you mean `default`?"), "{said:?}");
}

#[test]
fn a_result_is_written_to_a_file() {
    let place = witnessed();
    let said = run(&mut place.configured(&["call", "w", "picture", "-o", "result.png"]));
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    assert!(said.err.contains("wrote 12 kB to result.png"), "{said:?}");
    assert_eq!(std::fs::read(place.work().join("result.png")).unwrap(), [0; 12_000]);
    let said =
        run(&mut place.configured(&["-q", "call", "w", "echo", "text=hi", "-o", "text.txt"]));
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, "", ""), "{said:?}");
    let text = std::fs::read_to_string(place.work().join("text.txt")).unwrap();
    assert!(text.contains("hi"), "{text}");
}
