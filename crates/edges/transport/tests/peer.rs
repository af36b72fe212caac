//! Real sockets between real processes: who is at the other end?
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "tests")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use toolgate_transport::peer::{PeerProcess, PeerSocket};

/// Connects to the address in its first argument, and lives until its input ends.
const CONNECT: &str = "
import socket, sys
where = sys.argv[1]
if ':' in where:
    host, port = where.rsplit(':', 1)
    peer = socket.create_connection((host.strip('[]'), int(port)))
else:
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(where)
sys.stdin.read()
";

/// A child that is ended when the test is.
struct Peer(Child);

impl Peer {
    fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
    }

    fn process(&self) -> PeerProcess {
        PeerProcess::with_pid(self.0.id()).unwrap()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn python(program: &str, address: &str) -> Command {
    let mut command = Command::new("python3");
    command.args(["-c", program, address]);
    command
}

/// The process that connects to a Unix socket while `command` runs.
async fn unix_peer(
    path: &Path,
    listener: &tokio::net::UnixListener,
    command: &mut Command,
) -> (Peer, PeerProcess) {
    assert!(path.exists());
    let peer = Peer::start(command);
    let (stream, _) = listener.accept().await.unwrap();
    let process = PeerProcess::from_credentials(&stream.peer_cred().unwrap()).unwrap();
    (peer, process)
}

fn listener(path: &Path) -> tokio::net::UnixListener {
    let listener = UnixListener::bind(path).unwrap();
    listener.set_nonblocking(true).unwrap();
    tokio::net::UnixListener::from_std(listener).unwrap()
}

/// Whether `other` is an ancestor of `process`; `None` if that is unknown.
fn descends_from(process: &PeerProcess, other: &PeerProcess) -> Option<bool> {
    Some(process.ancestors()?.contains(other))
}

#[tokio::test]
async fn the_process_of_a_unix_peer_is_known_with_its_ancestors_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = listener(&path);
    let us = PeerProcess::current().unwrap();
    let mut connect = python(CONNECT, path.to_str().unwrap());
    let (peer, process) = unix_peer(&path, &listener, &mut connect).await;
    assert_eq!(process, peer.process());
    assert_eq!(process.uid, us.uid);
    assert!(process.program().unwrap().starts_with("python"));
    assert_eq!(process.ancestors().unwrap()[0], us);
    assert_eq!(descends_from(&process, &us), Some(true));
    assert_eq!(descends_from(&us, &process), Some(false));
    let other = PeerProcess { started: us.started + 1, ..us };
    assert_eq!(descends_from(&process, &other), Some(false), "the id alone does not count");
    drop(peer);
    assert!(!process.is_alive());
    assert_eq!(process.ancestors(), None, "nobody can tell any more");
    assert_eq!(descends_from(&process, &us), None);
}

#[tokio::test]
async fn a_descendant_is_found_through_its_parents_and_not_after_a_double_fork() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = listener(&path);
    let us = PeerProcess::current().unwrap();
    let connect = format!("exec 3<&0; python3 -c \"$1\" {} <&3 & wait", path.display());
    let mut through_shell = Command::new("sh");
    through_shell.args(["-c", &connect, "sh", CONNECT]);
    let (shell, process) = unix_peer(&path, &listener, &mut through_shell).await;
    assert_eq!(descends_from(&process, &us), Some(true));
    assert_eq!(descends_from(&process, &shell.process()), Some(true));
    drop(shell);
    // Its input is a pipe that we hold, so it lives until we close it.
    let connect = format!("( python3 -c \"$1\" {} <&3 & ) 3<&0", path.display());
    let mut away = Command::new("sh");
    away.args(["-c", &connect, "sh", CONNECT]);
    let mut away = Peer::start(&mut away);
    let input = away.0.stdin.take();
    away.0.wait().unwrap();
    let (stream, _) = listener.accept().await.unwrap();
    let process = PeerProcess::from_credentials(&stream.peer_cred().unwrap()).unwrap();
    assert_eq!(descends_from(&process, &us), Some(false));
    drop(input);
}

#[test]
fn the_starter_of_a_process_is_found_behind_wrappers() {
    let us = PeerProcess::current().unwrap();
    let wrapped = "sh -c 'echo $$; exec cat'; true";
    let mut shell = Peer::start(Command::new("sh").args(["-c", wrapped]));
    let mut line = String::new();
    BufReader::new(shell.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let process = PeerProcess::with_pid(line.trim().parse().unwrap()).unwrap();
    assert_ne!(process.ancestors().unwrap()[0], us);
    assert_eq!(process.starter(), Some(us));
}

fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr, SocketAddr) {
    let (stream, peer) = listener.accept().unwrap();
    let ours = stream.local_addr().unwrap();
    (stream, ours, peer)
}

#[test]
fn the_owner_of_a_loopback_connection_is_known_on_every_kind_of_address() {
    let us = PeerProcess::current().unwrap();
    let both: SocketAddr = (Ipv6Addr::UNSPECIFIED, 0).into();
    for address in [(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into(), both] {
        let listener = TcpListener::bind(address).unwrap();
        let port = listener.local_addr().unwrap().port();
        let hosts: &[&str] = match address {
            _ if address == both => &["127.0.0.1", "[::1]"],
            SocketAddr::V4(_) => &["127.0.0.1"],
            SocketAddr::V6(_) => &["[::1]"],
        };
        for host in hosts {
            let peer = Peer::start(&mut python(CONNECT, &format!("{host}:{port}")));
            let (_stream, ours, theirs) = accept(&listener);
            let socket = PeerSocket::find(ours, theirs).unwrap().unwrap();
            assert_eq!(socket.uid, us.uid, "{host} at {address}");
            assert_eq!(socket.processes(&[]), [peer.process()]);
            assert_eq!(socket.processes(&[us, peer.process()]), [peer.process()]);
            assert_eq!(socket.processes(&[us]), [peer.process()]);
        }
    }
}

#[test]
fn a_connection_that_its_process_closed_has_no_owner() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut stream, ours, theirs) = accept(&listener);
    assert!(PeerSocket::find(ours, theirs).unwrap().is_some());
    client.write_all(b"last words").unwrap();
    drop(client);
    assert_eq!(PeerSocket::find(ours, theirs).unwrap(), None);
    let mut heard = String::new();
    stream.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "last words");
    let elsewhere: SocketAddr = (Ipv4Addr::new(192, 0, 2, 1), 80).into();
    assert_eq!(PeerSocket::find(ours, elsewhere).unwrap(), None);
}
