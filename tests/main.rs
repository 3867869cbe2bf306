//! Guarantees to the user, one file for each. All files form one program: it is linked only once, and its tests share all processors to the
//! end.

mod common;

mod allocate;
mod allocations;
mod audit;
mod calibrate;
mod cef;
mod certificates;
mod cli;
mod compared;
mod confidential;
mod deployments;
mod dhc;
mod dhc_constraints;
mod dhc_dense;
mod dhc_households;
mod enclosures;
mod estimate;
mod examples;
mod explore;
mod few_groups;
mod formal;
mod guide;
mod hands;
mod hierarchy;
mod hostile;
mod households;
mod laws;
#[cfg(unix)]
mod limits;
mod measure;
mod measured_files;
mod memo;
mod messages;
mod nmf;
mod nmf_audit;
mod nmf_files;
mod nmf_keys;
mod nmf_parts;
mod nmf_sound;
mod noise;
mod own;
mod proofs;
mod published;
mod rehearse;
mod report;
mod results;
mod rhode_island;
mod risk;
mod rooms;
#[path = "safetab_input/main.rs"]
mod safetab_input;
mod sampled;
mod samplers;
#[cfg(unix)]
mod scripts;
mod spine;
mod spine_options;
mod tabulate;
mod terminal;
mod tradeoff;
mod tune;
mod whole;
mod whole_marginals;
mod whole_random;
