//! The server of `assay explore` as a process, with requests byte by byte.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

/// A server that ends when it is dropped.
pub struct Server {
    child: Child,
    folder: tempfile::TempDir,
    pub port: u16,
    pub token: String,
}

/// A reply.
pub struct Reply {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Reply {
    /// A header; empty if missing.
    pub fn header(&self, name: &str) -> &str {
        let line = self
            .head
            .lines()
            .find_map(|line| line.split_once(": ").filter(|(known, _)| known.eq_ignore_ascii_case(name)));
        line.map_or("", |(_, value)| value)
    }
}

/// A program with Ctrl-C enabled, even if the process that started the tests ignores it.
fn heeding(program: &Path) -> Command {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    // Signal 2, counted from the lowest bit.
    if mask >> 1 & 1 == 0 {
        return Command::new(program);
    }
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(program);
    command
}

impl Server {
    pub fn start(args: &[&str]) -> Server {
        let folder = tempfile::tempdir().expect("a folder");
        let mut child = heeding(assert_cmd::cargo::cargo_bin!("assay"))
            .args(["explore", "--no-open"])
            .args(args)
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("an address");
        let rest = line.trim().strip_prefix("http://127.0.0.1:").expect("an address of this machine");
        let (port, token) = rest.trim_end_matches('/').split_once('/').expect("a token");
        assert_eq!(token.len(), 64);
        Server { folder, port: port.parse().expect("a port"), token: token.to_string(), child }
    }

    /// The folder of the server.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).expect("a connection")
    }

    pub fn raw(&self, request: &str) -> Reply {
        self.raw_bytes(request.as_bytes())
    }

    /// Sends bytes, and reads until the server closes.
    pub fn raw_bytes(&self, request: &[u8]) -> Reply {
        let mut stream = self.connect();
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        // A server that refuses a long request may close before all of it is sent.
        let _ = stream.write_all(request);
        let mut reply = Vec::new();
        let mut piece = [0; 65_536];
        while let Ok(read @ 1..) = stream.read(&mut piece) {
            reply.extend_from_slice(&piece[..read]);
        }
        let reply = String::from_utf8(reply).expect("UTF-8");
        let (head, body) = reply.split_once("\r\n\r\n").unwrap_or((&reply, ""));
        let status = head.split(' ').nth(1).unwrap_or_else(|| panic!("no status: {head:?}"));
        Reply { status: status.parse().expect("a status"), head: head.to_string(), body: body.to_string() }
    }

    /// A file below the token.
    pub fn get(&self, path: &str) -> Reply {
        self.raw(&format!("GET /{}/{path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.token, self.host()))
    }

    pub fn ask(&self, question: &str, options: Value) -> (u16, Value) {
        self.post(question, &json!({ "options": options }))
    }

    pub fn post(&self, question: &str, body: &Value) -> (u16, Value) {
        let reply = self.raw(&self.request(question, body));
        (reply.status, serde_json::from_str(&reply.body).expect("JSON"))
    }

    fn request(&self, question: &str, body: &Value) -> String {
        let body = body.to_string();
        format!(
            "POST /{}/api/{question} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.token,
            self.host(),
            body.len()
        )
    }

    /// Sends a request on a connection that stays open, without waiting for the answer.
    #[cfg(target_os = "linux")]
    pub fn post_and_keep(&self, question: &str, body: &Value) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(self.request(question, body).as_bytes()).expect("sent");
        stream
    }

    /// The process id.
    #[cfg(target_os = "linux")]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Presses Ctrl-C, and returns the exit status.
    #[cfg(unix)]
    pub fn interrupt(&mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
        self.child.wait().expect("an end").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
