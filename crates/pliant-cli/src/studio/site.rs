//! Which request gets which answer.

use super::http::{Keep, Request, Response, Status};
use super::{Asset, Share, Token};

/// Everything that can be asked for, and by whom.
pub(crate) struct Site {
    /// What this server is called.
    hosts: [String; 2],
    token: Token,
    page: &'static [Asset],
    share: Option<Share>,
}

const PAGE_NEEDS_TOKEN: &str = "open the address that `pliant studio` printed: it ends in ?token=...";

impl Site {
    pub(crate) fn new(port: u16, token: Token, page: &'static [Asset], share: Option<Share>) -> Self {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
        Self { hosts, token, page, share }
    }

    pub(super) fn answer(&self, request: &Request) -> Response {
        if let Err(what) = self.check_sender(request) {
            return Response::problem(Status::FORBIDDEN, what);
        }
        if !matches!(&request.method[..], "GET" | "HEAD") {
            return Response::problem(Status::METHOD_NOT_ALLOWED, "the studio only gives: GET or HEAD");
        }
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let Some(name) = path.strip_prefix('/') else {
            return Response::problem(Status::BAD_REQUEST, "a path is needed, from / on");
        };
        match name {
            "" | "index.html" => {
                let mut given = query.split('&').filter_map(|pair| pair.strip_prefix("token="));
                if given.next().is_some_and(|token| self.token.is(token)) {
                    return self.asset("index.html");
                }
                Response::problem(Status::FORBIDDEN, PAGE_NEEDS_TOKEN)
            }
            _ => match name.strip_prefix("api/") {
                Some(route) => self.api(request, route),
                None => self.asset(name),
            },
        }
    }

    /// A site that has had its name point here, or that sends its visitors' requests here, is another origin.
    fn check_sender(&self, request: &Request) -> Result<(), &'static str> {
        let host = request.header("host").unwrap_or_default();
        if !self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host)) {
            return Err("Host is not this server");
        }
        let own = format!("http://{host}");
        if request.header("origin").is_some_and(|origin| !origin.eq_ignore_ascii_case(&own)) {
            return Err("Origin is not this server");
        }
        Ok(())
    }

    fn asset(&self, name: &str) -> Response {
        let Some(asset) = self.page.iter().find(|asset| asset.name == name) else {
            return Response::problem(Status::NOT_FOUND, "there is nothing by this name");
        };
        // The bundler names what is in this folder by its content.
        let keep = if name.starts_with("assets/") { Keep::Always } else { Keep::Never };
        Response::new(asset.mime, keep, asset.bytes)
    }

    fn api(&self, request: &Request, route: &str) -> Response {
        let from_here = |site: &str| matches!(site, "same-origin" | "none");
        if !request.header("sec-fetch-site").is_none_or(from_here) {
            return Response::problem(Status::FORBIDDEN, "the request comes from another site");
        }
        if !request.header("x-pliant-token").is_some_and(|token| self.token.is(token)) {
            return Response::problem(Status::FORBIDDEN, "the header x-pliant-token is missing or wrong");
        }
        let nothing = || Response::problem(Status::NOT_FOUND, "there is nothing by this name");
        let Some(share) = &self.share else {
            // Nothing to open is no error: browsers show those to whoever looks.
            let empty = || Response::new("application/json", Keep::Never, b"{}".to_vec());
            return if route == "open" { empty() } else { nothing() };
        };
        let found = match route.strip_prefix("file/") {
            None if route == "open" => {
                share.about().map(|about| Some(("application/json", about.to_string().into_bytes())))
            }
            None => Ok(None),
            Some(index) => index_of(index)
                .and_then(|index| share.bytes(index))
                .transpose()
                .map(|bytes| Some(("application/octet-stream", bytes?))),
        };
        match found {
            Ok(Some((mime, body))) => Response::new(mime, Keep::Never, body),
            Ok(None) => nothing(),
            Err(error) => Response::problem(Status::SERVER_ERROR, &format!("{error:#}")),
        }
    }
}

/// Digits alone: no sign.
fn index_of(text: &str) -> Option<usize> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}
