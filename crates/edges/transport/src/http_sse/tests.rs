//! Tests the transport against a scripted server on a real socket.

use std::net::SocketAddr;

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

use super::{SseReader, open};
use crate::TransportError;
use crate::http::HttpEndpoint;
use crate::line::LineReader;
use crate::spool::BodyLimits;

/// A received request, and the channel for its answer.
struct Asked {
    head: String,
    body: String,
    answer: oneshot::Sender<(u16, &'static str)>,
}

/// An HTTP+SSE server.
struct Server {
    address: SocketAddr,
    gets: mpsc::UnboundedReceiver<(String, mpsc::UnboundedSender<String>)>,
    posts: mpsc::UnboundedReceiver<Asked>,
}

impl Server {
    async fn new() -> Self {
        Self::opening("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n").await
    }

    /// Starts a server that answers every GET with `head`.
    async fn opening(head: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (get, gets) = mpsc::unbounded_channel();
        let (post, posts) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, head, get.clone(), post.clone()));
            }
        });
        Self { address, gets, posts }
    }

    fn endpoint(&self) -> HttpEndpoint {
        HttpEndpoint::new(&format!("http://{}/old/sse", self.address), [("x-key", "k")]).unwrap()
    }

    /// Opens a connection on which the server sends `first`. Also returns a sender of further
    /// events.
    async fn open(
        &mut self,
        first: &str,
    ) -> (Result<(SseReader, DuplexStream), TransportError>, mpsc::UnboundedSender<String>) {
        let endpoint = self.endpoint();
        let opening = open(&endpoint, stand_in);
        let greeting = async {
            let (head, events) = self.gets.recv().await.unwrap();
            assert!(head.starts_with("GET /old/sse "), "{head}");
            assert!(head.contains("x-key: k") && head.contains("accept: text/event-stream"));
            events.send(first.to_owned()).unwrap();
            events
        };
        tokio::join!(opening, greeting)
    }

    async fn posted(&mut self, status: u16) -> String {
        let asked = self.posts.recv().await.unwrap();
        asked.answer.send((status, "ignored")).unwrap();
        asked.body
    }
}

async fn serve(
    stream: TcpStream,
    opening: &'static str,
    gets: mpsc::UnboundedSender<(String, mpsc::UnboundedSender<String>)>,
    posts: mpsc::UnboundedSender<Asked>,
) {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.unwrap() == 0 {
            return;
        }
    }
    if head.starts_with("GET") {
        let (sender, mut events) = mpsc::unbounded_channel::<String>();
        stream.write_all(opening.as_bytes()).await.unwrap();
        gets.send((head, sender)).unwrap();
        while let Some(event) = events.recv().await {
            if stream.write_all(event.as_bytes()).await.is_err() {
                return;
            }
        }
        return;
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).await.unwrap();
    let (answer, answered) = oneshot::channel();
    posts.send(Asked { head, body: String::from_utf8(body).unwrap(), answer }).unwrap();
    let Ok((status, text)) = answered.await else { return };
    let length = text.len();
    let reply = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n{text}");
    stream.write_all(reply.as_bytes()).await.unwrap();
}

/// Answers lines that begin with `?`, which stand for requests in these tests.
fn stand_in(message: &[u8], reason: &str) -> Option<Bytes> {
    let message = std::str::from_utf8(message).unwrap();
    message.starts_with('?').then(|| Bytes::from(format!("no answer to {message}: {reason}")))
}

const PLACE: &str = "event: endpoint\ndata: /messages?s=1\n\n";

fn lines(input: SseReader) -> LineReader<SseReader> {
    LineReader::new(input, BodyLimits::default())
}

#[tokio::test]
async fn lines_go_out_as_posts_in_order_and_events_come_in_as_lines() {
    let mut server = Server::new().await;
    let first = format!("{PLACE}event: message\ndata: {{\"early\":1}}\n\n");
    let (opened, events) = server.open(&first).await;
    let (input, mut output) = opened.unwrap();
    let mut input = lines(input);
    assert_eq!(input.next().await.unwrap().unwrap(), "{\"early\":1}");
    let sent: Vec<String> = (0..100).map(|number| format!("{number}")).collect();
    output.write_all(format!("{}\n", sent.join("\n")).as_bytes()).await.unwrap();
    let asked = server.posts.recv().await.unwrap();
    assert!(asked.head.starts_with("POST /messages?s=1 "), "{}", asked.head);
    assert!(
        asked.head.contains("content-type: application/json") && asked.head.contains("x-key: k")
    );
    assert_eq!(asked.body, "0");
    assert!(server.posts.try_recv().is_err(), "the next waits until this one is taken");
    asked.answer.send((202, "")).unwrap();
    for number in &sent[1..] {
        assert_eq!(&server.posted(200).await, number);
    }
    events.send("event: message\ndata: {\"a\":\ndata: 1}\n\n".into()).unwrap();
    assert_eq!(input.next().await.unwrap().unwrap(), "{\"a\": 1}");
    drop(events);
    assert!(input.next().await.unwrap().is_none(), "the end of the stream is the end of input");
}

