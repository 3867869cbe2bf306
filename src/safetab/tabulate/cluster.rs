//! The address of a cluster that counts, and the conditions for sending data to it.

use std::{fmt, fs, net::IpAddr, path::Path, path::PathBuf, str::FromStr, time::Duration};

use crate::{
    error::{Error, Result},
    io::files::file_error,
    safetab::schema::lines::is_compressed,
};

use super::record_files::RecordFiles;

/// The default port of Spark Connect.
const PORT: u16 = 15002;

/// A cluster of Apache Spark that counts: its workers read the records and public tables from a shared folder, and only counts come back.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its endpoint of Spark Connect.
    pub address: ClusterAddress,
    /// The token that the endpoint requires, if any.
    pub token: Option<ClusterToken>,
    /// Whether a plain connection may go to another machine.
    pub plain: bool,
    /// A folder that all workers see under the same name. It contains the records, and the run creates its own folder in it.
    pub shared: PathBuf,
    /// The time limit of one query.
    pub limit: Duration,
}

/// An endpoint of Spark Connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterAddress {
    host: String,
    port: u16,
    tls: bool,
    user: Option<String>,
}

/// A secret of an endpoint. It is not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct ClusterToken(String);

impl Cluster {
    /// An error if data must not be sent, or the workers cannot read the records. Compressed text is written into the shared folder for
    /// counting, so it may be elsewhere.
    pub fn check(&self, records: &RecordFiles) -> Result<()> {
        let ClusterAddress { host, port, tls, .. } = &self.address;
        if !tls && !self.address.is_loopback() && !self.plain {
            return Err(self.error(format!(
                "a plain connection to another machine would send confidential counts in clear: use TLS by \
                 sc://{host}:{port}/;use_ssl=true, or say that a plain connection is safe there"
            )));
        }
        if !tls && !self.address.is_loopback() && self.token.is_some() {
            return Err(self.error("a token is not sent over a plain connection to another machine: use TLS"));
        }
        if !self.shared.is_dir() {
            return Err(file_error(&self.shared, "is not a folder: give one that this machine and all workers see"));
        }
        let plain = records.text.iter().filter(|path| !is_compressed(path));
        plain.chain(&records.parquet).try_for_each(|path| self.seen_by_workers(path).map(drop))
    }

    /// The path under which workers see a file of the shared folder.
    pub(super) fn seen_by_workers(&self, file: &Path) -> Result<String> {
        let real = |path: &Path| fs::canonicalize(path).map_err(|why| file_error(path, why));
        let (shared, inner) = (real(&self.shared)?, real(file)?);
        let Ok(inner) = inner.strip_prefix(&shared) else {
            let why = format!(
                "is not in {}, the folder that the workers of the cluster see: put it there",
                crate::error::shown(&self.shared)
            );
            return Err(file_error(file, why));
        };
        // The folder's own name, which may differ from the resolved path on this machine.
        let full = std::path::absolute(&self.shared).map_err(|why| file_error(&self.shared, why))?.join(inner);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@".contains(&byte);
        match full.to_str().filter(|text| text.bytes().all(plain)) {
            Some(text) => Ok(text.to_string()),
            None => Err(file_error(
                &full,
                "a file for a cluster is named by ASCII letters, digits and . _ - + @ only, as are its folders: rename it",
            )),
        }
    }

    /// An error of a query to the cluster. Nothing is drawn before all counts have arrived and were checked.
    pub(super) fn error(&self, why: impl fmt::Display) -> Error {
        Error::Cluster { address: self.address.to_string(), why: why.to_string() }
    }
}

impl ClusterAddress {
    /// Whether the address is this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

/// The form that Spark's clients read.
impl fmt::Display for ClusterAddress {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "sc://{}:{}", self.host, self.port)?;
        if self.tls || self.user.is_some() {
            write!(out, "/")?;
        }
        if self.tls {
            write!(out, ";use_ssl=true")?;
        }
        self.user.iter().try_for_each(|user| write!(out, ";user_id={user}"))
    }
}

impl FromStr for ClusterAddress {
    type Err = Error;

