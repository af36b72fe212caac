//! Finds the process that listens on a port.
//!
//! Works on Linux, through `/proc`, for processes of the same user. Elsewhere it finds none.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

/// Returns the program and the process id of the process that listens on the port of this address.
pub fn find(address: SocketAddr) -> Option<(String, u32)> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter();
    let tables = tables.filter_map(|table| fs::read_to_string(table).ok());
    let sockets: Vec<String> =
        tables.flat_map(|table| listening_sockets(&table, address.port())).collect();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    processes.filter_map(|entry| process_with_socket(&entry.path(), &sockets)).next()
}

/// Returns the sockets that listen on a port, in the form of the links in `/proc/PID/fd`.
fn listening_sockets(table: &str, port: u16) -> Vec<String> {
    const LISTEN: &str = "0A";
    let socket = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, local, _, state, _, _, _, _, _, inode, ..] = fields[..] else { return None };
        let (_, local_port) = local.rsplit_once(':')?;
        let same = u16::from_str_radix(local_port, 16).ok()? == port;
        (same && state == LISTEN).then(|| format!("socket:[{inode}]"))
    };
    table.lines().skip(1).filter_map(socket).collect()
}

fn process_with_socket(process: &Path, sockets: &[String]) -> Option<(String, u32)> {
    let pid = process.file_name()?.to_str()?.parse().ok()?;
    let mut descriptors = fs::read_dir(process.join("fd")).ok()?.flatten();
    descriptors.find(|descriptor| {
        let link = fs::read_link(descriptor.path()).unwrap_or_default();
        sockets.iter().any(|socket| link.as_os_str() == socket.as_str())
    })?;
    let program = fs::read_to_string(process.join("comm")).unwrap_or_default();
    Some((program.trim().to_owned(), pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_listening_socket_of_the_port_counts() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1CFC 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1\n\
            1: 0100007F:1CFC 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 4243 1\n\
            2: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4244 1\n";
        assert_eq!(listening_sockets(table, 7420), ["socket:[4242]"]);
    }
}
