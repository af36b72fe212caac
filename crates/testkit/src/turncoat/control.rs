//! Watches the control file and applies every new update in it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::state::TurncoatState;

/// How often the file is looked at.
const EVERY: Duration = Duration::from_millis(10);

/// Follows the file for ever. A file that is half written is looked at again.
pub(super) async fn follow(file: PathBuf, world: Arc<TurncoatState>) {
    let mut seen = String::new();
    loop {
        if let Ok(text) = tokio::fs::read_to_string(&file).await
            && text != seen
            && let Ok(turn) = serde_json::from_str(&text)
        {
            seen = text;
            if let Err(error) = world.apply_update(&turn) {
                eprintln!("cannot write the call log: {error}");
            }
        }
        tokio::time::sleep(EVERY).await;
    }
}
