//! `cargo xtask names`: every type of the workspace with its meaning, and the rules for names.
//!
//! One name stands for one concept. The check finds a name that is defined twice, a type without a
//! meaning, a name that is a bare participle, a document that names what does not exist, and code
//! that reads the text of an error.
//! Whether a name is a good one, people decide.

mod documents;
mod error_texts;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

use crate::VerbResult;
use crate::layers::rust_files;
use crate::workspace::{self, WorkspaceMember};

const USAGE: &str = "usage: cargo xtask names [--check | --sample N]";

/// Names that mean the same in every crate.
const GENERIC: &[&str] = &["Builder", "Error", "Options"];

/// Names with several definitions of one concept: (name, why there are several).
const REPEATED: &[(&str, &str)] = &[
    ("EchoOffGuard", PLATFORM),
    ("LocalListener", PLATFORM),
    ("LocalReader", PLATFORM),
    ("LocalWriter", PLATFORM),
    ("ProcessInfo", PLATFORM),
];
const PLATFORM: &str = "one for each kind of operating system";

/// Single words that look like participles and are nouns.
const NOUNS: &[&str] = &["Finding", "Posting", "Zed"];

/// One type as the sources define it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TypeDefinition {
    name: String,
    path: String,
    meaning: String,
}

/// Prints every type, or a sample of the names alone, or checks the rules.
pub fn run(arguments: &[String]) -> VerbResult {
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => print_all(&definitions()?),
        ["--check"] => return check(),
        ["--sample", count] => {
            let count = count.parse().map_err(|_| USAGE.to_owned())?;
            print_sample(&definitions()?, count);
        }
        _ => return Err(USAGE.to_owned()),
    }
    Ok(())
}

/// Checks the rules for names and reports every fault.
pub fn check() -> VerbResult {
    let definitions = definitions()?;
    let mut faults = faults(&definitions);
    let types = definitions.iter().map(|definition| &*definition.name).collect();
    faults.extend(documents::faults(&workspace::root(), &types)?);
    faults.extend(error_text_faults()?);
    if faults.is_empty() {
        eprintln!("names: {} types in order", definitions.len());
        return Ok(());
    }
    Err(format!("{} faults\n  {}", faults.len(), faults.join("\n  ")))
}

fn print_all(definitions: &[TypeDefinition]) {
    print_lines(definitions.iter().map(|it| format!("{:<32} {}", it.name, it.meaning)));
}

/// Draws names at random; `TOOLGATE_SEED` repeats a draw.
fn print_sample(definitions: &[TypeDefinition], count: usize) {
    let seed = std::env::var("TOOLGATE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| u64::from(std::process::id()));
    let mut names: Vec<_> = definitions.iter().map(|definition| &definition.name).collect();
    names.dedup();
    names.sort_by_key(|name| scramble(seed, name));
    eprintln!("names: TOOLGATE_SEED={seed} repeats this draw");
    print_lines(names.into_iter().take(count));
}

/// Prints lines until the reader closes standard output.
fn print_lines(lines: impl Iterator<Item = impl Display>) {
    let mut out = std::io::stdout().lock();
    for line in lines {
        if writeln!(out, "{line}").is_err() {
            return;
        }
    }
}

/// Hashes the seed and the name, in the manner of FNV-1a, so that a draw depends on nothing else.
fn scramble(seed: u64, name: &str) -> u64 {
    let bytes = seed.to_le_bytes().into_iter().chain(name.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(17)
    })
}

fn faults(definitions: &[TypeDefinition]) -> Vec<String> {
    let mut by_name: BTreeMap<&str, Vec<&TypeDefinition>> = BTreeMap::new();
    for definition in definitions {
        by_name.entry(&definition.name).or_default().push(definition);
    }
    let mut faults = Vec::new();
    for (name, same) in &by_name {
        let may_repeat = GENERIC.contains(name) || REPEATED.iter().any(|(it, _)| it == name);
        if same.len() > 1 && !may_repeat {
            let paths: Vec<_> = same.iter().map(|definition| &*definition.path).collect();
            faults.push(format!("`{name}` is defined {} times: {}", same.len(), paths.join(", ")));
        }
        if is_participle(name) && !NOUNS.contains(name) {
            faults.push(format!("`{name}` ({}) is a bare participle", same[0].path));
        }
    }
    let silent = definitions.iter().filter(|definition| definition.meaning.is_empty());
    faults.extend(silent.map(|it| format!("`{}` ({}) has no doc comment", it.name, it.path)));
    faults
}

/// Whether a name is one word that ends like a participle.
fn is_participle(name: &str) -> bool {
    let one_word = name.chars().filter(char::is_ascii_uppercase).count() == 1;
    one_word && (name.ends_with("ed") || name.ends_with("ing"))
}

/// Every type in the `src` folders of all members, sorted by name.
fn definitions() -> Result<Vec<TypeDefinition>, String> {
    let root = workspace::root();
    let mut found = Vec::new();
    for member in workspace::members()? {
        found.extend(of_member(&root, &member)?);
    }
    found.sort();
    Ok(found)
}

