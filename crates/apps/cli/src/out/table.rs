//! Rows in aligned columns, cut where a terminal is too narrow for them.

/// A table being filled.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
    /// Columns that may be cut, and which end of them matters less.
    soft: Vec<(usize, Cut)>,
}

/// Which end of a text is left out where it does not fit.
#[derive(Debug, Clone, Copy)]
pub enum Cut {
    /// The beginning: of a path, the end says more.
    Start,
    /// The end.
    End,
}

/// No column is cut shorter.
const LEAST: usize = 14;

#[derive(Debug)]
enum Row {
    Cells(Vec<String>),
    /// A remark on the row above it.
    Remark(String),
}

/// Between two columns.
const GAP: &str = "  ";

impl Table {
    /// A table with these headings.
    pub fn new(headings: &[&str]) -> Self {
        let mut table = Self::default();
        table.row(headings.iter().map(ToString::to_string));
        table
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(Row::Cells(cells.into_iter().collect()));
    }

    /// Adds a remark below the last row.
    pub fn remark(&mut self, text: String) {
        self.rows.push(Row::Remark(text));
    }

    /// Lets a column be cut where the whole is wider than the terminal.
    #[must_use]
    pub fn soft(mut self, column: usize, cut: Cut) -> Self {
        self.soft.push((column, cut));
        self
    }

    /// The table as text, whole.
    pub fn text(&self) -> String {
        self.within(usize::MAX)
    }

    /// The table as text for whoever reads it: as wide as the terminal, if there is one.
    pub fn fitted(&self) -> String {
        let terminal = terminal_size::terminal_size_of(std::io::stdout());
        self.within(terminal.map_or(usize::MAX, |(width, _)| width.0.into()))
    }

    fn within(&self, limit: usize) -> String {
        let mut widths = self.widths();
        self.narrow(&mut widths, limit);
        let mut text = String::new();
        for row in &self.rows {
            match row {
                Row::Cells(cells) => {
                    let cells = self.cut(cells, &widths);
                    text.push_str(aligned(&cells, &widths).trim_end());
                }
                Row::Remark(remark) => text.push_str(&format!("    {remark}")),
            }
            text.push('\n');
        }
        text
    }

    /// Takes from the widest column that may be cut, until all fit or none has more to give.
    fn narrow(&self, widths: &mut [usize], limit: usize) {
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > limit {
            let soft = self.soft.iter().map(|(column, _)| *column);
            match soft.filter(|at| widths[*at] > LEAST).max_by_key(|at| widths[*at]) {
                Some(widest) => widths[widest] -= 1,
                None => return,
            }
        }
    }

    fn cut(&self, cells: &[String], widths: &[usize]) -> Vec<String> {
        let mut cells = cells.to_vec();
        for (column, cut) in &self.soft {
            let Some(cell) = cells.get_mut(*column) else { continue };
            let over = cell.chars().count().saturating_sub(widths[*column]);
            if over == 0 {
                continue;
            }
            let kept = widths[*column].saturating_sub(1);
            *cell = match cut {
                Cut::Start => format!("…{}", cell.chars().skip(over + 1).collect::<String>()),
                Cut::End => format!("{}…", cell.chars().take(kept).collect::<String>()),
            };
        }
        cells
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::new();
        for row in &self.rows {
            let Row::Cells(cells) = row else { continue };
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
        let mut table = Table::new(&["NAME", "TARGET", "ORIGIN"]).soft(1, Cut::End);
        table = table.soft(2, Cut::Start);
        let target = "npx -y @modelcontextprotocol/server-filesystem /home/me/projects";
        table.row(["files", target, "~/.config/toolgate/config.toml:33"].map(String::from));
        table.row(["a-name-that-stays-whole", "x", ".mcp.json:3"].map(String::from));
        for width in [60, 80, 120] {
            let text = table.within(width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            assert!(text.contains("a-name-that-stays-whole"), "{text}");
            assert!(text.contains("config.toml:33\n"), "{text}");
        }
        assert!(table.within(60).contains("npx -y @model"), "{}", table.within(60));
        assert!(table.within(10).contains("npx -y @model…"), "{}", table.within(10));
        assert!(table.text().contains(target));
    }

    #[test]
    fn columns_line_up_and_remarks_stand_below_their_row() {
        let mut table = Table::new(&["NAME", "STATE"]);
        table.row(["ü".to_owned(), "connected".to_owned()]);
        table.remark("since noon".to_owned());
        table.row(["longer".to_owned(), "failed".to_owned()]);
        assert_eq!(
            table.text(),
            "NAME    STATE\nü       connected\n    since noon\nlonger  failed\n"
        );
    }
}
