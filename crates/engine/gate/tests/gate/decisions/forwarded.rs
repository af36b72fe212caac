//! What is forwarded is what was decided: generated requests in odd spellings, before a server that
//! keeps what reaches it as it came.

use std::collections::HashSet;
use std::fmt::Write as _;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc;
use toolgate_fleet::BuiltInServer;
use toolgate_model::{ArgumentCondition, ConfigValue, ExpectedArgumentValue};
use toolgate_wire::{Era, scan};

use super::*;

/// Requests of a normal run, and of a long one.
const REQUESTS: u64 = 100_000;
const SOAK: u64 = 1_000_000;

/// A server with one tool that gives away every line it reads.
#[derive(Clone)]
struct Keeper(mpsc::UnboundedSender<String>);

impl BuiltInServer for Keeper {
    fn era(&self) -> Era {
        Era::Legacy
    }

    fn serve(&self, pipe: DuplexStream) {
        let (input, mut output) = tokio::io::split(pipe);
        let kept = self.0.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(input).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                let result = match message["method"].as_str() {
                    Some("initialize") => json!({ "protocolVersion": "2025-11-25",
                        "capabilities": { "tools": {} }, "serverInfo": { "name": "k", "version": "1" } }),
                    Some("tools/list") => json!({ "tools": [tool("t")] }),
                    Some("tools/call") => {
                        kept.send(line).unwrap();
                        json!({ "content": [] })
                    }
                    _ => continue,
                };
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                output.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
            }
        });
    }
}

/// Makes JSON texts that say simple things in odd ways.
struct Scribe {
    state: u64,
    /// Whether an object with the same key twice was written.
    repeats: bool,
}

impl Scribe {
    fn below(&mut self, bound: u64) -> u64 {
        // xorshift64*: a text is told by its seed.
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }

    fn pick<'a>(&mut self, among: &[&'a str]) -> &'a str {
        among[usize::try_from(self.below(among.len() as u64)).unwrap()]
    }

    fn space(&mut self) -> &'static str {
        self.pick(&["", "", "", " ", "\t", "\r\n", "  "])
    }

    /// A string that says `text`, some of its characters escaped.
    fn string(&mut self, text: &str) -> String {
        let mut out = String::from("\"");
        for c in text.chars() {
            let mut units = [0; 2];
            match (self.below(4), c) {
                (0, '/') => out.push_str("\\/"),
                (0, _) | (_, '"' | '\\') => {
                    for unit in c.encode_utf16(&mut units) {
                        let _ = match self.below(2) {
                            0 => write!(out, "\\u{unit:04x}"),
                            _ => write!(out, "\\u{unit:04X}"),
                        };
                    }
                }
                _ => out.push(c),
            }
        }
        out + "\""
    }

    fn number(&mut self) -> &'static str {
        self.pick(&[
            "0",
            "-0",
            "1",
            "-1",
            "1.0",
            "1.50",
            "1e2",
            "1E+2",
            "-2.5e-3",
            "9007199254740993",
            "100000000000000000000",
            "0.1000000000000000055511151231257827",
        ])
    }

    fn value(&mut self, depth: u32) -> String {
        match self.below(if depth == 0 { 5 } else { 7 }) {
            0 => self.number().to_owned(),
            1 => self.pick(&["true", "false", "null"]).to_owned(),
            2 => {
                let text = self.pick(&["x", "y", "", "\"", "\\", "é", "\u{1F600}", "a/b"]);
                self.string(text)
            }
            3 | 4 => self.string("x"),
            5 => {
                let all: Vec<_> = (0..self.below(3)).map(|_| self.padded(depth - 1)).collect();
                format!("[{}]", all.join(","))
            }
            _ => self.object(depth - 1),
        }
    }

    fn padded(&mut self, depth: u32) -> String {
        let (before, value, after) = (self.space(), self.value(depth), self.space());
        format!("{before}{value}{after}")
    }

    fn object(&mut self, depth: u32) -> String {
        let mut keys = HashSet::new();
        let count = self.below(4);
        let all: Vec<_> = (0..count)
            .map(|_| {
                let key = self.pick(&["k", "a", "b", "é", "K", "k ", "arguments", "\u{1F600}"]);
                self.repeats |= !keys.insert(key);
                let (before, after) = (self.space(), self.space());
                format!("{before}{}{after}:{}", self.string(key), self.padded(depth))
            })
            .collect();
        format!("{{{}{}}}", all.join(","), self.space())
    }

    fn request(&mut self) -> String {
        let name = self.string("s__t");
        let arguments = self.object(3);
        let mut params = vec![
            format!("{}:{name}", self.string("name")),
            format!("{}{}:{}{arguments}", self.string("arguments"), self.space(), self.space()),
        ];
        if self.below(3) == 0 {
            params.push(format!("{}:{}", self.string("_meta"), self.object(2)));
        }
        if self.below(3) == 0 {
            params.push(format!("{}:{}", self.string("extra"), self.value(2)));
        }
        if self.below(2) == 0 {
            params.reverse();
        }
        let params = params.join(",");
        let method = self.string("tools/call");
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":{method},"params":{}{{{params}}}{}}}"#,
            self.space(),
            self.space()
        )
    }
}

