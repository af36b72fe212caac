//! Documents that are made up, with comments wherever they may stand: every comment has an owner,
//! so that what must stay and what must go is known for every edit.

use proptest::prelude::*;
use toolgate_dialects::Dialect;
use toolgate_model::{ServerSpec, TransportSpec};

use super::{difference, endpoint, is_grown, name, remove, server, set, switch, user};

/// A document in pieces, each of which belongs to one server or to none.
#[derive(Debug, Clone)]
struct Made {
    dialect: Dialect,
    pieces: Vec<(Option<usize>, String)>,
    servers: usize,
    crlf: bool,
    end: bool,
}

impl Made {
    fn text(&self, but: Option<usize>) -> String {
        let pieces = self.pieces.iter().filter(|(owner, _)| but.is_none() || *owner != but);
        let text: String = pieces.map(|(_, text)| text.as_str()).collect();
        let text = if self.end { text } else { text.trim_end().to_owned() };
        if self.crlf { text.replace('\n', "\r\n") } else { text }
    }
}

/// Writes pieces, by choices that are made up.
struct Pen {
    choices: Vec<usize>,
    made: usize,
    comments: usize,
    pieces: Vec<(Option<usize>, String)>,
    owner: Option<usize>,
}

impl Pen {
    /// One of several; `@` in it is a word that no other comment has.
    fn one(&mut self, of: &[&str]) {
        let choice = self.choices[self.made % self.choices.len()];
        self.made += 1;
        let mut text = of[choice % of.len()].to_owned();
        while text.contains('@') {
            self.comments += 1;
            text = text.replacen('@', &format!("c{}c", self.comments), 1);
        }
        self.pieces.push((self.owner, text));
    }

    fn of(&mut self, owner: Option<usize>) -> &mut Self {
        self.owner = owner;
        self
    }
}

fn json(pen: &mut Pen, servers: usize) {
    pen.of(None).one(&["", "// @\n", "/* @ */ "]);
    pen.one(&[
        "{\n  \"first\": [1,2,  3], // @\n  /* @ */ \"mcpServers\": {",
        "{\"mcpServers\": {",
    ]);
    pen.one(&["\n", " // @\n", "\n    // @\n\n"]);
    for index in 0..servers {
        pen.of(Some(index)).one(&["", "    // @\n", "    /* @\n     * @ */\n    // @\n"]);
        pen.one(&["    ", "\t", "  "]);
        pen.one(&[&format!("\"s{index}\": {{"), &format!("\"s{index}\" :\n {{ // @\n")]);
        pen.one(&[" ", "\n      ", "\n      // @\n      ", " /* @ */ "]);
        pen.one(&[&format!("\"command\": \"run-s{index}\"")]);
        pen.one(&[
            "",
            ", \"args\": [\n \"a\", // @\n \"b\"]",
            ",\n \"env\": {\"A\":  \"b\"} // @\n",
        ]);
        pen.one(&["}", " }", "\n    }", "\n // @\n    }"]);
        pen.one(&["", " ", " /* @ */"]);
        let is_last = index + 1 == servers;
        pen.one(if is_last { &["", ","] } else { &[","] });
        pen.one(&["\n", " // @\n", " /* @ */\n"]);
        if !is_last {
            pen.of(None).one(&["", "\n", "    // @\n\n", "\n    // @\n\n"]);
        }
    }
    pen.of(None).one(&["  }", "\n    // @\n  }", "\n  // @\n\n  }"]);
    pen.one(&["\n}", ",\n  // @\n  \"other\": {\"x\": [ null, 1.50 ]} // @\n}", ",}"]);
    pen.one(&["\n", "\n// @\n", " // @\n"]);
}

fn toml(pen: &mut Pen, servers: usize) {
    pen.of(None).one(&["", "# @\n\n", "roots = [ \"~/a\", # @\n]\n\n", "x.y = 1 # @\n\n"]);
    for index in 0..servers {
        pen.of(None).one(&["", "\n# @\n\n", "\n[[other]]\nx = 0x1F # @\n\n"]);
        pen.of(Some(index)).one(&["", "# @\n", "# @\n  # @\n"]);
        pen.one(&[
            &format!("[servers.s{index}]"),
            &format!("[servers.\"s{index}\"] # @"),
            &format!("  [ servers . s{index} ]"),
        ]);
        pen.one(&["\n", "\n# @\n\n", "\n  # @\n"]);
        pen.one(&[&format!("command = \"run-s{index}\""), &format!("\tcommand=\"run-s{index}\"")]);
        pen.one(&["\n", " # @\n"]);
        pen.one(&[
            "",
            "args = [\n  'a', # @\n  # @\n  \"b\"\n]\n",
            "args = [\"[servers.s0]\"] # @\n",
        ]);
        pen.one(&[
            "",
            "env = { A = \"# b\" } # @\n",
            "env.A = \"b\" # @\n",
            &format!("\n# @\n[servers.s{index}.env] # @\nA = '''b\n# no comment'''\n"),
        ]);
        // What the file ends in is the file's.
        pen.one(if index + 1 == servers { &["", "\n"] } else { &["", "# @\n\n", "\n"] });
    }
    pen.of(None).one(&["", "# @\n", "\n# @\n", "\n[policy]\nmode = \"ask\" # @\n"]);
}

