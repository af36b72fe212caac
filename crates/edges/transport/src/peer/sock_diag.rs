//! Asks the kernel for the owner and the inode of one TCP socket (`sock_diag`).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
use rustix::net::{recv, sendto, socket_with};

use super::PeerSocket;

/// `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// `NLMSG_ERROR`.
const ERROR: u16 = 2;
/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;
/// `IPPROTO_TCP`.
const TCP: u8 = 6;
/// The time limit for the kernel's answer, which normally comes at once.
const LIMIT: Duration = Duration::from_secs(1);
/// The header of every netlink message.
const HEADER: usize = 16;

/// Finds the socket with the address `peer` that is connected to `ours`.
pub(in crate::peer) fn socket(
    ours: SocketAddr,
    peer: SocketAddr,
) -> io::Result<Option<PeerSocket>> {
    let Some(question) = encode_request(ours, peer) else { return Ok(None) };
    let flags = SocketFlags::CLOEXEC;
    let protocol = Some(netlink::SOCK_DIAG);
    let diag = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol)?;
    set_socket_timeout(&diag, Timeout::Recv, Some(LIMIT))?;
    let kernel = netlink::SocketAddrNetlink::new(0, 0);
    sendto(&diag, &question, SendFlags::empty(), &kernel)?;
    let mut buffer = [0; 1024];
    let (length, _) = recv(&diag, &mut buffer, RecvFlags::empty())?;
    decode_response(&buffer[..length.min(1024)])
}

/// Encodes `nlmsghdr` and `inet_diag_req_v2`.
fn encode_request(ours: SocketAddr, peer: SocketAddr) -> Option<Vec<u8>> {
    const LENGTH: u32 = 16 + 56;
    let (family, source, target) = match (peer.ip().to_canonical(), ours.ip().to_canonical()) {
        (IpAddr::V4(source), IpAddr::V4(target)) => {
            let mut wide = [[0; 16]; 2];
            wide[0][..4].copy_from_slice(&source.octets());
            wide[1][..4].copy_from_slice(&target.octets());
            (AddressFamily::INET, wide[0], wide[1])
        }
        (IpAddr::V6(source), IpAddr::V6(target)) => {
            (AddressFamily::INET6, source.octets(), target.octets())
        }
        _ => return None,
    };
    let mut message = Vec::with_capacity(LENGTH as usize);
    message.extend(LENGTH.to_ne_bytes());
    message.extend(BY_FAMILY.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([u8::try_from(family.as_raw()).ok()?, TCP, 0, 0]);
    // Any state.
    message.extend(u32::MAX.to_ne_bytes());
    message.extend(peer.port().to_be_bytes());
    message.extend(ours.port().to_be_bytes());
    message.extend(source);
    message.extend(target);
    // Any interface, and no cookie.
    message.extend([0; 4]);
    message.extend([0xff; 8]);
    Some(message)
}

/// Decodes `nlmsghdr` with `inet_diag_msg` or `nlmsgerr`.
fn decode_response(message: &[u8]) -> io::Result<Option<PeerSocket>> {
    const UID: usize = HEADER + 64;
    const INODE: usize = HEADER + 68;
    let number = |at: usize| {
        let bytes = message.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u32::from_ne_bytes).ok_or(io::ErrorKind::UnexpectedEof)
    };
    let kind = message.get(4..6).and_then(|bytes| bytes.try_into().ok());
    match kind.map(u16::from_ne_bytes) {
        Some(ERROR) => {
            let code = i32::from_ne_bytes(number(HEADER)?.to_ne_bytes());
            match io::Error::from_raw_os_error(code.saturating_neg()) {
                error if error.kind() == io::ErrorKind::NotFound => Ok(None),
                error => Err(error),
            }
        }
        Some(BY_FAMILY) => {
            let (uid, inode) = (number(UID)?, number(INODE)?);
            // A socket that no process holds any more has no inode, and on older kernels it belongs
            // to root.
            Ok((inode != 0).then_some(PeerSocket { uid, inode }))
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}
