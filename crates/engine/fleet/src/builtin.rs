//! Servers inside this process.

use tokio::io::DuplexStream;

/// A server that speaks MCP lines on a pipe inside this process, as a child would on its streams.
pub trait BuiltIn: Send + Sync {
    /// Serves one connection on a task of its own, until the pipe closes.
    fn serve(&self, pipe: DuplexStream);
}

/// How much may wait in the pipe.
const PIPE: usize = 64 << 10;

/// Connects to a built-in server.
pub(crate) fn connect(server: &dyn BuiltIn) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    server.serve(theirs);
    ours
}
