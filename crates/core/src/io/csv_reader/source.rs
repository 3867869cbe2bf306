//! Sources of text: a file or a stream, possibly compressed by gzip. Files of other forms are recognized by their first bytes.

use std::{
    fs::{self, File},
    io::{self, Chain, Cursor, Read},
    path::Path,
};

use super::gzip::Decompressed;
use crate::{
    error::{Error, Result},
    io::files::file_error,
};

/// The number of first bytes that identify the form of a file.
const HEAD: usize = 16;
const GZIP: &[u8] = b"\x1f\x8b";

/// Forms that are not supported, by their first bytes: the form, and the remedy.
const OTHERS: [(&[u8], &str, &str); 14] = [
    (b"PAR1", "Parquet", "this input is read as text: give a CSV file"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook", "save the sheet as CSV in UTF-8, or unpack the archive"),
    (b"PK\x05\x06", "an empty zip archive", "give the file itself"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook of the old form", "save the sheet as CSV in UTF-8"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "decompress it (zstd -d), or use gzip"),
    (b"\xfd7zXZ\x00", "compressed by xz", "decompress it (xz -d), or use gzip"),
    (b"BZh", "compressed by bzip2", "decompress it (bzip2 -d), or use gzip"),
    (b"7z\xbc\xaf", "a 7-Zip archive", "unpack it"),
    (b"\x04\x22\x4d\x18", "compressed by lz4", "decompress it (lz4 -d), or use gzip"),
    (b"ARROW1", "an Arrow file", "save it as CSV"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"\x89HDF", "an HDF5 file", "export the table as CSV"),
    (b"%PDF", "a PDF", "give a CSV file"),
    (b"ORC", "an ORC file", "save it as CSV"),
];

/// Text that is ready for reading.
#[doc(hidden)]
pub struct Text<R: Read> {
    /// Its bytes, decompressed.
    #[doc(hidden)]
    pub input: Plain<R>,
    /// The number of bytes; 0 if it is not known.
    pub(crate) bytes: u64,
}

/// Opens a file of text.
#[doc(hidden)]
pub fn open(path: &Path) -> Result<Text<File>> {
    let about = fs::metadata(path).map_err(|why| file_error(path, reason(&why)))?;
    if about.is_dir() {
        return Err(file_error(path, "is a folder: give a file"));
    }
    let file = File::open(path).map_err(|why| file_error(path, reason(&why)))?;
    let bytes = if about.is_file() { about.len() } else { 0 };
    once(&about, path)?;
    plain(file, bytes, path)
}

/// The pipes that this process has read, by device and number: a second read would find nothing, which is not an empty file.
#[cfg(unix)]
static PIPES: std::sync::Mutex<std::collections::BTreeSet<(u64, u64)>> =
    std::sync::Mutex::new(std::collections::BTreeSet::new());

/// An error for a pipe that was read before.
#[cfg(unix)]
fn once(about: &fs::Metadata, path: &Path) -> Result<()> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    if !about.file_type().is_fifo() {
        return Ok(());
    }
    let mut pipes = PIPES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    match pipes.insert((about.dev(), about.ino())) {
        true => Ok(()),
        false => Err(file_error(path, "is a pipe, and is read more than once: save it to a file, and give that")),
    }
}

#[cfg(not(unix))]
fn once(_: &fs::Metadata, _: &Path) -> Result<()> {
    Ok(())
}

/// The message of the system, without its number.
fn reason(why: &io::Error) -> String {
    match why.kind() {
        io::ErrorKind::NotFound => "no such file".to_string(),
        _ => why.to_string(),
    }
}

/// A stream of `bytes` bytes, 0 if that is not known, as text: decompressed if it is gzip. An error if it is not text.
#[doc(hidden)]
pub fn plain<R: Read>(mut input: R, bytes: u64, name: &Path) -> Result<Text<R>> {
    let wrong = |why: io::Error| file_error(name, why);
    let head = first_bytes(&mut input).map_err(wrong)?;
    if !head.starts_with(GZIP) {
        check(&head, name)?;
        return Ok(Text { input: Plain::Text(Cursor::new(head).chain(input)), bytes });
    }
    let mut inner = Decompressed::new(Cursor::new(head).chain(input));
    let head = first_bytes(&mut inner).map_err(wrong)?;
    if head.starts_with(GZIP) {
        return Err(refused(name, "is gzip inside of gzip: decompress it once".to_string()));
    }
    check(&head, name)?;
    Ok(Text { input: Plain::Gzip(Box::new(Cursor::new(head).chain(inner))), bytes: 0 })
}

/// The bytes that were examined, followed by the others.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

/// Plain text, or the decompressed content of a gzip file.
#[doc(hidden)]
pub enum Plain<R: Read> {
    Text(Whole<R>),
    Gzip(Box<Whole<Decompressed<Whole<R>>>>),
}

impl<R: Read> Read for Plain<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Plain::Text(text) => text.read(out),
            Plain::Gzip(text) => text.read(out),
        }
    }
}

