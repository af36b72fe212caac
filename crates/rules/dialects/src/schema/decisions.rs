//! The policy part of the schema: `[launch]`, `[policy]`, `[approvals]`, `[pins]`.

use toolgate_model::{ApprovalChannel, ConfigValue, PolicyMode, Posture};

use super::{either, flag, list, map, object, pattern, table, text, time, with, words};

pub(super) fn launch() -> ConfigValue {
    let about = "How strict toolgate is about servers: \"personal\" or \"governed\".";
    let posture = words(about, &Posture::ALL.map(Posture::as_str));
    table("How servers are started.", vec![("posture", posture)])
}

pub(super) fn policy() -> ConfigValue {
    let modes: Vec<_> = PolicyMode::WORDS.iter().map(|(word, _)| *word).collect();
    let taint = "Whether tools tagged `egress` or `destructive` need approval after the caller \
                 has read content from an untrusted server.";
    let floor = "Whether tools tagged `destructive` then need approval even in mode \"yolo\".";
    table(
        "Which calls are allowed, need approval, or are denied.",
        vec![
            ("mode", words("How to decide calls that no rule matches.", &modes)),
            ("allow", list("Rules for calls that are allowed; in your own file only.", rule())),
            ("ask", list("Rules for calls that need approval.", rule())),
            ("deny", list("Rules for calls that are denied.", rule())),
            ("taint", flag(taint)),
            ("yolo_floor", flag(floor)),
        ],
    )
}

fn rule() -> ConfigValue {
    let about = "What the rule matches: mcp:SERVER/TOOL, mcp:SERVER, tag:TAG, resource:SERVER/URI, \
                 prompt:SERVER/NAME; `*` is any text.";
    let fields = vec![
        ("about", text(about)),
        ("client", text("A pattern of the clients that the rule applies to.")),
        ("profile", text("A pattern of the profiles that the rule applies to.")),
        ("when", list("Conditions on the arguments, all of which must hold.", condition())),
    ];
    let long = with(table("A rule.", fields), vec![("required", ConfigValue::texts(["about"]))]);
    either("A rule: a string, or a table.", text(about), long)
}

fn condition() -> ConfigValue {
    let fields = vec![
        ("at", pattern("A JSON pointer into the arguments.", "^(/|$)")),
        ("glob", text("A pattern that the string there must match; `*` is any text.")),
        (
            "equals",
            object(vec![("description", ConfigValue::text("The value that must be there."))]),
        ),
    ];
    let needs = |key: &str| object(vec![("required", ConfigValue::texts([key]))]);
    let one = vec![needs("glob"), needs("equals")];
    let more = vec![("required", ConfigValue::texts(["at"])), ("oneOf", ConfigValue::List(one))];
    with(table("A condition on one argument.", fields), more)
}

pub(super) fn approvals() -> ConfigValue {
    let via = |about: &str| words(about, &ApprovalChannel::ALL.map(ApprovalChannel::as_str));
    let client =
        table("Who approves the calls of one client.", vec![("via", via("Who approves."))]);
    let terminal = "Whether calls may be approved from a terminal that a client started, such as \
                    the terminal of an editor.";
    table(
        "Who approves calls, and for how long; in your own file only.",
        vec![
            ("via", via("Who approves, unless set for the client.")),
            ("wait", time("How long a call waits for an approval.")),
            ("expiry", time("How long a call can be approved, and a one-time approval used.")),
            ("from_client_terminal", flag(terminal)),
            ("clients", map("Clients, by the name that they report.", client)),
        ],
    )
}

pub(super) fn pins() -> ConfigValue {
    let about = "How old a list of definitions may be when one of them is called; \"0s\": check \
                 the list before every call.";
    let recheck = pattern(about, r"^\s*[0-9]+\s*(ms|s|m|h)\s*$");
    table("Approved definitions of tools.", vec![("recheck", recheck)])
}
