//! The processes of the benchmark and their CPU time.
//!
//! CPU time is read per thread from `schedstat`, which counts nanoseconds. It excludes children,
//! because an upstream that the gateway starts is not the gateway's cost.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

/// A server process that prints its address and is killed when this is dropped.
#[derive(Debug)]
pub struct BenchServer {
    child: Child,
    /// The endpoint it printed.
    pub url: String,
}

impl BenchServer {
    /// Starts a server and waits for its address; its stderr goes to `log`.
    pub fn start(mut command: Command, log: &Path) -> Result<Self, String> {
        let stderr = File::create(log)
            .map_err(|error| format!("cannot create {}: {error}", log.display()))?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);
        let child =
            command.spawn().map_err(|error| format!("cannot start {command:?}: {error}"))?;
        let mut server = BenchServer { child, url: String::new() };
        let mut out = BufReader::new(server.child.stdout.take().ok_or("no stdout")?);
        let mut line = String::new();
        out.read_line(&mut line)
            .map_err(|error| format!("cannot read the address of the server: {error}"))?;
        server.url = address_in(&line).ok_or_else(|| {
            let told = fs::read_to_string(log).unwrap_or_default();
            format!("no address in the first line of {:?}: {line:?}\n{told}", command.get_program())
        })?;
        // A full pipe would stop the server at its next line.
        thread::spawn(move || io::copy(&mut out, &mut io::sink()));
        Ok(server)
    }

    /// Asks it to end, and waits until it has.
    pub fn finish(mut self) -> Result<(), String> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or("a process without a number")?;
        kill_process(pid, Signal::TERM)
            .map_err(|error| format!("cannot stop the server: {error}"))?;
        self.child.wait().map(drop).map_err(|error| format!("cannot wait for the server: {error}"))
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        // Already gone is as good as ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn address_in(line: &str) -> Option<String> {
    let from = line.find("http://")?;
    let address =
        line[from..].split(|c: char| c.is_whitespace() || "\"'`,;)>".contains(c)).next()?;
    Some(address.to_owned())
}

/// CPU time of one process at one moment, in nanoseconds per thread and in clock ticks overall.
#[derive(Debug)]
pub struct CpuTime {
    threads: BTreeMap<String, u64>,
    ticks: u64,
}

/// The kernel's clock tick as user space sees it: always 100 per second on Linux.
const TICK_NANOS: u64 = 10_000_000;

impl CpuTime {
    /// Reads it now.
    pub fn of(pid: u32) -> Result<Self, String> {
        let tasks = PathBuf::from(format!("/proc/{pid}/task"));
        let unreadable = |error: io::Error| format!("cannot read {}: {error}", tasks.display());
        let mut threads = BTreeMap::new();
        for task in fs::read_dir(&tasks).map_err(unreadable)?.flatten() {
            // A thread may end between the listing and the reading.
            let Ok(stat) = fs::read_to_string(task.path().join("schedstat")) else { continue };
            let spent = stat.split(' ').next().and_then(|nanos| nanos.parse().ok());
            threads.insert(task.file_name().to_string_lossy().into_owned(), spent.unwrap_or(0));
        }
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).map_err(unreadable)?;
        Ok(CpuTime { threads, ticks: ticks(&stat, OWN).ok_or("read the process's clock ticks")? })
    }

    /// Nanoseconds from `earlier` to now. Threads that ended in between are missing from the
    /// precise clock; when the coarse one shows markedly more, it is the honest figure.
    pub fn since(&self, earlier: &CpuTime) -> u64 {
        let before = |thread| earlier.threads.get(thread).copied().unwrap_or(0);
        let precise: u64 =
            self.threads.iter().map(|(thread, spent)| spent.saturating_sub(before(thread))).sum();
        let coarse = (self.ticks - earlier.ticks.min(self.ticks)) * TICK_NANOS;
        if coarse > precise + precise / 20 + 3 * TICK_NANOS { coarse } else { precise }
    }
}

/// What the children of this process that ended and were waited for have cost so far, in
/// nanoseconds but no finer than two ticks.
pub fn children_nanos() -> Result<u64, String> {
    let stat = fs::read_to_string("/proc/self/stat").map_err(|error| error.to_string())?;
    Ok(ticks(&stat, CHILDREN).ok_or("read the clock ticks of our children")? * TICK_NANOS)
}

/// Where a process's own time stands behind its name: fields 14 and 15.
const OWN: usize = 11;
/// And that of its children: fields 16 and 17.
const CHILDREN: usize = 13;

/// User and system time; the name before them may hold spaces.
fn ticks(stat: &str, at: usize) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(at);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// Resident memory of a process in bytes.
pub fn rss(pid: u32) -> Result<u64, String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))
        .map_err(|error| format!("cannot read the memory of process {pid}: {error}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    Ok(kibibytes.ok_or("find VmRSS")? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_in_a_sentence() {
        let told = "Toolgate listens on http://127.0.0.1:7420/mcp, console at http://x/\n";
        assert_eq!(address_in(told).as_deref(), Some("http://127.0.0.1:7420/mcp"));
        assert_eq!(address_in("nothing"), None);
    }

    #[test]
    fn a_thread_that_burns_is_seen_on_both_clocks() {
        let own = std::process::id();
        let before = CpuTime::of(own).unwrap();
        thread::spawn(|| {
            let mut sum = 0_u64;
            while CpuTime::of(std::process::id()).unwrap().ticks < 5 {
                sum = std::hint::black_box(sum + 1);
            }
        })
        .join()
        .unwrap();
        let after = CpuTime::of(own).unwrap();
        // The thread is gone, so only the coarse clock still knows what it spent.
        assert!(after.since(&before) >= 3 * TICK_NANOS, "{before:?} {after:?}");
        assert!(rss(own).unwrap() > 1_000_000);
    }

    #[test]
    fn a_process_name_with_spaces_and_brackets_does_not_confuse() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 0 1 2 3 4 11 22 5 6 20 0 1 0 99";
        assert_eq!(ticks(stat, OWN), Some(33));
        assert_eq!(ticks(stat, CHILDREN), Some(11));
    }
}
