//! Serves the echo server over stdio, one JSON message per line.
//!
//! It does not use the async runtime, because one blocking thread costs the least.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use super::EchoServer;

/// Answers every line of `input` until it ends.
pub(super) fn serve(echo: &EchoServer, input: impl Read, output: impl Write) -> io::Result<()> {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    let mut output = BufWriter::with_capacity(128 * 1024, output);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if let Some(answer) = echo.answer(line.trim_ascii()) {
            output.write_all(&answer.head)?;
            output.write_all(&answer.tail)?;
            output.write_all(b"\n")?;
        }
        line.clear();
        // Requests that arrived together are answered with one write.
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    output.flush()
}
