//! MCP log levels.

use crate::words;

words! {
    /// The level of a log message, least severe first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum LogLevel {
        /// For developers.
        Debug = "debug",
        /// Informative.
        Info = "info",
        /// Normal but significant.
        Notice = "notice",
        /// A warning.
        Warning = "warning",
        /// An error.
        Error = "error",
        /// A critical condition.
        Critical = "critical",
        /// Requires action at once.
        Alert = "alert",
        /// The system is unusable.
        Emergency = "emergency",
    }
}
