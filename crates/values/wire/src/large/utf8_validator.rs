//! Validates UTF-8 in chunks; a chunk may end inside a character.

/// The state of UTF-8 validation between two chunks.
#[derive(Debug, Default)]
pub(super) struct Utf8Validator {
    /// The start of a character that continues in the next chunk.
    cut: [u8; 4],
    len: usize,
}

impl Utf8Validator {
    /// Validates the next chunk. An error holds the length of the valid part of the chunk.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<(), usize> {
        let mut rest = piece;
        while self.len > 0 {
            let Some((&byte, after)) = rest.split_first() else { return Ok(()) };
            let place = self.cut.get_mut(self.len).ok_or(0_usize)?;
            *place = byte;
            self.len += 1;
            match std::str::from_utf8(self.cut.get(..self.len).unwrap_or_default()) {
                Ok(_) => self.len = 0,
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(piece.len() - rest.len()),
            }
            rest = after;
        }
        if rest.is_ascii() {
            return Ok(());
        }
        let Err(error) = std::str::from_utf8(rest) else { return Ok(()) };
        let right = error.valid_up_to();
        if error.error_len().is_some() {
            return Err(piece.len() - rest.len() + right);
        }
        for byte in rest.get(right..).unwrap_or_default() {
            if let Some(place) = self.cut.get_mut(self.len) {
                *place = *byte;
                self.len += 1;
            }
        }
        Ok(())
    }

    /// Returns true if the input does not end inside a character.
    pub(super) fn is_whole(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(bytes: &[u8], step: usize) -> bool {
        let mut utf8 = Utf8Validator::default();
        bytes.chunks(step).all(|piece| utf8.push(piece).is_ok()) && utf8.is_whole()
    }

    #[test]
    fn pieces_are_judged_as_the_whole_is() {
        for bytes in [
            "zażółć 日本 🙂 end".as_bytes(),
            b"\xf0\x9f\x99",
            b"a\xffb",
            b"\xed\xa0\x80",
            b"\xc3\x28",
            b"\xf4\x90\x80\x80",
            b"",
        ] {
            for step in 1..6 {
                let right = std::str::from_utf8(bytes).is_ok();
                assert_eq!(judged(bytes, step), right, "{bytes:?} in steps of {step}");
            }
        }
    }
}
