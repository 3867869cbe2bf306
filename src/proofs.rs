#![doc = include_str!("proofs.md")]
