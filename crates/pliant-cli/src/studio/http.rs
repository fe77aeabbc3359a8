//! As much of HTTP/1.1 as a page needs: one request a connection, without a body, and one answer.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Bytes of a request up to the blank line. Browsers send one or two thousand, and cookies of other local servers.
const MAX_HEAD: usize = 16 << 10;

/// The headers that decide anything. Each may come once.
const DECIDING: [&str; 4] = ["host", "origin", "sec-fetch-site", "x-pliant-token"];

/// What the page may load, and from where; none of it leaves this machine.
const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; \
    img-src 'self' blob: data:; connect-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status(u16, &'static str);

impl Status {
    pub(super) const OK: Self = Self(200, "OK");
    pub(super) const BAD_REQUEST: Self = Self(400, "Bad Request");
    pub(super) const FORBIDDEN: Self = Self(403, "Forbidden");
    pub(super) const NOT_FOUND: Self = Self(404, "Not Found");
    pub(super) const METHOD_NOT_ALLOWED: Self = Self(405, "Method Not Allowed");
    pub(super) const REQUEST_TIMEOUT: Self = Self(408, "Request Timeout");
    pub(super) const HEAD_TOO_LARGE: Self = Self(431, "Request Header Fields Too Large");
    pub(super) const SERVER_ERROR: Self = Self(500, "Internal Server Error");
    pub(super) const VERSION: Self = Self(505, "HTTP Version Not Supported");
}

#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// As it came: nothing is decoded.
    pub(super) target: String,
    /// Those of [`DECIDING`] that came.
    headers: BTreeMap<String, String>,
}

impl Request {
    /// Reads and checks a request, however slowly it comes, until `patience` is over.
    pub(super) fn read(stream: &mut TcpStream, patience: Duration) -> Result<Self, Status> {
        Self::parse(&head(stream, Instant::now() + patience)?)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        debug_assert!(DECIDING.contains(&name), "{name}");
        self.headers.get(name).map(String::as_str)
    }

    fn parse(head: &[u8]) -> Result<Self, Status> {
        let text = String::from_utf8_lossy(head);
        let mut lines = text.split("\r\n");
        let parts: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let [method, target, version] = parts[..] else { return Err(Status::BAD_REQUEST) };
        if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
            return Err(if version.starts_with("HTTP/") { Status::VERSION } else { Status::BAD_REQUEST });
        }
        let mut headers = BTreeMap::new();
        for line in lines {
            let (name, value) = line.split_once(':').ok_or(Status::BAD_REQUEST)?;
            // Two readers of a line that breaks within, or of a name with a space, could see two different requests.
            if !is_token(name) || value.chars().any(|c| c.is_control() && c != '\t') {
                return Err(Status::BAD_REQUEST);
            }
            let name = name.to_ascii_lowercase();
            let value = value.trim_matches([' ', '\t']).to_owned();
            if DECIDING.contains(&&name[..]) && headers.insert(name, value).is_some() {
                return Err(Status::BAD_REQUEST);
            }
        }
        if !is_token(method) || target.chars().any(|c| c.is_control()) {
            return Err(Status::BAD_REQUEST);
        }
        Ok(Self { method: method.to_owned(), target: target.to_owned(), headers })
    }
}

/// What the standard calls a token: names of methods and headers.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// The bytes before the blank line.
fn head(stream: &mut TcpStream, deadline: Instant) -> Result<Vec<u8>, Status> {
    const END: &[u8] = b"\r\n\r\n";
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    loop {
        let count = read_before(stream, &mut chunk, deadline).map_err(|error| match error.kind() {
            ErrorKind::TimedOut => Status::REQUEST_TIMEOUT,
            _ => Status::BAD_REQUEST,
        })?;
        // The end may have come in two pieces.
        let from = head.len().saturating_sub(END.len() - 1);
        head.extend_from_slice(&chunk[..count]);
        match head[from..].windows(END.len()).position(|w| w == END) {
            Some(end) if from + end <= MAX_HEAD => {
                head.truncate(from + end);
                return Ok(head);
            }
            _ if head.len() > MAX_HEAD => return Err(Status::HEAD_TOO_LARGE),
            _ if count == 0 => return Err(Status::BAD_REQUEST),
            _ => {}
        }
    }
}

/// Reads what is there; `TimedOut` where nothing comes before the deadline.
fn read_before(stream: &mut TcpStream, into: &mut [u8], deadline: Instant) -> io::Result<usize> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(into) {
            // Which of the two a system says when time is over differs; the clock above decides.
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// How long an answer may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Never,
    /// The name changes with the content.
    Always,
}

#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: Status,
    mime: &'static str,
    keep: Keep,
    body: Cow<'static, [u8]>,
}

impl Response {
    pub(super) fn new(mime: &'static str, keep: Keep, body: impl Into<Cow<'static, [u8]>>) -> Self {
        Self { status: Status::OK, mime, keep, body: body.into() }
    }

    /// What went wrong, in words.
    pub(super) fn problem(status: Status, what: &str) -> Self {
        let body = format!("{what}\n").into_bytes().into();
        Self { status, mime: "text/plain; charset=utf-8", keep: Keep::Never, body }
    }

    /// Sends it; without its body where only the head was asked for.
    pub(super) fn write(&self, to: &mut impl Write, only_head: bool) -> io::Result<()> {
        let Status(code, reason) = self.status;
        let allow = if self.status == Status::METHOD_NOT_ALLOWED { "Allow: GET, HEAD\r\n" } else { "" };
        let keep = match self.keep {
            Keep::Never => "no-store",
            Keep::Always => "public, max-age=31536000, immutable",
        };
        let (mime, length) = (self.mime, self.body.len());
        write!(
            to,
            "HTTP/1.1 {code} {reason}\r\n\
             Content-Type: {mime}\r\n\
             Content-Length: {length}\r\n\
             Connection: close\r\n\
             Cache-Control: {keep}\r\n\
             Content-Security-Policy: {POLICY}\r\n\
             X-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: no-referrer\r\n\
             Cross-Origin-Opener-Policy: same-origin\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\n\
             {allow}\r\n"
        )?;
        if !only_head {
            to.write_all(&self.body)?;
        }
        to.flush()
    }
}

/// Ends a connection so that the answer arrives: a socket that is closed with bytes unread takes it back. Those still on
/// the way are read, within reason.
pub(super) fn close(mut stream: TcpStream, patience: Duration) {
    const MOST: usize = 1 << 20;
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let deadline = Instant::now() + patience;
    let mut chunk = [0; 4096];
    let mut total = 0;
    while let Ok(count @ 1..) = read_before(&mut stream, &mut chunk, deadline) {
        total += count;
        if total > MOST {
            break;
        }
    }
}
