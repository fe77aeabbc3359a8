//! Connections: so many at once, one a thread, none for longer than it needs.

use super::Site;
use super::http::{Request, Response, close};
use std::convert::Infallible;
use std::io::BufWriter;
use std::net::{TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

/// How much clients may ask of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// At a time; the next wait for their turn. A browser opens six to a tab.
    pub(crate) connections: usize,
    /// For a request to arrive.
    pub(crate) reading: Duration,
    /// For a client to take the next piece of an answer.
    pub(crate) writing: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 24, reading: Duration::from_secs(10), writing: Duration::from_secs(30) }
    }
}

/// Where accepting fails (no file handles left, say) it will go on failing for a while.
const PAUSE: Duration = Duration::from_millis(50);

/// For what is still on the way when an answer is sent.
const CLOSING: Duration = Duration::from_secs(1);

/// Answers until the process ends.
pub(crate) fn serve(listener: &TcpListener, site: &Site, limits: Limits) -> ! {
    match thread::scope(|scope| -> Infallible {
        for _ in 1..limits.connections {
            let more = thread::Builder::new().name("studio".to_owned());
            // A system that has no more threads to give is served by those there are.
            let _ = more.spawn_scoped(scope, || one_by_one(listener, site, limits));
        }
        one_by_one(listener, site, limits)
    }) {}
}

fn one_by_one(listener: &TcpListener, site: &Site, limits: Limits) -> ! {
    loop {
        match listener.accept() {
            // What goes wrong with one request must not cost the next its thread.
            Ok((stream, _)) => drop(catch_unwind(AssertUnwindSafe(|| answer(stream, site, limits)))),
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

fn answer(mut stream: TcpStream, site: &Site, limits: Limits) {
    let (response, only_head) = match Request::read(&mut stream, limits.reading) {
        Ok(request) => (site.answer(&request), request.method == "HEAD"),
        Err(status) => (Response::problem(status, "this is no request that the studio answers"), false),
    };
    // A client that has left needs no answer.
    let _ = stream.set_write_timeout(Some(limits.writing));
    let _ = response.write(&mut BufWriter::new(&stream), only_head);
    close(stream, CLOSING);
}
