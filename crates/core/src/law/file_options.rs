//! How the file of a law is understood.

/// How the file of a law is understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileOptions {
    /// Whether probabilities are divided by their sum, which need not be one.
    pub normalize: bool,
    /// Of a perturbation table the number of its last rows that are repeated for all larger counts; `None` for that of its layout.
    pub period: Option<u64>,
}

/// Whether probabilities are divided by their sum, with the period of the layout.
impl From<bool> for FileOptions {
    fn from(normalize: bool) -> Self {
        FileOptions { normalize, period: None }
    }
}
