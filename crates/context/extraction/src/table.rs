//! Tables of tasks: their columns for task, owner and due date.

use std::ops::Range;

use crate::cues::{self, SentenceWords};
use crate::layout::TextBlockKind;
use crate::people;
use crate::sections::{NotePiece, NoteSection};

/// A table with a header that names its columns.
pub(crate) struct ActionItemTable {
    rows: Range<usize>,
    task: usize,
    owner: Option<usize>,
    due: Option<usize>,
    status: Option<usize>,
    head: usize,
}

/// A row of a table of tasks.
pub(crate) struct ActionItemRow {
    /// The task.
    pub(crate) task: Range<usize>,
    /// The owner.
    pub(crate) owner: Option<Range<usize>>,
    /// The due date.
    pub(crate) due: Option<Range<usize>>,
    /// Whether the task is done.
    pub(crate) done: bool,
    /// Whether the row is the header.
    pub(crate) head: bool,
}

const WHAT: &str = "\
    action|actions|action item|task|tasks|what|item|todo|to do|description|aufgabe|maßnahme|was|\
    tâche|quoi|tarea|acción|qué";

const STATUS: &str = "status|state|done|erledigt|statut|estado";

impl ActionItemTable {
    /// Returns the tables of tasks among these pieces.
    pub(crate) fn all(text: &str, pieces: &[NotePiece]) -> Vec<Self> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < pieces.len() {
            let length = pieces[at..]
                .iter()
                .take_while(|piece| piece.block.kind == TextBlockKind::Row)
                .count();
            if length > 1 {
                found.extend(Self::read(text, pieces, at..at + length));
            }
            at += length.max(1);
        }
        found
    }

    fn read(text: &str, pieces: &[NotePiece], rows: Range<usize>) -> Option<Self> {
        let cells = cells(text, &pieces[rows.start]);
        let column = |names: &str| {
            cells.iter().position(|cell| {
                SentenceWords::of(&text[cell.clone()]).starts_with(names).is_some()
            })
        };
        let (owner, due, status) = (column(cues::OWNERS), column(cues::DUES), column(STATUS));
        let what = column(WHAT);
        let tasks = pieces[rows.start].section == NoteSection::Tasks;
        let fits = what.is_some() && owner.is_some() || tasks && cells.len() > 1;
        let first = (0..cells.len()).find(|place| Some(*place) != owner && Some(*place) != due)?;
        fits.then(|| Self {
            head: pieces[rows.start].block.body,
            rows,
            task: what.unwrap_or(first),
            owner,
            due,
            status,
        })
    }

    /// Returns true if the piece at this index is a row of the table.
    pub(crate) fn holds(&self, place: usize) -> bool {
        self.rows.contains(&place)
    }

    /// Parses a piece as a row of this table.
    pub(crate) fn row(&self, text: &str, piece: &NotePiece) -> Option<ActionItemRow> {
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
        Some(ActionItemRow {
            task: cell(Some(self.task)).filter(filled)?,
            owner: named,
            due: cell(self.due).filter(filled),
            done,
            head: piece.block.body == self.head,
        })
    }
}

/// Returns the cells of a row, trimmed.
pub(crate) fn cells(text: &str, piece: &NotePiece) -> Vec<Range<usize>> {
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
