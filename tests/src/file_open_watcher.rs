//! Tells that a file was opened by whoever reads it: a reading that changes nothing shows nowhere else.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use crate::{broken, within};

/// What happens to the files of a folder whose names end like this.
pub struct FileOpenWatcher {
    events: OwnedFd,
    ending: &'static str,
}

impl FileOpenWatcher {
    /// Watches a folder from now on.
    pub fn of(folder: &Path, ending: &'static str) -> io::Result<Self> {
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        let kinds = WatchFlags::OPEN | WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO;
        inotify::add_watch(&events, folder, kinds)?;
        Ok(Self { events, ending })
    }

    /// Waits until somebody has opened one of the files after it was last written.
    pub fn wait_for_open(&self, limit: Duration) -> io::Result<()> {
        let mut opened = false;
        match within(limit, || self.follow(&mut opened).is_err() || opened) {
            true if opened => Ok(()),
            true => Err(broken("the folder cannot be watched")),
            false => Err(broken(format!("nobody read the file within {limit:?}"))),
        }
    }

    /// Takes what happened since the last look. A writer opens the file, too, and is done when it
    /// closes the file or gives it its name.
    fn follow(&self, opened: &mut bool) -> io::Result<()> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&self.events, &mut buffer);
        loop {
            let event = match reader.next() {
                Err(Errno::WOULDBLOCK) => return Ok(()),
                event => event?,
            };
            let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
            if name.is_some_and(|name| name.ends_with(self.ending)) {
                *opened = event.events().contains(ReadFlags::OPEN);
            }
        }
    }
}
