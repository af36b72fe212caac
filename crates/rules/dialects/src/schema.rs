//! The JSON Schema of Toolgate's own file, for editors and people.
//!
//! It is written by hand: the reader ([`crate::formats`]) reads fields one by one and has no types
//! to derive it from. A test checks that reader and schema have the same fields.

mod decisions;

use toolgate_model::{
    ApprovalMode, ConfigValue, ContextNamingStyle, ContextOfferMode, ExposureMode, NamingStyle,
    PrefixMode,
};

use crate::ForeignFiles;
use crate::edit::json_text;
use decisions::{approvals, launch, pins, policy};

/// Returns the schema as a JSON document (draft 2020-12).
pub fn schema() -> String {
    let document = table(
        "The servers that agents reach through toolgate, and their settings.",
        vec![
            ("$schema", text("The schema of this file.")),
            ("roots", texts("Folders that servers may work in, as answered to roots/list.")),
            ("naming", naming()),
            ("prefix", prefix()),
            (
                "foreign",
                words(
                    "Which files of other hosts are read beside this one.",
                    &ForeignFiles::ALL.map(ForeignFiles::as_str),
                ),
            ),
            (
                "inputs",
                list(
                    "Values that toolgate asks the user for; ${secret:ID} refers to one.",
                    input(),
                ),
            ),
            ("servers", map("The servers, by name.", server())),
            ("launch", launch()),
            ("policy", policy()),
            ("profiles", profiles()),
            ("clients", map("Clients, by the name that they report.", client())),
            ("approvals", approvals()),
            ("pins", pins()),
            ("timeouts", timeouts()),
            ("context", context()),
            ("extra", extra()),
        ],
    );
    let head = object(vec![
        ("$schema", ConfigValue::text("https://json-schema.org/draft/2020-12/schema")),
        ("title", ConfigValue::text("toolgate.toml")),
    ]);
    json_text(&both(head, document))
}

fn server() -> ConfigValue {
    let fields = vec![
        ("description", text("What the server is for.")),
        ("command", text("The program to start: a name, or a path. Variables are expanded.")),
        ("args", texts("Its arguments. Variables are expanded.")),
        ("cwd", text("Its working folder; a relative path starts at the folder of this file.")),
        ("env", variables()),
        (
            "env_file",
            text("A file with more variables, NAME=value per line; `env` takes precedence."),
        ),
        (
            "env_inherit",
            texts(
                "Variables inherited from toolgate's environment; patterns in your own file only.",
            ),
        ),
        ("type", transport("The transport, where it is not clear from the other fields.")),
        ("transport", transport("The same as `type`.")),
        ("url", pattern("The endpoint to connect to.", r"^(https?://|\$\{)")),
        ("headers", headers()),
        ("headers_helper", text("A command that prints more headers.")),
        ("auth", auth()),
        (
            "enabled",
            flag(
                "Whether to start it. Alone in an entry: enables or disables a server of another file.",
            ),
        ),
        ("pool", words("Whether callers share one connection.", &["shared", "per-caller"])),
        ("timeouts", timeouts()),
        ("tags", texts("The tags of its tools.")),
        ("include", texts("Patterns of the tools to show; none: all.")),
        ("exclude", texts("Patterns of the tools to hide.")),
        ("only_listed", flag("Whether to hide tools that `tools` does not list.")),
        ("tools", map("Settings of single tools, by the name that the server reports.", tool())),
        ("approval", approval("When a tool call needs approval.")),
        ("trust", flag("Whether its tools are called without approval; in your own file only.")),
        ("sampling", sampling()),
        (
            "compile",
            flag("Whether its resources may be kept in the local context; in your own file only."),
        ),
        ("required", flag("Whether clients wait for it.")),
        ("allowed_commands", texts("Commands that were reviewed.")),
        ("manifest", manifest()),
        ("client_consent", text("The consent that a client gave.")),
        ("sandbox", sandbox()),
        ("extra", extra()),
    ];
    let described = table("A server: `command` or `url`, or `enabled` alone.", fields);
    with(described, vec![("oneOf", ConfigValue::List(kinds()))])
}

/// The alternatives of an entry: a process, an endpoint, or an override.
fn kinds() -> Vec<ConfigValue> {
    let said = |words: &[&str]| {
        let word = object(vec![("enum", ConfigValue::texts(words.iter().copied()))]);
        object(vec![("type", word.clone()), ("transport", word)])
    };
    let required = |key: &str| ("required", ConfigValue::texts([key]));
    vec![
        object(vec![required("command"), ("properties", said(&["stdio"]))]),
        object(vec![required("url"), ("properties", said(&HTTP))]),
        object(vec![required("enabled"), ("maxProperties", ConfigValue::Integer(1))]),
    ]
}

/// The names of HTTP transports.
const HTTP: [&str; 4] = ["http", "sse", "streamable-http", "streamableHttp"];

fn transport(about: &str) -> ConfigValue {
    words(about, &[&["stdio"], &HTTP[..]].concat())
}

