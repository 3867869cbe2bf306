//! The number of draws of pure noise in a folder, from its constraints and the footers of its files: the counts are not read.

use std::{collections::BTreeMap, fs::File, path::Path};

use parquet::file::reader::{FileReader, SerializedFileReader};
use rug::Rational;

use super::zeros::ZeroCounts;
use crate::{
    error::Result,
    io::{files::file_error, foreign::guarded},
    release::Release,
    topdown::{
        gls::problem::Problem,
        nmf::{
            budgets::Budgets,
            folder::{NmfFolder, of_part},
            names::Names,
            units::{Asked, PartUnits, RootConstraints},
        },
    },
};

/// The draws of a query of a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Volume {
    /// The level.
    pub level: String,
    /// The query.
    pub query: String,
    /// The parameter of units that carry the share of their own level alone.
    pub sigma2: Rational,
    /// The number of draws: exact if every unit has counts, else in proportion to the units that have.
    pub draws: u64,
}

/// The draws of single counts in a folder, by level and query, without those of the nation.
pub fn volumes(folder: &Path, release: &Release) -> Result<Vec<Volume>> {
    let names = Names::new(release)?;
    let budgets = Budgets::new(release, &names)?;
    let folder = NmfFolder::open(folder, &names.levels)?;
    let root = RootConstraints::read(&folder, &names)?;
    let problem = Problem::for_answers(&names.sizes, &[], &[], &root.zeros.apart)?;
    let asked = Asked { zeros: Some(&root.zeros), bounds: false };
    let mut zeros = ZeroCounts::new(&problem, &names.sizes);
    let mut found: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for part in folder.parts() {
        let units = PartUnits::read(&folder, &names, &problem, root.first, &part, asked)?;
        for (at, free) in units.free.iter().enumerate() {
            let level = root.first + at;
            let queries = names.queries(level);
            let rows =
                of_part(&folder.levels[level].queries, &part).map(|file| rows(&file.path)).sum::<Result<u64>>()?;
            // Of two histograms the rows of both are in the files.
            let per_unit = if names.are_two() { release.levels[level].queries.len() } else { queries.len() };
            let share = rows as f64 / per_unit.max(1) as f64 / free.len().max(1) as f64;
            let mut of_set = vec![0_u64; units.frees.len()];
            free.iter().for_each(|number| of_set[*number as usize] += 1);
            for (number, many) in of_set.iter().enumerate().filter(|(_, many)| **many > 0) {
                for (query, named) in queries.iter().enumerate() {
                    let zero = zeros.counts(named, &units.frees[number]).len();
                    *found.entry((level, query)).or_default() += *many as f64 * zero as f64 * share;
                }
            }
        }
    }
    let volume = |((level, query), draws): ((usize, usize), f64)| Volume {
        level: names.levels[level].clone(),
        query: names.queries(level)[query].name.clone(),
        sigma2: budgets.sigma2(level, 1, query).clone(),
        draws: draws.round() as u64,
    };
    Ok(found.into_iter().map(volume).filter(|volume| volume.draws > 0).collect())
}

/// The number of rows of a file, from its footer.
fn rows(path: &Path) -> Result<u64> {
    let file = File::open(path).map_err(|why| file_error(path, why))?;
    let reader = guarded(|| SerializedFileReader::new(file)).map_err(|why| file_error(path, why))?;
    let reader = reader.map_err(|why| file_error(path, why))?;
    Ok(reader.metadata().file_metadata().num_rows().max(0) as u64)
}
