//! Counts by atom, class and cell in bounded memory: a full buffer is sorted, summed and spilled to disk, and at the end the spilled runs
//! are merged.
//!
//! A run is a sequence of pairs of variable-length numbers in ascending order of keys: the difference to the previous key, and the count.
//! In the merged counts keys start again with each atom, so that the counts of one atom can be read separately.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fs::{self, File},
    io::{BufRead, BufReader, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use rayon::prelude::*;

use super::keys::{ATOM_BITS, CELL_BITS, CLASS_BITS};
use crate::{
    error::Result,
    io::files::{create_private, file_error},
};

/// The number of counts held before they are spilled, 16 bytes each.
const HELD: usize = 1 << 23;
/// Bits of a key below the atom.
const BELOW: u32 = CLASS_BITS + CELL_BITS;

/// A number of records with the same atom, class and cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::safetab) struct Tally {
    pub atom: u32,
    pub class: u32,
    pub cell: u32,
    pub n: u64,
}

/// The counts in progress.
pub(in crate::safetab) struct TallyWriter {
    folder: PathBuf,
    held: Vec<(u64, u64)>,
    most: usize,
    runs: Vec<PathBuf>,
    /// The sum of all counts.
    added: u64,
}

/// The counts of all atoms.
pub(in crate::safetab) struct Tallies {
    stored: Stored,
    /// The offset of the counts of each atom, and the end of the last.
    begins: Vec<u64>,
}

enum Stored {
    Memory(Vec<u8>),
    File(PathBuf, File),
}

impl TallyWriter {
    /// No counts yet; runs are spilled into this folder.
    pub fn new(folder: &Path) -> Self {
        TallyWriter::holding(folder, HELD)
    }

    fn holding(folder: &Path, most: usize) -> Self {
        TallyWriter { folder: folder.to_path_buf(), held: Vec::new(), most, runs: Vec::new(), added: 0 }
    }

    /// Adds to a count.
    pub fn add(&mut self, tally: Tally) -> Result<()> {
        let Tally { atom, class, cell, n } = tally;
        let fits = u64::from(atom) < 1 << ATOM_BITS && cell < 1 << CELL_BITS;
        assert!(fits, "{tally:?}");
        self.held.push((u64::from(atom) << BELOW | u64::from(class) << CELL_BITS | u64::from(cell), n));
        self.added += n;
        if self.held.len() == self.most { self.spill() } else { Ok(()) }
    }

    /// Sorts the buffer and sums the counts with the same key.
    fn sort(&mut self) {
        self.held.par_sort_unstable_by_key(|(key, _)| *key);
        self.held.dedup_by(|(key, n), (kept, sum)| {
            let same = key == kept;
            *sum += if same { *n } else { 0 };
            same
        });
    }

    fn spill(&mut self) -> Result<()> {
        self.sort();
        let path = self.folder.join(format!("tallies-{}.run", self.runs.len()));
        let mut out = create_private(&path)?;
        let mut before = 0;
        let mut write = |(key, n): (u64, u64)| {
            put(&mut out, key - before)?;
            before = key;
            put(&mut out, n).map(drop)
        };
        let written = self.held.drain(..).try_for_each(&mut write).and_then(|()| out.flush());
        written.map_err(|why| file_error(&path, why))?;
        self.runs.push(path);
        Ok(())
    }

    /// The counts of this number of atoms.
    pub fn finish(mut self, atoms: usize) -> Result<Tallies> {
        let mut index = Index { begins: Vec::with_capacity(atoms + 1), last: None, bytes: 0, sum: 0 };
        let stored = if self.runs.is_empty() {
            self.sort();
            let mut bytes = Vec::new();
            let written = self.held.drain(..).try_for_each(|(key, n)| index.put(&mut bytes, key, n));
            written.map_err(|why| file_error(&self.folder, why))?;
            Stored::Memory(bytes)
        } else {
            self.spill()?;
            self.held = Vec::new();
            let path = self.folder.join("tallies");
            let mut out = create_private(&path)?;
            merge(&self.runs, |key, n| index.put(&mut out, key, n).map_err(|why| file_error(&path, why)))?;
            out.flush().map_err(|why| file_error(&path, why))?;
            drop(out);
            self.runs.iter().try_for_each(|run| fs::remove_file(run).map_err(|why| file_error(run, why)))?;
            let file = File::open(&path).map_err(|why| file_error(&path, why))?;
            Stored::File(path, file)
        };
        if index.sum != self.added {
            return Err(file_error(&self.folder, "counts that were written here are not those that are read"));
        }
        Ok(Tallies { stored, begins: index.finish(atoms) })
    }
}

