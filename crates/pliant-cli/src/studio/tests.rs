//! The server over real sockets: what it gives, what it refuses, and that it lives on.

use super::{Asset, Limits, Share, Site, Token, serve};
use crate::args::{Cli, Command};
use crate::data::{data, files_below};
use clap::Parser;
use pliant::zoo;
use pliant_io::gltf;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

const PAGE: &[Asset] = &[
    Asset { name: "assets/index-8f2c.js", mime: "text/javascript; charset=utf-8", bytes: b"go()" },
    Asset { name: "index.html", mime: "text/html; charset=utf-8", bytes: b"<title>studio</title>" },
    Asset { name: "pliant.wasm", mime: "application/wasm", bytes: b"\0asm" },
];

/// Longer than a loaded machine ever needs: what takes this long hangs.
const HANG: Duration = Duration::from_secs(60);

/// A server on a thread of its own, for as long as the tests run.
struct Server {
    port: u16,
    token: String,
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Server {
    fn start(share: Option<Share>) -> Self {
        Self::limited(share, Limits { reading: HANG, ..Limits::default() })
    }

    fn limited(share: Option<Share>, limits: Limits) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let token = Token::random().unwrap();
        let server = Self { port, token: token.to_string() };
        let site = Site::new(port, token, PAGE, share);
        std::thread::spawn(move || serve(&listener, &site, limits));
        server
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        stream
    }

    /// Sends bytes as they are, but for HOST and TOKEN, and hears the answer to its end.
    fn send(&self, bytes: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(self.filled(bytes).as_bytes()).unwrap();
        Answer::hear(stream)
    }

    fn filled(&self, bytes: &str) -> String {
        bytes.replace("HOST", &format!("127.0.0.1:{}", self.port)).replace("TOKEN", &self.token)
    }

    fn get(&self, target: &str, headers: &str) -> Answer {
        self.send(&format!("GET {target} HTTP/1.1\r\nHost: HOST\r\n{headers}\r\n"))
    }

    fn api(&self, route: &str) -> Answer {
        self.get(&format!("/api/{route}"), "x-pliant-token: TOKEN\r\nSec-Fetch-Site: same-origin\r\n")
    }

    fn is_alive(&self) -> bool {
        let answer = self.get("/?token=TOKEN", "");
        answer.status == 200 && answer.body == PAGE[1].bytes
    }
}

impl Answer {
    fn hear(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").expect("a whole head") + 4;
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head, body: bytes[end..].to_vec() }
    }

    fn header(&self, name: &str) -> &str {
        let line = self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.unwrap_or_else(|| panic!("no {name} in {}", self.head))
    }

    fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.header("Content-Type"), "application/json");
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// What `pliant studio` makes of its arguments.
fn share(args: &[&str]) -> anyhow::Result<Share> {
    let cli = Cli::parse_from(["pliant", "studio", "--quiet"].iter().chain(args));
    let Command::Studio(args) = &cli.command else { panic!("another command") };
    Share::open(args.request().expect("a character"), &cli.common)
}

