//! Rows in aligned columns.

/// A table being filled.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
}

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

    /// The table as text.
    pub fn text(&self) -> String {
        let widths = self.widths();
        let mut text = String::new();
        for row in &self.rows {
            match row {
                Row::Cells(cells) => text.push_str(aligned(cells, &widths).trim_end()),
                Row::Remark(remark) => text.push_str(&format!("    {remark}")),
            }
            text.push('\n');
        }
        text
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
