//! The points of NIST SP 800-226 that no release file answers.

/// A point that the curator has to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The real-world unit behind a record.
    Unit,
    /// The number of records of one person.
    Contributions,
    /// Figures that are published without noise.
    Unprotected,
    /// Other releases about the same records.
    OtherReleases,
    /// The derivation of the declared sensitivities.
    Sensitivity,
    /// The processing of the noisy counts.
    PostProcessing,
    /// The decisions that the counts must serve.
    Utility,
    /// Errors that are no noise, and their subjects.
    Bias,
    /// The possible requests, and their senders.
    QueryModel,
    /// The holders of the data before the noise.
    ThreatModel,
    /// The program that drew the noise.
    Sampler,
    /// Side channels.
    SideChannels,
    /// Security and access.
    Access,
    /// The collection of the data.
    Collection,
}

impl Point {
    /// All of them, in the order of the sheet.
    pub const ALL: [Point; 14] = [
        Point::Unit,
        Point::Contributions,
        Point::Unprotected,
        Point::OtherReleases,
        Point::Sensitivity,
        Point::PostProcessing,
        Point::Utility,
        Point::Bias,
        Point::QueryModel,
        Point::ThreatModel,
        Point::Sampler,
        Point::SideChannels,
        Point::Access,
        Point::Collection,
    ];

    /// Its name, for a field to be filled in.
    pub fn name(self) -> &'static str {
        match self {
            Point::Unit => "Unit of privacy",
            Point::Contributions => "Records of one person, at most",
            Point::Unprotected => "Figures without noise",
            Point::OtherReleases => "Other releases",
            Point::Sensitivity => "Derivation of the sensitivities",
            Point::PostProcessing => "Post-processing",
            Point::Utility => "Required accuracy",
            Point::Bias => "Bias",
            Point::QueryModel => "Query model",
            Point::ThreatModel => "Threat model",
            Point::Sampler => "Program that drew the noise",
            Point::SideChannels => "Timing and other side channels",
            Point::Access => "Security and access control",
            Point::Collection => "Data collection",
        }
    }

    /// The fact that is missing.
    pub fn missing(self) -> &'static str {
        match self {
            Point::Unit => {
                "whether one record is a person, a household, an establishment, or an event of one of these. The same numbers protect an event \
                 far less than a person."
            }
            Point::Contributions => {
                "how many records one person can have, and whether more are dropped before counting. A person with k records has the guarantee \
                 of a group of k."
            }
            Point::Unprotected => {
                "which figures are published without noise (totals that are kept exact, thresholds that were chosen by the data). No number of this \
                 sheet covers them."
            }
            Point::OtherReleases => "which other releases are about the same records. Their losses add to these.",
            Point::Sensitivity => {
                "why one record changes no more counts, and by no more, than the file declares: the bounds on contributions, the joins, the \
                 truncation."
            }
            Point::PostProcessing => {
                "what is done with the noisy counts before they are published (constraints, rounding, removal of negative or small counts), and that \
                 it does not look at the data again."
            }
            Point::Utility => "which decisions the counts must serve, and the largest error that these allow.",
            Point::Bias => {
                "errors that are no noise: coverage, imputation, clipping, post-processing, and whether they fall on some groups more than on others."
            }
            Point::QueryModel => {
                "whether the queries were fixed beforehand or anyone can submit some, and for how long. An interactive system needs an account of \
                 all its answers."
            }
            Point::ThreatModel => {
                "who holds the data before the noise is added: a trusted curator (central), nobody but the person (local), or parties that are \
                 trusted not to collude (shuffling, secure computation)."
            }
            Point::Sampler => {
                "which program drew the noise, from which source of randomness, and whether its arithmetic is exact. Noise in floating point can \
                 reveal the count by its last digits."
            }
            Point::SideChannels => {
                "whether the time, the memory, the errors or the order of an answer depend on the data."
            }
            Point::Access => "how the data and the noise are stored, who has access, and how that is enforced.",
            Point::Collection => "which data are collected, whether all of them are needed, and when they are deleted.",
        }
    }

    /// The sentence of a section.
    pub fn sentence(self) -> String {
        format!("Not stated in a release file: {}", self.missing())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_have_names_of_their_own() {
        let mut names = Point::ALL.map(Point::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Point::ALL.len());
        assert!(Point::ALL.iter().all(|point| point.missing().ends_with('.')));
    }
}
