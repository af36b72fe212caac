//! Blocking work, on a thread of its own.

use crate::exit::{ErrorCode, OrFail as _, Result};

/// Runs work that blocks, so that signals and the spinner are still handled.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.or_fail(ErrorCode::CliInternal, "cannot finish the work")?
}
