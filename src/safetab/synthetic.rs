//! Synthetic persons and households in the bureau's format, for rehearsals: any number of them, reproducible by their seed.
//!
//! They contain nothing from a census, but they are skewed like one: one block in four is empty and few are large. Most persons report one
//! code, mostly from the same part of the codes, and some report up to eight.

mod formats;

use std::path::Path;

use rayon::prelude::*;

use self::formats::write_lines;
use super::{
    groups::{IterationKind, Specification},
    schema::{Geography, HEADINGS, HOUSEHOLD_HEADINGS, RaceEthCode},
};
use crate::{
    error::{Error, Result},
    io::files::{file_error, write_whole},
    noise::{Source, Streams},
    spine::blocks::{Blocks, EntityColumn, EntityKind as Entity},
};

/// The number of persons that share one stream of random words, so that the result does not depend on threads.
const PART: u64 = 1 << 15;
/// The number of persons out of 10,000 who report 1, 2, ... race codes.
const RACE_CODES: [u64; 8] = [8800, 800, 250, 100, 30, 12, 5, 3];
/// The weight of a year of age, with the first age it holds for. All weights are integers, so that every platform draws the same.
const AGES: [(usize, u64); 6] = [(0, 1300), (65, 1000), (75, 500), (85, 200), (95, 20), (105, 1)];
/// One more than the oldest age.
const AGE_END: usize = 116;
/// The weights of the parts of the codes by their first digit, 1 to 9.
const PARTS: [u64; 9] = [60, 6, 12, 5, 6, 4, 3, 2, 2];
/// The largest weight of a block; the smallest is 1.
const LARGEST_BLOCK: u64 = 2000;

/// The weights of the household types, 1 to 5, and of the tenures, 1 to 4.
const HOUSEHOLD_TYPES: [u64; 5] = [47, 5, 13, 28, 7];
const TENURES: [u64; 4] = [42, 22, 34, 2];

/// A callback for parts of whole lines and the number of records so far.
pub(super) type SeeParts<'a> = dyn FnMut(&[Vec<u8>], u64) -> Result<()> + 'a;

/// A population from which persons and households are drawn.
#[derive(Clone, Debug)]
pub struct Population<'a> {
    geography: &'a Geography,
    blocks: WeightedDraw,
    ages: WeightedDraw,
    counts: WeightedDraw,
    races: Vec<RaceEthCode>,
    race: WeightedDraw,
    ethnicities: Vec<RaceEthCode>,
    ethnicity: WeightedDraw,
    household_type: WeightedDraw,
    tenure: WeightedDraw,
    seed: u64,
}

