//! A sign of life on stderr for whoever watches, once something takes longer than a second.

use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::AbortHandle;

use super::{is_watched, visible};

/// What is over sooner needs no sign.
const PATIENCE: Duration = Duration::from_secs(1);
const TURN: Duration = Duration::from_millis(100);
const WHEEL: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const ERASE: &str = "\r\x1b[K";

/// Turns until it is dropped. Cheap to clone; all clones are one wheel.
#[derive(Clone)]
pub struct Spinner(Option<Arc<Wheel>>);

struct Wheel {
    face: Arc<Mutex<Face>>,
    turning: AbortHandle,
}

struct Face {
    text: String,
    hidden: bool,
}

/// Keeps the wheel away while somebody else writes.
pub struct Hidden(Option<Arc<Mutex<Face>>>);

impl Spinner {
    /// Begins to turn, where somebody watches. Must be called inside a runtime.
    pub fn new(text: &str) -> Self {
        if !is_watched() {
            return Self(None);
        }
        let face = Arc::new(Mutex::new(Face { text: visible(text), hidden: false }));
        let turning = tokio::spawn(turn(face.clone())).abort_handle();
        Self(Some(Arc::new(Wheel { face, turning })))
    }

    /// Says something else beside the wheel.
    pub fn say(&self, text: &str) {
        if let Some(wheel) = &self.0 {
            lock(&wheel.face).text = visible(text);
        }
    }

    /// Goes away until the guard is dropped.
    pub fn hide(&self) -> Hidden {
        let face = self.0.as_ref().map(|wheel| wheel.face.clone());
        if let Some(face) = &face {
            lock(face).hidden = true;
            draw(ERASE);
        }
        Hidden(face)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(face) = &self.0 {
            lock(face).hidden = false;
        }
    }
}

impl Drop for Wheel {
    fn drop(&mut self) {
        self.turning.abort();
        draw(ERASE);
    }
}

async fn turn(face: Arc<Mutex<Face>>) {
    tokio::time::sleep(PATIENCE).await;
    for spoke in WHEEL.iter().cycle() {
        {
            let face = lock(&face);
            if !face.hidden {
                draw(&format!("{ERASE}{spoke} {}", face.text));
            }
        }
        tokio::time::sleep(TURN).await;
    }
}

fn draw(text: &str) {
    let mut stderr = io::stderr();
    // Whoever no longer watches misses nothing.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

fn lock(face: &Mutex<Face>) -> std::sync::MutexGuard<'_, Face> {
    face.lock().unwrap_or_else(PoisonError::into_inner)
}
