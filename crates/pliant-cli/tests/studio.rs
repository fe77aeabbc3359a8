//! `pliant studio` as a user runs it, with the page and without.

mod common;

/// A build without the page says how to come by one.
#[cfg(not(feature = "studio"))]
#[test]
fn without_the_page_the_command_says_how_to_get_it() {
    for args in [&["studio"][..], &["studio", "sample:human", "--no-open"]] {
        let said = common::refused(args);
        assert!(said.contains("cargo xtask studio") && said.contains("--features studio"), "{said}");
    }
}

#[test]
fn wrong_usage_is_told_from_the_help() {
    for args in [
        &["studio", "--port", "70000"][..],
        &["studio", "--skeleton", "a.tgf"],
        &["studio", "a.obj", "--weights-file", "a.dmat"],
        &["studio", "a.glb", "b.glb"],
    ] {
        common::fails(args, 2);
    }
    assert!(common::works(&["studio", "--help"]).contains("pliant studio sample:octopus"));
    assert!(common::works(&["completions", "bash"]).contains("--no-open"));
}

#[cfg(feature = "studio")]
mod with_the_page {
    use super::common::{json, refused, sample, text};
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpStream;
    use std::process::{Child, Command, Stdio};

    struct Studio {
        process: Child,
        host: String,
        token: String,
    }

    impl Studio {
        fn start(args: &[&str]) -> Self {
            let mut command = Command::new(env!("CARGO_BIN_EXE_pliant"));
            command.arg("studio").args(args).stdin(Stdio::null()).stdout(Stdio::piped());
            let mut process = command.spawn().unwrap();
            let mut line = String::new();
            BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
            let address = line.trim_end().strip_prefix("http://").unwrap();
            let (host, token) = address.split_once("/?token=").unwrap();
            assert!(host.starts_with("127.0.0.1:"), "{line}");
            Self { process, host: host.to_owned(), token: token.to_owned() }
        }

        fn get(&self, target: &str) -> (String, Vec<u8>) {
            let mut stream = TcpStream::connect(&self.host).unwrap();
            let (host, token) = (&self.host, &self.token);
            write!(stream, "GET {target} HTTP/1.1\r\nHost: {host}\r\nx-pliant-token: {token}\r\n\r\n")
                .unwrap();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).unwrap();
            let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
            (String::from_utf8(answer[..end].to_vec()).unwrap(), answer[end + 4..].to_vec())
        }
    }

    /// A test that fails must not leave it running.
    impl Drop for Studio {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }

    #[test]
    fn the_page_and_the_character_are_served_until_ctrl_c() {
        let (_folder, file) = sample("cylinder", 600);
        let mut studio = Studio::start(&[text(&file)]);
        let (head, page) = studio.get(&format!("/?token={}", studio.token));
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("text/html"), "{head}");
        let page = String::from_utf8(page).unwrap();
        // Whatever the page loads is in the binary too.
        let loads = page.split('"').filter(|text| text.contains("assets/"));
        for name in loads {
            let (head, _) = studio.get(&format!("/{}", name.trim_start_matches(['.', '/'])));
            assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{name}: {head}");
        }
        assert!(studio.get("/").0.starts_with("HTTP/1.1 403 "));
        let about = json(&String::from_utf8(studio.get("/api/open").1).unwrap());
        assert_eq!(about["main"], "character.glb");
        assert_eq!(studio.get("/api/file/0").1, std::fs::read(&file).unwrap());
        assert!(studio.process.try_wait().unwrap().is_none(), "it runs on");
        #[cfg(unix)]
        {
            let id = studio.process.id().to_string();
            assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
            assert_eq!(studio.process.wait().unwrap().code(), Some(130));
        }
    }

    #[test]
    fn what_cannot_be_served_is_refused_before() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("broken.glb");
        std::fs::write(&file, b"glTF\x02\0\0\0").unwrap();
        assert!(refused(&["studio", text(&file)]).contains("broken.glb"));
        assert!(refused(&["studio", "sample:nobody"]).contains("nobody"));
        let studio = Studio::start(&["--no-open"]);
        let taken = studio.host.rsplit(':').next().unwrap();
        assert!(refused(&["studio", "--port", taken]).contains("choose another"));
    }
}
