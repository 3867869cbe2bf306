//! The requests of the page, view by view. The numbers come from the functions of the commands.

pub mod budget;
pub mod columns;
pub mod learned;
pub mod places;
pub mod private;
pub mod safetab;
pub mod spared;
pub mod targets;
pub mod town;
