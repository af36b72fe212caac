//! A machine full of secrets, and what is watched of it: programs that tell all they know, an
//! endpoint that echoes all it is sent, and every text the commands under test give out.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use toolgate_e2e::binaries;

use super::files::{At, FILES};

/// What every canary begins with; nothing else on the machine does.
const KIND: &str = "kanarie";
/// Tells everything on stderr, as programs do that find their settings wrong, and ends.
const DIE: &str = "#!/bin/sh\n{ env; printf '%s\\n' \"$@\"; } >&2\nprintf '%s\\n' \"$@\"\nexit 3\n";
/// Answers every request with an error that repeats what it was given.
const RPC: &str = "#!/bin/sh\nenv >&2\nwhile read -r line; do\n\
    id=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([^,}]*\\).*/\\1/p')\n\
    [ -n \"$id\" ] && printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32000,\"message\":\"refused: %s %s %s\"}}\\n' \
    \"$id\" \"$*\" \"$KEY\" \"$PLAIN\"\ndone\n";
/// Works, until it is called.
const LATE: &str = "#!/bin/sh\nenv >&2\nwhile read -r line; do\n\
    id=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([^,}]*\\).*/\\1/p')\n\
    case \"$line\" in\n\
    *'\"initialize\"'*) r='\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{},\"logging\":{}},\"serverInfo\":{\"name\":\"late\",\"version\":\"1\"}}';;\n\
    *tools/list*) r='\"result\":{\"tools\":[{\"name\":\"go\",\"inputSchema\":{\"type\":\"object\"}}]}';;\n\
    *) r='\"error\":{\"code\":-32000,\"message\":\"no: '\"$KEY\"'\",\"data\":{\"env\":\"'\"$KEY\"'\"}}';;\n\
    esac\n\
    [ -n \"$id\" ] && printf '{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\\n' \"$id\" \"$r\"\ndone\n";

/// The machine.
pub struct Stage {
    folder: TempDir,
    /// What each canary was put into.
    canaries: BTreeMap<String, String>,
    authority: String,
    /// What came out where it must not.
    leaks: Vec<String>,
}

impl Stage {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        for name in ["bin", "user", "project", "home"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || listen(&listener));
        let mut stage = Self { folder, canaries: BTreeMap::new(), authority, leaks: Vec::new() };
        for (name, text) in [("die", DIE), ("rpc", RPC), ("late", LATE)] {
            let path = stage.folder.path().join("bin").join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let texts = [("project/.env", "FROM_FILE=@@\nexport QUOTED=\"@@\"\n")];
        for (path, text) in texts {
            let text = stage.filled(path, text);
            std::fs::write(stage.folder.path().join(path), text).unwrap();
        }
        for folder in ["project", "user/.codeium/windsurf"] {
            let text = stage.filled("secret.txt", "@@");
            stage.put(&stage.folder.path().join(folder).join("secret.txt"), &text);
        }
        stage
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// A text with its canaries and its ways.
    pub fn filled(&mut self, whose: &str, text: &str) -> String {
        let mut filled = String::new();
        let mut parts = text.split("@@");
        filled.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let canary = format!("{KIND}{:03}zz", self.canaries.len());
            let before: String = filled.chars().rev().take(40).collect();
            let before: String = before.chars().rev().collect();
            self.canaries.insert(canary.clone(), format!("{whose}: {before:?}"));
            filled.push_str(&canary);
            filled.push_str(part);
        }
        let bin = self.path("bin").display().to_string();
        for (mark, name) in
            [("<DIE>", "die"), ("<RPC>", "rpc"), ("<LATE>", "late"), ("<GONE>", "gone")]
        {
            filled = filled.replace(mark, &format!("{bin}/{name}"));
        }
        filled
            .replace("<WEB>", &format!("http://{}", self.authority))
            .replace("<AT>", &self.authority)
    }

    /// Writes a file and the folders it lies in.
    pub fn put(&self, path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Puts every dialect's file where its host has it, and says where.
    pub fn furnish(&mut self) -> Vec<(&'static str, PathBuf)> {
        let mut files = Vec::new();
        for file in &FILES {
            let (folder, name) = match file.at {
                At::User(name) => ("user", name),
                At::Project(name) => ("project", name),
            };
            let (path, text) = (self.path(folder).join(name), self.filled(file.dialect, file.text));
            self.put(&path, &text);
            files.push((file.dialect, path));
        }
        files
    }

    /// The value of the variable that the files name.
    fn variable() -> String {
        format!("{KIND}VARzz")
    }

    /// A command of the binary, in the project.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(binaries::find("toolgate").unwrap());
        let path = std::env::var("PATH").unwrap();
        command.env_clear().env("PATH", path).env("HOME", self.path("user"));
        command.env("CANARY", Self::variable()).args(words).current_dir(self.project());
        command
    }

