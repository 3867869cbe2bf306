//! `--work`, `--part` and `--combine`: estimates in parts.

use anyhow::{Context, Result};
use dp_assay::topdown::nmf::job::{State, states_of_part};
use serde_json::json;

use crate::cli::{exit::Exit, page::Page};

/// The states of the requested part; all without one.
pub fn part(requested: Option<&str>, states: &[u32]) -> Result<Vec<u32>> {
    let Some(text) = requested else { return Ok(states.to_vec()) };
    let both = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    let (part, of): (usize, usize) = both
        .filter(|(part, of)| (1..=*of).contains(part))
        .with_context(|| format!("--part {text}: expected a part and how many there are, as 3/8"))?;
    Ok(states_of_part(states, part, of))
}

/// The state of the work after a part.
pub fn put_progress(mut page: Page, now: &State, states: &[u32]) -> Result<Exit> {
    let named = |states: &[u32]| states.iter().map(|state| format!("{state:02}")).collect::<Vec<_>>();
    let (up, rows) = (named(&now.without_up), named(&now.without_rows));
    let object = json!({ "states": named(states), "without_up": up, "without_rows": rows });
    page.records([object.clone()]);
    page.object(object);
    page.text(match (&up[..], &rows[..]) {
        ([], []) => format!("all {} states are done: run it with --combine\n", states.len()),
        ([], _) => format!("states without rows: {}; run their parts, again if they ran before\n", rows.join(", ")),
        _ => format!("states that have not gone upwards: {}; then run all parts again\n", up.join(", ")),
    });
    page.print()?;
    Ok(Exit::Done)
}