/// A sample as a `.gltf` with its bytes in `body.bin`, its JSON changed.
fn write_gltf(folder: &Path, edit: impl FnOnce(&mut Value)) -> String {
    let glb = gltf::write_character(&zoo::character("cylinder", Some(600)).unwrap()).unwrap();
    let end = 20 + u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let mut about: Value = serde_json::from_slice(&glb[20..end]).unwrap();
    about["buffers"][0]["uri"] = json!("body.bin");
    edit(&mut about);
    fs::write(folder.join("body.bin"), &glb[end + 8..]).unwrap();
    let file = folder.join("body.gltf");
    fs::write(&file, about.to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn the_page_is_served_with_its_types_and_its_rules() {
    let server = Server::start(None);
    let page = server.get("/?sample=human&token=TOKEN", "");
    assert_eq!((page.status, &page.body[..]), (200, PAGE[1].bytes));
    assert_eq!(page.header("Content-Type"), "text/html; charset=utf-8");
    assert_eq!(page.header("Cache-Control"), "no-store");
    let script = server.get("/assets/index-8f2c.js", "Origin: http://HOST\r\n");
    assert_eq!((script.status, &script.body[..]), (200, &b"go()"[..]));
    assert!(script.header("Cache-Control").contains("immutable"), "{}", script.head);
    let wasm = server.get("/pliant.wasm", "Sec-Fetch-Site: same-origin\r\n");
    assert_eq!((wasm.status, wasm.header("Content-Type")), (200, "application/wasm"));
    assert_eq!(wasm.header("Cache-Control"), "no-store");
    for answer in [&page, &script, &wasm, &server.get("/nothing", "")] {
        assert_eq!(answer.header("X-Content-Type-Options"), "nosniff");
        assert_eq!(answer.header("Referrer-Policy"), "no-referrer");
        assert_eq!(answer.header("Cross-Origin-Opener-Policy"), "same-origin");
        assert_eq!(answer.header("Cross-Origin-Resource-Policy"), "same-origin");
        let policy = answer.header("Content-Security-Policy");
        assert!(policy.starts_with("default-src 'self'; script-src 'self' 'wasm-unsafe-eval';"), "{policy}");
        assert_eq!(answer.header("Content-Length"), answer.body.len().to_string());
    }
    let localhost = format!("GET /?token=TOKEN HTTP/1.1\r\nhost:localhost:{}\r\n\r\n", server.port);
    assert_eq!(server.send(&localhost).status, 200);
    let head = server.send("HEAD /pliant.wasm HTTP/1.0\r\nHost: HOST\r\n\r\n");
    assert_eq!((head.status, head.header("Content-Length"), head.body.len()), (200, "4", 0));
}

#[test]
fn strangers_are_turned_away() {
    let server = Server::start(Some(share(&["sample:cylinder"]).unwrap()));
    assert_eq!(server.api("open").json(), json!({ "sample": "cylinder" }));
    let api = "GET /api/open HTTP/1.1\r\nHost: HOST\r\n";
    let known = "x-pliant-token: TOKEN\r\n";
    let guess = "0".repeat(32);
    for (request, expected) in [
        // A name that was made to point here, other ports, no name, two names.
        ("GET /?token=TOKEN HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_owned(), 403),
        ("GET /pliant.wasm HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_owned(), 403),
        ("GET /pliant.wasm HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n".to_owned(), 403),
        ("GET /pliant.wasm HTTP/1.1\r\nHost: HOST.evil.example\r\n\r\n".to_owned(), 403),
        ("GET /pliant.wasm HTTP/1.1\r\n\r\n".to_owned(), 403),
        ("GET /pliant.wasm HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n".to_owned(), 400),
        // Another page's script.
        (format!("{api}{known}Origin: https://evil.example\r\n\r\n"), 403),
        (format!("{api}{known}Origin: null\r\n\r\n"), 403),
        (format!("{api}{known}Origin: http://localhost:{}\r\n\r\n", server.port), 403),
        (format!("{api}{known}Origin: https://HOST\r\n\r\n"), 403),
        (format!("{api}{known}Sec-Fetch-Site: cross-site\r\n\r\n"), 403),
        (format!("{api}{known}Sec-Fetch-Site: same-site\r\n\r\n"), 403),
        ("GET /pliant.wasm HTTP/1.1\r\nHost: HOST\r\nOrigin: null\r\n\r\n".to_owned(), 403),
        // Without the token, or with a guess of it; in the wrong place it does not count.
        (format!("{api}\r\n"), 403),
        (format!("{api}x-pliant-token: \r\n\r\n"), 403),
        (format!("{api}x-pliant-token: {guess}\r\n\r\n"), 403),
        (format!("{api}x-pliant-token: TOKEN0\r\n\r\n"), 403),
        (format!("{api}{known}{known}\r\n"), 400),
        ("GET /api/open?token=TOKEN HTTP/1.1\r\nHost: HOST\r\n\r\n".to_owned(), 403),
        ("GET / HTTP/1.1\r\nHost: HOST\r\n\r\n".to_owned(), 403),
        ("GET /index.html HTTP/1.1\r\nHost: HOST\r\n\r\n".to_owned(), 403),
        (format!("GET /?token={guess} HTTP/1.1\r\nHost: HOST\r\n\r\n"), 403),
        ("GET /?xtoken=TOKEN HTTP/1.1\r\nHost: HOST\r\n\r\n".to_owned(), 403),
        // As the page sends it.
        (format!("{api}{known}Origin: http://HOST\r\nSec-Fetch-Site: same-origin\r\n\r\n"), 200),
        (format!("{api}X-Pliant-Token:\tTOKEN \r\nSec-Fetch-Site: none\r\n\r\n"), 200),
    ] {
        let answer = server.send(&request);
        assert_eq!(answer.status, expected, "{request}{}", answer.head);
        assert!(expected == 200 || !answer.head.contains("json"), "{request}{}", answer.head);
        assert!(server.is_alive(), "after {request}");
    }
}

#[test]
fn only_names_of_the_table_are_found() {
    let server = Server::start(Some(share(&["sample:cylinder"]).unwrap()));
    for target in [
        "/../Cargo.toml",
        "/assets/../index.html",
        "/..%2fCargo.toml",
        "/%2e%2e/Cargo.toml",
        "/%2e%2e%2f%2e%2e%2fetc/passwd",
        "/..\\Cargo.toml",
        "//etc/passwd",
        "//pliant.wasm",
        "/./pliant.wasm",
        "/pliant.wasm/",
        "/pliant%2ewasm",
        "/PLIANT.WASM",
        "/assets",
        "/assets/",
        "/api",
        "/src/main.rs",
        "/\u{fffd}",
    ] {
        assert_eq!(server.get(target, "x-pliant-token: TOKEN\r\n").status, 404, "{target}");
        assert!(server.is_alive(), "after {target}");
    }
    for route in
        ["", "file", "file/", "file/0", "file/-1", "file/+0", "file/0x0", "file/body.gltf", "open/", "../x"]
    {
        assert_eq!(server.api(route).status, 404, "{route}");
    }
    let server = Server::start(None);
    assert_eq!(server.api("open").json(), json!({}));
    assert_eq!(server.api("file/0").status, 404);
}

#[test]
fn what_is_no_request_is_answered_so() {
    let server = Server::start(None);
    let long = "x".repeat(20_000);
    for (request, expected) in [
        ("\r\n\r\n".to_owned(), 400),
        ("GET /\r\n\r\n".to_owned(), 400),
        ("GET  / HTTP/1.1\r\nHost: HOST\r\n\r\n".to_owned(), 400),
        ("GET / index.html HTTP/1.1\r\nHost: HOST\r\n\r\n".to_owned(), 400),
        ("GET /\tx HTTP/1.1\r\nHost: HOST\r\n\r\n".to_owned(), 400),
        ("GET / FTP/1.1\r\nHost: HOST\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/2.0\r\nHost: HOST\r\n\r\n".to_owned(), 505),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), 505),
        // Whole addresses are for proxies.
        ("GET http://HOST/pliant.wasm HTTP/1.1\r\nHost: HOST\r\n\r\n".to_owned(), 400),
        ("GET file:///etc/passwd HTTP/1.1\r\nHost: HOST\r\n\r\n".to_owned(), 400),
        ("GET pliant.wasm HTTP/1.1\r\nHost: HOST\r\n\r\n".to_owned(), 400),
        ("OPTIONS * HTTP/1.1\r\nHost: HOST\r\n\r\n".to_owned(), 405),
        ("CONNECT evil.example:443 HTTP/1.1\r\nHost: HOST\r\n\r\n".to_owned(), 405),
        ("POST /api/open HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\n\r\nhello".to_owned(), 405),
        (format!("PUT /pliant.wasm HTTP/1.1\r\nHost: HOST\r\nContent-Length: 20000\r\n\r\n{long}"), 405),
        // Headers that two readers could read in two ways.
        ("GET /pliant.wasm HTTP/1.1\r\nHost : HOST\r\n\r\n".to_owned(), 400),
        ("GET /pliant.wasm HTTP/1.1\r\nHost: HOST\r\n folded\r\n\r\n".to_owned(), 400),
        ("GET /pliant.wasm HTTP/1.1\r\nHost: HOST\r\n: x\r\n\r\n".to_owned(), 400),
        ("GET /pliant.wasm HTTP/1.1\r\nHost: HOST\nX: y\r\n\r\n".to_owned(), 400),
        ("GET /pliant.wasm HTTP/1.1\r\nHost: HOST\r\nX: a\0b\r\n\r\n".to_owned(), 400),
        ("GET /pliant.wasm HTTP/1.1\nHost: HOST\n\n\r\n\r\n".to_owned(), 400),
        // Too long: a line without end, a name, a value, many headers.
        (long.clone(), 431),
        (format!("GET /{long} HTTP/1.1\r\nHost: HOST\r\n\r\n"), 431),
        (format!("GET / HTTP/1.1\r\n{long}: x\r\n\r\n"), 431),
        (format!("GET / HTTP/1.1\r\nX: {long}\r\n\r\n"), 431),
        (format!("GET / HTTP/1.1\r\nHost: HOST\r\n{}\r\n", "a: b\r\n".repeat(5_000)), 431),
        (format!("GET /pliant.wasm HTTP/1.1\r\nHost: HOST\r\nCookie: {}\r\n\r\n", &long[..15_000]), 200),
    ] {
        let answer = server.send(&request);
        let shown = &request[..request.len().min(80)];
        assert_eq!(answer.status, expected, "{shown:?}: {}", answer.head);
        assert!(server.is_alive(), "after {shown:?}");
    }
    assert_eq!(server.send("POST / HTTP/1.1\r\nHost: HOST\r\n\r\n").header("Allow"), "GET, HEAD");

    // Bytes that are no text, and a client that leaves in the middle.
    let mut stream = server.connect();
    stream.write_all(b"\x16\x03\x01\xff\xfe\x00\r\n\r\n").unwrap();
    assert_eq!(Answer::hear(stream).status, 400);
    let mut stream = server.connect();
    stream.write_all(server.filled("GET /pliant.wasm HTTP/1.1\r\nHost: HOST\r\n").as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(Answer::hear(stream).status, 400);
    drop(server.connect());
    assert!(server.is_alive());
}

#[test]
fn slow_clients_are_not_waited_for_and_keep_nobody_out() {
    let reading = Duration::from_millis(400);
    let server = Server::limited(None, Limits { reading, ..Limits::default() });
    let started = Instant::now();
    // One waits with the blank line, one sends a byte now and then for ever.
    let mut silent = server.connect();
    silent.write_all(server.filled("GET /pliant.wasm HTTP/1.1\r\nHost: HOST\r\n").as_bytes()).unwrap();
    let mut dripping = server.connect();
    let mut drips = dripping.try_clone().unwrap();
    std::thread::spawn(move || {
        while drips.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    assert_eq!(Answer::hear(silent).status, 408);
    let mut head = [0; 12];
    dripping.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 408");
    assert!(started.elapsed() >= reading && started.elapsed() < HANG, "{:?}", started.elapsed());

    // So many at once and no more: the next waits until one of those who wait in vain is sent away.
    let server = Server::limited(None, Limits { connections: 2, reading, ..Limits::default() });
    let started = Instant::now();
    let idle = [server.connect(), server.connect()];
    assert!(server.is_alive());
    assert!(started.elapsed() >= reading, "{:?}", started.elapsed());
    for stream in idle {
        assert_eq!(Answer::hear(stream).status, 408);
    }
}

#[test]
fn a_gltf_comes_with_the_files_beside_it_and_no_others() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("character");
    fs::create_dir_all(folder.join("textures")).unwrap();
    fs::write(outside.path().join("secret.png"), "secret").unwrap();
    fs::write(folder.join("textures/skin 1.png"), "texels").unwrap();
    let names = [
        "textures/skin%201.png",
        "textures/skin%201.png",
        "../secret.png",
        "%2e%2e/secret.png",
        "textures/../../secret.png",
        "link.png",
        "/etc/passwd",
        "file:///etc/passwd",
        "missing.png",
        "body.gltf",
    ];
    #[cfg(unix)]
    std::os::unix::fs::symlink("../secret.png", folder.join("link.png")).unwrap();
    let file = write_gltf(&folder, |about| {
        about["images"] = names.iter().map(|name| json!({ "uri": name })).collect();
    });
    let server = Server::start(Some(share(&[&file]).unwrap()));
    let size = |name: &str| fs::metadata(folder.join(name)).unwrap().len();
    let about = json!({ "main": "body.gltf", "files": [
        { "name": "body.gltf", "size": size("body.gltf") },
        { "name": "body.bin", "size": size("body.bin") },
        { "name": "textures/skin 1.png", "size": 6 },
    ] });
    assert_eq!(server.api("open").json(), about);
    for (index, name) in ["body.gltf", "body.bin", "textures/skin 1.png"].iter().enumerate() {
        let answer = server.api(&format!("file/{index}"));
        assert_eq!((answer.status, &answer.body), (200, &fs::read(folder.join(name)).unwrap()), "{name}");
        assert_eq!(answer.header("Content-Type"), "application/octet-stream");
        assert_eq!(answer.header("Cache-Control"), "no-store");
        assert_eq!(server.get(&format!("/api/file/{index}"), "").status, 403);
    }
    for index in ["3", "18446744073709551615", "18446744073709551616", "99999999999999999999999999"] {
        assert_eq!(server.api(&format!("file/{index}")).status, 404, "{index}");
    }
    let head = "HEAD /api/file/2 HTTP/1.1\r\nHost: HOST\r\nx-pliant-token: TOKEN\r\n\r\n";
    let head = server.send(head);
    assert_eq!((head.header("Content-Length"), head.body.len()), ("6", 0));

    // Files are read when they are asked for: changed, they are new; gone, the answer says so; a link out is none.
    fs::write(folder.join("textures/skin 1.png"), "repainted").unwrap();
    assert_eq!(server.api("open").json()["files"][2]["size"], 9);
    assert_eq!(server.api("file/2").body, b"repainted");
    fs::remove_file(folder.join("textures/skin 1.png")).unwrap();
    let said = server.api("file/2");
    assert_eq!(said.status, 500);
    assert!(String::from_utf8_lossy(&said.body).starts_with("textures/skin 1.png: cannot read it"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../../secret.png", folder.join("textures/skin 1.png")).unwrap();
        let said = server.api("file/2");
        assert_eq!(said.status, 500);
        assert!(String::from_utf8_lossy(&said.body).contains("outside"));
    }
    assert!(server.is_alive());
}

#[test]
fn bytes_outside_the_folder_are_an_error_before_anything_is_served() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("character");
    fs::create_dir_all(&folder).unwrap();
    let file = write_gltf(&folder, |about| about["buffers"][0]["uri"] = json!("../body.bin"));
    fs::copy(folder.join("body.bin"), outside.path().join("body.bin")).unwrap();
    let Err(error) = share(&[&file]) else { panic!("it opened") };
    assert!(format!("{error:#}").contains("outside"), "{error:#}");
    for missing in ["nowhere.glb", "sample:nobody", "letter.txt"] {
        assert!(share(&[missing]).is_err(), "{missing}");
    }
}

#[test]
fn an_obj_comes_with_its_skeleton_and_weights() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name).to_str().unwrap().to_owned()
    };
    let obj = write("bar.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    let skeleton = write("bar.tgf", "1 0 0 0\n2 0.5 0 0\n3 1 0 0\n#\n1 2 1 0 0\n2 3 1 0 0\n");
    let weights = write("bar.dmat", "2 4\n1\n0\n1\n1\n0\n1\n0\n0\n");
    let open = share(&[&obj, "--skeleton", &skeleton, "--weights-file", &weights]);
    let server = Server::start(Some(open.unwrap()));
    let about = server.api("open").json();
    assert_eq!(
        (&about["main"], &about["skeleton"], &about["weights"]),
        (&json!("bar.obj"), &json!("bar.tgf"), &json!("bar.dmat"))
    );
    let names: Vec<_> = about["files"].as_array().unwrap().iter().map(|f| f["name"].clone()).collect();
    assert_eq!(names, ["bar.obj", "bar.tgf", "bar.dmat"]);
    for (index, path) in [&obj, &skeleton, &weights].into_iter().enumerate() {
        assert_eq!(server.api(&format!("file/{index}")).body, fs::read(path).unwrap());
    }
    let Err(error) = share(&[&obj]) else { panic!("an OBJ without a skeleton opened") };
    assert!(error.to_string().contains("--skeleton"), "{error}");
}

/// Every hostile file is refused with words, or what it refers to within its folder is served.
#[test]
fn hostile_files_are_refused_or_served_as_they_are() {
    let Some(data) = data() else { return };
    let files = files_below(&data.join("bad"), &["glb", "gltf", "vrm", "obj"]);
    assert!(files.len() > 100, "{}", files.len());
    let mut served = 0;
    for file in files {
        let share = match share(&[file.to_str().unwrap()]) {
            Ok(share) => share,
            Err(error) => {
                assert!(error.to_string().len() > 10, "{}: {error}", file.display());
                continue;
            }
        };
        let server = Server::start(Some(share));
        let about = server.api("open").json();
        for (index, listed) in about["files"].as_array().unwrap().iter().enumerate() {
            let expected = fs::read(file.with_file_name(listed["name"].as_str().unwrap())).unwrap();
            assert_eq!(listed["size"], expected.len(), "{}", file.display());
            assert_eq!(server.api(&format!("file/{index}")).body, expected, "{}", file.display());
        }
        assert!(server.is_alive(), "{}", file.display());
        served += 1;
    }
    assert!(served > 0, "some of them are sound enough to be shown");
}