fn variables() -> ConfigValue {
    let names = object(vec![("pattern", ConfigValue::text("^[^=]+$"))]);
    let values = text("The value. Variables are expanded.");
    with(map("Variables of the process.", values), vec![("propertyNames", names)])
}

fn headers() -> ConfigValue {
    let names = object(vec![("pattern", ConfigValue::text("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"))]);
    let values = pattern("The value. Variables are expanded.", "^[^\\r\\n]*$");
    with(map("Headers sent with every request.", values), vec![("propertyNames", names)])
}

fn auth() -> ConfigValue {
    let provider = "The source of the identity: \"discover\", \"none\", \"oauth\", \"google\", \
                    \"service-account\", or \"host:NAME\" for another host's own login.";
    let words = "^(discover|none|oauth|google|service-account|host:.+)$";
    let fields = vec![
        ("provider", pattern(provider, words)),
        ("client_id", text("The client's id.")),
        ("client_secret", text("The client's secret; best as ${secret:NAME}.")),
        ("issuer", text("The issuer of tokens.")),
        ("metadata_url", text("The URL of the authorization server's metadata.")),
        ("authorization_url", text("The authorization endpoint.")),
        ("token_url", text("The token endpoint.")),
        ("registration_url", text("The client registration endpoint.")),
        ("redirect_uri", text("The redirect URI.")),
        ("callback_port", number("The local port of the redirect URI.", 1, 65535)),
        ("scopes", texts("The scopes to request.")),
        ("audiences", texts("The audiences of the token.")),
        ("resource", text("The resource that the token is for.")),
        ("token_param", text("The query parameter that carries the token instead of a header.")),
        ("audience", text("The audience of a service account's token.")),
        ("account", text("The service account.")),
    ];
    let is_account = object(vec![("const", ConfigValue::text("service-account"))]);
    let condition = object(vec![
        ("properties", object(vec![("provider", is_account)])),
        ("required", ConfigValue::texts(["provider"])),
    ]);
    let needed = object(vec![("required", ConfigValue::texts(["audience", "account"]))]);
    let about = "How toolgate authenticates to the server.";
    with(table(about, fields), vec![("if", condition), ("then", needed)])
}

fn timeouts() -> ConfigValue {
    table(
        "Time limits, like \"500ms\", \"30s\", \"10m\".",
        vec![
            ("start", time("From the start to the end of the handshake.")),
            (
                "call",
                time("A call without any message from the server; no limit unless one is set."),
            ),
            ("max", time("A whole call, with or without messages from the server.")),
        ],
    )
}

/// A duration.
pub(crate) fn time(about: &str) -> ConfigValue {
    pattern(about, r"^\s*0*[1-9][0-9]*\s*(ms|s|m|h)\s*$")
}

fn tool() -> ConfigValue {
    table(
        "One tool.",
        vec![
            ("alias", text("The name under which clients see it.")),
            ("tags", texts("Its tags, instead of the server's.")),
            ("enabled", flag("Whether to show it.")),
            ("approval", approval("When a call needs approval.")),
        ],
    )
}

fn approval(about: &str) -> ConfigValue {
    words(about, &ApprovalMode::ALL.map(ApprovalMode::as_str))
}

fn manifest() -> ConfigValue {
    table(
        "What was reviewed.",
        vec![
            ("digest", text("The digest of the manifest, sha256:<64 hex>.")),
            ("signature", text("The signature over it.")),
        ],
    )
}

fn sandbox() -> ConfigValue {
    table(
        "The sandbox of the process.",
        vec![
            ("enabled", flag("Whether the sandbox is used.")),
            ("profile", text("The name of a profile.")),
            ("allow_write", texts("Paths it may write.")),
            ("deny_read", texts("Paths it may not read.")),
            ("deny_write", texts("Paths it may not write.")),
            ("allowed_domains", texts("Hosts it may reach.")),
            ("denied_domains", texts("Hosts it may not reach.")),
        ],
    )
}

fn input() -> ConfigValue {
    let id = with(text("Its name."), vec![("minLength", ConfigValue::Integer(1))]);
    let fields = vec![
        ("id", id),
        ("description", text("What to ask for.")),
        ("password", flag("Whether to hide the value while it is typed.")),
    ];
    with(table("A value.", fields), vec![("required", ConfigValue::texts(["id"]))])
}

fn sampling() -> ConfigValue {
    let most = i64::from(u32::MAX);
    let limits = vec![
        ("requests_per_day", number("Completions in a day (UTC).", 1, most)),
        ("tokens_per_day", number("Tokens it may ask for in a day (UTC).", 1, i64::MAX)),
        ("max_tokens", number("Tokens it may ask for at once.", 1, i64::MAX)),
        ("concurrency", number("Completions at the same time.", 1, most)),
    ];
    let about = "Whether it may use its callers' models, and how much; in your own file only.";
    either(about, object(vec![("type", ConfigValue::text("boolean"))]), table("Limits.", limits))
}

