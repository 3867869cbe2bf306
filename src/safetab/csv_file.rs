//! A CSV file while it is written.

use std::{fs::File, io::BufWriter, path::Path};

use crate::{error::Result, io::files::file_error};

/// A CSV file while it is written.
pub(in crate::safetab) struct CsvFile<'a> {
    path: &'a Path,
    out: csv::Writer<BufWriter<File>>,
    rows: u64,
}

impl<'a> CsvFile<'a> {
    /// A new file with its headings.
    pub(in crate::safetab) fn create<S: AsRef<[u8]>>(
        path: &'a Path,
        heading: impl IntoIterator<Item = S>,
    ) -> Result<Self> {
        CsvFile::with_separator(path, b',', heading)
    }

    /// The same with another separator than the comma.
    pub(in crate::safetab) fn with_separator<S: AsRef<[u8]>>(
        path: &'a Path,
        separator: u8,
        heading: impl IntoIterator<Item = S>,
    ) -> Result<Self> {
        let out = BufWriter::new(File::create(path).map_err(|why| file_error(path, why))?);
        let out = csv::WriterBuilder::new().delimiter(separator).from_writer(out);
        let mut csv = CsvFile { path, out, rows: 0 };
        csv.row(heading)?;
        csv.rows = 0;
        Ok(csv)
    }

    /// Writes a row.
    pub(in crate::safetab) fn row<S: AsRef<[u8]>>(&mut self, cells: impl IntoIterator<Item = S>) -> Result<()> {
        self.rows += 1;
        self.out.write_record(cells).map_err(|why| file_error(self.path, why))
    }

    /// Syncs the file to the disk, and returns its number of rows below the headings.
    pub(in crate::safetab) fn finish(self) -> Result<u64> {
        let wrong = |why: std::io::Error| file_error(self.path, why);
        let out = self.out.into_inner().map_err(|error| file_error(self.path, error.error().to_string()))?;
        let file = out.into_inner().map_err(|error| wrong(error.into_error()))?;
        file.sync_all().map_err(wrong)?;
        Ok(self.rows)
    }
}
