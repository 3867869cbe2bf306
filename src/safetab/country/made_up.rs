//! Made-up records of a country, for rehearsals: any number of them, the same for the same seed.
//!
//! They contain nothing from a census, but they are skewed like one: areas have different weights, the first codes of an attribute are the most
//! frequent, and most persons have one value of an attribute with several columns.

use super::{
    geography::Areas,
    records::{SeePerson, record_of},
    specification::CountrySpecification,
};
use crate::{
    error::{Error, Result},
    noise::{Source, Streams},
    safetab::synthetic::WeightedDraw,
    topdown::jobs::Progress,
};

/// The largest weight of an area; the smallest is 1.
const LARGEST_AREA: u64 = 1000;
/// The weight of the first code of an attribute; that of the n-th is an n-th of it.
const FIRST_CODE: u64 = 1_000_000;
/// The number of records between two calls of `progress`.
const PART: u64 = 1 << 14;

/// Calls `see` with `count` made-up records.
pub(in crate::safetab) fn each_record(
    (of, areas): (&CountrySpecification, &Areas),
    (count, seed): (u64, u64),
    progress: &mut dyn FnMut(Progress),
    see: &mut SeePerson,
) -> Result<()> {
    if areas.codes.is_empty() {
        return Err(Error::missing("no persons can be made: the geography has no area"));
    }
    let mut source = Streams::with_insecure_seed(seed).take();
    let weights = areas.codes.iter().map(|_| 1 + u64::from(source.word()) % LARGEST_AREA).collect();
    let area = WeightedDraw::new(weights);
    let values: Vec<WeightedDraw> = (of.attributes.iter())
        .map(|attribute| {
            let is_number = attribute.range().is_some();
            let weight = |rank: u64| if is_number { 1 } else { (FIRST_CODE / rank).max(1) };
            WeightedDraw::new((1..=attribute.count() as u64).map(weight).collect())
        })
        .collect();
    for made in 0..count {
        let area = area.draw(&mut source) as u32;
        let own: Vec<Vec<u32>> = (of.attributes.iter().zip(&values))
            .map(|(attribute, draw)| {
                let mut own: Vec<u32> =
                    (0..number(attribute.columns.len(), &mut source)).map(|_| draw.draw(&mut source) as u32).collect();
                own.sort_unstable();
                own.dedup();
                own
            })
            .collect();
        see(&record_of(of, area, &own))?;
        if made % PART == 0 {
            progress(Progress { stage: "counting records", done: made, of: count });
        }
    }
    Ok(())
}

/// The number of values of an attribute: one in four persons has one more, if there is a column for it.
fn number(columns: usize, source: &mut Source) -> usize {
    let mut number = 1;
    while number < columns && source.word().is_multiple_of(4) {
        number += 1;
    }
    number
}
