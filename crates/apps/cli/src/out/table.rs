//! Text tables with aligned columns, truncated to the width of the terminal.

/// A table of text rows.
#[derive(Debug, Default)]
pub struct TextTable {
    rows: Vec<TextTableRow>,
    /// Columns that may be truncated, and at which end.
    truncatable: Vec<(usize, TruncatedEnd)>,
}

/// The end at which a text is truncated.
#[derive(Debug, Clone, Copy)]
pub enum TruncatedEnd {
    /// The beginning, for paths, whose end matters more.
    Start,
    /// The end.
    End,
}

/// The width below which no column is truncated.
const MIN_WIDTH: usize = 14;

/// One line of a table.
#[derive(Debug)]
enum TextTableRow {
    Cells(Vec<String>),
    /// A remark about the row above.
    Remark(String),
}

/// The space between two columns.
const GAP: &str = "  ";

impl TextTable {
    /// Returns a table with these headings.
    pub fn new(headings: &[&str]) -> Self {
        let mut table = Self::default();
        table.row(headings.iter().map(ToString::to_string));
        table
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(TextTableRow::Cells(cells.into_iter().collect()));
    }

    /// Adds a remark below the last row.
    pub fn remark(&mut self, text: String) {
        self.rows.push(TextTableRow::Remark(text));
    }

    /// Allows a column to be truncated if the table is wider than the terminal.
    #[must_use]
    pub fn truncatable(mut self, column: usize, cut: TruncatedEnd) -> Self {
        self.truncatable.push((column, cut));
        self
    }

    /// Returns the table as text, without truncation.
    pub fn text(&self) -> String {
        self.render(usize::MAX)
    }

    /// Returns the table as text, truncated to the terminal's width if stdout is a terminal.
    pub fn text_for_terminal(&self) -> String {
        let terminal = terminal_size::terminal_size_of(std::io::stdout());
        self.render(terminal.map_or(usize::MAX, |(width, _)| width.0.into()))
    }

    fn render(&self, limit: usize) -> String {
        let mut widths = self.widths();
        self.narrow(&mut widths, limit);
        let mut text = String::new();
        for row in &self.rows {
            match row {
                TextTableRow::Cells(cells) => {
                    let cells = self.truncate_cells(cells, &widths);
                    text.push_str(aligned(&cells, &widths).trim_end());
                }
                TextTableRow::Remark(remark) => text.push_str(&format!("    {remark}")),
            }
            text.push('\n');
        }
        text
    }

    /// Narrows the widest truncatable column until the table fits or all are at their minimum.
    fn narrow(&self, widths: &mut [usize], limit: usize) {
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > limit {
            let soft = self.truncatable.iter().map(|(column, _)| *column);
            match soft.filter(|at| widths[*at] > MIN_WIDTH).max_by_key(|at| widths[*at]) {
                Some(widest) => widths[widest] -= 1,
                None => return,
            }
        }
    }

    fn truncate_cells(&self, cells: &[String], widths: &[usize]) -> Vec<String> {
        let mut cells = cells.to_vec();
        for (column, cut) in &self.truncatable {
            let Some(cell) = cells.get_mut(*column) else { continue };
            let over = cell.chars().count().saturating_sub(widths[*column]);
            if over == 0 {
                continue;
            }
            let kept = widths[*column].saturating_sub(1);
            *cell = match cut {
                TruncatedEnd::Start => {
                    format!("…{}", cell.chars().skip(over + 1).collect::<String>())
                }
                TruncatedEnd::End => format!("{}…", cell.chars().take(kept).collect::<String>()),
            };
        }
        cells
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::new();
        for row in &self.rows {
            let TextTableRow::Cells(cells) = row else { continue };
            widths.resize(widths.len().max(cells.len()), 0);
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        widths
    }
}

fn aligned(cells: &[String], widths: &[usize]) -> String {
    let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
    padded.collect::<Vec<_>>().join(GAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_cut_is_cut_to_the_width_and_no_further() {
        let mut table =
            TextTable::new(&["NAME", "TARGET", "ORIGIN"]).truncatable(1, TruncatedEnd::End);
        table = table.truncatable(2, TruncatedEnd::Start);
        let target = "npx -y @modelcontextprotocol/server-filesystem /home/me/projects";
        table.row(["files", target, "~/.config/toolgate/config.toml:33"].map(String::from));
        table.row(["a-name-that-stays-whole", "x", ".mcp.json:3"].map(String::from));
        for width in [60, 80, 120] {
            let text = table.render(width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            assert!(text.contains("a-name-that-stays-whole"), "{text}");
            assert!(text.contains("config.toml:33\n"), "{text}");
        }
        assert!(table.render(60).contains("npx -y @model"), "{}", table.render(60));
        assert!(table.render(10).contains("npx -y @model…"), "{}", table.render(10));
        assert!(table.text().contains(target));
    }

    #[test]
    fn columns_line_up_and_remarks_stand_below_their_row() {
        let mut table = TextTable::new(&["NAME", "STATE"]);
        table.row(["ü".to_owned(), "connected".to_owned()]);
        table.remark("since noon".to_owned());
        table.row(["longer".to_owned(), "failed".to_owned()]);
        assert_eq!(
            table.text(),
            "NAME    STATE\nü       connected\n    since noon\nlonger  failed\n"
        );
    }
}