fn context() -> ConfigValue {
    let offer = "When callers see it: if it has content or is the only server, even if it is \
                 empty, or never.";
    let names = "Which host's names its tools and resources have.";
    table(
        "The local context; in your own file only.",
        vec![
            ("offer", words(offer, &ContextOfferMode::ALL.map(ContextOfferMode::as_str))),
            ("names", words(names, &ContextNamingStyle::ALL.map(ContextNamingStyle::as_str))),
            ("folders", texts("Folders that `serve` indexes and watches.")),
            ("trusted", texts("Folders whose text is trusted like your own.")),
        ],
    )
}

fn naming() -> ConfigValue {
    words(
        "Which host's naming style exposed names follow.",
        &NamingStyle::ALL.map(NamingStyle::as_str),
    )
}

fn prefix() -> ConfigValue {
    let about =
        "When a name includes the name of its server, where the naming style leaves a choice.";
    words(about, &PrefixMode::ALL.map(PrefixMode::as_str))
}

fn profiles() -> ConfigValue {
    let names = object(vec![("pattern", ConfigValue::text("^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"))]);
    let about = "Profiles, by name: what a caller sees.";
    with(map(about, profile()), vec![("propertyNames", names)])
}

fn profile() -> ConfigValue {
    let most = i64::from(u32::MAX);
    let bounds =
        vec![("minimum", ConfigValue::Integer(1)), ("maximum", ConfigValue::Integer(most))];
    let results = with(
        object(vec![("description", ConfigValue::text(RESULTS))]),
        vec![("type", ConfigValue::texts(["integer", "boolean"]))],
    );
    table(
        "What a caller sees.",
        vec![
            ("tags", texts("The tags to show, with all tags below them; none: any.")),
            ("include", texts("Patterns of server/name to show regardless of tags.")),
            ("exclude", texts("Patterns of server/name to hide.")),
            ("naming", naming()),
            ("prefix", prefix()),
            (
                "expose",
                words(
                    "Whether the caller gets definitions, or searches for them.",
                    &ExposureMode::ALL.map(ExposureMode::as_str),
                ),
            ),
            ("budget", number("How many tokens the list of tools may cost.", 1, most)),
            ("results", with(results, bounds)),
        ],
    )
}

/// The description of `results`.
const RESULTS: &str = "From how many tokens on a result is stored and shown only in part; true: \
                       the default number.";

fn client() -> ConfigValue {
    let fields = vec![("profile", text("The profile of the client unless it chooses another."))];
    with(table("A client.", fields), vec![("required", ConfigValue::texts(["profile"]))])
}

pub(crate) fn object(fields: Vec<(&str, ConfigValue)>) -> ConfigValue {
    ConfigValue::Table(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn of_type(kind: &str, about: &str) -> ConfigValue {
    object(vec![("description", ConfigValue::text(about)), ("type", ConfigValue::text(kind))])
}

/// Merges the fields of two tables.
fn both(first: ConfigValue, second: ConfigValue) -> ConfigValue {
    match (first, second) {
        (ConfigValue::Table(mut fields), ConfigValue::Table(more)) => {
            fields.extend(more);
            ConfigValue::Table(fields)
        }
        (first, _) => first,
    }
}

pub(crate) fn with(schema: ConfigValue, more: Vec<(&str, ConfigValue)>) -> ConfigValue {
    both(schema, object(more))
}

pub(crate) fn text(about: &str) -> ConfigValue {
    of_type("string", about)
}

pub(crate) fn flag(about: &str) -> ConfigValue {
    of_type("boolean", about)
}

fn extra() -> ConfigValue {
    let fields = of_type("object", "Fields, as that host writes them.");
    map("Fields that only another host uses, by dialect.", fields)
}

pub(crate) fn pattern(about: &str, pattern: &str) -> ConfigValue {
    with(text(about), vec![("pattern", ConfigValue::text(pattern))])
}

pub(crate) fn words(about: &str, words: &[&str]) -> ConfigValue {
    with(text(about), vec![("enum", ConfigValue::texts(words.iter().copied()))])
}

fn number(about: &str, least: i64, most: i64) -> ConfigValue {
    let limits =
        vec![("minimum", ConfigValue::Integer(least)), ("maximum", ConfigValue::Integer(most))];
    with(of_type("integer", about), limits)
}

/// Accepts either of two schemas.
pub(crate) fn either(about: &str, one: ConfigValue, other: ConfigValue) -> ConfigValue {
    let choices = ConfigValue::List(vec![one, other]);
    object(vec![("description", ConfigValue::text(about)), ("anyOf", choices)])
}

pub(crate) fn list(about: &str, items: ConfigValue) -> ConfigValue {
    with(of_type("array", about), vec![("items", items)])
}

fn texts(about: &str) -> ConfigValue {
    list(about, object(vec![("type", ConfigValue::text("string"))]))
}

pub(crate) fn map(about: &str, values: ConfigValue) -> ConfigValue {
    with(of_type("object", about), vec![("additionalProperties", values)])
}

pub(crate) fn table(about: &str, fields: Vec<(&str, ConfigValue)>) -> ConfigValue {
    let more =
        vec![("properties", object(fields)), ("additionalProperties", ConfigValue::Bool(false))];
    with(of_type("object", about), more)
}
