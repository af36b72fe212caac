//! What one client may hold of what everybody needs: its own share, and nobody else's.
//!
//! This process is the client that takes as much as it can; another process is the one who must not
//! notice.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::json;
use toolgate_e2e::TestClient;
use toolgate_e2e::gateway::{GatewaySetup, TestGateway};
use toolgate_e2e::http::{EndpointUrl, RawHttpResponse, request};
use toolgate_e2e::mcp::{REVISION, initialize};

/// Opens a session, says so, and then pings in it for every line it is told.
const OTHER: &str = r#"
import http.client, sys
address, hello, ping = sys.argv[1:4]
headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
def post(message):
    connection = http.client.HTTPConnection(address, timeout=20)
    connection.request("POST", "/mcp", message, headers)
    answer = connection.getresponse()
    answer.read()
    return answer
try:
    opened = post(hello)
    headers["Mcp-Session-Id"] = opened.getheader("Mcp-Session-Id")
    print(opened.status, flush=True)
    for line in sys.stdin:
        print(post(ping).status, flush=True)
except Exception as error:
    print(error, flush=True)
"#;

/// A client in another process.
struct Other {
    child: Child,
    told: ChildStdin,
    said: BufReader<ChildStdout>,
}

impl Other {
    fn start(gateway: &TestGateway) -> Self {
        let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
        let mut command = Command::new("python3");
        command.args(["-c", OTHER, &endpoint.authority, &initialize(REVISION, &json!({})), &ping]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (told, said) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, told, said: BufReader::new(said) }
    }

    /// The status of the answer that came next.
    fn status(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    fn ping(&mut self) -> String {
        writeln!(self.told).unwrap();
        self.status()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A standing stream of a session, with the status it was answered with.
fn stream(client: &TestClient) -> RawHttpResponse {
    let accept = [("Accept", "text/event-stream")];
    let headers: Vec<_> = client.headers().into_iter().chain(accept).collect();
    client.endpoint.send("GET", &headers, b"").unwrap()
}

#[test]
fn one_client_full_of_streams_leaves_room_for_others() {
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let mut streams = Vec::new();
    let mut refused = None;
    'all: for _ in 0..66 {
        let Ok(client) = gateway.client() else { break };
        for _ in 0..16 {
            let opened = stream(&client);
            if opened.status != 200 {
                refused = Some(opened.status);
                break 'all;
            }
            streams.push(opened);
            if streams.len() == 1024 {
                break 'all;
            }
        }
    }
    let mut other = Other::start(&gateway);
    assert_eq!(other.status(), "200", "beside {} streams", streams.len());
    assert_eq!(other.ping(), "200");
    assert_eq!(refused, Some(429), "after {} streams", streams.len());
}

#[test]
fn one_client_full_of_connections_leaves_room_for_others() {
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
    let client = gateway.client().unwrap();
    let begin = |_| {
        let mut connection = endpoint.connect().unwrap();
        // Whoever is refused need not read it.
        let _ = connection.write_all(&half_a_request(&client));
        connection
    };
    let begun: Vec<TcpStream> = (0..1024).map(begin).collect();
    let mut other = Other::start(&gateway);
    assert_eq!(other.status(), "200", "beside {} connections", begun.len());
    assert_eq!(other.ping(), "200");
    let turned_away = begun.iter().filter(|connection| is_answered(connection)).count();
    assert!(turned_away > 512, "{turned_away} of {} connections were refused", begun.len());
}

/// A request whose body does not come.
fn half_a_request(client: &TestClient) -> Vec<u8> {
    let mut headers = client.headers();
    headers.extend([
        ("Host", client.endpoint.authority.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json"),
        ("Content-Length", "100"),
    ]);
    request("POST", &client.endpoint.path, &headers, b"{")
}

/// Whether something was said on a connection, or it was closed.
fn is_answered(connection: &TcpStream) -> bool {
    connection.set_nonblocking(true).unwrap();
    match connection.peek(&mut [0; 1]) {
        Ok(_) => true,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

#[test]
fn new_sessions_of_one_client_end_no_session_of_another() {
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let mut other = Other::start(&gateway);
    assert_eq!(other.status(), "200");
    let first = gateway.client().unwrap();
    // The gateway's clock is coarse: many sessions make sure that all but the first are younger.
    for _ in 0..2500 {
        gateway.client().unwrap();
    }
    assert_eq!(other.ping(), "200", "it did nothing");
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    assert_eq!(first.post(&ping).unwrap().status, 404, "our own oldest one made room");
}

#[test]
fn what_one_client_sends_at_once_is_bounded() {
    const PART: usize = 32 << 20;
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let client = gateway.client().unwrap();
    let length = (PART + 1).to_string();
    let mut headers = client.headers();
    headers.extend([
        ("Host", client.endpoint.authority.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json"),
        ("Content-Length", &length),
    ]);
    let head = request("POST", &client.endpoint.path, &headers, b"");
    let part = vec![b' '; PART];
    let begin = || {
        let mut upload = client.endpoint.connect().unwrap();
        upload.write_all(&head).unwrap();
        // Whoever is refused need not read to the end.
        let _ = upload.write_all(&part);
        upload
    };
    let slow: Vec<_> = (0..4).map(|_| begin()).collect();
    let one_more = begin();
    one_more.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    // The answer may be lost with what was not read.
    let is_refused = match RawHttpResponse::read(one_more) {
        Ok(response) => response.status == 503,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    };
    assert!(is_refused, "128 MiB are on their way already, and more is taken");
    let mut other = Other::start(&gateway);
    assert_eq!(other.status(), "200");
    drop(slow);
}
