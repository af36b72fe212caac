//! The messages on the leash: the gateway sends one request and single-byte commands, and the
//! helpers send reports.
//!
//! The request goes over the socket and not in the helper's arguments or environment, so that the
//! helper never has the server's secrets or loader variables there.

use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

use crate::command::PreparedLaunch;

/// The modes of a helper call.
pub(crate) const PROBE: &str = "probe";
pub(crate) const NAMESPACE: &str = "namespace";
pub(crate) const SUBREAPER: &str = "subreaper";

/// The command to send SIGTERM to the tree.
pub(crate) const TERMINATE: u8 = b'T';

/// The program that the reaper starts, and its pipes.
pub(crate) struct SpawnRequest {
    pub(crate) command: PreparedLaunch,
    pub(crate) pipes: [OwnedFd; 3],
}

impl PreparedLaunch {
    /// Encodes the text of a request: its length, then words that each end with a NUL.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut text = vec![0; 4];
        let mut word = |parts: &[&OsStr]| {
            parts.iter().for_each(|part| text.extend_from_slice(part.as_bytes()));
            text.push(0);
        };
        word(&[self.program.as_os_str()]);
        word(&[&self.arg0]);
        word(&[self.cwd.as_os_str()]);
        word(&[OsStr::new(&self.args.len().to_string())]);
        self.args.iter().for_each(|arg| word(&[arg]));
        for (name, value) in &self.env {
            word(&[OsStr::new(name), OsStr::new("="), OsStr::new(value)]);
        }
        // No system accepts a command line of 4 GiB, so the length of a valid request fits.
        let length = u32::try_from(text.len() - 4).unwrap_or(u32::MAX);
        text[..4].copy_from_slice(&length.to_le_bytes());
        text
    }

    fn decode(text: &[u8]) -> Option<Self> {
        let words = text.strip_suffix(&[0])?.split(|byte| *byte == 0);
        let mut words = words.map(|word| OsString::from_vec(word.to_vec()));
        let (program, arg0, cwd) = (words.next()?.into(), words.next()?, words.next()?.into());
        let count = words.next()?.to_str()?.parse().ok()?;
        let args: Vec<OsString> = words.by_ref().take(count).collect();
        let variable = |word: OsString| {
            let (name, value) = word.to_str()?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        };
        let env = words.map(variable).collect::<Option<_>>()?;
        (args.len() == count).then_some(Self { program, arg0, args, cwd, env })
    }
}

impl SpawnRequest {
    /// Sends the pipes. The text of the request follows them.
    pub(crate) fn send_pipes(leash: impl AsFd, pipes: &[BorrowedFd<'_>; 3]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(pipes));
        rustix::net::sendmsg(leash, &[IoSlice::new(b"P")], &mut control, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Reads the pipes and the text from the leash.
    pub(crate) fn receive(leash: BorrowedFd<'_>) -> io::Result<Self> {
        let pipes = receive_pipes(leash)?;
        let mut length = [0; 4];
        read_exact(leash, &mut length)?;
        let mut text = vec![0; u32::from_le_bytes(length) as usize];
        read_exact(leash, &mut text)?;
        let command = PreparedLaunch::decode(&text).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self { command, pipes })
    }
}

fn receive_pipes(leash: BorrowedFd<'_>) -> io::Result<[OwnedFd; 3]> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let into = &mut [IoSliceMut::new(&mut byte)];
    rustix::net::recvmsg(leash, into, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut received = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            received.extend(descriptors);
        }
    }
    received.try_into().map_err(|_| io::ErrorKind::UnexpectedEof.into())
}

fn read_exact(leash: BorrowedFd<'_>, mut into: &mut [u8]) -> io::Result<()> {
    while !into.is_empty() {
        match rustix::io::read(leash, &mut *into) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => into = &mut into[count..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The step at which a helper failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaunchHelperStep {
    Request = 1,
    Session,
    Namespace,
    Fork,
    Exec,
}

impl LaunchHelperStep {
    const ALL: [Self; 5] = [Self::Request, Self::Session, Self::Namespace, Self::Fork, Self::Exec];

    /// Attributes a system error to this step.
    pub(crate) fn failed<E: Into<io::Error>>(self) -> impl Fn(E) -> LaunchHelperFailure {
        move |error| LaunchHelperFailure {
            step: self,
            errno: error.into().raw_os_error().unwrap_or(libc::EPROTO),
        }
    }

    /// Returns the step for [`crate::LaunchError::Helper`].
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Request => "reading the request",
            Self::Session => "creating a session",
            Self::Namespace => "creating a PID namespace",
            Self::Fork => "starting the reaper",
            Self::Exec => "executing the program",
        }
    }
}

/// The step that failed, with the system's error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaunchHelperFailure {
    pub(crate) step: LaunchHelperStep,
    pub(crate) errno: i32,
}

/// A report of a helper to the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaunchHelperReport {
    /// The program runs with this process id.
    Started(i32),
    /// The program did not start.
    Failed(LaunchHelperFailure),
    /// The program and its tree have ended, with this wait status.
    Exited(i32),
}

