//! Finds the events in a stream while it is forwarded.
//!
//! It does not delay the stream and only buffers the current incomplete event. It ignores event ids
//! and retry times.

/// One event with data.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct RecordedEvent {
    /// Its name; a stream that gives none means `message`.
    pub(super) name: Option<String>,
    /// Its data lines, joined.
    pub(super) data: Vec<u8>,
}

/// An incremental parser of an event stream.
#[derive(Debug, Default)]
pub(super) struct RecordedEventParser {
    line: Vec<u8>,
    name: Option<String>,
    data: Option<Vec<u8>>,
    after_return: bool,
}

impl RecordedEventParser {
    /// Hears the next bytes and gives the events that they complete.
    pub(super) fn hear(&mut self, bytes: &[u8]) -> Vec<RecordedEvent> {
        let mut complete = Vec::new();
        for &byte in bytes {
            // A line ends with LF, CR or both.
            let second_half = byte == b'\n' && std::mem::take(&mut self.after_return);
            self.after_return = byte == b'\r';
            match byte {
                b'\n' if second_half => {}
                b'\n' | b'\r' => complete.extend(self.end_line()),
                _ => self.line.push(byte),
            }
        }
        complete
    }

    fn end_line(&mut self) -> Option<RecordedEvent> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let (name, data) = (self.name.take(), self.data.take());
            return data.filter(|data| !data.is_empty()).map(|data| RecordedEvent { name, data });
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => self.name = Some(String::from_utf8_lossy(value).into_owned()),
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(chunks: &[&str]) -> Vec<(Option<String>, String)> {
        let mut events = RecordedEventParser::default();
        let all = chunks.iter().flat_map(|chunk| events.hear(chunk.as_bytes()));
        all.map(|event| (event.name, String::from_utf8(event.data).unwrap())).collect()
    }

    #[test]
    fn an_event_is_heard_when_its_last_byte_is_there_and_not_before() {
        let mut events = RecordedEventParser::default();
        assert!(events.hear(b"event: message\ndata: {\"a\"").is_empty());
        assert!(events.hear(b":1}\n").is_empty());
        let complete = events.hear(b"\n");
        assert_eq!(complete[0].data, b"{\"a\":1}");
        assert_eq!(complete[0].name.as_deref(), Some("message"));
    }

    #[test]
    fn every_line_end_counts_once_even_when_chunks_split_it() {
        let expected = vec![(None, "1".to_owned()), (None, "2\n3".to_owned())];
        assert_eq!(heard(&["data:1\n\ndata: 2\ndata:3\n\n"]), expected);
        assert_eq!(heard(&["data:1\r", "\n\r\ndata: 2\r\ndata:3\r\n\r", "\n"]), expected);
        assert_eq!(heard(&["data:1\r\rdata: 2\rdata:3\r\r"]), expected);
    }

    #[test]
    fn comments_primers_and_the_torn_end_of_a_stream_are_no_events() {
        assert!(heard(&[": beat\n\nid: 7\ndata:\n\nretry: 5\n\ndata: torn"]).is_empty());
    }
}