/// The merged counts while they are written.
struct Index {
    begins: Vec<u64>,
    /// The last key.
    last: Option<u64>,
    bytes: u64,
    sum: u64,
}

impl Index {
    fn put(&mut self, out: &mut impl Write, key: u64, n: u64) -> std::io::Result<()> {
        let (atom, below) = ((key >> BELOW) as usize, key & ((1 << BELOW) - 1));
        let before = match self.last {
            Some(last) if (last >> BELOW) as usize == atom => last & ((1 << BELOW) - 1),
            _ => 0,
        };
        // Atoms without a record begin where the next one begins.
        while self.begins.len() <= atom {
            self.begins.push(self.bytes);
        }
        self.bytes += put(out, below - before)? as u64 + put(out, n)? as u64;
        self.last = Some(key);
        self.sum += n;
        Ok(())
    }

    fn finish(mut self, atoms: usize) -> Vec<u64> {
        self.begins.resize((atoms + 1).max(self.begins.len() + 1), self.bytes);
        self.begins
    }
}

/// A run while it is read.
struct Run<'a> {
    path: &'a Path,
    input: BufReader<File>,
    key: u64,
}

impl<'a> Run<'a> {
    fn open(path: &'a Path) -> Result<Self> {
        let input = BufReader::with_capacity(1 << 16, File::open(path).map_err(|why| file_error(path, why))?);
        Ok(Run { path, input, key: 0 })
    }

    /// The next key and its count.
    fn next(&mut self) -> Result<Option<(u64, u64)>> {
        let wrong = |why: std::io::Error| file_error(self.path, why);
        if self.input.fill_buf().map_err(wrong)?.is_empty() {
            return Ok(None);
        }
        self.key += get(&mut self.input).map_err(wrong)?;
        Ok(Some((self.key, get(&mut self.input).map_err(wrong)?)))
    }
}

/// Calls `see` with the keys of all runs in ascending order, each once, with the sums of their counts.
fn merge(paths: &[PathBuf], mut see: impl FnMut(u64, u64) -> Result<()>) -> Result<()> {
    let mut runs = paths.iter().map(|path| Run::open(path)).collect::<Result<Vec<_>>>()?;
    let mut heads = BinaryHeap::with_capacity(runs.len());
    for (place, run) in runs.iter_mut().enumerate() {
        heads.extend(run.next()?.map(|(key, n)| Reverse((key, place, n))));
    }
    let mut open: Option<(u64, u64)> = None;
    while let Some(Reverse((key, place, n))) = heads.pop() {
        heads.extend(runs[place].next()?.map(|(key, n)| Reverse((key, place, n))));
        match &mut open {
            Some((last, sum)) if *last == key => *sum += n,
            _ => {
                if let Some((last, sum)) = open.replace((key, n)) {
                    see(last, sum)?;
                }
            }
        }
    }
    open.map_or(Ok(()), |(key, n)| see(key, n))
}

impl Tallies {
    /// The counts of an atom, in ascending order of class and cell. `bytes` is the buffer for reading.
    pub fn of_atom<'a>(
        &'a self,
        atom: u32,
        bytes: &'a mut Vec<u8>,
    ) -> Result<impl Iterator<Item = Result<Tally>> + use<'a>> {
        let (begin, end) = (self.begins[atom as usize], self.begins[atom as usize + 1]);
        let (path, rest): (&Path, &[u8]) = match &self.stored {
            Stored::Memory(all) => (Path::new("the counts"), &all[begin as usize..end as usize]),
            Stored::File(path, file) => {
                let wrong = |why: std::io::Error| file_error(path, why);
                bytes.resize((end - begin) as usize, 0);
                let mut file = file;
                file.seek(SeekFrom::Start(begin)).map_err(wrong)?;
                file.read_exact(bytes).map_err(wrong)?;
                (path, bytes)
            }
        };
        let (mut rest, mut below) = (rest, 0);
        Ok(std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let mut next = || {
                below += get(&mut rest)?;
                let (class, cell) = ((below >> CELL_BITS) as u32, (below & ((1 << CELL_BITS) - 1)) as u32);
                Ok(Tally { atom, class, cell, n: get(&mut rest)? })
            };
            let found = next();
            if found.is_err() {
                rest = &[];
            }
            Some(found.map_err(|why: std::io::Error| file_error(path, why)))
        }))
    }
}