/// The size of every report. A fixed size needs no framing.
pub(crate) const REPORT_SIZE: usize = 6;

impl LaunchHelperReport {
    pub(crate) fn encode(self) -> [u8; REPORT_SIZE] {
        let (tag, step, number) = match self {
            Self::Started(pid) => (b'S', 0, pid),
            Self::Failed(failure) => (b'F', failure.step as u8, failure.errno),
            Self::Exited(status) => (b'X', 0, status),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [tag, step, a, b, c, d]
    }

    pub(crate) fn decode(bytes: [u8; REPORT_SIZE]) -> io::Result<Self> {
        let [tag, step, number @ ..] = bytes;
        let number = i32::from_le_bytes(number);
        let failed_at = || LaunchHelperStep::ALL.into_iter().find(|known| *known as u8 == step);
        match (tag, failed_at()) {
            (b'S', _) => Ok(Self::Started(number)),
            (b'F', Some(step)) => Ok(Self::Failed(LaunchHelperFailure { step, errno: number })),
            (b'X', _) => Ok(Self::Exited(number)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    pub(crate) fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut bytes = [0; REPORT_SIZE];
        from.read_exact(&mut bytes)?;
        Self::decode(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_request_arrives_with_its_words_and_pipes() {
        let command = PreparedLaunch {
            program: "/bin/tool".into(),
            arg0: "tool".into(),
            args: vec!["".into(), "a b".into(), OsString::from_vec(vec![0xff])],
            cwd: "/tmp".into(),
            env: [("A".to_owned(), "1=2".to_owned()), ("B".to_owned(), String::new())].into(),
        };
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let (reader, writer) = io::pipe().unwrap();
        let pipes = [reader.as_fd(), writer.as_fd(), writer.as_fd()];
        SpawnRequest::send_pipes(&ours, &pipes).unwrap();
        ours.write_all(&command.encode()).unwrap();

        let received = SpawnRequest::receive(theirs.as_fd()).unwrap();
        assert!(received.command == command);
    }

    #[test]
    fn a_leash_that_ends_within_the_request_is_an_error() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(ours);
        assert!(SpawnRequest::receive(theirs.as_fd()).is_err());
    }

    #[test]
    fn every_report_survives_its_encoding() {
        let failures = LaunchHelperStep::ALL
            .map(|step| LaunchHelperReport::Failed(LaunchHelperFailure { step, errno: 13 }));
        for report in [LaunchHelperReport::Started(4711), LaunchHelperReport::Exited(-1)]
            .into_iter()
            .chain(failures)
        {
            assert_eq!(LaunchHelperReport::decode(report.encode()).unwrap(), report);
        }
        assert!(LaunchHelperReport::decode([0; REPORT_SIZE]).is_err());
        assert!(LaunchHelperReport::decode([b'F', 99, 0, 0, 0, 0]).is_err());
    }
}
