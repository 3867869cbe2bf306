//! Text files line by line, in bounded memory.

use std::{
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use crate::{error::Error, io::csv_reader};

/// The longest line that is read. A full GRF-C has a hundred fields of a few characters.
pub(super) const LONGEST: usize = 1 << 16;

/// A line without its line end of one or two bytes.
pub(super) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether a file is compressed by gzip, regardless of its name.
pub(in crate::safetab) fn is_compressed(path: &Path) -> bool {
    csv_reader::is_gzip(path)
}

/// Whether a name is that of a text file: `*.txt` or `*.csv`, possibly followed by `.gz`.
pub(in crate::safetab) fn is_text(path: &Path) -> bool {
    let is_gz = path.extension().is_some_and(|extension| extension == "gz");
    let name = if is_gz { path.with_extension("") } else { path.to_path_buf() };
    name.extension().is_some_and(|extension| extension == "txt" || extension == "csv")
}

/// Opens a text file. A compressed file is decompressed; a file of another form is an error that names the form. If a compressed file is
/// truncated or modified, reading its end is an error.
pub(in crate::safetab) fn open_text(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    csv_reader::open(path).map(|text| Box::new(text.input) as Box<dyn Read + Send>).map_err(|why| match why {
        // The caller names the file.
        Error::File { why, .. } | Error::DataFile { why, .. } => io::Error::other(why),
        other => io::Error::other(other),
    })
}

/// The lines of a file.
pub(super) struct Lines {
    input: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    /// The lines of a file, from the first.
    pub(super) fn open(path: &Path) -> io::Result<Lines> {
        let input = BufReader::with_capacity(1 << 18, open_text(path)?);
        Ok(Lines { input, line: Vec::new(), number: 0 })
    }

    /// The number of lines read so far.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next line without its end. Of a line that is too long, the beginning; the remainder follows as another line.
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
        // Two concatenated members are one text.
        let whole = [compress(first), compress(second)].concat();
        std::fs::write(&path, &whole).unwrap();
        assert!(read(&path).unwrap() == text && is_text(&path) && !is_text(Path::new("a.gz")));
        // Truncated at any place but between the members, it is an error; so is one with a modified byte.
        let between = compress(first).len();
        for length in [9, 100, between - 1, between + 3, whole.len() / 2, whole.len() - 8, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let why = read(&path).unwrap_err().to_string();
            assert!(why.contains("gzip file"), "{length}: {why}");
        }
        let mut changed = whole.clone();
        changed[whole.len() / 2] ^= 1;
        std::fs::write(&path, &changed).unwrap();
        assert!(read(&path).is_err());
        // Its content determines what it is, not its name.
        assert!(is_compressed(&path));
        std::fs::write(&path, b"plain text").unwrap();
        assert_eq!((read(&path).unwrap(), is_compressed(&path)), (b"plain text".to_vec(), false));
        std::fs::write(&path, b"PAR1").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("Parquet"));
    }
}
