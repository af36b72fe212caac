//! A spinner on stderr for work that takes longer than a second.

use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::AbortHandle;

use super::{escape_invisible, stderr_is_terminal};

/// How long work runs before the spinner appears.
const SHOW_AFTER: Duration = Duration::from_secs(1);
const FRAME_INTERVAL: Duration = Duration::from_millis(100);
const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const ERASE: &str = "\r\x1b[K";

/// A spinner that runs until it is dropped. Cheap to clone; all clones share one spinner.
#[derive(Clone)]
pub struct Spinner(Option<Arc<SpinnerTask>>);

/// The background task that draws a spinner; dropping it stops the task and erases the spinner.
struct SpinnerTask {
    state: Arc<Mutex<SpinnerState>>,
    task: AbortHandle,
}

/// What a spinner currently shows.
struct SpinnerState {
    text: String,
    hidden: bool,
}

/// Hides a spinner until it is dropped, while other output is written.
pub struct SpinnerPauseGuard(Option<Arc<Mutex<SpinnerState>>>);

impl Spinner {
    /// Starts a spinner if stderr is a terminal. Must be called inside a runtime.
    pub fn new(text: &str) -> Self {
        if !stderr_is_terminal() {
            return Self(None);
        }
        let state =
            Arc::new(Mutex::new(SpinnerState { text: escape_invisible(text), hidden: false }));
        let task = tokio::spawn(animate(state.clone())).abort_handle();
        Self(Some(Arc::new(SpinnerTask { state, task })))
    }

    /// Replaces the text beside the spinner.
    pub fn set_text(&self, text: &str) {
        if let Some(spinner) = &self.0 {
            lock(&spinner.state).text = escape_invisible(text);
        }
    }

    /// Hides the spinner until the guard is dropped.
    pub fn hide(&self) -> SpinnerPauseGuard {
        let state = self.0.as_ref().map(|spinner| spinner.state.clone());
        if let Some(state) = &state {
            lock(state).hidden = true;
            draw(ERASE);
        }
        SpinnerPauseGuard(state)
    }
}

impl Drop for SpinnerPauseGuard {
    fn drop(&mut self) {
        if let Some(state) = &self.0 {
            lock(state).hidden = false;
        }
    }
}

impl Drop for SpinnerTask {
    fn drop(&mut self) {
        self.task.abort();
        draw(ERASE);
    }
}

async fn animate(state: Arc<Mutex<SpinnerState>>) {
    tokio::time::sleep(SHOW_AFTER).await;
    for frame in FRAMES.iter().cycle() {
        {
            let state = lock(&state);
            if !state.hidden {
                draw(&format!("{ERASE}{frame} {}", state.text));
            }
        }
        tokio::time::sleep(FRAME_INTERVAL).await;
    }
}

fn draw(text: &str) {
    let mut stderr = io::stderr();
    // The terminal may be gone; the spinner is not essential.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

fn lock(state: &Mutex<SpinnerState>) -> std::sync::MutexGuard<'_, SpinnerState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
