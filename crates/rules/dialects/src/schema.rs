//! The JSON Schema of our own file, for editors and for people.
//!
//! It is written by hand: the reader ([`crate::forms`]) asks for fields one by one and has no types
//! to derive it from, and a second set of types would only repeat it. A test holds both together:
//! what the reader asks for at each level is what the schema has there.

mod decisions;

use toolgate_model::{Approval, ContextNames, Data, Expose, Naming, Offer, Prefix};

use crate::Foreign;
use crate::edit::json_text;
use decisions::{approvals, launch, pins, policy};

/// The schema, as the text of a JSON document (draft 2020-12).
pub fn schema() -> String {
    let document = table(
        "The servers an agent reaches through toolgate, and how.",
        vec![
            ("$schema", text("The schema of this file.")),
            ("roots", texts("Folders that servers may work in, as answered to roots/list.")),
            ("naming", naming()),
            ("prefix", prefix()),
            (
                "foreign",
                words(
                    "Which files of other hosts are read beside this one.",
                    &Foreign::ALL.map(Foreign::as_str),
                ),
            ),
            ("inputs", list("Values a person is asked for; ${secret:ID} stands for one.", input())),
            ("servers", map("The servers, by name.", server())),
            ("launch", launch()),
            ("policy", policy()),
            ("profiles", profiles()),
            ("clients", map("Clients, by the name they call themselves.", client())),
            ("approvals", approvals()),
            ("pins", pins()),
            ("timeouts", timeouts()),
            ("context", context()),
            ("extra", extra()),
        ],
    );
    let head = object(vec![
        ("$schema", Data::text("https://json-schema.org/draft/2020-12/schema")),
        ("title", Data::text("toolgate.toml")),
    ]);
    json_text(&both(head, document))
}

fn server() -> Data {
    let fields = vec![
        ("description", text("What the server is for.")),
        ("command", text("The program to start: a name, or a path. Variables are expanded.")),
        ("args", texts("Its arguments. Variables are expanded.")),
        ("cwd", text("Its working folder; from the folder of this file, if relative.")),
        ("env", variables()),
        ("env_file", text("A file of more variables, NAME=value per line; `env` wins over it.")),
        (
            "env_inherit",
            texts("Variables taken over from toolgate's own; patterns in your own file only."),
        ),
        ("type", transport("How the server is reached, where that has to be said.")),
        ("transport", transport("The same as `type`.")),
        ("url", pattern("The endpoint to connect to.", r"^(https?://|\$\{)")),
        ("headers", headers()),
        ("headers_helper", text("A command that prints more headers.")),
        ("auth", auth()),
        (
            "enabled",
            flag("Whether to start it. Alone in an entry: switches the server of another file."),
        ),
        ("pool", words("Who shares one connection.", &["shared", "per-caller"])),
        ("timeouts", timeouts()),
        ("tags", texts("The tags of its tools.")),
        ("include", texts("Patterns of the tools that are seen; none: all.")),
        ("exclude", texts("Patterns of the tools that are not.")),
        ("only_listed", flag("Whether tools are hidden that `tools` does not list.")),
        ("tools", map("Single tools, by the name their server gives them.", tool())),
        ("approval", approval("When somebody is asked before a tool is called.")),
        ("trust", flag("Whether its tools are called without asking; in your own file only.")),
        ("sampling", sampling()),
        (
            "compile",
            flag("Whether its resources may be kept in the local context; in your own file only."),
        ),
        ("required", flag("Whether clients wait for it.")),
        ("allowed_commands", texts("Commands that were reviewed.")),
        ("manifest", manifest()),
        ("client_consent", text("The word a client gave.")),
        ("sandbox", sandbox()),
        ("extra", extra()),
    ];
    let described = table("A server: `command` or `url`, or `enabled` alone.", fields);
    with(described, vec![("oneOf", Data::List(kinds()))])
}

/// A process, an endpoint, or the switch of another file's server.
fn kinds() -> Vec<Data> {
    let said = |words: &[&str]| {
        let word = object(vec![("enum", Data::texts(words.iter().copied()))]);
        object(vec![("type", word.clone()), ("transport", word)])
    };
    let required = |key: &str| ("required", Data::texts([key]));
    vec![
        object(vec![required("command"), ("properties", said(&["stdio"]))]),
        object(vec![required("url"), ("properties", said(&HTTP))]),
        object(vec![required("enabled"), ("maxProperties", Data::Integer(1))]),
    ]
}

/// The words for transports over HTTP.
const HTTP: [&str; 4] = ["http", "sse", "streamable-http", "streamableHttp"];

fn transport(about: &str) -> Data {
    words(about, &[&["stdio"], &HTTP[..]].concat())
}

