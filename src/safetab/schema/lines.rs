//! Text files line by line, in bounded memory.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use super::rows::{LONGEST, without_end};

/// Opens a file of text.
pub(in crate::safetab) fn open_text(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::other("is a folder"));
    }
    Ok(Box::new(file))
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
