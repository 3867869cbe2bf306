//! The numbers that README quotes.
fn main() {}