fn variables() -> Data {
    let names = object(vec![("pattern", Data::text("^[^=]+$"))]);
    let values = text("The value. Variables are expanded.");
    with(map("Variables of the process.", values), vec![("propertyNames", names)])
}

fn headers() -> Data {
    let names = object(vec![("pattern", Data::text("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"))]);
    let values = pattern("The value. Variables are expanded.", "^[^\\r\\n]*$");
    with(map("Headers sent with every request.", values), vec![("propertyNames", names)])
}

fn auth() -> Data {
    let provider = "Where the identity comes from: \"discover\", \"none\", \"oauth\", \"google\", \
                    \"service-account\", or \"host:NAME\" for another host's own login.";
    let words = "^(discover|none|oauth|google|service-account|host:.+)$";
    let fields = vec![
        ("provider", pattern(provider, words)),
        ("client_id", text("The client's id.")),
        ("client_secret", text("The client's secret; best as ${secret:NAME}.")),
        ("issuer", text("Who issues tokens.")),
        ("metadata_url", text("Where the metadata of the authorization server lies.")),
        ("authorization_url", text("Where the user is sent.")),
        ("token_url", text("Where tokens are had.")),
        ("registration_url", text("Where clients register.")),
        ("redirect_uri", text("Where the user is sent back to.")),
        ("callback_port", number("The port he is sent back to.", 1, 65535)),
        ("scopes", texts("What is asked for.")),
        ("audiences", texts("For whom tokens are meant.")),
        ("resource", text("The resource they are for.")),
        ("token_param", text("The query parameter the token travels in, where it is no header.")),
        ("audience", text("For whom the token of a service account is meant.")),
        ("account", text("The service account.")),
    ];
    let is_account = object(vec![("const", Data::text("service-account"))]);
    let condition = object(vec![
        ("properties", object(vec![("provider", is_account)])),
        ("required", Data::texts(["provider"])),
    ]);
    let needed = object(vec![("required", Data::texts(["audience", "account"]))]);
    let about = "How the server is told who calls.";
    with(table(about, fields), vec![("if", condition), ("then", needed)])
}

fn timeouts() -> Data {
    table(
        "How long things may take, like \"500ms\", \"30s\", \"10m\".",
        vec![
            ("start", time("From the start to the end of the handshake.")),
            ("call", time("A call without any sign of life; no limit if nobody sets one.")),
            ("max", time("A call, whatever happens meanwhile.")),
        ],
    )
}

/// A length of time.
pub(crate) fn time(about: &str) -> Data {
    pattern(about, r"^\s*0*[1-9][0-9]*\s*(ms|s|m|h)\s*$")
}

fn tool() -> Data {
    table(
        "One tool.",
        vec![
            ("alias", text("The name to expose it under.")),
            ("tags", texts("Its tags, instead of its server's.")),
            ("enabled", flag("Whether it is seen.")),
            ("approval", approval("When somebody is asked before it is called.")),
        ],
    )
}

fn approval(about: &str) -> Data {
    words(about, &Approval::ALL.map(Approval::as_str))
}

fn manifest() -> Data {
    table(
        "What was reviewed.",
        vec![
            ("digest", text("The digest of the manifest, sha256:<64 hex>.")),
            ("signature", text("The signature over it.")),
        ],
    )
}

fn sandbox() -> Data {
    table(
        "How the process is confined.",
        vec![
            ("enabled", flag("Whether it is.")),
            ("profile", text("The name of a profile.")),
            ("allow_write", texts("Paths it may write.")),
            ("deny_read", texts("Paths it may not read.")),
            ("deny_write", texts("Paths it may not write.")),
            ("allowed_domains", texts("Hosts it may reach.")),
            ("denied_domains", texts("Hosts it may not reach.")),
        ],
    )
}

fn input() -> Data {
    let id = with(text("Its name."), vec![("minLength", Data::Integer(1))]);
    let fields = vec![
        ("id", id),
        ("description", text("What to ask for.")),
        ("password", flag("Whether what is typed is not to be seen.")),
    ];
    with(table("A value.", fields), vec![("required", Data::texts(["id"]))])
}

fn sampling() -> Data {
    let most = i64::from(u32::MAX);
    let limits = vec![
        ("requests_per_day", number("Completions in a day (UTC).", 1, most)),
        ("tokens_per_day", number("Tokens it may ask for in a day (UTC).", 1, i64::MAX)),
        ("max_tokens", number("Tokens it may ask for at once.", 1, i64::MAX)),
        ("concurrency", number("Completions under way at once.", 1, most)),
    ];
    let about = "Whether it may ask its callers' models, and how much; in your own file only.";
    either(about, object(vec![("type", Data::text("boolean"))]), table("Limits.", limits))
}

