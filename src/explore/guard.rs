//! Access: requests must have the token, name this address as their Host, and come from no other page.
//!
//! A page of another site can make a browser send requests to 127.0.0.1. It does not know the token, which is never in a header that
//! browsers pass on; and if it makes its own name resolve to 127.0.0.1, that name is in Host and Origin.

use anyhow::{Result, anyhow};
use hyper::{HeaderMap, header};

/// The accepted port and token.
pub struct Guard {
    port: u16,
    token: String,
}

/// The reason of a refusal.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    /// It names another Host.
    Host,
    /// It comes from another page.
    Origin,
    /// It lacks the token.
    Token,
}

impl Refused {
    /// The message.
    pub fn message(&self) -> &'static str {
        match self {
            Refused::Host => "this server answers as 127.0.0.1 and localhost only",
            Refused::Origin => "this server answers its own page only",
            Refused::Token => "the address lacks its token: open the one that assay explore printed",
        }
    }
}

impl Guard {
    /// A guard of this port, with a token of 256 random bits.
    pub fn new(port: u16) -> Result<Guard> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|error| anyhow!("the system gives no random token: {error}"))?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Guard { port, token })
    }

    /// The address of the page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// The path below the token, if the request is admitted. Nothing about the path is revealed before all checks.
    pub fn admit<'p>(&self, path: &'p str, headers: &HeaderMap) -> Result<&'p str, Refused> {
        let hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let is_one_of = |name: header::HeaderName, prefix: &str| {
            let mut values = headers.get_all(name).iter();
            let first = values.next()?;
            let known = hosts.iter().any(|host| first.as_bytes() == format!("{prefix}{host}").as_bytes());
            Some(known && values.next().is_none())
        };
        if is_one_of(header::HOST, "") != Some(true) {
            return Err(Refused::Host);
        }
        // Browsers name the origin of every request that another page could have made, except of simple ones.
        if is_one_of(header::ORIGIN, "http://") == Some(false) {
            return Err(Refused::Origin);
        }
        let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
        if site.is_some_and(|site| site != b"same-origin" && site != b"none") {
            return Err(Refused::Origin);
        }
        let below = path.strip_prefix('/').unwrap_or(path);
        let (token, rest) = below.split_once('/').ok_or(Refused::Token)?;
        if same(token.as_bytes(), self.token.as_bytes()) { Ok(rest) } else { Err(Refused::Token) }
    }
}

/// Compares two texts in a time that does not depend on where they differ.
fn same(one: &[u8], other: &[u8]) -> bool {
    let differing = one.iter().zip(other).fold(0, |differing, (a, b)| std::hint::black_box(differing | (a ^ b)));
    one.len() == other.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
        let one = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        list.iter().map(one).collect()
    }

    #[test]
    fn only_the_own_page_is_admitted() {
        let guard = Guard { port: 8000, token: "a1b2".to_string() };
        let ask = |path, list: &[(&'static str, &'static str)]| guard.admit(path, &headers(list));
        let host = ("host", "127.0.0.1:8000");
        assert_eq!(ask("/a1b2/", &[host]), Ok(""));
        assert_eq!(ask("/a1b2/api/epsilon", &[("host", "localhost:8000")]), Ok("api/epsilon"));
        assert_eq!(ask("/a1b2/x", &[host, ("origin", "http://127.0.0.1:8000")]), Ok("x"));
        assert_eq!(ask("/a1b2/x", &[host, ("sec-fetch-site", "same-origin")]), Ok("x"));
        for foreign in ["evil.example", "127.0.0.1", "127.0.0.1:80001", "evil.example:8000"] {
            assert_eq!(ask("/a1b2/", &[("host", foreign)]), Err(Refused::Host), "{foreign}");
        }
        assert_eq!(ask("/a1b2/", &[]), Err(Refused::Host));
        assert_eq!(ask("/a1b2/", &[host, host]), Err(Refused::Host));
        for foreign in ["null", "https://127.0.0.1:8000", "http://evil.example", "http://127.0.0.1"] {
            assert_eq!(ask("/a1b2/", &[host, ("origin", foreign)]), Err(Refused::Origin), "{foreign}");
        }
        for foreign in ["cross-site", "same-site"] {
            assert_eq!(ask("/a1b2/", &[host, ("sec-fetch-site", foreign)]), Err(Refused::Origin), "{foreign}");
        }
        for path in ["/", "", "/a1b2", "/a1b", "/a1b3/", "/a1b2x/", "//a1b2/", "/api/a1b2/"] {
            assert_eq!(ask(path, &[host]), Err(Refused::Token), "{path}");
        }
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let (one, other) = (Guard::new(1).unwrap(), Guard::new(1).unwrap());
        assert!(one.token.len() == 64 && one.token != other.token);
        assert_eq!(one.address(), format!("http://127.0.0.1:1/{}/", one.token));
    }
}