impl<'a> Population<'a> {
    /// A population of a geography with the codes of a specification, determined by the seed.
    pub fn new(geography: &'a Geography, specification: &Specification, seed: u64) -> Result<Population<'a>> {
        let codes: Vec<RaceEthCode> = specification.codes().collect();
        if geography.is_empty() || codes.is_empty() {
            return Err(Error::missing("no persons can be made: there must be a block and a code"));
        }
        let mut streams = Streams::with_insecure_seed(seed);
        let mut source = streams.take();
        let blocks = (0..geography.len()).map(|_| block_weight(&mut source)).collect();
        let has_ethnicity = |code: &RaceEthCode| specification.has_iteration(*code, IterationKind::Ethnicity);
        let (mut ethnicities, races): (Vec<RaceEthCode>, Vec<RaceEthCode>) =
            codes.iter().copied().partition(|code| has_ethnicity(code));
        // A person without a counted ethnicity reports a code that has none; the last of these is the most frequent.
        let races = if races.is_empty() { codes.clone() } else { races };
        let mut ethnicity: Vec<u64> = (1..=ethnicities.len() as u64).map(|rank| 1_000_000 / rank).collect();
        let counted: u64 = ethnicity.iter().sum();
        ethnicities.extend(&races);
        let others = races.len() as u64;
        ethnicity.extend((1..=others).map(|rank| match rank {
            rank if rank == others => 1 + 4 * counted,
            _ => 1 + counted / (10 * others),
        }));
        Ok(Population {
            geography,
            blocks: WeightedDraw::new(blocks),
            ages: WeightedDraw::new((0..AGE_END).map(age_weight).collect()),
            counts: WeightedDraw::new(RACE_CODES.to_vec()),
            race: WeightedDraw::new(race_weights(&races)),
            races,
            ethnicities,
            ethnicity: WeightedDraw::new(ethnicity),
            household_type: WeightedDraw::new(HOUSEHOLD_TYPES.to_vec()),
            tenure: WeightedDraw::new(TENURES.to_vec()),
            seed,
        })
    }

    /// Writes a file of `count` persons completely or not at all: the text of person-records.txt, compressed if the name ends with `.gz`,
    /// or the same columns in Parquet if it ends with `.parquet`. Calls `progress` with the number written.
    pub fn write(&self, count: u64, path: &Path, mut progress: impl FnMut(u64)) -> Result<()> {
        write_lines(path, &HEADINGS, |give| {
            self.each_part_of_persons(count, &mut |parts, written| {
                give(parts)?;
                progress(written);
                Ok(())
            })
        })
    }

    /// Writes a file of `count` households like [`Self::write`].
    pub fn write_households(&self, count: u64, path: &Path, mut progress: impl FnMut(u64)) -> Result<()> {
        write_lines(path, &HOUSEHOLD_HEADINGS, |give| {
            self.each_part_of_households(count, &mut |parts, written| {
                give(parts)?;
                progress(written);
                Ok(())
            })
        })
    }

    /// Calls `see` with the rows of a file of persons without headings, several parts of whole lines at a time, and with the number of
    /// persons so far.
    pub(super) fn each_part_of_persons(&self, count: u64, see: &mut SeeParts) -> Result<()> {
        self.each_part(count, |source: &mut Source, text: &mut Vec<u8>| self.person(source, text), see)
    }

    /// The same for households.
    pub(super) fn each_part_of_households(&self, count: u64, see: &mut SeeParts) -> Result<()> {
        self.each_part(count, |source: &mut Source, text: &mut Vec<u8>| self.household(source, text), see)
    }

    fn each_part(&self, count: u64, row: impl Fn(&mut Source, &mut Vec<u8>) + Sync, see: &mut SeeParts) -> Result<()> {
        let mut streams = Streams::with_insecure_seed(self.seed);
        // The first stream was used for the blocks.
        streams.take();
        let mut written = 0;
        while written < count {
            let sources: Vec<(Source, u64)> = (0..4 * rayon::current_num_threads() as u64)
                .map(|part| (streams.take(), PART.min(count.saturating_sub(written + part * PART))))
                .take_while(|(_, persons)| *persons > 0)
                .collect();
            written += sources.iter().map(|(_, persons)| persons).sum::<u64>();
            let rows = |(mut source, persons): (Source, u64)| {
                let mut text = Vec::with_capacity(100 * persons as usize);
                (0..persons).for_each(|_| row(&mut source, &mut text));
                text
            };
            let parts: Vec<Vec<u8>> = sources.into_par_iter().map(rows).collect();
            see(&parts, written)?;
        }
        Ok(())
    }

    /// Appends a row.
    fn person(&self, source: &mut Source, text: &mut Vec<u8>) {
        let age = self.ages.draw(source);
        let male = if age < 75 { 49 } else { 40 };
        let sex = if below(source, 100) < male { b'1' } else { b'2' };
        let is_householder = age >= 18 && below(source, 100) < 49;
        let geoid = self.geography.geoids()[self.blocks.draw(source)];
        let (races, ethnicity) = self.codes(source);
        push_digits::<3>(text, age as u64);
        text.extend([b'|', sex]);
        text.extend(if is_householder { &b"|True|"[..] } else { &b"|False|"[..] });
        push_block(text, geoid);
        push_codes(text, races, ethnicity);
        text.push(b'\n');
    }

    /// Appends a row.
    fn household(&self, source: &mut Source, text: &mut Vec<u8>) {
        let geoid = self.geography.geoids()[self.blocks.draw(source)];
        let (races, ethnicity) = self.codes(source);
        push_block(text, geoid);
        push_codes(text, races, ethnicity);
        text.extend([b'|', b'1' + self.household_type.draw(source) as u8]);
        text.extend([b'|', b'1' + self.tenure.draw(source) as u8, b'\n']);
    }

    /// Race codes, 0 for none, and an ethnicity code.
    fn codes(&self, source: &mut Source) -> ([u16; 8], u16) {
        let mut races = [0; 8];
        let count = self.counts.draw(source) + 1;
        for race in &mut races[..count] {
            *race = self.races[self.race.draw(source)].number();
        }
        (races, self.ethnicities[self.ethnicity.draw(source)].number())
    }
}

/// The four columns of a block, with the bar after them.
fn push_block(text: &mut Vec<u8>, geoid: u64) {
    push_digits::<2>(text, geoid / 10_u64.pow(13));
    text.push(b'|');
    push_digits::<3>(text, geoid / 10_u64.pow(10) % 1000);
    text.push(b'|');
    push_digits::<6>(text, geoid / 10_000 % 1_000_000);
    text.push(b'|');
    push_digits::<4>(text, geoid % 10_000);
    text.push(b'|');
}

/// The combined race, and the codes.
fn push_codes(text: &mut Vec<u8>, races: [u16; 8], ethnicity: u16) {
    // The bureau has 63 combinations of six races; here the parts of the codes stand for races.
    let parts = races.iter().filter(|race| **race > 0).fold(0_u64, |parts, race| parts | 1 << (race / 1000 % 6));
    push_digits::<2>(text, parts);
    for race in races {
        text.push(b'|');
        if race == 0 { text.extend(b"Null") } else { push_digits::<4>(text, race.into()) }
    }
    text.push(b'|');
    push_digits::<4>(text, ethnicity.into());
}

/// One block in four is empty; otherwise P[weight > w] falls as 1 / w.
fn block_weight(source: &mut Source) -> u64 {
    let word = u64::from(source.word());
    if source.word().is_multiple_of(4) { 0 } else { (1 << 32) / (word + (1 << 32) / LARGEST_BLOCK) }
}

fn age_weight(age: usize) -> u64 {
    AGES.iter().rev().find(|(from, _)| *from <= age).map_or(0, |(_, weight)| *weight)
}

/// Within a part of the codes, weights fall as 1 / rank.
fn race_weights(races: &[RaceEthCode]) -> Vec<u64> {
    let part = |code: &RaceEthCode| usize::from(code.number() / 1000) - 1;
    let mut ranks = [0; PARTS.len()];
    let weights = races.iter().map(|code| {
        ranks[part(code)] += 1;
        1_000_000 * PARTS[part(code)] / ranks[part(code)]
    });
    weights.collect()
}

/// An integer below `end`, uniform up to a part in 2^32.
fn below(source: &mut Source, end: u64) -> u64 {
    (u64::from(source.word()) * end) >> 32
}

fn push_digits<const N: usize>(text: &mut Vec<u8>, mut value: u64) {
    let mut digits = [b'0'; N];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
    text.extend(digits);
}

/// Draws positions with probabilities proportional to their weights.
#[derive(Clone, Debug)]
pub(super) struct WeightedDraw {
    /// The sum of the weights up to and including each position.
    sums: Vec<u64>,
    /// For equal shares of the sum, the position at which each share begins.
    guide: Vec<u32>,
}

impl WeightedDraw {
    /// A draw with these weights; if none is positive, the last position is drawn.
    pub(super) fn new(weights: Vec<u64>) -> WeightedDraw {
        let sums: Vec<u64> = weights
            .iter()
            .scan(0, |sum, weight| {
                *sum += weight;
                Some(*sum)
            })
            .collect();
        let total = sums.last().copied().unwrap_or(0);
        let shares = sums.len().next_power_of_two() as u64;
        let begins = |share: u64| {
            let begin = (u128::from(total) * u128::from(share) / u128::from(shares)) as u64;
            sums.partition_point(|sum| *sum <= begin) as u32
        };
        let guide = (0..shares).map(begins).collect();
        WeightedDraw { sums, guide }
    }