/// Writes a number with seven bits per byte, the lowest first; returns the number of bytes.
fn put(out: &mut impl Write, mut number: u64) -> std::io::Result<usize> {
    let (mut bytes, mut length) = ([0; 10], 0);
    loop {
        bytes[length] = (number & 0x7f) as u8 | if number > 0x7f { 0x80 } else { 0 };
        length += 1;
        number >>= 7;
        if number == 0 {
            return out.write_all(&bytes[..length]).map(|()| length);
        }
    }
}

/// Reads a number.
fn get(input: &mut impl Read) -> std::io::Result<u64> {
    let mut number = 0;
    for place in 0..10 {
        let mut byte = [0];
        input.read_exact(&mut byte)?;
        number |= u64::from(byte[0] & 0x7f) << (7 * place);
        if byte[0] < 0x80 {
            return Ok(number);
        }
    }
    Err(std::io::Error::other("a count that was written here is damaged"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        let numbers = [0, 1, 127, 128, 300, (1 << 38) - 1, 1 << 63, u64::MAX];
        let lengths: Vec<usize> = numbers.iter().map(|number| put(&mut bytes, *number).unwrap()).collect();
        assert_eq!(lengths, [1, 1, 1, 2, 2, 6, 10, 10]);
        let mut rest = &bytes[..];
        assert_eq!(numbers.map(|_| get(&mut rest).unwrap()), numbers);
        assert!(get(&mut rest).is_err() && get(&mut &[0x80; 11][..]).is_err() && get(&mut &[0x80][..]).is_err());
    }

    #[test]
    fn sums_are_those_of_a_map_in_memory_and_spilled() {
        let records = 60_000_u64;
        let tally = |i: u64| {
            let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // Few atoms, and none with an odd number; the largest possible class.
            let class = if mixed >> 58 == 0 { u32::MAX } else { (mixed >> 40) as u32 % 50 };
            Tally { atom: (mixed >> 52) as u32 % 40 * 2, class, cell: (mixed >> 33) as u32 % 46, n: 1 + i % 3 }
        };
        let mut expected = BTreeMap::new();
        for Tally { atom, class, cell, n } in (0..records).map(tally) {
            *expected.entry((atom, class, cell)).or_insert(0) += n;
        }
        for most in [1 << 20, 60_000, 59_999, 7000, 997] {
            let folder = tempfile::tempdir().unwrap();
            let mut writer = TallyWriter::holding(folder.path(), most);
            (0..records).for_each(|i| writer.add(tally(i)).unwrap());
            let tallies = writer.finish(100).unwrap();
            let spilled = matches!(tallies.stored, Stored::File(..));
            assert_eq!(spilled, most <= 60_000);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), usize::from(spilled));
            let mut bytes = Vec::new();
            let mut found = Vec::new();
            for atom in 0..100 {
                for tally in tallies.of_atom(atom, &mut bytes).unwrap() {
                    let Tally { atom, class, cell, n } = tally.unwrap();
                    found.push(((atom, class, cell), n));
                }
            }
            assert!(found == expected.clone().into_iter().collect::<Vec<_>>(), "{most}");
        }
    }

    #[test]
    fn nothing_counted_is_nothing_found_and_a_lost_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let tallies = TallyWriter::new(folder.path()).finish(3).unwrap();
        for atom in 0..3 {
            assert!(tallies.of_atom(atom, &mut Vec::new()).unwrap().next().is_none());
        }
        let mut writer = TallyWriter::holding(&folder.path().join("none"), 2);
        writer.add(Tally { atom: 0, class: 0, cell: 0, n: 1 }).unwrap();
        let error = writer.add(Tally { atom: 0, class: 0, cell: 0, n: 1 }).unwrap_err().to_string();
        assert!(error.contains("none/tallies-0.run"), "{error}");
        // A truncated run.
        let mut writer = TallyWriter::holding(folder.path(), 100);
        (0..250).for_each(|i| writer.add(Tally { atom: i, class: 7 * i, cell: 5, n: 3 }).unwrap());
        let run = writer.runs[0].clone();
        let bytes = fs::read(&run).unwrap();
        for length in [bytes.len() - 1, bytes.len() - 8] {
            fs::write(&run, &bytes[..length]).unwrap();
            let mut again = TallyWriter::holding(folder.path(), 100);
            (again.runs, again.added) = (writer.runs.clone(), writer.added);
            again.held = writer.held.clone();
            assert!(again.finish(250).is_err(), "{length}");
            fs::remove_file(folder.path().join("tallies")).unwrap();
            fs::remove_file(folder.path().join("tallies-2.run")).unwrap();
        }
    }
}