fn context() -> Data {
    let offer = "Whether callers are offered it: if it holds something or is all there is, also if \
                 it is empty, or not at all.";
    let names = "Whose names its tools and resources have.";
    table(
        "The local context; in your own file only.",
        vec![
            ("offer", words(offer, &Offer::ALL.map(Offer::as_str))),
            ("names", words(names, &ContextNames::ALL.map(ContextNames::as_str))),
            ("folders", texts("Folders that `serve` keeps it up to date with.")),
            ("trusted", texts("Folders whose text is your own word.")),
        ],
    )
}

fn naming() -> Data {
    words("In whose manner exposed names are made.", &Naming::ALL.map(Naming::as_str))
}

fn prefix() -> Data {
    let about = "When a name carries the name of its server, where the naming leaves a choice.";
    words(about, &Prefix::ALL.map(Prefix::as_str))
}

fn profiles() -> Data {
    let names = object(vec![("pattern", Data::text("^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"))]);
    let about = "What a caller sees, by the name of a profile.";
    with(map(about, profile()), vec![("propertyNames", names)])
}

fn profile() -> Data {
    let most = i64::from(u32::MAX);
    let bounds = vec![("minimum", Data::Integer(1)), ("maximum", Data::Integer(most))];
    let results = with(
        object(vec![("description", Data::text(RESULTS))]),
        vec![("type", Data::texts(["integer", "boolean"]))],
    );
    table(
        "What a caller sees.",
        vec![
            ("tags", texts("The tags of what he sees, or of what is above it; none: any.")),
            ("include", texts("Patterns of server/name that he sees whatever their tags.")),
            ("exclude", texts("Patterns of server/name that he does not see.")),
            ("naming", naming()),
            ("prefix", prefix()),
            (
                "expose",
                words(
                    "Whether he is sent definitions, or searches for them.",
                    &Expose::ALL.map(Expose::as_str),
                ),
            ),
            ("budget", number("How many tokens his list of tools may cost.", 1, most)),
            ("results", with(results, bounds)),
        ],
    )
}

/// What `results` means.
const RESULTS: &str = "From how many tokens on a result is kept aside and shown in part; true: the \
                       usual number.";

fn client() -> Data {
    let fields = vec![("profile", text("The profile it gets where it chose none."))];
    with(table("A client.", fields), vec![("required", Data::texts(["profile"]))])
}

pub(crate) fn object(fields: Vec<(&str, Data)>) -> Data {
    Data::Table(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn of_type(kind: &str, about: &str) -> Data {
    object(vec![("description", Data::text(about)), ("type", Data::text(kind))])
}

/// The fields of both.
fn both(first: Data, second: Data) -> Data {
    match (first, second) {
        (Data::Table(mut fields), Data::Table(more)) => {
            fields.extend(more);
            Data::Table(fields)
        }
        (first, _) => first,
    }
}

pub(crate) fn with(schema: Data, more: Vec<(&str, Data)>) -> Data {
    both(schema, object(more))
}

pub(crate) fn text(about: &str) -> Data {
    of_type("string", about)
}

pub(crate) fn flag(about: &str) -> Data {
    of_type("boolean", about)
}

fn extra() -> Data {
    let fields = of_type("object", "Its fields, as that host writes them.");
    map("What means something to another host only, by dialect.", fields)
}

pub(crate) fn pattern(about: &str, pattern: &str) -> Data {
    with(text(about), vec![("pattern", Data::text(pattern))])
}

pub(crate) fn words(about: &str, words: &[&str]) -> Data {
    with(text(about), vec![("enum", Data::texts(words.iter().copied()))])
}

fn number(about: &str, least: i64, most: i64) -> Data {
    let limits = vec![("minimum", Data::Integer(least)), ("maximum", Data::Integer(most))];
    with(of_type("integer", about), limits)
}

/// One of two.
pub(crate) fn either(about: &str, one: Data, other: Data) -> Data {
    let choices = Data::List(vec![one, other]);
    object(vec![("description", Data::text(about)), ("anyOf", choices)])
}

pub(crate) fn list(about: &str, items: Data) -> Data {
    with(of_type("array", about), vec![("items", items)])
}

fn texts(about: &str) -> Data {
    list(about, object(vec![("type", Data::text("string"))]))
}

pub(crate) fn map(about: &str, values: Data) -> Data {
    with(of_type("object", about), vec![("additionalProperties", values)])
}

pub(crate) fn table(about: &str, fields: Vec<(&str, Data)>) -> Data {
    let more = vec![("properties", object(fields)), ("additionalProperties", Data::Flag(false))];
    with(of_type("object", about), more)
}