fn of_member(root: &Path, member: &WorkspaceMember) -> Result<Vec<TypeDefinition>, String> {
    let mut found = Vec::new();
    for (path, text) in sources(root, member)? {
        found.extend(of_text(&path, &text)?);
    }
    Ok(found)
}

/// The paths and texts of a member's sources, without tests.
fn sources(root: &Path, member: &WorkspaceMember) -> Result<Vec<(String, String)>, String> {
    let folder = root.join(&member.folder).join("src");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let files = rust_files(&folder)?.into_iter().filter(|file| !is_test_file(file));
    let read = |file: PathBuf| {
        let path = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file);
        Ok((path.clone(), text.map_err(|error| format!("cannot read {path}: {error}"))?))
    };
    files.map(read).collect()
}

/// Faults of the product's code that reads the texts of errors.
fn error_text_faults() -> Result<Vec<String>, String> {
    let (root, mut faults) = (workspace::root(), Vec::new());
    let members = workspace::members()?;
    let is_product = |member: &&WorkspaceMember| {
        member.folder.starts_with("crates") && !member.folder.ends_with("testkit")
    };
    for member in members.iter().filter(is_product) {
        for (path, text) in sources(&root, member)? {
            let file = syn::parse_file(&text).map_err(|error| format!("{path}: {error}"))?;
            faults.extend(error_texts::faults(&path, &file));
        }
    }
    Ok(faults)
}

/// Whether a file holds tests: `tests.rs`, or below a folder `tests`.
fn is_test_file(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "tests.rs")
        || file.parent().is_some_and(|folder| folder.iter().any(|part| part == "tests"))
}

fn of_text(path: &str, text: &str) -> Result<Vec<TypeDefinition>, String> {
    let file = syn::parse_file(text).map_err(|error| format!("{path}: {error}"))?;
    let mut collector = TypeCollector { path, found: Vec::new() };
    collector.visit_file(&file);
    Ok(collector.found)
}

/// Collects the types of one file, without those of its tests.
struct TypeCollector<'a> {
    path: &'a str,
    found: Vec<TypeDefinition>,
}

impl TypeCollector<'_> {
    fn add(&mut self, name: &syn::Ident, attributes: &[syn::Attribute]) {
        let (name, meaning) = (name.to_string(), first_sentence(attributes));
        self.found.push(TypeDefinition { name, path: self.path.to_owned(), meaning });
    }
}

impl<'ast> Visit<'ast> for TypeCollector<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add(&item.ident, &item.attrs);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add(&item.ident, &item.attrs);
    }

    /// An enum of words is written inside a macro.
    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if item.mac.path.is_ident("words")
            && let Ok(words) = item.mac.parse_body::<syn::ItemEnum>()
        {
            self.add(&words.ident, &words.attrs);
        }
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add(&item.ident, &item.attrs);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.add(&item.ident, &item.attrs);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }
}

/// Whether attributes say `#[cfg(test)]` or `#[test]`.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => {
            list.path.is_ident("cfg") && list.tokens.to_string().contains("test")
        }
        syn::Meta::NameValue(_) => false,
    })
}

/// The first sentence of a doc comment, on one line.
fn first_sentence(attributes: &[syn::Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let syn::Meta::NameValue(pair) = &attribute.meta else { continue };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(line), .. }) = &pair.value else {
            continue;
        };
        let line = line.value();
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let paragraph = lines.join(" ");
    match paragraph.split_once(". ") {
        Some((sentence, _)) => format!("{sentence}."),
        None => paragraph,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<TypeDefinition> {
        of_text("a.rs", text).unwrap()
    }

    #[test]
    fn types_are_found_with_the_first_sentence_of_their_documentation() {
        let text = "/// One call. More\n/// of it.\npub struct Call;\n\n#[cfg(test)]\nmod tests {\n    \
                    struct Unseen;\n}\nfn f() {\n    /// Inner\n    /// one.\n    enum Inner {}\n}\n";
        let names: Vec<_> = found(text).into_iter().map(|it| (it.name, it.meaning)).collect();
        let pair = |name: &str, meaning: &str| (name.to_owned(), meaning.to_owned());
        assert_eq!(names, [pair("Call", "One call."), pair("Inner", "Inner one.")]);
    }

    #[test]
    fn a_name_for_two_things_a_participle_and_a_silent_type_are_faults() {
        let twice = found("/// A.\nstruct Row;\nmod a {\n    /// B.\n    struct Row;\n}\n");
        assert_eq!(faults(&twice), ["`Row` is defined 2 times: a.rs, a.rs"]);
        let participle = found("/// A.\nstruct Told;\n/// B.\nstruct Declared;\n");
        assert_eq!(faults(&participle), ["`Declared` (a.rs) is a bare participle"]);
        assert_eq!(faults(&found("struct Call;\n")), ["`Call` (a.rs) has no doc comment"]);
        assert!(
            faults(&found("/// A.\nstruct Error;\nmod a {\n/// B.\nstruct Error;\n}\n")).is_empty()
        );
    }

    #[test]
    fn a_draw_is_repeatable() {
        let order = |seed| {
            let mut names = ["a", "b", "c", "d", "e", "f"];
            names.sort_by_key(|name| scramble(seed, name));
            names
        };
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
    }
}
