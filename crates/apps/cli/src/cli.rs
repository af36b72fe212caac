//! The command line as clap parses it: the global options and the verbs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::complete::profile_names;
use crate::exit::{CliError, ErrorCode, Exit, Result};
use crate::logs::LogAreas;
use crate::out;
use crate::verbs::{
    add, add_json, approvals, audit, call, compile_resource, completions, config,
    conformance_client, consent, context, discover, doctor, explain, export, exposure, get, import,
    install, keys, list, lock, man, pins, policy, prompt, read_resource, remove, report, score,
    search, secret, serve, switch, uninstall,
};

/// The parts of the main help; the verbs are before the options, in groups.
const HELP_TEMPLATE: &str =
    "{about}\n\n{usage-heading} {usage}\n\n{before-help}Global options:\n{options}{after-help}";

/// The verbs of the main help, by task.
const VERB_GROUPS: [(&str, &[&str]); 6] = [
    ("Connect", &["serve", "install", "uninstall", "import", "export"]),
    (
        "Manage servers",
        &["list", "get", "add", "add-json", "remove", "enable", "disable", "consent", "doctor"],
    ),
    (
        "Use servers",
        &["discover", "search", "call", "read-resource", "prompt", "context", "compile-resource"],
    ),
    ("Control", &["policy", "approvals", "exposure", "pins", "lock", "keys", "secret"]),
    ("Review", &["audit", "score", "report"]),
    ("Toolgate itself", &["config", "explain", "completions", "man", "sample-server", "help"]),
];

/// Returns the definition of the command line.
pub fn command() -> Command {
    let command = Cli::command();
    let verbs = grouped_verbs(&command);
    command.before_help(verbs)
}

/// Returns the verbs with their descriptions, in groups. A verb that no group names comes last.
fn grouped_verbs(command: &Command) -> String {
    let mut text = String::new();
    for (title, verbs) in VERB_GROUPS {
        text.push_str(&format!("{title}:\n"));
        for verb in verbs {
            let about = command.find_subcommand(verb).and_then(Command::get_about);
            let about =
                about.map_or("Show this help, or that of a verb".to_owned(), |it| it.to_string());
            text.push_str(&format!("  {verb:<17} {about}\n"));
        }
        text.push('\n');
    }
    text
}

/// One gate between AI agents and MCP servers
#[derive(Debug, Parser)]
#[command(
    name = "toolgate",
    version,
    max_term_width = 100,
    help_template = HELP_TEMPLATE,
    after_help = "Exit codes: 0 success, 1 failure, 2 bad usage or configuration, \
                  3 refused by policy, 130 interrupted.\n\
                  `toolgate mcp VERB` is the same as `toolgate VERB`.\n\n\
                  Example: toolgate serve"
)]
pub struct Cli {
    /// The global options.
    #[command(flatten)]
    pub globals: GlobalArgs,
    /// The verb, with or without `mcp` before it.
    #[command(subcommand)]
    command: CliCommand,
}

impl Cli {
    /// Parses a command line.
    pub fn parse_words(words: Vec<OsString>) -> Result<Self, clap::Error> {
        Self::from_arg_matches(&command().try_get_matches_from(words)?)
    }

    /// Returns the verb, whether it was typed as `toolgate VERB` or `toolgate mcp VERB`.
    pub fn verb(&self) -> &VerbCommand {
        match &self.command {
            CliCommand::Verb(verb) | CliCommand::Mcp { verb } => verb,
        }
    }
}

/// The options that every verb accepts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Store config, state, cache and logs in this folder
    #[arg(long, value_name = "DIR", env = "TOOLGATE_HOME", hide_env_values = true, global = true)]
    pub home: Option<PathBuf>,
    /// Read only this config file, in any dialect; implies consent to what it starts
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Use this profile
    #[arg(long = "as", value_name = "PROFILE", global = true, add = profile_names())]
    pub profile: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print more details to stderr
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Print nothing to stderr except errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Read the operator's passphrase from stdin instead of prompting
    #[arg(long, global = true)]
    pub passphrase_stdin: bool,
    /// Log details to stderr, for all areas or some: config, launch, transport, session, fleet,
    /// gate, gateway, context
    #[arg(
        long,
        value_name = "AREA,…",
        env = "TOOLGATE_LOG",
        hide_env_values = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all",
        global = true
    )]
    pub debug: Option<LogAreas>,
}