/// The first bytes, fewer only at the end.
fn first_bytes(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    input.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Whether a file is compressed by gzip, by its first bytes. False for a pipe, which would be read twice.
#[doc(hidden)]
pub fn is_gzip(path: &Path) -> bool {
    let head = || -> io::Result<Vec<u8>> {
        match path.is_file() {
            true => first_bytes(&mut File::open(path)?),
            false => Ok(Vec::new()),
        }
    };
    // A file that cannot be read is reported when it is opened.
    head().is_ok_and(|head| head.starts_with(GZIP))
}

/// An error for anything but UTF-8 text or text in a code with the same letters.
fn check(head: &[u8], name: &Path) -> Result<()> {
    let utf16 = match head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        // UTF-16 without a mark: Latin letters in two bytes each.
        [0, low, 0, other, ..] | [low, 0, other, 0, ..] => *low != 0 && *other != 0,
        _ => false,
    };
    if utf16 {
        let why = "is UTF-16 (\"Unicode Text\" of Excel): save it as UTF-8 (in Excel, \"CSV UTF-8\")";
        return Err(refused(name, why.to_string()));
    }
    if let Some((_, what, remedy)) = OTHERS.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Err(refused(name, format!("is {what}: {remedy}")));
    }
    let lower = head.trim_ascii_start().to_ascii_lowercase();
    if [&b"<!doctype"[..], b"<html", b"<?xml"].iter().any(|start| lower.starts_with(start)) {
        return Err(refused(
            name,
            "is HTML or XML, as a page that says why a download failed: give a CSV file".to_string(),
        ));
    }
    Ok(())
}

fn refused(name: &Path, why: String) -> Error {
    Error::DataFile { file: crate::error::shown(name), line: 0, column: 0, why }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> std::result::Result<Vec<u8>, String> {
        let text = plain(bytes, 0, Path::new("a")).map_err(|why| why.to_string());
        let mut all = Vec::new();
        text?.input.read_to_end(&mut all).map_err(|why| why.to_string())?;
        Ok(all)
    }

    #[test]
    fn plain_and_compressed_text_are_read() {
        for text in [&b""[..], b"a", b"a,b\n1,2\n", b"\xef\xbb\xbfa\n", b"a longer text than its head\n"] {
            assert_eq!(read(text).unwrap(), text);
            assert_eq!(read(&gzip(text)).unwrap(), text);
        }
        // Two members are one text, and a truncated one is an error.
        let whole = [gzip(b"first and more\n"), gzip(b"second\n")].concat();
        assert_eq!(read(&whole).unwrap(), b"first and more\nsecond\n");
        for length in [3, 12, whole.len() - 9, whole.len() - 1] {
            assert!(read(&whole[..length]).unwrap_err().contains("gzip file"), "{length}");
        }
        assert!(read(&gzip(&gzip(b"a"))).unwrap_err().contains("inside"));
    }

    /// A stream that gives one byte at a time, as a pipe may.
    struct Slow<'b>(&'b [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let many = out.len().min(1);
            self.0.read(&mut out[..many])
        }
    }

    #[test]
    fn bytes_after_the_last_member_are_named() {
        let members =
            |many: usize| (0..many).flat_map(|at| gzip(format!("line {at}\n").as_bytes())).collect::<Vec<u8>>();
        for (left, says) in [
            (&b"\n"[..], &["1 byte is left over", "0a)"][..]),
            (b"\x1f", &["1 byte is left over", "1f)"]),
            (b"\x1f\x8b", &["2 bytes are left over", "1f 8b)"]),
            (b"\x1f\x8b\x07 another method", &["18 bytes are left over", "1f 8b 07 20 61 6e 6f 74)"]),
            (b"\0\0\0\0", &["4 bytes are left over", "00 00 00 00)"]),
            (b"line 3\n", &["7 bytes are left over", "6c 69 6e"]),
            (&[7; 1 << 19], &["524288 bytes are left over", "07 07 07 07 07 07 07 07)"]),
        ] {
            for many in [1, 3] {
                let whole = [&members(many), left].concat();
                let why = read(&whole).unwrap_err();
                let after = if many == 1 { "its compressed content" } else { "its 3 compressed members" };
                says.iter().chain(&[after]).for_each(|said| assert!(why.contains(said), "{said}: {why}"));
                let mut text = Vec::new();
                let slow = plain(Slow(&whole), 0, Path::new("a")).and_then(|mut slow| {
                    slow.input.read_to_end(&mut text).map_err(|why| file_error(Path::new("a"), why))
                });
                assert!(slow.unwrap_err().to_string().contains(says[0]));
            }
        }
        // Members of nothing are members, and a member can begin anywhere in a chunk.
        for before in [0, (1 << 18) - 40, (1 << 18) - 1, 1 << 18] {
            let mut first = GzEncoder::new(Vec::new(), Compression::none());
            first.write_all(&vec![b'a'; before]).unwrap();
            let whole = [first.finish().unwrap(), gzip(b""), gzip(b"end\n")].concat();
            assert_eq!(read(&whole).unwrap().len(), before + 4);
        }
    }

    #[test]
    fn other_forms_are_named() {
        for (bytes, what) in [
            (&b"PAR1\x15\x04"[..], "Parquet"),
            (b"PK\x03\x04\x14\0", "Excel"),
            (b"\xd0\xcf\x11\xe0\xa1", "Excel"),
            (b"\x28\xb5\x2f\xfd\x04", "zstd"),
            (b"\xff\xfea\0,\0", "UTF-16"),
            (b"\xfe\xff\0a\0,", "UTF-16"),
            (b"a\0,\0b\0", "UTF-16"),
            (b"\n <!DOCTYPE html>", "HTML"),
        ] {
            assert!(read(bytes).unwrap_err().contains(what), "{what}");
            assert!(read(&gzip(bytes)).unwrap_err().contains(what), "{what} in gzip");
        }
    }

    #[test]
    fn folders_and_missing_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let why = |path: &Path| open(path).err().unwrap().to_string();
        assert!(why(folder.path()).contains("is a folder"));
        assert!(why(&folder.path().join("none")).contains("no such file"));
    }
}
