//! Everything of a law that decides its losses, as a text that is compared by its hash.

use rug::{Integer, Rational};

use super::Law;

impl Law {
    /// The law with everything that decides its losses: parameters, and the masses of tables, pairs and cell keys. Names of files are no part of it.
    pub(crate) fn accounted(&self) -> String {
        match self {
            Law::Table(table) => {
                listed("table", table.masses().map(|(value, mass)| format!("{value}:{}", written(mass))))
            }
            Law::Pair(pair) => {
                listed("pair", pair.outcomes().iter().map(|(p, q)| format!("{}:{}", written(p), written(q))))
            }
            Law::Perturbation(table) => {
                let cells = table.entries().map(|(i, j, p)| format!("{i}:{j}:{}", written(p)));
                // As before where the last row alone is repeated: texts of ledgers stay.
                let period = if table.period() == 1 { String::new() } else { format!(", period {}", table.period()) };
                listed(&format!("cell keys, reversed {}{period}", table.is_reversed()), cells)
            }
            Law::Sampled(sampled) => {
                format!("on samples of rate {}: {}", written(sampled.rate()), sampled.law().accounted())
            }
            Law::UnknownKey(keys) => format!("{self}, reversed {}", keys.is_reversed()),
            Law::Responses(responses) => rounded("responses", responses.parts()),
            Law::Outcomes(outcomes) => rounded("outcomes", outcomes.parts()),
            _ => self.to_string(),
        }
    }
}

/// An exact number.
fn written(number: &Rational) -> String {
    number.to_string()
}

fn listed(name: &str, rows: impl Iterator<Item = String>) -> String {
    format!("{name} [{}]", rows.collect::<Vec<_>>().join(" "))
}

/// Rounded losses with their probabilities, and the probability of an infinite one.
fn rounded(name: &str, (losses, infinite): (&[(Integer, Rational)], &Rational)) -> String {
    let rows = losses.iter().map(|(loss, mass)| format!("{loss}:{}", written(mass)));
    listed(&format!("{name}, infinite {}", written(infinite)), rows)
}
