//! The command line: options that hold everywhere, and the verbs.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand};

use crate::exit::{Exit, Failure};
use crate::logs::Areas;
use crate::out;
use crate::verbs::{
    add::Add, add_json::AddJson, completions::Completions, config::Config, get::Get, list::List,
    man::ManPages, remove::Remove, secret::Secret, switch::Switch,
};
use crate::verbs::{
    approvals::Approvals, audit::Audit, keys::Keys, lock::Lock, pins::Pins, policy::Policy,
    report::Report, score::ScoreOptions,
};
use crate::verbs::{
    call::Call, compile_resource::CompileResource, conformance_client::ConformanceClient,
    consent::Consent, context::Context, discover::Discover, doctor::Doctor, exposure::Exposure,
    prompt::Prompt, read_resource::ReadResource, search::Search, serve::Serve, servers::Servers,
};
use crate::verbs::{export::Export, import::Import, install::Install, uninstall::Uninstall};

/// One gate between AI agents and MCP servers
#[derive(Debug, Parser)]
#[command(
    name = "toolgate",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 done, 1 the thing asked for failed, 2 bad usage or bad config, \
                  3 refused by policy.\n\
                  `toolgate mcp VERB` is the same as `toolgate VERB`.\n\n\
                  Example: toolgate serve"
)]
pub struct Cli {
    /// What holds for every verb.
    #[command(flatten)]
    pub globals: Globals,
    /// What to do.
    #[command(subcommand)]
    command: Command,
}

impl Cli {
    /// What to do, whichever way it was written.
    pub fn verb(&self) -> &Verb {
        match &self.command {
            Command::Verb(verb) | Command::Mcp { verb } => verb,
        }
    }
}

/// Options of every verb.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Globals {
    /// Keep config, state, cache and logs in this folder and nowhere else
    #[arg(long, value_name = "DIR", env = "TOOLGATE_HOME", hide_env_values = true, global = true)]
    pub home: Option<PathBuf>,
    /// Read this file, in whatever dialect, and no other; naming it is consent to what it starts
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// See what callers with this profile see
    #[arg(long = "as", value_name = "PROFILE", global = true)]
    pub profile: Option<String>,
    /// Print the same data as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Say more on stderr
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Read the operator's passphrase from standard input instead of asking for it
    #[arg(long, global = true)]
    pub passphrase_stdin: bool,
    /// Log in detail on stderr, all areas or some: config, launch, transport, session, fleet,
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
    pub debug: Option<Areas>,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Verb(Verb),
    /// The same verbs, for people who paste such lines
    #[command(hide = true)]
    Mcp {
        #[command(subcommand)]
        verb: Verb,
    },
}

/// Everything that can be asked for.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Serve every server through one MCP endpoint
    Serve(Serve),
    /// Show how every server stands
    Servers(Servers),
    /// Show what servers offer
    Discover(Discover),
    /// Find tools by what you want to do
    Search(Search),
    /// Show what is visible, under which name, at what cost, and why
    Exposure(Exposure),
    /// Call a tool
    Call(Call),
    /// Read a resource
    ReadResource(ReadResource),
    /// Make a resource part of the local context
    CompileResource(CompileResource),
    /// Keep documents that agents can search, and search them
    Context(Context),
    /// Fill in a prompt
    Prompt(Prompt),
    /// Bring servers up step by step and say what is wrong
    Doctor(Doctor),
    /// Show what every server is worth, and why
    Score(ScoreOptions),
    /// Write what happened as Markdown, JSON or a page
    Report(Report),
    /// Decide about calls that wait for approval
    Approvals(Approvals),
    /// Make and revoke the keys by which callers over HTTP are known
    Keys(Keys),
    /// Read the journal of what was decided and done, and prove that nobody changed it
    Audit(Audit),
    /// Check, explain, test and replay the rules by which calls are decided
    Policy(Policy),
    /// See what changed in servers' definitions, and approve it
    Pins(Pins),
    /// Write down exactly what is started and offered, or check it
    Lock(Lock),
    /// Declare a server
    Add(Box<Add>),
    /// Declare a server from an entry in JSON
    AddJson(AddJson),
    /// Show every declared server and how it stands
    #[command(visible_alias = "ls")]
    List(List),
    /// Show everything about one server
    Get(Get),
    /// Take a server out of the file that declares it
    Remove(Remove),
    /// Switch a server on
    Enable(Switch),
    /// Switch a server off
    Disable(Switch),
    /// See and allow what a project's files would start
    Consent(Consent),
    /// Copy servers out of another client's files into ours
    Import(Import),
    /// Write servers in another client's dialect
    Export(Export),
    /// Write Toolgate into a client's own config
    Install(Install),
    /// Take Toolgate out of a client's config again
    Uninstall(Uninstall),
    /// Check the config files, and show where they lie
    Config(Config),
    /// Keep values that config files name with ${secret:NAME}
    Secret(Secret),
    /// Be a small MCP server on stdin and stdout, to try things with
    #[command(after_help = "Example: toolgate sample-server")]
    SampleServer,
    /// Print a script that completes command lines in a shell
    Completions(Completions),
    /// Print the manual, or write its pages
    Man(ManPages),
    /// Play the client of the official conformance suite
    #[command(hide = true)]
    ConformanceClient(ConformanceClient),
}

/// What becomes of a command line that names no work: help is no failure.
pub fn refused(error: &clap::Error) -> Result<Exit, Failure> {
    if error.kind() == ErrorKind::MissingSubcommand {
        out::note(Cli::command().render_help().to_string().trim_end());
        return Ok(Exit::Usage);
    }
    // Whoever closed the stream does not want to read it.
    let _ = error.print();
    Ok(match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Done,
        _ => Exit::Usage,
    })
}
