//! Records on their way to the disk: their bodies in one buffer, and when each was taken.

use super::chain::When;

/// Some records, in order.
#[derive(Debug, Default)]
pub(super) struct Batch {
    bodies: Vec<u8>,
    records: Vec<(usize, When)>,
}

impl Batch {
    /// Adds a record.
    pub(super) fn push(&mut self, body: &[u8], when: When) {
        self.bodies.extend_from_slice(body);
        self.records.push((body.len(), when));
    }

    /// The records.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], When)> {
        let mut rest = self.bodies.as_slice();
        self.records.iter().map(move |(length, when)| {
            let (body, behind) = rest.split_at(*length);
            rest = behind;
            (body, *when)
        })
    }

    /// How many records there are.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// How much memory they take.
    pub(super) fn weight(&self) -> usize {
        self.bodies.len() + self.records.len() * size_of::<(usize, When)>()
    }

    /// Forgets them; the buffers are used again, unless they have become large.
    pub(super) fn clear(&mut self) {
        self.bodies.clear();
        self.records.clear();
        self.bodies.shrink_to(256 << 10);
        self.records.shrink_to(4 << 10);
    }
}
