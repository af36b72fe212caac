//! Repairs the chains of killed processes. It sets a torn end aside, which was never acknowledged,
//! and signs the records after the last checkpoint as recovered.
//!
//! It checks only chains that were not closed or end in the middle of a line, and only the end of
//! their last segment. A whole record after a broken one means that the file was changed: then it
//! repairs nothing.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use serde::Serialize;

use crate::key::CheckpointSigner;
use crate::layout::{self, JournalChain, JournalPaths, LOCK};
use crate::{chain, checkpoint, private_files, verify};

/// The result of repairing a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ChainRepair {
    pub(crate) chain: String,
    /// The file name of the segment.
    pub(crate) segment: String,
    /// The number of bytes set aside.
    pub(crate) bytes: u64,
    /// The number of records signed.
    pub(crate) signed: u64,
    /// The error, if the repair failed.
    #[serde(rename = "error", skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<String>,
}

/// Repairs all chains without a running process, except the own one.
pub(crate) fn recover_chains(places: &JournalPaths, own: &str) -> Vec<ChainRepair> {
    let chains = layout::list_chains(&places.folder).unwrap_or_default();
    let others = chains.iter().filter(|chain| &*chain.id != own);
    others.filter_map(|chain| recover_chain(chain, places)).collect()
}

fn recover_chain(chain: &JournalChain, places: &JournalPaths) -> Option<ChainRepair> {
    let path = chain.folder.join(LOCK);
    let segments = chain.segments().unwrap_or_default();
    let lock = match OpenOptions::new().write(true).open(&path) {
        Ok(lock) => Some(lock),
        // A writer creates its lock before its first segment, so this chain has no writer.
        Err(_) if segments.last().is_some_and(|(_, last)| ends_within_a_line(last)) => None,
        Err(_) => return None,
    };
    match lock.as_ref().map_or(Ok(()), File::try_lock) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return None,
        Err(TryLockError::Error(error)) => return Some(new_repair(chain, "", Err(error))),
    }
    let Some((_, last)) = segments.last() else {
        let _ = fs::remove_file(path);
        return None;
    };
    let repaired = set_aside_torn_end(last);
    let signed = match repaired {
        Ok(_) => sign_unsigned_records(chain, places),
        Err(_) => Ok(0),
    };
    if repaired.is_ok() {
        // The chain is complete now and need not be checked again.
        let _ = fs::remove_file(path);
    }
    let name = last.file_name().unwrap_or_default().to_string_lossy();
    match (repaired, signed) {
        (Ok(0), Ok(0)) => None,
        (repaired, Ok(signed)) => {
            Some(ChainRepair { signed, ..new_repair(chain, &name, repaired) })
        }
        (repaired, Err(error)) => Some(new_repair(chain, &name, repaired.and(Err(error)))),
    }
}

/// Signs the records after the last checkpoint of a chain as recovered. Returns how many there
/// were. They must form a valid chain, match the earlier checkpoints, and be no more than a killed
/// process leaves. Otherwise the records were forged or checkpoints were deleted.
fn sign_unsigned_records(chain: &JournalChain, places: &JournalPaths) -> io::Result<u64> {
    let refuse =
        |why: &str| Err(io::Error::new(io::ErrorKind::InvalidData, format!("not signed: {why}")));
    let signer = CheckpointSigner::load_or_create(places)?;
    let path = places.checkpoint_path(&chain.id);
    let verified = verify::verify_ended_chain(chain, &path, &signer.public_key());
    let (problem, at, signed) = verified.map_err(io::Error::other)?;
    if let Some(problem) = problem {
        return refuse(&problem.detail);
    }
    if !at.tail.fits_crash() {
        return refuse("it has more unsigned records than a killed process leaves");
    }
    if at.head.seq > signed {
        checkpoint::append_recovered(&chain.id, &at.head, &signer, &path)?;
    }
    Ok(at.head.seq - signed)
}

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

fn new_repair(chain: &JournalChain, segment: &str, result: io::Result<u64>) -> ChainRepair {
    let (bytes, failed) = match result {
        Ok(bytes) => (bytes, None),
        Err(error) => (0, Some(error.to_string())),
    };
    let (chain, segment) = (chain.id.to_string(), segment.to_owned());
    ChainRepair { chain, segment, bytes, signed: 0, failed }
}

/// Sets the torn end of a segment aside. Returns its length.
pub(crate) fn set_aside_torn_end(segment: &Path) -> io::Result<u64> {
    let bytes = fs::read(segment)?;
    let whole = intact_length(&bytes);
    let torn = &bytes[whole..];
    if torn.is_empty() {
        return Ok(0);
    }
    // A record that lacks only its line end was torn there, if it is the first of the torn bytes.
    let first_is_cut = !torn.contains(&b'\n');
    let is_whole = |line: &[u8]| chain::parse_link(line).is_some_and(|link| link.hash_matches);
    if !first_is_cut && torn.split(|byte| *byte == b'\n').any(is_whole) {
        let what = "a whole record follows a broken one, so this is not a torn write";
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let aside = segment.with_extension("torn");
    let mut file = private_files::open(&aside, OpenOptions::new().append(true).create(true))?;
    file.write_all(torn)?;
    file.sync_all()?;
    let file: File = OpenOptions::new().write(true).open(segment)?;
    file.set_len(whole as u64)?;
    file.sync_all()?;
    Ok(torn.len() as u64)
}

/// Returns the length of the valid sequence of records at the beginning of a segment.
fn intact_length(bytes: &[u8]) -> usize {
    let (mut end, mut before) = (0, None);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(text) = line.strip_suffix(b"\n") else { break };
        let Some(link) = chain::parse_link(text).filter(|link| link.hash_matches) else { break };
        if before.is_some_and(|(seq, hash)| (link.seq, link.prev) != (seq + 1, hash)) {
            break;
        }
        before = Some((link.seq, link.hash));
        end += line.len();
    }
    end
}
