//! What a process left behind that was ended in the middle of a write: a torn end, which is set
//! aside and told of, since it was never acknowledged; and records behind its last checkpoint, which
//! are signed here, as recovered.
//!
//! Only chains that were not closed, or end in the middle of a line, are looked at, and only their
//! last segment. Where a whole record
//! stands behind a broken one, somebody changed the file: nothing is repaired then.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::chain::{self, Head};
use super::checkpoint::{self, Tail};
use super::key::Signer;
use super::layout::{self, Chain, LOCK, Places};
use crate::private;

/// What was found at the end of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repair {
    pub(super) chain: String,
    /// The file.
    pub(super) segment: String,
    /// How much was set aside.
    pub(super) bytes: u64,
    /// How many records were signed.
    pub(super) signed: u64,
    /// Why nothing was, if so.
    pub(super) failed: Option<String>,
}

/// Looks after all chains whose process is gone, but for this one.
pub(super) fn all(places: &Places, own: &str) -> Vec<Repair> {
    let chains = layout::chains(&places.folder).unwrap_or_default();
    let others = chains.iter().filter(|chain| &*chain.id != own);
    others.filter_map(|chain| one(chain, places)).collect()
}

fn one(chain: &Chain, places: &Places) -> Option<Repair> {
    let path = chain.folder.join(LOCK);
    let segments = chain.segments().unwrap_or_default();
    let lock = match OpenOptions::new().write(true).open(&path) {
        Ok(lock) => Some(lock),
        // Whoever writes has its lock before its first segment, so nobody does.
        Err(_) if segments.last().is_some_and(|(_, last)| ends_within_a_line(last)) => None,
        Err(_) => return None,
    };
    match lock.as_ref().map_or(Ok(()), File::try_lock) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return None,
        Err(TryLockError::Error(error)) => return Some(told(chain, "", Err(error))),
    }
    let Some((_, last)) = segments.last() else {
        let _ = fs::remove_file(path);
        return None;
    };
    let repaired = repair(last);
    let signed = match repaired {
        Ok(_) => signed(chain, places),
        Err(_) => Ok(0),
    };
    if repaired.is_ok() {
        // It is at its end now; nobody need look at it again.
        let _ = fs::remove_file(path);
    }
    let name = last.file_name().unwrap_or_default().to_string_lossy();
    match (repaired, signed) {
        (Ok(0), Ok(0)) => None,
        (repaired, Ok(signed)) => Some(Repair { signed, ..told(chain, &name, repaired) }),
        (repaired, Err(error)) => Some(told(chain, &name, repaired.and(Err(error)))),
    }
}

/// Signs the records behind the last checkpoint of a chain, as recovered; how many there were. They
/// must hang together, fit what was signed before, and be no more than a process leaves that is
/// ended: else somebody wrote them, or took checkpoints away.
fn signed(chain: &Chain, places: &Places) -> io::Result<u64> {
    let refuse = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let signer = Signer::find(places)?;
    let path = places.checkpoints_of(&chain.id);
    let written = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let (marks, flaws, _) = checkpoint::parse(&written, &chain.id, Some(&signer.prover()));
    if flaws.iter().any(|flaw| !flaw.torn) {
        return refuse("its checkpoints were changed, so that nothing more of it is signed");
    }
    let mut marks: BTreeMap<_, _> = marks.iter().map(|mark| (mark.size, mark.hash)).collect();
    let known = marks.last_key_value().map_or(0, |(size, _)| *size);
    let (mut head, mut tail) = (Head::of(&chain.id), Tail::default());
    for (_, segment) in chain.segments().map_err(io::Error::other)? {
        for line in BufReader::new(File::open(segment)?).split(b'\n') {
            let link = chain::link(&line?).filter(|link| link.holds);
            let Some(link) = link.filter(|it| (it.seq, it.prev) == (head.seq + 1, head.hash))
            else {
                return refuse("its records do not hang together, so that none of them is signed");
            };
            if marks.remove(&link.seq).is_some_and(|signed| signed != link.hash) {
                return refuse("it is not the chain that was signed, so that nothing more is");
            }
            head = Head { seq: link.seq, hash: link.hash };
            if head.seq > known {
                tail.push(&link);
            }
        }
    }
    if head.seq < known {
        return refuse(
            "records that were signed are missing, so that nothing more of it is signed",
        );
    }
    if !tail.is_a_crash() {
        return refuse("it has more unsigned records than a process leaves that is ended");
    }
    if head.seq > known {
        checkpoint::recover(&chain.id, &head, &signer, &path)?;
    }
    Ok(head.seq - known)
}

/// Whether the last line of a file has no end. One look, for old chains are many.
fn ends_within_a_line(segment: &Path) -> bool {
    let last = || -> io::Result<u8> {
        let mut file = File::open(segment)?;
        file.seek(SeekFrom::End(-1))?;
        let mut byte = [0];
        file.read_exact(&mut byte)?;
        Ok(byte[0])
    };
    last().is_ok_and(|byte| byte != b'\n')
}

fn told(chain: &Chain, segment: &str, result: io::Result<u64>) -> Repair {
    let (bytes, failed) = match result {
        Ok(bytes) => (bytes, None),
        Err(error) => (0, Some(error.to_string())),
    };
    let (chain, segment) = (chain.id.to_string(), segment.to_owned());
    Repair { chain, segment, bytes, signed: 0, failed }
}

/// Sets the torn end of a segment aside; how long it was.
pub(super) fn repair(segment: &Path) -> io::Result<u64> {
    let bytes = fs::read(segment)?;
    let whole = whole(&bytes);
    let torn = &bytes[whole..];
    if torn.is_empty() {
        return Ok(0);
    }
    // A record that lacks nothing but the end of its line was torn there, if nothing stands before it.
    let first_is_cut = !torn.contains(&b'\n');
    let is_whole = |line: &[u8]| chain::link(line).is_some_and(|link| link.holds);
    if !first_is_cut && torn.split(|byte| *byte == b'\n').any(is_whole) {
        let what = "a whole record stands behind a broken one: this was no torn write";
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let aside = segment.with_extension("torn");
    let mut file = private::open(&aside, OpenOptions::new().append(true).create(true))?;
    file.write_all(torn)?;
    file.sync_all()?;
    let file: File = OpenOptions::new().write(true).open(segment)?;
    file.set_len(whole as u64)?;
    file.sync_all()?;
    Ok(torn.len() as u64)
}

/// How far the records of a segment follow on each other.
fn whole(bytes: &[u8]) -> usize {
    let (mut end, mut before) = (0, None);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(text) = line.strip_suffix(b"\n") else { break };
        let Some(link) = chain::link(text).filter(|link| link.holds) else { break };
        if before.is_some_and(|(seq, hash)| (link.seq, link.prev) != (seq + 1, hash)) {
            break;
        }
        before = Some((link.seq, link.hash));
        end += line.len();
    }
    end
}
