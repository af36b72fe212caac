//! Names in documents: the functions in the tables of `ARCHITECTURE.md` and the types in the
//! glossary must exist.

use std::collections::BTreeSet;
use std::path::Path;

/// Returns every function or type that a document names and the sources do not have.
pub fn faults(root: &Path, types: &BTreeSet<&str>) -> Result<Vec<String>, String> {
    let read = |path: &str| {
        std::fs::read_to_string(root.join(path))
            .map_err(|error| format!("cannot read {path}: {error}"))
    };
    let mut faults = Vec::new();
    let mut steps = 0;
    for (function, path) in steps_of(&read("ARCHITECTURE.md")?) {
        steps += 1;
        let has = |text: String| text.contains(&format!("fn {function}"));
        if !read(&path).is_ok_and(has) {
            faults.push(format!("ARCHITECTURE.md: no function `{function}` in {path}"));
        }
    }
    if steps == 0 {
        faults.push("ARCHITECTURE.md: no table of steps".to_owned());
    }
    let glossary = read("docs/glossary.md")?;
    let missing = glossary_types(&glossary).filter(|name| !types.contains(name));
    faults.extend(missing.map(|name| format!("docs/glossary.md: no type `{name}`")));
    Ok(faults)
}

/// The rows `| step | functions | files |` of a document: each function with its file.
fn steps_of(text: &str) -> Vec<(String, String)> {
    let mut steps = Vec::new();
    for line in text.lines() {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let [_, _, functions, files, _] = cells[..] else { continue };
        let files: Vec<_> = code(files).filter(|file| file.ends_with(".rs")).collect();
        for (index, function) in code(functions).enumerate() {
            if let Some(file) = files.get(index).or(files.last()) {
                steps.push((function.to_owned(), (*file).to_owned()));
            }
        }
    }
    steps
}

/// The types in the last column of the glossary's tables.
fn glossary_types(text: &str) -> impl Iterator<Item = &str> {
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| word"));
    let last = rows.filter_map(|line| line.trim_end_matches('|').rsplit('|').next());
    last.flat_map(code)
}

/// The pieces of a text between backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_pair_functions_with_files() {
        let text = "| step | function | file |\n|---|---|---|\n| Reads. | `read`, `parse` | `a.rs`, \
                    `b.rs` |\n| Both. | `one`, `two` | `c.rs` |\n";
        let pair = |function: &str, file: &str| (function.to_owned(), file.to_owned());
        let expected =
            [pair("read", "a.rs"), pair("parse", "b.rs"), pair("one", "c.rs"), pair("two", "c.rs")];
        assert_eq!(steps_of(text), expected);
    }

    #[test]
    fn the_last_column_of_the_glossary_names_types() {
        let text = "| word | meaning | type |\n|---|---|---|\n| `a` | b | `Frame`, `Span` |\n";
        assert_eq!(glossary_types(text).collect::<Vec<_>>(), ["Frame", "Span"]);
    }
}
