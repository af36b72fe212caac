//! A batch of records to write: their bodies in one buffer, and the time of each.

use crate::chain::RecordTime;

/// A sequence of records.
#[derive(Debug, Default)]
pub(crate) struct RecordBatch {
    bodies: Vec<u8>,
    records: Vec<(usize, RecordTime)>,
}

impl RecordBatch {
    /// Adds a record.
    pub(crate) fn push(&mut self, body: &[u8], when: RecordTime) {
        self.bodies.extend_from_slice(body);
        self.records.push((body.len(), when));
    }

    /// Returns the records in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], RecordTime)> {
        let mut rest = self.bodies.as_slice();
        self.records.iter().map(move |(length, when)| {
            let (body, behind) = rest.split_at(*length);
            rest = behind;
            (body, *when)
        })
    }

    /// Returns the number of records.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns true if there are no records.
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the memory of the records in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bodies.len() + self.records.len() * size_of::<(usize, RecordTime)>()
    }

    /// Removes all records. Keeps the buffers for reuse, up to a limit.
    pub(crate) fn clear(&mut self) {
        self.bodies.clear();
        self.records.clear();
        self.bodies.shrink_to(256 << 10);
        self.records.shrink_to(4 << 10);
    }
}