    pub(super) fn draw(&self, source: &mut Source) -> usize {
        let word = u64::from(source.word()) << 32 | u64::from(source.word());
        let total = self.sums.last().copied().unwrap_or(0);
        let value = ((u128::from(word) * u128::from(total)) >> 64) as u64;
        // floor(value shares / total) is a share that begins at or before the value.
        let share = u128::from(value) * self.guide.len() as u128 / u128::from(total.max(1));
        let begin = self.guide[share as usize] as usize;
        let place = self.sums[begin..].iter().position(|sum| *sum > value).map_or(begin, |more| begin + more);
        place.min(self.sums.len() - 1)
    }
}

/// Writes a GRF-C of blocks with their places and AIANNH areas, with the codes of block assignment files, completely or not at all.
pub fn write_geography(blocks: &Blocks, path: &Path) -> Result<()> {
    let place = Regions::of_blocks(blocks, Entity::Place, "99999")?;
    let area = Regions::of_blocks(blocks, Entity::Aian, "9999")?;
    let row = |(row, geoid): (usize, &u64)| {
        let digits = format!("{geoid:015}");
        let (state, county, tract, block) = (&digits[..2], &digits[2..5], &digits[5..11], &digits[11..]);
        format!("{state}|{county}|{tract}|{block}|{}|{}\n", place.code(row), area.code(row))
    };
    write_whole(path, |out| {
        let mut write = |text: &str| out.write_all(text.as_bytes()).map_err(|why| file_error(path, why));
        write("TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE\n")?;
        blocks.geoids().iter().enumerate().try_for_each(|next| write(&row(next)))
    })
}

/// The codes of one kind of region, as a GRF-C has them.
struct Regions<'a> {
    column: Option<&'a EntityColumn>,
    /// The code for none is the first.
    codes: Vec<&'a str>,
}

impl<'a> Regions<'a> {
    fn of_blocks(blocks: &'a Blocks, kind: Entity, none: &'a str) -> Result<Regions<'a>> {
        let column = blocks.column(kind);
        let mut codes = vec![none];
        for name in column.iter().flat_map(|column| &column.names).skip(1) {
            // Codes that are unique only within a state are preceded by its code.
            let code = name.rsplit(':').next().unwrap_or_default();
            if code.len() != none.len() || !code.bytes().all(|byte| byte.is_ascii_digit()) {
                let allowed = format!("{} digits, as a GRF-C has them", none.len());
                return Err(Error::malformed(&format!("the code of the kind {}", kind.name()), name, &allowed));
            }
            codes.push(code);
        }
        Ok(Regions { column, codes })
    }

    fn code(&self, row: usize) -> &str {
        self.codes[self.column.map_or(0, |column| column.codes[row] as usize)]
    }
}
