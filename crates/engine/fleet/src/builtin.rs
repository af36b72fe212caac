//! Servers inside this process.

use tokio::io::DuplexStream;
use toolgate_wire::Era;

/// A server that speaks MCP lines on a pipe inside this process, as a child would on its streams.
pub trait BuiltIn: Send + Sync {
    /// Serves one connection on a task of its own, until the pipe closes.
    fn serve(&self, pipe: DuplexStream);

    /// The era it speaks; nobody has to ask.
    fn era(&self) -> Era {
        Era::Legacy
    }

    /// Whether it passes on what others wrote: then its words are no more trusted than theirs.
    fn relays(&self) -> bool {
        false
    }
}

/// How much may wait in the pipe.
const PIPE: usize = 64 << 10;

/// Connects to a built-in server.
pub(crate) fn connect(server: &dyn BuiltIn) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    server.serve(theirs);
    ours
}
