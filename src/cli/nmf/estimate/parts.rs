//! `--work`, `--part` and `--combine`: estimates in parts.

use anyhow::{Context, Result};
use dp_assay::topdown::nmf::{
    estimation::{estimated::digits_of, request::Share},
    job::State,
};
use serde_json::json;

use crate::cli::page::Page;

/// The requested share of the work; all of it without a part.
pub fn share(part: Option<&str>, combine: bool) -> Result<Share> {
    let Some(text) = part else { return Ok(if combine { Share::Combine } else { Share::All }) };
    let both = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    let (part, of): (usize, usize) = both
        .filter(|(part, of)| (1..=*of).contains(part))
        .with_context(|| format!("--part {text}: expected a part and how many there are, as 3/8"))?;
    Ok(Share::Part { part, of })
}

/// The state of the work after a part.
pub fn put_progress(page: &mut Page, now: &State, states: &[u32]) {
    let (up, rows) = (digits_of(&now.without_up), digits_of(&now.without_rows));
    let object = json!({ "states": digits_of(states), "without_up": up, "without_rows": rows });
    page.answer(object);
    page.text(match (&up[..], &rows[..]) {
        ([], []) => format!("all {} states are done: run it with --combine\n", states.len()),
        ([], _) => format!("states without rows: {}; run their parts, again if they ran before\n", rows.join(", ")),
        _ => format!("states that have not gone upwards: {}; then run all parts again\n", up.join(", ")),
    });
}
