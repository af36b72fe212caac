//! Servers that run inside this process.

use tokio::io::DuplexStream;
use toolgate_wire::Era;

/// A server that speaks line-based MCP over an in-process pipe, as a child process does over stdio.
pub trait BuiltInServer: Send + Sync {
    /// Serves one connection on its own task until the pipe closes.
    fn serve(&self, pipe: DuplexStream);

    /// Returns the era the server speaks, so that no probe is needed.
    fn era(&self) -> Era {
        Era::Legacy
    }

    /// Returns true if the server passes on content written by others, which makes its output
    /// untrusted.
    fn relays_untrusted_content(&self) -> bool {
        false
    }
}

/// The buffer size of the pipe, in bytes.
const PIPE: usize = 64 << 10;

/// Connects to a built-in server.
pub(crate) fn connect(server: &dyn BuiltInServer) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    server.serve(theirs);
    ours
}
