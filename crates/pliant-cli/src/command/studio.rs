//! `pliant studio`: the page where a character moves, served to this machine's browser.

use crate::Outcome;
use crate::args::{Common, StudioArgs};
use crate::studio::{Limits, PAGE, Share, Site, Token, serve};
use anyhow::{Context, Result, bail};
use std::io::{IsTerminal, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};

pub(crate) fn run(args: &StudioArgs, common: &Common) -> Result<Outcome> {
    let Some(page) = PAGE else {
        bail!(
            "this build of pliant is without the studio's page: run `cargo xtask studio`, and after it \
             `cargo install --path crates/pliant-cli --features studio` to install both"
        );
    };
    let share = args.request().map(|request| Share::open(request, common)).transpose()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
        .with_context(|| format!("--port {}: cannot serve there; choose another", args.port))?;
    let port = listener.local_addr()?.port();
    let token = Token::random()?;
    let address = format!("http://127.0.0.1:{port}/?token={token}");
    let mut out = std::io::stdout();
    writeln!(out, "{address}")?;
    out.flush()?;
    if out.is_terminal() && !args.no_open {
        open_browser(address);
    }
    serve(&listener, &Site::new(port, token, page, share), Limits::default())
}

/// Asks the desktop to show the page. Where there is none, the address was printed.
fn open_browser(address: String) {
    let program: &[&str] = if cfg!(windows) {
        &["cmd", "/C", "start", ""]
    } else if cfg!(target_os = "macos") {
        &["open"]
    } else {
        &["xdg-open"]
    };
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).arg(address);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // It may last as long as the browser does.
    std::thread::spawn(move || command.status());
}
