//! Text tables with aligned columns. A table wider than the terminal wraps the text in its widest
//! columns, so nothing is cut off.

use super::{Colour, escape_invisible, stdout_has_colour};

/// A table of text rows. It escapes invisible characters, because cells may quote servers.
#[derive(Debug)]
pub struct TextTable {
    rows: Vec<TextTableRow>,
    /// The column with states, whose words are coloured.
    states: Option<usize>,
}

/// One row of a table.
#[derive(Debug)]
enum TextTableRow {
    Cells(Vec<String>),
    /// A remark about the row above.
    Remark(String),
}

/// The width below which no column is narrowed.
const MIN_WIDTH: usize = 10;
/// The space between two columns.
const GAP: &str = "  ";
/// The space before a remark.
const INDENT: &str = "    ";
/// The width of a terminal that does not say how wide it is.
const DEFAULT_WIDTH: usize = 80;

impl TextTable {
    /// Returns a table with these headings.
    pub fn new(headings: &[&str]) -> Self {
        let mut table = Self { rows: Vec::new(), states: None };
        table.row(headings);
        table
    }

    /// Colours the words in this column by the state they name.
    #[must_use]
    pub fn with_states(self, column: usize) -> Self {
        Self { states: Some(column), ..self }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        let cells = cells.into_iter().map(|cell| escape_invisible(cell.as_ref()));
        self.rows.push(TextTableRow::Cells(cells.collect()));
    }

    /// Adds a remark below the last row.
    pub fn remark(&mut self, text: &str) {
        self.rows.push(TextTableRow::Remark(escape_invisible(text)));
    }

    /// Returns the table as text for standard output. Only a terminal limits its width and shows
    /// colours.
    pub fn text(&self) -> String {
        self.render(line_width(), stdout_has_colour())
    }

    fn render(&self, limit: usize, coloured: bool) -> String {
        let widths = self.widths(limit);
        let mut text = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            match row {
                TextTableRow::Cells(cells) => {
                    let states = self.states.filter(|_| coloured && at > 0);
                    text.push_str(&row_text(cells, &widths, states));
                }
                TextTableRow::Remark(remark) => {
                    for line in wrap(remark, limit.saturating_sub(INDENT.len())) {
                        text.push_str(&format!("{INDENT}{line}\n"));
                    }
                }
            }
        }
        text
    }

    /// Returns the widths of the columns. Narrows the widest column until the table fits.
    fn widths(&self, limit: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            let TextTableRow::Cells(cells) = row else { continue };
            widths.resize(widths.len().max(cells.len()), 0);
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > limit {
            match widths.iter_mut().max() {
                Some(widest) if *widest > MIN_WIDTH => *widest -= 1,
                _ => break,
            }
        }
        widths
    }
}

/// Returns a row, with as many lines as its longest cell.
fn row_text(cells: &[String], widths: &[usize], states: Option<usize>) -> String {
    let wrapped: Vec<_> =
        cells.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or_default();
    let mut text = String::new();
    for line in 0..height {
        let mut columns = Vec::new();
        for (column, (lines, width)) in wrapped.iter().zip(widths).enumerate() {
            let part = lines.get(line).map_or("", String::as_str);
            let colour = states.filter(|at| *at == column).and_then(|_| Colour::of_state(part));
            let padding = " ".repeat(width.saturating_sub(part.chars().count()));
            let part = colour.map_or(part.to_owned(), |colour| colour.paint(part));
            columns.push(format!("{part}{padding}"));
        }
        text.push_str(columns.join(GAP).trim_end());
        text.push('\n');
    }
    text
}

/// Splits a text into lines of at most `width` characters: between words, or in a long word after
/// a separator.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        while let Some((at, _)) = line.char_indices().nth(width) {
            let separator = line[..at].rfind(['/', '_', '-', '.', ':']).map(|found| found + 1);
            let rest = line.split_off(separator.unwrap_or(at));
            lines.push(std::mem::replace(&mut line, rest));
        }
    }
    lines.push(line);
    lines
}

/// Returns the number of characters in a line of standard output. A file or pipe has no limit,
/// unless `COLUMNS` sets one.
fn line_width() -> usize {
    let terminal = terminal_size::terminal_size_of(std::io::stdout());
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.map(|(width, _)| width.0.into()).or_else(columns).unwrap_or_else(|| {
        match super::stdout_is_terminal() {
            true => DEFAULT_WIDTH,
            false => usize::MAX,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TextTable {
        let mut table = TextTable::new(&["NAME", "STATE", "ORIGIN"]).with_states(1);
        table.row(["files", "connected", "/home/ada/projects/notes/.mcp.json:12"]);
        table.row(["git", "failed", "~/config.toml:3"]);
        table.remark("launch: the program was not found");
        table
    }

    #[test]
    fn columns_are_aligned_and_a_wide_one_wraps_after_separators() {
        assert_eq!(
            table().render(40, false),
            "NAME   STATE      ORIGIN\n\
             files  connected  /home/ada/projects/\n                  \
             notes/.mcp.json:12\n\
             git    failed     ~/config.toml:3\n    \
             launch: the program was not found\n"
        );
        let whole = table().render(usize::MAX, false);
        assert!(whole.contains("files  connected  /home/ada/projects/notes/.mcp.json:12\n"));
    }

    #[test]
    fn no_width_loses_a_character() {
        let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<Vec<_>>();
        let mut one = TextTable::new(&["A"]);
        one.row(["an unbreakableword of /some/path_here and more"]);
        let whole = letters(&one.render(usize::MAX, false));
        for width in 1..60 {
            assert_eq!(letters(&one.render(width, false)), whole, "{width}");
        }
    }

    #[test]
    fn states_have_colours_that_do_not_count_as_width() {
        let text = table().render(80, true);
        assert!(text.contains("git    \u{1b}[31;1mfailed\u{1b}[0m     ~/config"), "{text:?}");
        assert!(text.starts_with("NAME   STATE "), "{text:?}");
    }
}
