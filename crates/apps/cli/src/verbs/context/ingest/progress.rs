//! Progress of an ingest: a bar with rate and remaining time on a terminal, or else a line every
//! few seconds.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use toolgate_context::ingest::IngestProgress;

use crate::out;

/// How often the bar is drawn per second.
const DRAWS_PER_SECOND: u8 = 10;
/// How often a line is written when there is no bar.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

const LOOKING: &str = "{spinner} scanning: {human_pos} files";
const READING: &str =
    "{bar:30} {percent:>3}%  {msg}  {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";

/// Shows the progress of an ingest until it is dropped.
pub struct IngestProgressBar {
    /// `None` if stderr is not a terminal.
    bar: Option<ProgressBar>,
    reading: bool,
    last_line: Instant,
}

impl IngestProgressBar {
    pub fn new() -> Self {
        let bar = out::stderr_is_terminal().then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND);
            ProgressBar::with_draw_target(None, target).with_style(style(LOOKING))
        });
        Self { bar, reading: false, last_line: Instant::now() }
    }

    /// Shows this progress.
    pub fn update(&mut self, progress: IngestProgress) {
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

    /// Clears the bar so that other lines can be printed, and starts over.
    pub fn clear(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        *self = Self::new();
    }

    fn line(&mut self, progress: IngestProgress) {
        if self.last_line.elapsed() < LINE_INTERVAL {
            return;
        }
        self.last_line = Instant::now();
        out::note(&match progress.files {
            0 => format!("scanning: {} files", progress.seen),
            files => format!(
                "{} of {files} files, {} of {}",
                progress.files_done,
                out::format_size(progress.bytes_done),
                out::format_size(progress.bytes)
            ),
        });
    }
}

impl Drop for IngestProgressBar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Returns the style of a template, or the default bar if the template were invalid.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
