//! What released servers offer: their tool definitions, as they themselves give them.
//!
//! The definitions are their authors' texts and stay out of the repository: each server is started
//! once, offline, and asked; the answers are kept under `target/peers` until a lock file or the
//! table changes. What is made of them is up to the tests.

mod table;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::process::TestProcess;
use crate::{broken, peers};
use table::{PeerProgram, ReleasedServer, SERVERS};

/// How long a server may take for one answer; some load for seconds on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A list that is longer than this many pages goes in circles.
const MOST_PAGES: u64 = 50;

/// One tool of one server.
#[derive(Debug, Clone)]
pub struct CorpusTool {
    /// Whose it is: the name in the table, which is also what the labelled queries say.
    pub server: String,
    /// The server's name for it.
    pub name: String,
    /// The definition object as the server sent it.
    pub raw: String,
}

impl CorpusTool {
    /// The definition, read.
    pub fn definition(&self) -> io::Result<Value> {
        serde_json::from_str(&self.raw).map_err(io::Error::from)
    }
}

/// Every tool of every server, by server and then in the server's order.
pub fn tools() -> io::Result<Vec<CorpusTool>> {
    let kept = kept_at()?;
    if let Some(folder) = kept.parent() {
        fs::create_dir_all(folder)?;
    }
    // Tests run as processes of their own; the first one asks the servers, the others wait for it.
    let turn = File::create(kept.with_extension("lock"))?;
    turn.lock()?;
    if !kept.is_file() {
        let asked = serde_json::to_vec(&ask_everyone()?)?;
        let unfinished = kept.with_extension("new");
        fs::write(&unfinished, asked)?;
        fs::rename(&unfinished, &kept)?;
    }
    let lists: RawToolLists = serde_json::from_slice(&fs::read(&kept)?)?;
    lists.iter().flat_map(|(server, list)| list.iter().map(move |raw| tool(server, raw))).collect()
}

/// The names of all servers.
pub fn servers() -> impl Iterator<Item = &'static str> {
    SERVERS.iter().map(|server| server.name)
}

type RawToolLists = BTreeMap<String, Vec<Box<RawValue>>>;

fn tool(server: &str, raw: &RawValue) -> io::Result<CorpusTool> {
    let definition: Value = serde_json::from_str(raw.get())?;
    let name = definition["name"].as_str().ok_or_else(|| broken("a tool has no name"))?;
    Ok(CorpusTool { server: server.to_owned(), name: name.to_owned(), raw: raw.get().to_owned() })
}

/// The file for exactly what is installed now and asked as the table says.
fn kept_at() -> io::Result<PathBuf> {
    let mut key = DefaultHasher::new();
    include_str!("corpus/table.rs").hash(&mut key);
    for folder in ["npm", "npm-servers", "python-servers"] {
        let stamp = peers::root().join(folder).join("installed.lock");
        fs::read(&stamp)
            .map_err(|_| broken(format!("{folder} is not installed: `cargo xtask peers`")))?
            .hash(&mut key);
    }
    Ok(peers::root().join("definitions").join(format!("{:016x}.json", key.finish())))
}

/// Asks a few servers at a time: each mostly loads its own modules, on a core of its own.
fn ask_everyone() -> io::Result<RawToolLists> {
    let ask = |server: &ReleasedServer| {
        let list = ask(server).map_err(|error| broken(format!("{}: {error}", server.name)))?;
        Ok((server.name.to_owned(), list))
    };
    let at_a_time = std::thread::available_parallelism().map_or(1, usize::from);
    let shares = SERVERS.chunks(SERVERS.len().div_ceil(at_a_time));
    std::thread::scope(|scope| {
        let started: Vec<_> = shares
            .map(|share| {
                scope.spawn(move || share.iter().map(ask).collect::<io::Result<RawToolLists>>())
            })
            .collect();
        let mut lists = RawToolLists::new();
        for asked in started {
            lists.append(&mut asked.join().map_err(|_| broken("asking a server panicked"))??);
        }
        Ok(lists)
    })
}

/// Starts one server and reads its whole list.
fn ask(server: &ReleasedServer) -> io::Result<Vec<Box<RawValue>>> {
    let folder = tempfile::tempdir()?;
    let place = folder.path().display().to_string();
    let args = server.args.iter().map(|argument| argument.replace("{folder}", &place));
    let mut command = command(server)?;
    command.args(args).env("HOME", &place).current_dir(&place);
    let mut running = TestProcess::start(&mut command)?;
    let hello = json!({
        "protocolVersion": crate::mcp::REVISION,
        "capabilities": {},
        "clientInfo": {"name": "toolgate-corpus", "version": "1"},
    });
    request(&mut running, 0, "initialize", &hello)?;
    running.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
    let mut tools = Vec::new();
    let mut params = json!({});
    for page in 1..MOST_PAGES {
        let mut answer = request(&mut running, page, "tools/list", &params)?;
        let listed = answer.remove("tools").ok_or_else(|| broken("an answer without a list"))?;
        tools.append(&mut serde_json::from_str(listed.get())?);
        match answer.remove("nextCursor").filter(|cursor| cursor.get() != "null") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None if tools.is_empty() => return Err(broken("it offers no tools")),
            None => return Ok(tools),
        }
    }
    Err(broken("its list does not end"))
}

type RawMembers = BTreeMap<String, Box<RawValue>>;

/// Sends a request and waits for its result; whatever else the server says meanwhile is passed over.
fn request(
    running: &mut TestProcess,
    id: u64,
    method: &str,
    params: &Value,
) -> io::Result<RawMembers> {
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    running.send(&message.to_string())?;
    loop {
        let line = running.line(PATIENCE)?;
        // Some servers greet on stdout; what is no message is not an answer.
        let Ok(mut message) = serde_json::from_str::<RawMembers>(&line) else {
            continue;
        };
        if message.get("id").is_none_or(|answered| answered.get() != id.to_string())
            || message.contains_key("method")
        {
            continue;
        }
        let result = message.remove("result").ok_or_else(|| broken(line))?;
        return Ok(serde_json::from_str(result.get())?);
    }
}

/// The command of a server, in an environment that holds nothing of ours.
fn command(server: &ReleasedServer) -> io::Result<Command> {
    let mut command = match server.program {
        PeerProgram::Script(path) => node(peers::server(path)?)?,
        PeerProgram::SharedScript(path) => node(peers::npm(path)?)?,
        PeerProgram::Python(program) => Command::new(peers::python("servers", program)?),
    };
    let offline = format!("--require {}", peers::script("offline.cjs").display());
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("NODE_OPTIONS", offline);
    command.envs(server.env.iter().copied());
    Ok(command)
}

fn node(script: PathBuf) -> io::Result<Command> {
    let mut command = Command::new(peers::node()?);
    command.arg(script);
    Ok(command)
}
