//! How far an ingest is: a bar with rate and remaining time where a person watches, else a line now
//! and then for whoever reads the log of a long one.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use toolgate_context::ingest::Progress;

use crate::out;

/// How often the bar is drawn, in a second.
const DRAWN: u8 = 10;
/// How often a line is written where there is no bar.
const PAUSE: Duration = Duration::from_secs(5);

const LOOKING: &str = "{spinner} looking: {human_pos} files";
const READING: &str =
    "{bar:30} {percent:>3}%  {msg}  {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";

/// Shows how far an ingest is, until it is dropped.
pub struct Bar {
    /// None: nobody watches.
    bar: Option<ProgressBar>,
    reading: bool,
    told: Instant,
}

impl Bar {
    pub fn new() -> Self {
        let bar = out::is_watched().then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(DRAWN);
            ProgressBar::with_draw_target(None, target).with_style(style(LOOKING))
        });
        Self { bar, reading: false, told: Instant::now() }
    }

    /// So far it is.
    pub fn at(&mut self, progress: Progress) {
        match &self.bar {
            Some(bar) if progress.files == 0 => bar.set_position(progress.seen),
            Some(bar) => {
                if !self.reading {
                    bar.reset();
                    bar.set_style(style(READING));
                    bar.set_length(progress.bytes);
                }
                bar.set_message(format!("{} of {} files", progress.files_done, progress.files));
                bar.set_position(progress.bytes_done);
            }
            None => self.line(progress),
        }
        self.reading = progress.files > 0;
    }

    /// Makes room for something else.
    pub fn clear(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        *self = Self::new();
    }

    fn line(&mut self, progress: Progress) {
        if self.told.elapsed() < PAUSE {
            return;
        }
        self.told = Instant::now();
        let size = |bytes: u64| out::size(usize::try_from(bytes).unwrap_or(usize::MAX));
        out::note(&match progress.files {
            0 => format!("looking: {} files", progress.seen),
            files => format!(
                "{} of {files} files, {} of {}",
                progress.files_done,
                size(progress.bytes_done),
                size(progress.bytes)
            ),
        });
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A template that cannot be read would be a mistake of ours: the usual bar does it as well.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
