//! The part of the schema that is about decisions: `[launch]`, `[policy]`, `[approvals]`, `[pins]`.

use toolgate_model::{Data, Mode, Posture, Via};

use super::{either, flag, list, map, object, pattern, table, text, time, with, words};

pub(super) fn launch() -> Data {
    let about = "How much is asked of servers before they may be used.";
    let posture = words(about, &Posture::ALL.map(Posture::as_str));
    table("How servers are started.", vec![("posture", posture)])
}

pub(super) fn policy() -> Data {
    let modes: Vec<_> = Mode::WORDS.iter().map(|(word, _)| *word).collect();
    let taint = "Whether tools tagged `egress` or `destructive` are asked about once content of a \
                 server was read that is not trusted.";
    let floor = "Whether such a tool that is destructive is asked about even in mode \"yolo\".";
    table(
        "Which calls pass, are asked about, or are refused.",
        vec![
            ("mode", words("How calls are decided that no rule speaks of.", &modes)),
            ("allow", list("Rules of calls that pass; in your own file only.", rule())),
            ("ask", list("Rules of calls that are asked about.", rule())),
            ("deny", list("Rules of calls that are refused.", rule())),
            ("taint", flag(taint)),
            ("yolo_floor", flag(floor)),
        ],
    )
}

fn rule() -> Data {
    let about = "What it is about: mcp:SERVER/TOOL, mcp:SERVER, tag:TAG, resource:SERVER/URI, \
                 prompt:SERVER/NAME; `*` is any text.";
    let fields = vec![
        ("about", text(about)),
        ("client", text("A pattern of the clients it holds for.")),
        ("profile", text("A pattern of the profiles it holds for.")),
        ("when", list("What must all hold of the arguments.", condition())),
    ];
    let long = with(table("A rule.", fields), vec![("required", Data::texts(["about"]))]);
    either("A rule: a text, or a table.", text(about), long)
}

fn condition() -> Data {
    let fields = vec![
        ("at", pattern("A JSON pointer into the arguments.", "^(/|$)")),
        ("glob", text("A pattern that the text there fits; `*` is any text.")),
        ("equals", object(vec![("description", Data::text("The value that stands there."))])),
    ];
    let needs = |key: &str| object(vec![("required", Data::texts([key]))]);
    let one = vec![needs("glob"), needs("equals")];
    let more = vec![("required", Data::texts(["at"])), ("oneOf", Data::List(one))];
    with(table("What must hold of one argument.", fields), more)
}

pub(super) fn approvals() -> Data {
    let via = |about: &str| words(about, &Via::ALL.map(Via::as_str));
    let client =
        table("How calls of one client are approved.", vec![("via", via("Who approves."))]);
    let terminal = "Whether somebody may approve from a terminal that a client started, such as the \
                    one inside an editor.";
    table(
        "How calls are approved that are asked about; in your own file only.",
        vec![
            ("via", via("Who approves, where nothing is said of the client.")),
            ("wait", time("How long a call waits for an approval.")),
            ("expiry", time("How long it may still be approved, and a single approval used.")),
            ("from_client_terminal", flag(terminal)),
            ("clients", map("Clients, by the name they call themselves.", client)),
        ],
    )
}

pub(super) fn pins() -> Data {
    let about = "How old a list of definitions may be when one of them is called; \"0s\": it is \
                 looked at before every call.";
    let recheck = pattern(about, r"^\s*[0-9]+\s*(ms|s|m|h)\s*$");
    table("Definitions, as they were approved.", vec![("recheck", recheck)])
}