    /// Runs it and watches what it says.
    pub fn run(&mut self, words: &[&str]) -> Output {
        let mut command = self.command(words);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let what = words.join(" ");
        assert!(output.status.code().is_some(), "{what} died");
        self.watch(&format!("stdout of {what}"), &output.stdout);
        self.watch(&format!("stderr of {what}"), &output.stderr);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked"), "{what}: {said}");
        output
    }

    /// The same for people and for machines, with every log there is.
    pub fn both(&mut self, words: &[&str]) {
        self.run(&[&["--debug"], words].concat());
        self.run(&[&["--json"], words].concat());
    }

    /// Looks for canaries in what came out.
    pub fn watch(&mut self, what: &str, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let mut seen: Vec<String> = Vec::new();
        for (at, _) in text.match_indices(KIND) {
            let name: String = text[at..].chars().take(KIND.len() + 5).collect();
            let whose = self.canaries.get(&name).cloned().unwrap_or_default();
            let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
            let line: String = text[start..].lines().next().unwrap_or_default().into();
            if !seen.contains(&name) {
                self.leaks.push(format!("{what}\n    {name} of {whose}\n    in {line:.300}"));
                seen.push(name);
            }
        }
        for piece in in_base64() {
            if text.contains(&piece) {
                self.leaks.push(format!("{what}: base64 {piece}"));
            }
        }
    }

    /// Looks through everything below a folder that a name does not leave out.
    pub fn watch_files(&mut self, folder: &Path, except: &[&str]) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            match entry.file_type().unwrap() {
                _ if except.iter().any(|left| name.starts_with(left)) => {}
                kind if kind.is_dir() => self.watch_files(&path, except),
                kind if kind.is_file() => {
                    let bytes = std::fs::read(&path).unwrap();
                    self.watch(&format!("the file {}", path.display()), &bytes);
                }
                _ => {}
            }
        }
    }

    /// Whether this text holds a canary, for what is to hold some.
    pub fn holds(text: &str) -> usize {
        text.matches(KIND).count()
    }

    /// Nothing came out.
    pub fn assert_tight(&self) {
        let count = self.leaks.len();
        assert!(self.leaks.is_empty(), "{count} leaks:\n{}", self.leaks.join("\n"));
    }
}

/// What base64 makes of the beginning of every canary, wherever in a group it begins.
fn in_base64() -> [String; 3] {
    // "kanarie" after 0, 1 and 2 other bytes, without the characters that depend on those.
    ["a2FuYXJpZ".into(), "thbmFyaW".into(), "rYW5hcmll".into()]
}

/// An endpoint that repeats what it was sent, in as many ways as there are paths.
fn listen(listener: &TcpListener) {
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || answer(stream));
    }
}

fn answer(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut head, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 2)?;
        head.push(line.trim_end().to_owned());
        if let Some(told) = head.last()?.to_lowercase().strip_prefix("content-length:") {
            length = told.trim().parse().ok()?;
        }
        if reader.buffer().starts_with(b"\r\n") {
            break;
        }
    }
    reader.read_line(&mut String::new()).ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let echoed = head.join(" | ").replace(['"', '\\'], "'");
    let target = head.first()?.split(' ').nth(1)?.to_owned();
    let text = String::from_utf8_lossy(&body);
    let id = text.split("\"id\":").nth(1).and_then(|rest| rest.split([',', '}']).next());
    let (status, more, kind, body) = match target.split(['?', '/']).nth(1)? {
        "401" => {
            let challenge = format!("WWW-Authenticate: Bearer error_description=\"{echoed}\"\r\n");
            ("401 Unauthorized", challenge, "text/plain", echoed)
        }
        "redirect" => {
            let place =
                format!("Location: http://127.0.0.1:1/next?{}\r\n", target.replace('?', "&"));
            ("302 Found", place, "text/plain", echoed)
        }
        "rpc" => {
            let error = format!("{{\"code\":-32000,\"message\":\"bad: {echoed}\"}}");
            let id = id.unwrap_or("null");
            let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}");
            ("200 OK", String::new(), "application/json", answer)
        }
        "html" => ("200 OK", String::new(), "text/html", format!("<p>{echoed}</p>")),
        _ => ("500 Oops", String::new(), "text/plain", echoed),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{more}content-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()
}
