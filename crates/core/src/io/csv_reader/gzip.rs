//! The content of a gzip file: all of its members, one after the other, and nothing else.
//!
//! Every member ends with its length and a checksum, so that a truncated or modified file is an error when its end is read. Bytes after the last
//! member that begin no other one are an error, too: they may be what a damaged copy has of the next member.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// The first bytes of a member: the mark of gzip and the only method there is.
const MEMBER: &[u8] = b"\x1f\x8b\x08";
/// The number of compressed bytes read at a time.
const CHUNK: usize = 1 << 18;
/// The number of left bytes shown in a message.
const SHOWN: usize = 8;

/// A compressed file whose errors name the cause.
#[doc(hidden)]
pub struct Decompressed<R: Read> {
    state: State<R>,
    /// The number of whole members.
    members: u64,
}

enum State<R: Read> {
    Member(Box<GzDecoder<Source<R>>>),
    Ended,
}

impl<R: Read> Decompressed<R> {
    /// The content of a file that begins with the mark of gzip.
    pub(super) fn new(input: R) -> Decompressed<R> {
        let source = Source { inner: input, buffer: Vec::new(), start: 0 };
        Decompressed { state: State::Member(Box::new(GzDecoder::new(source))), members: 0 }
    }

    /// The next member, if there is one; an error for other bytes.
    fn next_member(&mut self, mut source: Source<R>) -> io::Result<State<R>> {
        self.members += 1;
        match source.peek(MEMBER.len())? {
            [] => Ok(State::Ended),
            next if next.starts_with(MEMBER) => Ok(State::Member(Box::new(GzDecoder::new(source)))),
            _ => Err(self.left_over(source)),
        }
    }

    fn left_over(&self, mut source: Source<R>) -> io::Error {
        let shown: Vec<String> =
            source.peek(SHOWN).unwrap_or_default().iter().take(SHOWN).map(|byte| format!("{byte:02x}")).collect();
        let count = match io::copy(&mut source, &mut io::sink()) {
            Ok(1) => "1 byte is left over, and begins".to_string(),
            Ok(count) => format!("{count} bytes are left over, and begin"),
            Err(_) => "bytes are left over, and begin".to_string(),
        };
        let members = match self.members {
            1 => "its compressed content".to_string(),
            many => format!("its {many} compressed members"),
        };
        io::Error::other(format!(
            "not a whole gzip file: after {members} {count} no other member (in hexadecimal: {}). Part of the file may be damaged; if it is \
             whole without them, remove them (decompress it, and compress it again)",
            shown.join(" ")
        ))
    }
}

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let State::Member(member) = &mut self.state else { return Ok(0) };
            let read = member.read(out).map_err(|why| match why.kind() {
                io::ErrorKind::Interrupted => why,
                io::ErrorKind::UnexpectedEof => {
                    io::Error::other("the gzip file is truncated: it ends before its last block")
                }
                _ => io::Error::other(format!("not a whole gzip file: {why}")),
            })?;
            if read > 0 || out.is_empty() {
                return Ok(read);
            }
            if let State::Member(member) = std::mem::replace(&mut self.state, State::Ended) {
                self.state = self.next_member(member.into_inner())?;
            }
        }
    }
}

/// A buffered stream whose next bytes can be examined.
struct Source<R: Read> {
    inner: R,
    buffer: Vec<u8>,
    /// The place of the next byte in the buffer.
    start: usize,
}

impl<R: Read> Source<R> {
    /// The next bytes: at least this number of them, unless the stream ends before.
    fn peek(&mut self, least: usize) -> io::Result<&[u8]> {
        if self.buffer.len() - self.start < least {
            self.buffer.drain(..self.start);
            self.start = 0;
            let wanted = CHUNK.max(least).saturating_sub(self.buffer.len());
            (&mut self.inner).take(wanted as u64).read_to_end(&mut self.buffer)?;
        }
        Ok(&self.buffer[self.start..])
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: Read> BufRead for Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.peek(1)
    }

    fn consume(&mut self, many: usize) {
        self.start = (self.start + many).min(self.buffer.len());
    }
}
