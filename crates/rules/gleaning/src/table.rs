//! Tables of tasks: which column says what, whose and by when.

use std::ops::Range;

use crate::blocks::Shape;
use crate::cues::{self, Line};
use crate::people;
use crate::sections::{Piece, Section};

/// A table whose head names its columns.
pub(crate) struct Table {
    rows: Range<usize>,
    what: usize,
    owner: Option<usize>,
    due: Option<usize>,
    status: Option<usize>,
    head: usize,
}

/// A row of such a table.
pub(crate) struct Row {
    /// What is to be done.
    pub(crate) what: Range<usize>,
    /// Whose it is.
    pub(crate) owner: Option<Range<usize>>,
    /// When it is due.
    pub(crate) due: Option<Range<usize>>,
    /// Whether it is done.
    pub(crate) done: bool,
    /// Whether it is the head.
    pub(crate) head: bool,
}

const WHAT: &str = "\
    action|actions|action item|task|tasks|what|item|todo|to do|description|aufgabe|maßnahme|was|\
    tâche|quoi|tarea|acción|qué";

const STATUS: &str = "status|state|done|erledigt|statut|estado";

impl Table {
    /// The tables of tasks among these pieces.
    pub(crate) fn all(text: &str, pieces: &[Piece]) -> Vec<Self> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < pieces.len() {
            let length =
                pieces[at..].iter().take_while(|piece| piece.block.shape == Shape::Row).count();
            if length > 1 {
                found.extend(Self::read(text, pieces, at..at + length));
            }
            at += length.max(1);
        }
        found
    }

    fn read(text: &str, pieces: &[Piece], rows: Range<usize>) -> Option<Self> {
        let cells = cells(text, &pieces[rows.start]);
        let column = |names: &str| {
            cells.iter().position(|cell| Line::of(&text[cell.clone()]).begins(names).is_some())
        };
        let (owner, due, status) = (column(cues::OWNERS), column(cues::DUES), column(STATUS));
        let what = column(WHAT);
        let tasks = pieces[rows.start].section == Section::Tasks;
        let fits = what.is_some() && owner.is_some() || tasks && cells.len() > 1;
        let first = (0..cells.len()).find(|place| Some(*place) != owner && Some(*place) != due)?;
        fits.then(|| Self {
            head: pieces[rows.start].block.body,
            rows,
            what: what.unwrap_or(first),
            owner,
            due,
            status,
        })
    }

    /// Whether the piece at this place is one of its rows.
    pub(crate) fn holds(&self, place: usize) -> bool {
        self.rows.contains(&place)
    }

    /// What a piece says as a row of this table.
    pub(crate) fn row(&self, text: &str, piece: &Piece) -> Option<Row> {
        let cells = cells(text, piece);
        let cell = |place: Option<usize>| place.and_then(|place| cells.get(place).cloned());
        let status = cell(self.status).map(|range| text[range].to_lowercase()).unwrap_or_default();
        let done =
            ["done", "closed", "complete", "erledigt", "fertig", "fait", "hecho", "✅", "x", "yes"]
                .iter()
                .any(|mark| status.starts_with(mark));
        let named =
            cell(self.owner).and_then(|range| people::names(text, range).into_iter().next());
        let filled = |range: &Range<usize>| text[range.clone()].contains(char::is_alphanumeric);
        Some(Row {
            what: cell(Some(self.what)).filter(filled)?,
            owner: named,
            due: cell(self.due).filter(filled),
            done,
            head: piece.block.body == self.head,
        })
    }
}

/// The cells of a row, without the blanks around them.
pub(crate) fn cells(text: &str, piece: &Piece) -> Vec<Range<usize>> {
    let row = text.get(piece.block.body..piece.block.end).unwrap_or("");
    let lead = usize::from(row.starts_with('|'));
    let inner = row[lead..].strip_suffix('|').unwrap_or(&row[lead..]);
    let mut start = piece.block.body + lead;
    let mut found = Vec::new();
    for cell in inner.split('|') {
        let from = start + cell.len() - cell.trim_start().len();
        found.push(from.min(start + cell.len())..(from + cell.trim().len()).max(from));
        start += cell.len() + 1;
    }
    found
}
