//! What is forwarded is what was decided: on many generated requests, in all the spellings JSON has.
//!
//! A rule refuses calls by what stands at one place of the arguments. A request either reaches the
//! server in the very bytes that were sent, and then the rule does not hold of them by a parser that
//! is not ours; or it is refused. Keys that stand twice are always refused.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolgate_e2e::gateway::{GatewaySetup, stdio_entry, testkit};
use toolgate_e2e::mcp::{initialize, member};
use toolgate_e2e::process::TestProcess;

const CONFIG: &str = "[policy]\nmode = \"yolo\"\n\
    deny = [{ about = \"mcp:weird/*\", when = [{ at = \"/deep/path\", glob = \"/etc/*\" }] }]\n";

/// As many are under way at once.
const AT_ONCE: usize = 48;
const LIMIT: Duration = Duration::from_secs(60);

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.throw(of.len() as u64) as usize]
    }
}

/// Arguments as they might be spelled, and whether a key stands twice in them.
struct Spelled {
    text: String,
    doubled: bool,
}

impl Spelled {
    fn thrown(dice: &mut Dice) -> Self {
        let mut spelled = Self { text: String::new(), doubled: false };
        spelled.object(dice, 0);
        spelled
    }

    fn space(&mut self, dice: &mut Dice) {
        self.text
            .push_str(dice.pick(&["", "", "", " ", "  ", "\\t"]).replace("\\t", "\t").as_str());
    }

    fn object(&mut self, dice: &mut Dice, depth: u64) {
        self.text.push('{');
        let mut keys = Vec::new();
        for place in 0..dice.throw(4) + u64::from(depth == 0) {
            if place > 0 {
                self.text.push(',');
            }
            let key = dice.pick(&["deep", "path", "text", "a/b", "p~th", "", "é"]);
            self.doubled |= keys.contains(&key);
            keys.push(key);
            self.space(dice);
            self.string(dice, key);
            self.space(dice);
            self.text.push(':');
            self.space(dice);
            self.value(dice, depth + 1);
            self.space(dice);
        }
        self.text.push('}');
    }

    fn value(&mut self, dice: &mut Dice, depth: u64) {
        match dice.throw(if depth > 3 { 4 } else { 8 }) {
            0 => self.text.push_str(dice.pick(&["1e400", "-0", "1.0", "12345678901234567890123"])),
            1 => self.text.push_str(dice.pick(&["true", "false", "null"])),
            2 | 3 => {
                let word =
                    dice.pick(&["/etc/passwd", "/etc/", "/srv/x", "/etc", "plain", "/ETC/x"]);
                self.string(dice, word);
            }
            4 => {
                self.text.push('[');
                self.value(dice, depth + 1);
                self.text.push(']');
            }
            _ => self.object(dice, depth),
        }
    }

    /// A string in one of its many spellings.
    fn string(&mut self, dice: &mut Dice, word: &str) {
        self.text.push('"');
        for c in word.chars() {
            match (dice.throw(8), c) {
                (0, c) => self.text.push_str(&format!("\\u{:04x}", c as u32)),
                (1, c) => self.text.push_str(&format!("\\u{:04X}", c as u32)),
                (2, '/') => self.text.push_str("\\/"),
                (_, c) => self.text.push(c),
            }
        }
        self.text.push('"');
    }

    /// Whether the rule holds, by another parser: keys that stand twice aside. Where a list or an
    /// object stands instead of a text, a rule that denies holds, too.
    fn is_denied(&self) -> bool {
        let text = |raw: &str| serde_json::from_str::<String>(raw).ok();
        let path = member(&self.text, "deep").and_then(|deep| member(&deep, "path"));
        path.is_some_and(|path| match text(&path) {
            Some(text) => text.starts_with("/etc/"),
            None => path.starts_with(['{', '[']),
        })
    }
}

/// A gateway on stdio before the server that shows the bytes it was sent.
fn opened() -> (GatewaySetup, TestProcess) {
    let setup = GatewaySetup::new("").unwrap();
    let words = testkit("weird", &["--stdio"]).unwrap();
    let config = CONFIG.to_owned() + &stdio_entry("weird", &words, &[]);
    std::fs::write(setup.folder().join("toolgate.toml"), config).unwrap();
    let mut gateway = setup.serve_stdio().unwrap();
    gateway.send(&initialize("2025-11-25", &json!({}))).unwrap();
    gateway.line(LIMIT).unwrap();
    gateway.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).unwrap();
    loop {
        gateway.send(r#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#).unwrap();
        loop {
            let line = gateway.line(LIMIT).unwrap();
            if member(&line, "id").as_deref() == Some("\"list\"") {
                if line.contains("weird__weird_echo") {
                    return (setup, gateway);
                }
                break;
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn forwarded_bytes_are_decided_bytes() {
    let (_setup, mut gateway) = opened();
    let count = toolgate_e2e::counts(20_000, 1_000_000);
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut under_way: HashMap<String, Spelled> = HashMap::new();
    let (mut passed, mut denied, mut doubled) = (0_u64, 0_u64, 0_u64);
    for number in 0..count {
        let spelled = Spelled::thrown(&mut dice);
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"weird__weird_echo","arguments":{}}}}}"#,
            spelled.text
        );
        gateway.send(&request).unwrap();
        under_way.insert(number.to_string(), spelled);
        while under_way.len() >= AT_ONCE || (number + 1 == count && !under_way.is_empty()) {
            let line = gateway.line(LIMIT).unwrap();
            let Some(spelled) = member(&line, "id").and_then(|id| under_way.remove(&id)) else {
                continue;
            };
            match forwarded(&line) {
                Some(arguments) => {
                    assert_eq!(arguments, spelled.text, "not the bytes that were sent");
                    assert!(!spelled.doubled, "a key twice: {}", spelled.text);
                    assert!(!spelled.is_denied(), "denied: {}", spelled.text);
                    passed += 1;
                }
                None if spelled.doubled => doubled += 1,
                None => {
                    assert!(spelled.is_denied(), "refused: {}: {line}", spelled.text);
                    denied += 1;
                }
            }
        }
    }
    // The dice threw enough of each.
    let few = count as u64 / 200;
    assert!(passed > few && denied > few && doubled > few, "{passed} {denied} {doubled}");
}

/// The arguments as the server received them; none if it received nothing.
fn forwarded(line: &str) -> Option<String> {
    let result: HashMap<String, Box<RawValue>> =
        serde_json::from_str(&member(line, "result")?).ok()?;
    let shown: Value = serde_json::from_str(result.get("structuredContent")?.get()).ok()?;
    shown["arguments"].as_str().map(str::to_owned)
}
