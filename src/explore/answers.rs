//! The function that answers each request.

use anyhow::Result;
use serde_json::Value;

use super::{
    ask::Question,
    questions::{budget, columns, learned, places, private, safetab, spared, targets, town},
    store::Store,
};

/// Answers a request.
pub fn answer(store: &Store, question: &Question) -> Result<Value> {
    let parts = match question.name {
        "epsilon" => private::epsilon(store, question)?,
        "drawing" => private::drawing(store, question)?,
        "bound" => learned::bound(store, question)?,
        "single" => learned::single(store, question)?,
        "calibrate" => spared::calibrate(store, question)?,
        "risk" => targets::risk(store, question)?,
        "accuracy" => targets::margins(store, question)?,
        "margins" => town::margins(store, question)?,
        "places" => places::places(store.places(), question)?,
        "tune" => safetab::level(question)?,
        "plan" => safetab::plan(question)?,
        "config" => safetab::config(store, question)?,
        "columns" => columns::columns(question)?,
        "budget" => budget::budget(store, question)?,
        _ => budget::allocate(store, question)?,
    };
    parts.into_json(question)
}
