//! How reliably a child's whole process tree ends with this process.

use std::fmt;

/// The mechanism that ends a process tree, weakest first. `Display` writes a sentence for users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TreeGuarantee {
    /// A process group. A process that leaves the group (a daemon) outlives this one.
    ProcessGroup,
    /// A subreaper that finds and ends every descendant. A server that stops or kills the subreaper
    /// still ends with this process, but the processes it started before can stay behind.
    Subreaper,
    /// A PID namespace. The kernel ends every process in it, including daemons.
    Namespace,
}

impl TreeGuarantee {
    /// Returns the name for machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::ProcessGroup => "process-group",
            Self::Subreaper => "subreaper",
            Self::Namespace => "namespace",
        }
    }
}

impl fmt::Display for TreeGuarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Namespace => {
                "every process a server starts ends with the server and with toolgate, even if \
                 toolgate is killed (PID namespace)"
            }
            Self::Subreaper => {
                "PID namespaces are not available: toolgate finds and ends every process a server \
                 starts, but a hostile server could kill the helper and leave processes behind"
            }
            Self::ProcessGroup if cfg!(windows) => {
                "only the server process itself is ended; processes it starts may stay behind"
            }
            Self::ProcessGroup => {
                "no helper is available: a server that starts daemons, or any server if toolgate \
                 is killed, may leave processes behind"
            }
        })
    }
}