#[tokio::test]
async fn a_message_larger_than_memory_is_spooled_like_any_line() {
    let mut server = Server::new().await;
    let (opened, events) = server.open(PLACE).await;
    let large = "x".repeat(12 << 20);
    events.send(format!("event: message\ndata: {large}\n\n")).unwrap();
    let line = lines(opened.unwrap().0).next().await.unwrap().unwrap();
    assert!(line == large);
}

#[tokio::test]
async fn a_place_of_another_origin_is_refused() {
    let mut server = Server::new().await;
    let (opened, _) = server.open("event: endpoint\ndata: http://127.0.0.1:1/steal\n\n").await;
    let error = opened.unwrap_err().to_string();
    assert!(error.contains("not of the origin"), "{error}");
}

#[tokio::test]
async fn a_stream_that_does_not_say_where_to_post_is_refused() {
    let mut server = Server::new().await;
    let (opened, _) = server.open("event: message\ndata: {}\n\n").await;
    assert!(matches!(opened, Err(TransportError::NotEventStream(_))), "{opened:?}");
    let page = Server::opening("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n").await;
    let error = open(&page.endpoint(), stand_in).await.unwrap_err();
    assert!(matches!(error, TransportError::NotEventStream(_)), "{error}");
}

#[tokio::test]
async fn a_refused_stream_says_why() {
    let head = "HTTP/1.1 401 X\r\nwww-authenticate: Bearer\r\ncontent-length: 3\r\n\r\nno!";
    let server = Server::opening(head).await;
    match open(&server.endpoint(), stand_in).await {
        Err(TransportError::Refused { status: 401, challenge, text }) => {
            assert_eq!((challenge.as_deref(), text.as_str()), (Some("Bearer"), "no!"));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_request_the_server_does_not_take_is_answered_for_it() {
    let mut server = Server::new().await;
    let (opened, events) = server.open(PLACE).await;
    let (input, mut output) = opened.unwrap();
    let mut input = lines(input);
    output.write_all(b"!note\n?one\n").await.unwrap();
    assert_eq!(server.posted(500).await, "!note");
    events.send("event: message\ndata: {\"half".into()).unwrap();
    assert_eq!(server.posted(500).await, "?one");
    events.send("\":1}\n\n".into()).unwrap();
    let both = [input.next().await.unwrap().unwrap(), input.next().await.unwrap().unwrap()];
    let expected = "no answer to ?one: server did not accept the message (HTTP 500)";
    assert!(both.contains(&Bytes::from(expected)), "{both:?}");
    assert!(both.contains(&Bytes::from("{\"half\":1}")), "whole, whichever came first: {both:?}");
}

#[tokio::test]
async fn a_server_that_forgot_us_ends_the_connection_with_a_reason() {
    for status in [401, 403, 404] {
        let mut server = Server::new().await;
        let (opened, _events) = server.open(PLACE).await;
        let (input, mut output) = opened.unwrap();
        output.write_all(b"?one\n").await.unwrap();
        server.posted(status).await;
        let error = lines(input).next().await.unwrap_err().to_string();
        assert!(error.contains(&format!("no longer accepts messages (HTTP {status})")), "{error}");
    }
}

#[tokio::test]
async fn a_post_that_is_not_answered_holds_up_the_next_for_a_moment_only() {
    let mut server = Server::new().await;
    let (opened, _events) = server.open(PLACE).await;
    let (_input, mut output) = opened.unwrap();
    output.write_all(b"?slow\n?next\n").await.unwrap();
    let slow = server.posts.recv().await.unwrap();
    assert_eq!(server.posted(202).await, "?next");
    slow.answer.send((202, "")).unwrap();
}

#[tokio::test]
async fn what_was_written_is_posted_before_the_carrier_ends() {
    let mut server = Server::new().await;
    let (opened, events) = server.open(PLACE).await;
    let (input, mut output) = opened.unwrap();
    output.write_all(b"one\ntwo\n").await.unwrap();
    drop(output);
    assert_eq!(server.posted(202).await, "one");
    assert_eq!(server.posted(202).await, "two");
    assert!(lines(input).next().await.unwrap().is_none());
    // The server finds its stream closed.
    while events.send(": still there?\n\n".into()).is_ok() {
        tokio::task::yield_now().await;
    }
}