/// Refuses calls whose argument `k` is `x`.
fn no_x() -> GovernanceSettings {
    let is = ExpectedArgumentValue::Value(ConfigValue::Text("x".into()));
    let when = vec![ArgumentCondition { pointer: "/k".into(), expected: is }];
    let rule = RuleSpec { subject: "mcp:s/t".into(), when, ..RuleSpec::default() };
    let rules = vec![(Effect::Deny, rule)];
    let set = RuleSet { origin: from_file(), mode: Some(PolicyMode::Full), rules };
    GovernanceSettings { rules: vec![set], ..GovernanceSettings::default() }
}

#[tokio::test]
async fn what_is_forwarded_is_what_was_decided() {
    let (kept, mut forwarded) = mpsc::unbounded_channel();
    let (gate, fleet) = empty(PrefixMode::Always);
    gate.set_governance(&no_x());
    fleet.add_server(member(spec("s"), &Keeper(kept))).await;
    fleet.wait_settled(|_| true).await;
    let me = with_client("c");
    let requests = if std::env::var_os("TOOLGATE_SOAK").is_some() { SOAK } else { REQUESTS };
    let (mut refused, mut denied, mut sent) = (0, 0, 0);
    for seed in 1..=requests {
        let mut scribe = Scribe { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), repeats: false };
        let text = scribe.request();
        let frame = match Frame::parse(text.clone().into(), &MessageLimits::default()) {
            Ok(frame) => frame,
            Err(error) => {
                assert!(scribe.repeats, "{seed}: {error}: {text}");
                refused += 1;
                continue;
            }
        };
        assert!(!scribe.repeats, "{seed}: a key twice was taken: {text}");
        let meant: Value = serde_json::from_str(&text).unwrap();
        let answer = gate.pass(&frame, &me.caller, me.port.clone()).await.unwrap();
        let is_x = meant["params"]["arguments"]["k"] == "x";
        match forwarded.try_recv() {
            Err(_) => {
                assert!(is_x, "{seed}: not forwarded: {text}: {answer:?}");
                denied += 1;
            }
            Ok(line) => {
                assert!(!is_x, "{seed}: forwarded: {text}");
                let got: Value = serde_json::from_str(&line).unwrap();
                let mut expected = meant["params"].clone();
                expected["name"] = "t".into();
                let mut params = got["params"].clone();
                // What the session adds for its own hop is no part of what was decided.
                for side in [&mut params, &mut expected] {
                    if let Some(members) = side.as_object_mut() {
                        members.remove("_meta");
                    }
                }
                assert_eq!(params, expected, "{seed}: {text}");
                // A pipe carries a message as one line.
                let as_line = text.replace(['\r', '\n'], " ");
                assert_eq!(arguments_of(&line), arguments_of(&as_line), "{seed}: {text}");
                sent += 1;
            }
        }
    }
    assert!(refused > requests / 20 && denied > requests / 50 && sent > requests / 4);
}

/// The bytes of the arguments, as they stand in a request.
fn arguments_of(request: &str) -> Vec<u8> {
    let request = request.as_bytes();
    let params = scan::member(request, "params").unwrap().slice(request);
    scan::member(params, "arguments").unwrap().slice(params).to_vec()
}
