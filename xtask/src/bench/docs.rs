//! Writes the tables into the documentation between two markers and leaves the rest unchanged.

use std::fs;

use super::figures::BenchFigures;
use super::table;
use crate::workspace;

const BEGIN: &str = "<!-- bench:begin -->";
const END: &str = "<!-- bench:end -->";

/// Replaces the tables in `docs/benchmarks.md`.
pub fn update(figures: &BenchFigures) -> Result<(), String> {
    let file = workspace::root().join("docs/benchmarks.md");
    let page = fs::read_to_string(&file)
        .map_err(|error| format!("cannot read docs/benchmarks.md: {error}"))?;
    let page = replace_tables(&page, &table::render(figures))?;
    fs::write(&file, page).map_err(|error| format!("cannot write docs/benchmarks.md: {error}"))?;
    println!("written: docs/benchmarks.md");
    Ok(())
}

fn replace_tables(page: &str, tables: &str) -> Result<String, String> {
    let (before, rest) = page.split_once(BEGIN).ok_or(format!("find {BEGIN} in the page"))?;
    let (_, after) = rest.split_once(END).ok_or(format!("find {END} in the page"))?;
    Ok(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", tables.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_markers_changes() {
        let page = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let page = replace_tables(&page, "new\n").unwrap();
        assert_eq!(page, format!("before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"));
        assert_eq!(replace_tables(&page, "new").unwrap(), page);
        assert!(replace_tables("no markers", "new").is_err());
    }
}
