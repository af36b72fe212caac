//! How surely a child's whole process tree ends with us.

use std::fmt;

/// What holds a process tree together, weakest first. `Display` is a sentence for start-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TreeGuarantee {
    /// A process group: what leaves the group (a daemon) outlives us.
    ProcessGroup,
    /// A subreaper that finds and ends every descendant. A server that stops or ends the subreaper
    /// still ends with us, but what it started before can stay behind.
    Subreaper,
    /// A PID namespace: the kernel ends everything in it, daemons included.
    Namespace,
}

impl TreeGuarantee {
    /// One word for machine-readable output.
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
                "every process a server starts ends with it and with us, even if we are killed \
                 (PID namespace)"
            }
            Self::Subreaper => {
                "PID namespaces are not available here: every process a server starts is found and \
                 ended when it or we end, but a hostile server could end our helper and leave \
                 processes behind that it started"
            }
            Self::ProcessGroup if cfg!(windows) => {
                "only the server process itself is ended; what it starts may stay behind"
            }
            Self::ProcessGroup => {
                "no helper is available: a server that starts daemons, or any server if we are \
                 killed outright, may leave processes behind"
            }
        })
    }
}