/// A verb, typed either directly or after `mcp`.
#[derive(Debug, Subcommand)]
enum CliCommand {
    #[command(flatten)]
    Verb(VerbCommand),
    /// Run a verb: `toolgate mcp VERB` is the same as `toolgate VERB`
    #[command(hide = true)]
    Mcp {
        #[command(subcommand)]
        verb: VerbCommand,
    },
}

/// A verb with its arguments.
#[derive(Debug, Subcommand)]
pub enum VerbCommand {
    /// Serve all servers through one MCP endpoint
    Serve(serve::ServeArgs),
    /// List what servers offer
    Discover(discover::DiscoverArgs),
    /// Search tools by task
    Search(search::SearchArgs),
    /// Show what a profile exposes, at what cost and by which rule
    Exposure(exposure::ExposureArgs),
    /// Call a tool
    Call(call::CallArgs),
    /// Read a resource
    ReadResource(read_resource::ReadResourceArgs),
    /// Add a resource to the local context
    CompileResource(compile_resource::CompileResourceArgs),
    /// Manage and search the local context
    #[command(subcommand)]
    Context(context::ContextCommand),
    /// Get a prompt
    Prompt(prompt::PromptArgs),
    /// Diagnose servers step by step
    Doctor(doctor::DoctorArgs),
    /// Rate every server and explain the rating
    Score(score::ScoreArgs),
    /// Write an activity report as Markdown, JSON or HTML
    Report(report::ReportArgs),
    /// Approve or deny pending calls
    Approvals(approvals::ApprovalsArgs),
    /// Manage access keys for HTTP clients
    Keys(keys::KeysArgs),
    /// Read, export and verify the journal
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Edit, check, explain, test and replay the policy rules
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// Review and approve changes to server definitions
    Pins(pins::PinsArgs),
    /// Write or check the lock file
    Lock(lock::LockArgs),
    /// Add a server
    Add(Box<add::AddArgs>),
    /// Add a server from a JSON entry
    AddJson(add_json::AddJsonArgs),
    /// List all servers with their state
    #[command(visible_alias = "ls", alias = "servers")]
    List(list::ListArgs),
    /// Show details of one server
    Get(get::GetArgs),
    /// Remove a server
    Remove(remove::RemoveArgs),
    /// Enable a server
    Enable(switch::SwitchArgs),
    /// Disable a server
    Disable(switch::SwitchArgs),
    /// Show or allow what a project's files would start
    Consent(consent::ConsentArgs),
    /// Import servers from another client's config
    Import(import::ImportArgs),
    /// Export servers in another client's format
    Export(export::ExportArgs),
    /// Add Toolgate to a client's config
    Install(install::InstallArgs),
    /// Remove Toolgate from a client's config
    Uninstall(uninstall::UninstallArgs),
    /// Check the config files or show where they are
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Manage the secrets that config files name as ${secret:NAME}
    #[command(subcommand)]
    Secret(secret::SecretCommand),
    /// Run a small MCP server on stdin and stdout for testing
    #[command(after_help = "Example: toolgate sample-server")]
    SampleServer,
    /// Explain an error code
    Explain(explain::ExplainArgs),
    /// Generate a shell completion script
    Completions(completions::CompletionsArgs),
    /// Print or write the manual pages
    Man(man::ManArgs),
    /// Run the client of the official conformance suite
    #[command(hide = true)]
    ConformanceClient(conformance_client::ConformanceClientArgs),
}

/// Prints help, version or the usage error that clap returned, and returns the exit code. Requested
/// help and version exit with success.
pub fn handle_parse_error(error: &clap::Error, json: bool) -> Result<Exit> {
    if error.kind() == ErrorKind::MissingSubcommand {
        out::alert(command().render_help().to_string().trim_end());
        return Ok(Exit::Usage);
    }
    if json && error.use_stderr() {
        let text = error.render().to_string();
        let text = text.trim_end();
        let message = text.strip_prefix("error: ").unwrap_or(text);
        return Err(CliError::new(ErrorCode::CliUsage, message));
    }
    // Printing fails only if the stream is closed, so there is no reader.
    let _ = error.print();
    Ok(match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Done,
        _ => Exit::Usage,
    })
}
