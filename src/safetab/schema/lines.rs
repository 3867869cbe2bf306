//! Text files line by line, in bounded memory.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use flate2::bufread::MultiGzDecoder;

/// The longest line that is read. A whole GRF-C has a hundred fields of a few characters.
pub(super) const LONGEST: usize = 1 << 16;

/// A line without its end of one or two bytes.
pub(super) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether a file is compressed by gzip: `.gz` ends its name.
pub(in crate::safetab) fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

/// Whether a name is that of text: `*.txt` or `*.csv`, or such with `.gz` after it.
pub(in crate::safetab) fn is_text(path: &Path) -> bool {
    let name = if is_compressed(path) { path.with_extension("") } else { path.to_path_buf() };
    name.extension().is_some_and(|extension| extension == "txt" || extension == "csv")
}

/// Opens a file of text, one that is compressed as what it holds. One that ends too early, or was changed, is an error
/// where its end is read, of the kind that gzip has: every member of such a file ends with its length and a checksum.
pub(in crate::safetab) fn open_text(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::other("is a folder"));
    }
    match is_compressed(path) {
        true => Ok(Box::new(Decompressed(MultiGzDecoder::new(BufReader::with_capacity(1 << 18, file))))),
        false => Ok(Box::new(file)),
    }
}

/// A compressed file, whose errors say what it is.
struct Decompressed(MultiGzDecoder<BufReader<File>>);

impl Read for Decompressed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out).map_err(|why| match why.kind() {
            io::ErrorKind::Interrupted => why,
            io::ErrorKind::UnexpectedEof => {
                io::Error::other("the gzip file is truncated: it ends before its last block")
            }
            _ => io::Error::other(format!("not a whole gzip file: {why}")),
        })
    }
}

/// The lines of a file.
pub(super) struct Lines {
    input: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    /// Of a file, from its first line.
    pub(super) fn open(path: &Path) -> io::Result<Lines> {
        let input = BufReader::with_capacity(1 << 18, open_text(path)?);
        Ok(Lines { input, line: Vec::new(), number: 0 })
    }

    /// How many lines were read.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next line without its end; of one that is too long, its beginning, and what is after it follows as another line.
    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let read = self.input.by_ref().take(LONGEST as u64).read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(without_end(&self.line)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn read(path: &Path) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        open_text(path)?.read_to_end(&mut all).map(|_| all)
    }

    #[test]
    fn compressed_text_is_read_whole_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt.gz");
        let text: Vec<u8> =
            (0..50_000_u32).flat_map(|k| format!("{}\n", k.wrapping_mul(2_654_435_761)).into_bytes()).collect();
        let compress = |text: &[u8]| {
            let mut out = GzEncoder::new(Vec::new(), Compression::fast());
            out.write_all(text).unwrap();
            out.finish().unwrap()
        };
        let (first, second) = text.split_at(12_345);
        // Two members one after the other are one text.
        let whole = [compress(first), compress(second)].concat();
        std::fs::write(&path, &whole).unwrap();
        assert!(read(&path).unwrap() == text && is_text(&path) && !is_text(Path::new("a.gz")));
        // Cut anywhere but between the members, it is refused; so is one with a byte changed.
        let between = compress(first).len();
        for length in [1, 9, 100, between - 1, between + 3, whole.len() / 2, whole.len() - 8, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let why = read(&path).unwrap_err().to_string();
            assert!(why.contains("gzip file"), "{length}: {why}");
        }
        let mut changed = whole.clone();
        changed[whole.len() / 2] ^= 1;
        std::fs::write(&path, &changed).unwrap();
        assert!(read(&path).is_err());
        std::fs::write(&path, b"plain text").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("not a whole gzip file"));
    }
}
