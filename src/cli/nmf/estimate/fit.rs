//! How well the noisy counts fit each other, in words.

use dp_assay::topdown::nmf::fit::FitReport;

/// The fit of the counts, in a line.
pub fn fit_line(fit: &FitReport) -> String {
    if fit.is_empty() {
        return "Fit: not tested, because no noisy counts are below others".to_string();
    }
    let z = fit.largest.as_ref().map_or(0.0, |largest| (largest.residual / largest.std_dev).abs());
    let verdict = if fit.is_misfit() { "MISFIT" } else { "Fit" };
    format!(
        "{verdict}: {}, largest residual {z:.1} standard deviations, p {} {} (bound, of {} tests)",
        fit.mean_square(),
        if fit.ln_p < 0.0 { "<=" } else { "=" },
        fit.p_shown(),
        fit.tests
    )
}