    /// Reads `sc://HOST[:PORT]`, optionally followed by `/;use_ssl=true` and `;user_id=NAME`. Anything else is an error.
    fn from_str(text: &str) -> Result<Self> {
        // A token in the address is not repeated in the message.
        let shown = text.split('/').take(3).collect::<Vec<_>>().join("/");
        let wrong = |expected: &str| Error::malformed("the address of the cluster", &shown, expected);
        let form = "sc://HOST:PORT, or sc://HOST:PORT/;use_ssl=true for TLS";
        let rest = text.strip_prefix("sc://").ok_or_else(|| wrong(form))?;
        let (place, settings) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                let port = port.parse().ok().filter(|port| *port > 0);
                (host, port.ok_or_else(|| wrong("a port from 1 to 65535 after the host"))?)
            }
            _ => (place, PORT),
        };
        let named = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let numbered = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_host = match numbered {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.bytes().all(named),
        };
        if !is_host {
            return Err(wrong("the name of a host, or its number (of IPv6 in brackets), and a port"));
        }
        let mut address = ClusterAddress { host: host.to_ascii_lowercase(), port, tls: false, user: None };
        for setting in settings.split(';').filter(|setting| !setting.is_empty()) {
            match setting.split_once('=') {
                Some(("use_ssl", "true")) => address.tls = true,
                Some(("use_ssl", "false")) => address.tls = false,
                Some(("user_id", name)) if !name.is_empty() && name.bytes().all(named) => {
                    address.user = Some(name.to_string());
                }
                Some(("token", _)) => {
                    return Err(wrong(
                        "no token in the address, where others see it: a file or the environment has it",
                    ));
                }
                _ => return Err(wrong("no settings but use_ssl=true and user_id=NAME (letters, digits and - . _)")),
            }
        }
        Ok(address)
    }
}

