//! A Markdown page: its fenced blocks, its headings and its prose.

use std::path::{Path, PathBuf};

/// What the tests do with a block.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockKind {
    /// Runs it; it ends with this code.
    Run(i32),
    /// Runs it until the page ends.
    Background,
    /// Only reads its commands.
    NotRun,
    /// Reads it as a configuration in a file with this extension.
    Config(&'static str),
    /// Reads it as JSON.
    JsonOutput,
    /// Writes it to a file.
    File(String),
    /// Does nothing.
    Text,
}

/// A fenced block.
#[derive(Debug)]
pub struct Block {
    /// The line of its first backticks.
    pub line: usize,
    /// What it is, or why that is unknown.
    pub kind: Result<BlockKind, String>,
    pub text: String,
}

/// A page of the documentation.
#[derive(Debug)]
pub struct Page {
    /// Its path from the root of the workspace.
    pub name: String,
    pub blocks: Vec<Block>,
    /// The lines outside of blocks, each in its place.
    pub prose: String,
    /// The commands that prepare its folder.
    pub setup: String,
    /// The anchors of its headings.
    pub anchors: Vec<String>,
}

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every page: those in the root and all below `docs`.
pub fn pages() -> Vec<Page> {
    let mut names = Vec::new();
    list(&root(), false, &mut names);
    list(&root().join("docs"), true, &mut names);
    names.sort();
    names.iter().map(|path| Page::read(path)).collect()
}

fn list(folder: &Path, deep: bool, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && deep {
            list(&path, deep, into);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            into.push(path);
        }
    }
}

impl Page {
    fn read(path: &Path) -> Self {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        Self::parse(name, &std::fs::read_to_string(path).unwrap())
    }

    /// Reads the text of a page.
    pub fn parse(name: String, text: &str) -> Self {
        let mut page = Page {
            name,
            blocks: Vec::new(),
            prose: String::new(),
            setup: String::new(),
            anchors: Vec::new(),
        };
        let mut lines = text.lines().enumerate();
        while let Some((index, line)) = lines.next() {
            if let Some(info) = line.trim_start().strip_prefix("```") {
                let indent = line.len() - line.trim_start().len();
                let body = lines.by_ref().map(|(_, line)| line);
                let body = body.take_while(|line| line.trim() != "```");
                let body = body.map(|line| line.get(indent..).unwrap_or_default());
                let text = body.fold(String::new(), |text, line| text + line + "\n");
                page.blocks.push(Block { line: index + 1, kind: kind(info), text });
                page.prose
                    .push_str(&"\n".repeat(page.blocks.last().unwrap().text.lines().count() + 1));
            } else if line == "<!-- setup" {
                let body = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "-->");
                page.setup = body.fold(String::new(), |text, line| text + line + "\n");
                page.prose.push_str(&"\n".repeat(page.setup.lines().count() + 1));
            } else if line.starts_with('#') {
                page.add_anchor(line.trim_start_matches('#').trim());
                page.prose.push_str(line);
            } else {
                page.prose.push_str(line);
            }
            page.prose.push('\n');
        }
        page
    }

    /// Adds the anchor that web pages give a heading.
    fn add_anchor(&mut self, heading: &str) {
        let kept = heading.to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let same = self.anchors.iter().filter(|it| **it == anchor).count();
        self.anchors.push(if same == 0 { anchor } else { format!("{anchor}-{same}") });
    }

    /// Whether something of it is run.
    pub fn has_commands(&self) -> bool {
        let runs = |kind: &BlockKind| matches!(kind, BlockKind::Run(_) | BlockKind::Background);
        self.blocks.iter().any(|block| block.kind.as_ref().is_ok_and(runs))
    }
}

/// Reads the words after a block's backticks.
fn kind(info: &str) -> Result<BlockKind, String> {
    let (language, rest) = info.split_once(' ').unwrap_or((info, ""));
    if let Some(name) = rest.strip_prefix("file=") {
        return Ok(BlockKind::File(name.to_owned()));
    }
    match (language, rest) {
        ("sh", "") => Ok(BlockKind::Run(0)),
        ("sh", "background") => Ok(BlockKind::Background),
        ("sh", rest) if rest.starts_with("exit=") => {
            rest[5..].parse().map(BlockKind::Run).map_err(|error| error.to_string())
        }
        ("sh", rest) if rest.starts_with("no-run reason=\"") && rest.len() > 20 => {
            Ok(BlockKind::NotRun)
        }
        ("toml", "") => Ok(BlockKind::Config("toml")),
        ("json", "") => Ok(BlockKind::Config("json")),
        ("json", "output") => Ok(BlockKind::JsonOutput),
        ("text", "") => Ok(BlockKind::Text),
        _ => Err(format!("unknown kind of block: ```{info}")),
    }
}

#[test]
fn a_page_is_read_with_its_lines() {
    let text = "# A b\n<!-- setup\nmkdir x\n-->\n```sh exit=3\ntoolgate x\n```\n[a](b.md)\n  ```ruby\n  1\n  ```\n## A b\n";
    let page = Page::parse("a.md".to_owned(), text);
    assert_eq!(page.setup, "mkdir x\n");
    assert_eq!(page.anchors, ["a-b", "a-b-1"]);
    assert_eq!(page.blocks[0].kind, Ok(BlockKind::Run(3)));
    assert_eq!((page.blocks[0].line, page.blocks[1].line), (5, 9));
    assert_eq!(page.blocks[1].text, "1\n");
    assert!(page.blocks[1].kind.is_err());
    assert_eq!(page.prose.lines().nth(7), Some("[a](b.md)"));
}