fn yaml(pen: &mut Pen, servers: usize) {
    pen.of(None).one(&["", "# @\n", "--- # @\n", "GOOSE_MODE: auto # @\n"]);
    pen.one(&["extensions:\n", "extensions: # @\n", "\"extensions\" :\n    # @\n\n"]);
    for index in 0..servers {
        pen.of(Some(index)).one(&["", "    # @\n", "    # @\n    # @\n"]);
        pen.one(&[&format!("    s{index}:"), &format!("    's{index}': # @")]);
        pen.one(&["\n        type: stdio\n", "\n        # @\n        type: stdio # @\n"]);
        pen.one(&[
            &format!("        cmd: \"run-s{index}\"\n"),
            &format!("        cmd: \"run-s{index}\" # @\n"),
        ]);
        pen.one(&[
            "",
            "        args:\n        - a # @\n        # @\n        - b\n",
            "        args: [a,  b] # @\n",
        ]);
        pen.one(&["", "        envs:\n            # @\n            A: |\n                b\n                # no comment\n"]);
        pen.one(&["        enabled: true\n", "        enabled: true # @\n"]);
        pen.of(None).one(&["", "\n", "\n    # @\n\n"]);
    }
    pen.of(None).one(&["", "    # @\n\n", "# @\n", "other: [1,  2] # @\n", "... # @\n"]);
}

fn made(dialect: Dialect, write: fn(&mut Pen, usize)) -> impl Strategy<Value = Made> {
    let choices = prop::collection::vec(0..12_usize, 60);
    (choices, 1..4_usize, any::<bool>(), any::<bool>()).prop_map(
        move |(choices, servers, crlf, end)| {
            let mut pen = Pen { choices, made: 0, comments: 0, pieces: Vec::new(), owner: None };
            write(&mut pen, servers);
            Made { dialect, pieces: pen.pieces, servers, crlf, end }
        },
    )
}

/// A text without what edits may leave or take between things.
fn bare(text: &str) -> String {
    text.replace(['{', '}', ','], "").split_whitespace().collect()
}

fn specs(dialect: Dialect, text: &str) -> Vec<ServerSpec> {
    let reading = dialect.read(text, &user());
    reading.servers.into_iter().map(|it| it.spec).collect()
}

fn holds(made: &Made) {
    let (dialect, text) = (made.dialect, made.text(None));
    let before = specs(dialect, &text);
    assert_eq!(before.len(), made.servers, "{text}");

    let added = set(dialect, &text, &server("added"));
    assert!(is_grown(&text, &added, &[]), "{text}\n=>\n{added}");
    assert_eq!(specs(dialect, &added)[..made.servers], before[..]);
    assert_eq!(set(dialect, &added, &server("added")), added, "twice");
    assert_eq!(remove(dialect, &added, "added"), text, "after\n{added}");
    let changed = set(dialect, &added, &endpoint("added"));
    assert_eq!(remove(dialect, &changed, "added"), text, "after\n{changed}");

    for (index, spec) in before.iter().enumerate() {
        removed(made, &text, index, &before);
        switched(made, &text, spec);
        renamed(made, &text, spec);
    }
}

/// What belongs to the server goes, everything else stays.
fn removed(made: &Made, text: &str, index: usize, before: &[ServerSpec]) {
    let left = remove(made.dialect, text, &format!("s{index}"));
    assert_eq!(bare(&left), bare(&made.text(Some(index))), "{text}\n=> without s{index}\n{left}");
    let others: Vec<_> = [&before[..index], &before[index + 1..]].concat();
    assert_eq!(specs(made.dialect, &left), others, "{left}");
    let lines = |text: &str| text.matches("\r\n").count() == text.matches('\n').count();
    assert!(!made.crlf || lines(&left), "{left:?}");
    assert!(!text.ends_with('\n') || left.ends_with('\n') || left.is_empty(), "{left:?}");
}

fn switched(made: &Made, text: &str, spec: &ServerSpec) {
    let off = switch(made.dialect, text, spec.name.as_str(), false);
    let (gone, put) = difference(text, &off);
    assert!((gone, put) == ("tru", "fals") || is_grown(text, &off, &[]), "{text}\n=>\n{off}");
    let found = specs(made.dialect, &off).into_iter().find(|it| it.name == spec.name).unwrap();
    assert_eq!(found, ServerSpec { enabled: false, ..spec.clone() }, "{off}");
    let on = switch(made.dialect, &off, spec.name.as_str(), true);
    assert_eq!(switch(made.dialect, &on, spec.name.as_str(), false), off, "back and forth");
}

/// Another command changes that word alone, and the old one brings the old text back.
fn renamed(made: &Made, text: &str, spec: &ServerSpec) {
    let dialect = made.dialect;
    let same = set(dialect, text, spec);
    assert_eq!(set(dialect, &same, spec), same, "twice");
    let other = ServerSpec { transport: with_command(spec, "other"), ..spec.clone() };
    let changed = set(dialect, &same, &other);
    let old = format!("\"run-{}\"", spec.name);
    let spelled = if changed.contains("\"other\"") { "\"other\"" } else { "other" };
    assert_eq!(changed, same.replace(&old, spelled), "{text}");
    if dialect.syntax() != toolgate_dialects::Syntax::Yaml {
        assert_eq!(same, text, "set to what it is");
        assert_eq!(set(dialect, &changed, spec), text, "set back");
    }
    assert!(dialect.remove(text, &name("none")).unwrap().is_none());
}

fn with_command(spec: &ServerSpec, command: &str) -> TransportSpec {
    let TransportSpec::Stdio(stdio) = &spec.transport else { panic!("{spec:?}") };
    let mut stdio = stdio.clone();
    stdio.command = command.to_owned();
    TransportSpec::Stdio(stdio)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_json_is_edited_without_damage(made in made(Dialect::McpJson, json)) {
        holds(&made);
    }

    #[test]
    fn any_toml_is_edited_without_damage(made in made(Dialect::Toolgate, toml)) {
        holds(&made);
    }

    #[test]
    fn any_yaml_is_edited_without_damage(made in made(Dialect::Goose, yaml)) {
        holds(&made);
    }
}
