//! Puts the tables into the documentation, between two markers.
//!
//! It does NOT touch a word outside them.

use std::fs;

use super::figures::Figures;
use super::table;
use crate::workspace;

const BEGIN: &str = "<!-- bench:begin -->";
const END: &str = "<!-- bench:end -->";

/// Replaces the tables in `docs/benchmarks.md`.
pub fn update(figures: &Figures) -> Result<(), String> {
    let file = workspace::root().join("docs/benchmarks.md");
    let page =
        fs::read_to_string(&file).map_err(|error| format!("read docs/benchmarks.md: {error}"))?;
    let page = replaced(&page, &table::render(figures))?;
    fs::write(&file, page).map_err(|error| format!("write docs/benchmarks.md: {error}"))?;
    println!("written: docs/benchmarks.md");
    Ok(())
}

fn replaced(page: &str, tables: &str) -> Result<String, String> {
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
        let page = replaced(&page, "new\n").unwrap();
        assert_eq!(page, format!("before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"));
        assert_eq!(replaced(&page, "new").unwrap(), page);
        assert!(replaced("no markers", "new").is_err());
    }
}
