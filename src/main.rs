//! The program `assay`: parses the command line and calls the library.

fn main() {}