impl ClusterToken {
    /// A token from text, trimmed. `from` is its file, for messages.
    pub fn new(text: &str, from: &Path) -> Result<Self> {
        let text = text.trim();
        match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            true => Ok(ClusterToken(text.to_string())),
            false => {
                Err(file_error(from, "is no token: it has one line of ASCII characters without space between them"))
            }
        }
    }

    /// Reads a token from a file; an error if others than its owner can read it.
    pub fn read(file: &Path) -> Result<Self> {
        let wrong = |why: std::io::Error| file_error(file, why);
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(file).map_err(wrong)?.permissions());
            if mode & 0o077 != 0 {
                return Err(file_error(file, "has a token and is open to others than its owner: chmod 600 closes it"));
            }
        }
        ClusterToken::new(&crate::io::reading::read_text(file)?, file)
    }

    /// The secret.
    #[cfg(feature = "cluster")]
    pub(super) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ClusterToken {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "ClusterToken(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(address: &str, shared: &Path) -> Cluster {
        let limit = Duration::from_secs(9);
        Cluster { address: address.parse().unwrap(), token: None, plain: false, shared: shared.to_path_buf(), limit }
    }

    #[test]
    fn addresses_are_read_and_written() {
        for (text, written) in [
            ("sc://localhost", "sc://localhost:15002"),
            ("sc://Spark.example.org:15009/", "sc://spark.example.org:15009"),
            ("sc://[::1]:4", "sc://[::1]:4"),
            ("sc://10.0.0.7:15002/;use_ssl=true", "sc://10.0.0.7:15002/;use_ssl=true"),
            ("sc://a/;user_id=jo;use_ssl=true", "sc://a:15002/;use_ssl=true;user_id=jo"),
        ] {
            let address: ClusterAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), written);
            assert_eq!(written.parse::<ClusterAddress>().unwrap(), address);
        }
        for text in [
            "spark://a:1",
            "sc://",
            "sc://a b",
            "sc://:1",
            "sc://a:0",
            "sc://a:66000",
            "sc://a:x",
            "sc://::1",
            "sc://[::g]:1",
        ] {
            let error = text.parse::<ClusterAddress>().unwrap_err().to_string();
            assert!(error.contains("the address of the cluster"), "{error}");
        }
        for setting in ["use_ssl=yes", "user_id=", "user_id=a'b", "x=1", "nonsense"] {
            assert!(format!("sc://a:1/;{setting}").parse::<ClusterAddress>().is_err(), "{setting}");
        }
        let error = "sc://a:1/;token=hunter2".parse::<ClusterAddress>().unwrap_err().to_string();
        assert!(error.contains("no token in the address") && !error.contains("hunter2"), "{error}");
    }

    #[test]
    fn nothing_goes_to_another_machine_in_clear_without_consent() {
        let folder = tempfile::tempdir().unwrap();
        let check = |address: &str, plain: bool, token: bool| {
            let mut cluster = cluster(address, folder.path());
            cluster.plain = plain;
            cluster.token = token.then(|| ClusterToken::new("secret", folder.path()).unwrap());
            cluster.check(&RecordFiles::default()).map_err(|error| error.to_string())
        };
        for here in ["sc://localhost:1", "sc://127.0.0.1:1", "sc://127.8.0.1:1", "sc://[::1]:1"] {
            check(here, false, false).unwrap();
        }
        for there in ["sc://10.0.0.7:1", "sc://localhost.example.org:1", "sc://[fe80::1]:1", "sc://128.0.0.1:1"] {
            let error = check(there, false, false).unwrap_err();
            assert!(error.contains("in clear") && error.contains("nothing is spent"), "{error}");
            check(there, true, false).unwrap();
            assert!(check(there, true, true).unwrap_err().contains("a token is not sent"));
            check(&format!("{there}/;use_ssl=true"), false, true).unwrap();
        }
    }

    #[test]
    fn records_lie_where_workers_see_them() {
        let folder = tempfile::tempdir().unwrap();
        let (shared, beside) = (folder.path().join("shared"), folder.path().join("beside.txt"));
        fs::create_dir(&shared).unwrap();
        for file in [&beside, &shared.join("a.txt"), &shared.join("b*.txt")] {
            fs::write(file, "x").unwrap();
        }
        // Compressed text is recognized by its first bytes.
        fs::write(folder.path().join("packed.txt.gz"), [0x1f, 0x8b, 8, 0]).unwrap();
        let check = |shared: &Path, file: &Path| {
            let records = RecordFiles { text: vec![file.to_path_buf()], parquet: Vec::new() };
            cluster("sc://localhost:1", shared).check(&records).map_err(|error| error.to_string())
        };
        check(&shared, &shared.join("a.txt")).unwrap();
        check(&shared, &shared.join("../shared/a.txt")).unwrap();
        check(&shared, &folder.path().join("packed.txt.gz")).unwrap();
        assert!(check(&shared, &beside).unwrap_err().contains("put it there"));
        assert!(check(&shared, &shared.join("../beside.txt")).unwrap_err().contains("put it there"));
        assert!(check(&shared, &shared.join("b*.txt")).unwrap_err().contains("rename it"));
        assert!(check(&shared, &shared.join("none.txt")).is_err());
        assert!(check(&beside, &beside).unwrap_err().contains("not a folder"));
        #[cfg(unix)]
        {
            // A link in the shared folder to a file elsewhere is not visible to workers.
            std::os::unix::fs::symlink(&beside, shared.join("link.txt")).unwrap();
            assert!(check(&shared, &shared.join("link.txt")).unwrap_err().contains("put it there"));
            // The folder keeps the name given by the user.
            let other = folder.path().join("other");
            std::os::unix::fs::symlink(&shared, &other).unwrap();
            let seen = cluster("sc://localhost:1", &other).seen_by_workers(&shared.join("a.txt")).unwrap();
            assert_eq!(Path::new(&seen), other.join("a.txt"));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_token_is_in_a_file_of_its_owner_and_is_not_printed() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let read = |text: &str, mode: u32| {
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            ClusterToken::read(&file)
        };
        let token = read("hunter2\n", 0o600).unwrap();
        assert_eq!((token.0.as_str(), format!("{token:?}").as_str()), ("hunter2", "ClusterToken(..)"));
        assert!(read("hunter2\n", 0o640).unwrap_err().to_string().contains("chmod 600"));
        for text in ["", "\n", "two words", "a\nb", "\u{e9}"] {
            assert!(read(text, 0o600).unwrap_err().to_string().contains("is no token"), "{text:?}");
        }
        assert!(ClusterToken::read(&folder.path().join("none")).is_err());
    }
}
