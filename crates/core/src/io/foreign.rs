//! Panics of the Parquet reader: on some damaged files it panics instead of returning an error. Such a panic is caught here, at
//! the one place where foreign files are decoded, and becomes an error about the file. The reader is not used after it.

use std::{
    any::Any,
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

use parquet::errors::ParquetError;

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is in the reader: a panic there is caught, so a program need not print it.
pub fn is_decoding() -> bool {
    DECODING.get()
}

/// The result of a call of the reader, or the message of its panic.
#[doc(hidden)]
pub fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    let before = DECODING.replace(true);
    // The reader is dropped after a panic: no broken state is seen.
    let result = catch_unwind(AssertUnwindSafe(call));
    DECODING.set(before);
    result.map_err(|panic| format!("the file is damaged, and its reader gave up: {}", message(&*panic)))
}

/// Refuses definition or repetition levels above `most`, the highest of the column. The reader passes on those of a damaged file
/// unchanged; a writer panics on them, and elsewhere they would count as nulls.
#[doc(hidden)]
pub fn check_levels(levels: &[i16], most: i16) -> Result<(), ParquetError> {
    match levels.iter().find(|level| !(0..=most).contains(*level)) {
        None => Ok(()),
        Some(level) => {
            let why = format!("the level {level} where {most} is the highest: the file is damaged");
            Err(ParquetError::General(why))
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_that_a_column_cannot_have_are_refused() {
        assert!(check_levels(&[0, 1, 1], 1).is_ok() && check_levels(&[], 0).is_ok());
        for wrong in [[0, 2], [-1, 0]] {
            let said = check_levels(&wrong, 1).unwrap_err().to_string();
            assert!(said.contains("where 1 is the highest"), "{said}");
        }
    }

    #[test]
    fn a_panic_is_an_error_and_nothing_else_changes() {
        assert_eq!(guarded(|| 3), Ok(3));
        let caught = guarded(|| -> i32 { panic!("index {} out of bounds", 7) });
        assert_eq!(caught.unwrap_err(), "the file is damaged, and its reader gave up: index 7 out of bounds");
        assert!(!is_decoding() && guarded(is_decoding) == Ok(true));
    }
}
