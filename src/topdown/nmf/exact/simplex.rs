//! Real counts within their bounds that have given totals, or factors of the totals that exclude them: the first phase of the simplex method
//! with Bland's rule, in fractions.

use std::collections::BTreeSet;

use rug::{Complete, Integer, Rational};

use super::system::System;

/// Counts that have the totals of these rows; or factors, one for each total, whose combination of the totals is below the least that the
/// bounds of the counts leave it.
pub(super) fn solve(system: &System, rows: &BTreeSet<usize>) -> Result<Vec<Rational>, Vec<Rational>> {
    Tableau::new(system, rows).run()
}

struct Tableau<'s> {
    system: &'s System,
    /// The totals of the first rows.
    totals: Vec<usize>,
    /// Whether these rows were multiplied by -1.
    turned: Vec<bool>,
    /// The rows: counts above their lower bounds, slacks of upper bounds, artificial variables of totals, the right side.
    rows: Vec<Vec<Rational>>,
    /// The reduced costs, with the negative of the sum of the artificial variables at last.
    costs: Vec<Rational>,
    /// The basic variable of each row.
    basis: Vec<usize>,
    /// The number of variables that are no artificial ones.
    real: usize,
}

impl<'s> Tableau<'s> {
    fn new(system: &'s System, rows: &BTreeSet<usize>) -> Tableau<'s> {
        let totals: Vec<usize> = rows.iter().copied().collect();
        let bounded: Vec<(usize, Integer)> = system.counts.iter().enumerate().filter_map(room).collect();
        let (counts, real) = (system.counts.len(), system.counts.len() + bounded.len());
        let width = real + totals.len() + 1;
        let mut tableau = Tableau {
            system,
            turned: Vec::new(),
            rows: Vec::new(),
            costs: vec![Rational::new(); width],
            basis: Vec::new(),
            real,
            totals,
        };
        for (at, total) in tableau.totals.iter().enumerate() {
            let mut row = vec![Rational::new(); width];
            let mut right = system.totals[*total].clone();
            for (place, count) in system.counts.iter().enumerate().filter(|(_, count)| count.of.contains(total)) {
                row[place] = Rational::from(1);
                right -= &count.lower;
            }
            row[width - 1] = Rational::from(right);
            let turned = row[width - 1] < 0;
            if turned {
                row.iter_mut().for_each(|value| *value = Rational::from(-&*value));
            }
            tableau.costs.iter_mut().zip(&row).for_each(|(cost, value)| *cost -= value);
            row[real + at] = Rational::from(1);
            tableau.basis.push(real + at);
            tableau.turned.push(turned);
            tableau.rows.push(row);
        }
        for (slack, (place, room)) in bounded.into_iter().enumerate() {
            let mut row = vec![Rational::new(); width];
            row[place] = Rational::from(1);
            row[counts + slack] = Rational::from(1);
            row[width - 1] = Rational::from(room);
            tableau.basis.push(counts + slack);
            tableau.rows.push(row);
        }
        tableau
    }

    /// Smallest entering and leaving variables first (Bland): no basis occurs twice, so that it ends.
    fn run(mut self) -> Result<Vec<Rational>, Vec<Rational>> {
        let last = self.costs.len() - 1;
        while let Some(entering) = (0..self.real).find(|at| self.costs[*at] < 0) {
            let ratio = |row: &usize| (&self.rows[*row][last] / &self.rows[*row][entering]).complete();
            let candidates = (0..self.rows.len()).filter(|row| self.rows[*row][entering] > 0);
            let leaving = candidates
                .map(|row| (ratio(&row), self.basis[row], row))
                .min_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)));
            // The sum of the artificial variables cannot fall below zero, so that some variable leaves.
            let Some((_, _, leaving)) = leaving else { break };
            self.pivot(leaving, entering);
        }
        if self.costs[last] == 0 { Ok(self.counts(last)) } else { Err(self.factors()) }
    }

    fn pivot(&mut self, leaving: usize, entering: usize) {
        let divisor = self.rows[leaving][entering].clone();
        let mut row = std::mem::take(&mut self.rows[leaving]);
        row.iter_mut().filter(|value| **value != 0).for_each(|value| *value /= &divisor);
        let filled: Vec<usize> = (0..row.len()).filter(|at| row[*at] != 0).collect();
        for other in self.rows.iter_mut().chain([&mut self.costs]).filter(|other| !other.is_empty()) {
            let factor = other[entering].clone();
            if factor != 0 {
                filled.iter().for_each(|at| other[*at] -= (&factor * &row[*at]).complete());
            }
        }
        self.rows[leaving] = row;
        self.basis[leaving] = entering;
    }

    fn counts(&self, last: usize) -> Vec<Rational> {
        let mut counts: Vec<Rational> = self.system.counts.iter().map(|count| Rational::from(&count.lower)).collect();
        for (variable, row) in self.basis.iter().zip(&self.rows) {
            if let Some(count) = counts.get_mut(*variable) {
                *count += &row[last];
            }
        }
        counts
    }

    /// The dual variables, which the reduced costs 1 - y of the artificial variables have.
    fn factors(&self) -> Vec<Rational> {
        let mut factors = vec![Rational::new(); self.system.totals.len()];
        for (at, (total, turned)) in self.totals.iter().zip(&self.turned).enumerate() {
            let dual = Rational::from(1) - &self.costs[self.real + at];
            factors[*total] = if *turned { dual } else { -dual };
        }
        factors
    }
}

/// The distance of an upper bound from the lower one.
fn room((at, count): (usize, &super::system::Count)) -> Option<(usize, Integer)> {
    let upper = count.upper.as_ref()?;
    Some((at, (upper - &count.lower).complete().max(Integer::new())))
}
