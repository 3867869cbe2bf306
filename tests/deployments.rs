//! Deployments: figures by hand, verdicts, entries of the registry, wrong figures that are found, and hostile YAML.

use std::{fs, path::Path, sync::OnceLock};

use dp_assay::{
    account::Delta,
    deployments::{
        PrintedBy, Snapshot, Verdict, find,
        judge::{self, Judged},
        registry::{self, Entry},
    },
    replication::verdict::{Bounded, Computed},
};
use serde_json::Value;

use crate::common::program::{assay, refusal};

fn delta() -> Delta {
    "1e-5".parse().unwrap()
}

fn judged(names: &[&str]) -> Vec<Judged> {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    judge::judge_all(find(&names).unwrap(), &delta(), 8).unwrap()
}

/// All of them, judged once.
fn all() -> &'static [Judged] {
    static ALL: OnceLock<Vec<Judged>> = OnceLock::new();
    ALL.get_or_init(|| judged(&[]))
}

/// Deployments of every verdict whose account takes no time.
const LIGHT: [&str; 8] = [
    "recurve-ohmconnect-paper",
    "census-2020-pl94",
    "google-search-trends",
    "google-mobility",
    "wikimedia-page-views",
    "microsoft-ctdc",
    "uber-flex",
    "kostat-data-hub",
];

/// Figures computed by hand: with a pocket calculator's functions, and not with the program's.
#[test]
fn figures_are_those_of_a_calculation_by_hand() {
    let ln = f64::ln;
    let bun_steinke = |rho: f64, delta: f64| rho + 2.0 * (rho * ln(1.0 / delta)).sqrt();
    let lemma_3_6 = |rho: f64, delta: f64| rho + 2.0 * (rho * ln((std::f64::consts::PI * rho).sqrt() / delta)).sqrt();
    let expected = [
        ("google-mobility", "places", 1.76),
        ("google-search-trends", "symptoms", 1.638),
        ("google-search-trends", "normalization", 0.021),
        ("google-shared-mobility", "threshold", (-0.66_f64 * 99.0).exp() / 2.0),
        ("rappor-chrome", "day", 25.632),
        ("rappor-chrome", "month", 768.96),
        ("apple-lookup-hints", "day", 8.0),
        ("microsoft-broadband", "epsilon", 0.2),
        ("wikimedia-editors", "epsilon", 2.0),
        ("wikimedia-russia", "epsilon-of-step", 0.1),
        ("wikimedia-russia", "certainty", 0.1_f64.exp() / (1.0 + 0.1_f64.exp()) - 0.5),
        ("wikimedia-page-views-history", "epsilon", 1.0),
        ("linkedin-hiring", "delta", 4e-10),
        ("meta-url-shares", "epsilon-of-action", lemma_3_6(0.0052, 1e-5)),
        ("meta-url-shares", "epsilon-of-14", lemma_3_6(0.0728, 1e-5)),
        ("meta-url-shares", "mu", 0.1456_f64.sqrt()),
        ("recurve-ohmconnect-paper", "amplified", ln(1.0 + 0.124 * (6.8_f64.exp() - 1.0))),
        ("recurve-ohmconnect-registry", "delta", 5.0592e-9),
        ("israel-births", "epsilon", 9.98),
        ("spectus-hurricane", "epsilon", 10.0),
        ("uber-flex", "delta-million", (-0.01 * ln(1e6) * ln(1e6)).exp()),
        ("census-2020-dhc-persons", "epsilon", bun_steinke(4.9622, 1e-10)),
        ("census-2020-dhc-units", "epsilon", bun_steinke(7.7005, 1e-10)),
        ("census-2020-ddhca", "rho", 2.0 * 4.944),
        ("census-2020-ddhcb", "rho", 2.0 * 8.895302),
        ("census-2020-sdhc", "rho", 2.514562),
        ("census-2010-demonstration-persons", "epsilon", 4.0),
        ("census-2010-demonstration-households", "epsilon", 2.0),
        ("census-2018-end-to-end", "epsilon", 0.25),
        ("sipp-truncated-laplace", "mass-0", 0.635158),
    ];
    let all = all();
    for (name, id, by_hand) in expected {
        let of = all.iter().find(|judged| judged.deployment.name == name).unwrap_or_else(|| panic!("{name}"));
        let row = of.rows.iter().find(|row| row.published.id == id).unwrap_or_else(|| panic!("{name}/{id}"));
        let value = match &row.computed {
            Computed::Value(value) => value,
            // A query with a single cell does not change under bounded neighbors: the account is an upper bound.
            Computed::Bounded(Bounded::AtMost { bound, .. }) => bound,
            _ => panic!("{name}/{id} is a number"),
        };
        let found = value.approximate();
        assert!((found / by_hand - 1.0).abs() < 2e-5, "{name}/{id}: {found}, by hand {by_hand}");
        assert!(value.is_tight(8), "{name}/{id}: {value:?}");
    }
}

#[test]
fn verdicts_are_those_of_the_arguments() {
    let all = all();
    let of = |verdict: Verdict| -> Vec<&str> {
        all.iter().filter(|one| one.verdict == verdict).map(|one| one.deployment.name.as_str()).collect()
    };
    assert_eq!(of(Verdict::Disproved), ["recurve-ohmconnect-paper"]);
    // 19.61 is the sum of both printed epsilons: right as read, and not as one account.
    assert_eq!(of(Verdict::Differs), [""; 0]);
    // 19.776 holds as the general bound for a changed record.
    let ddhca = all.iter().find(|one| one.deployment.name == "census-2020-ddhca").unwrap();
    assert_eq!((ddhca.verdict, ddhca.rows[0].verdict.word()), (Verdict::Agrees, "agrees-as-read"));
    let pl94 = all.iter().find(|one| one.deployment.name == "census-2020-pl94").unwrap();
    let epsilon = pl94.rows.iter().find(|row| row.published.id == "epsilon").unwrap();
    assert_eq!((pl94.verdict, epsilon.verdict.word()), (Verdict::Agrees, "agrees-as-read"));
    assert_eq!(pl94.deployment.printed_by, PrintedBy::SecondHand);
    // A disproved deployment about persons names its correction, and no other one does.
    let corrected = |one: &&Judged| one.deployment.corrected_by.is_some();
    let wrong = all.iter().filter(|one| one.verdict == Verdict::Disproved).map(|one| one.deployment.name.as_str());
    let named: Vec<&str> = all.iter().filter(corrected).map(|one| one.deployment.name.as_str()).collect();
    assert_eq!(named, wrong.collect::<Vec<_>>());
    // A figure that presumes the law of the noise accuses nobody, and nor does a unit in words.
    assert_eq!(of(Verdict::ContradictsItself), [""; 0]);
    assert_eq!(
        of(Verdict::EntryContradictsItself),
        ["census-2020-dhc", "google-search-trends", "apple-iconic-scenes", "wikimedia-russia",]
    );
    // A slip outside of the privacy parameters is a remark.
    let slips = all.iter().filter(|one| !one.slips.is_empty()).map(|one| one.deployment.name.as_str());
    assert_eq!(slips.collect::<Vec<_>>(), ["apple-emojis", "wikimedia-page-views-history", "meta-url-shares"]);
    assert!(of(Verdict::Agrees).len() > 20, "{:?}", of(Verdict::Agrees));
    for one in all {
        let said = one.rows.iter().filter(|row| row.is_unexplained()).map(|row| row.published.id.as_str());
        assert_eq!(said.collect::<Vec<_>>(), Vec::<&str>::new(), "{}: no argument", one.deployment.name);
        assert!(!one.reasons.is_empty());
        let is_open = one.verdict == Verdict::NotEnoughSaid;
        assert!(!is_open || !one.deployment.missing.is_empty(), "{}: what is missing?", one.deployment.name);
    }
}

/// The common scale by hand: pure epsilons by randomized response, a pair by its corner, exact noise below every bound.
#[test]
fn the_common_scale_is_that_of_a_calculation_by_hand() {
    let names = [
        "microsoft-broadband",
        "recurve-ohmconnect-registry",
        "wikimedia-page-views",
        "census-2020-pl94-units",
        "rappor-chrome",
        "linkedin-hiring",
        "sipp-truncated-laplace",
        "census-2020-sdhc",
    ];
    let all = judged(&names);
    let scale = |name: &str| {
        let of = all.iter().find(|one| one.deployment.name == name).unwrap();
        of.scale.as_ref().unwrap()
    };
    let broadband = scale("microsoft-broadband");
    // Two randomized responses of 0.1, true with probability p: both true with p^2, both false with q^2, and p^2 - q^2 = tanh(0.05).
    assert_eq!(broadband.right_of_100(), "52.50");
    let (p, q) = (1.0 / (1.0 + (-0.1_f64).exp()), 1.0 / (1.0 + 0.1_f64.exp()));
    let by_hand = ((p * p - 1e-5) / (q * q)).ln();
    assert!((broadband.epsilon.as_ref().unwrap().upper().to_f64() - by_hand).abs() < 1e-9);
    // 1 - (1 - delta) / (1 + e^4.72).
    let right = 1.0 - (1.0 - 5.06e-9) / (1.0 + 4.72_f64.exp());
    let pair = scale("recurve-ohmconnect-registry").correct.upper().to_f64();
    assert!((pair - right).abs() < 1e-12, "{pair}");
    // The permanent randomized response bounds all reports of one value: 2 h ln((1 - f/2) / (f/2)), rounded up to four decimals.
    assert!((2.0434 - 4.0 * (0.625_f64 / 0.375).ln()).abs() < 1e-4 && 4.0 * (0.625_f64 / 0.375).ln() < 2.0434);
    let rappor = scale("rappor-chrome");
    assert!((rappor.correct.upper().to_f64() - 1.0 / (1.0 + (-2.0434_f64).exp())).abs() < 1e-9);
    // Of one guarantee nothing is known but what is printed.
    assert_eq!(rappor.as_printed, Some(dp_assay::numeric::rational::parse("2.0434").unwrap()));
    // Four guarantees (1.2, 1e-10) say more together than (4.8, 4e-10), and less than nothing at a delta below theirs.
    let hiring = scale("linkedin-hiring");
    let upper = hiring.epsilon.as_ref().unwrap().upper().to_f64();
    assert!(!hiring.is_exact && upper < 4.8 && upper > 1.2, "{upper}");
    // A value at the end of the range proves the neighbor with probability 1.7e-5: at 1e-5 no epsilon holds. Right: by the masses themselves.
    let sipp = scale("sipp-truncated-laplace");
    let total: f64 = (-7..=7).map(|x: i32| (-1.5 * f64::from(x.abs())).exp()).sum();
    let mass = |x: i32| if x.abs() <= 7 { (-1.5 * f64::from(x.abs())).exp() / total } else { 0.0 };
    let distance: f64 = (-8..=8).map(|x| (mass(x) - mass(x - 1)).max(0.0)).sum();
    assert!(sipp.epsilon.is_none() && sipp.is_exact);
    assert!((sipp.correct.upper().to_f64() - (1.0 + distance) / 2.0).abs() < 1e-9);
    // An account that counts a total twice, which a replaced record does not move, is an upper bound, below both accounts of its rho.
    for name in ["census-2020-pl94-units", "census-2020-sdhc"] {
        let bound = scale(name);
        let (epsilon, upper) = (bound.epsilon.as_ref().unwrap(), bound.epsilon_text());
        assert!(!bound.is_exact && *epsilon.lower() == 0 && upper.starts_with("<= "), "{name}: {upper}");
        assert!(bound.correct.lower().to_f64() == 0.5 && bound.by.contains("an upper bound"), "{name}: {}", bound.by);
        for (account, other) in &bound.accounts {
            let Some(other) = other else { continue };
            assert!(epsilon.upper() <= other.upper(), "{name}: {account}");
        }
    }
    // Four guarantees composed, whose account RDP cannot be distinguished from: the first names it.
    assert_eq!(scale("linkedin-hiring").by, "composition of the guarantees");
    for name in ["wikimedia-page-views"] {
        let exact = scale(name);
        assert!(exact.is_exact && exact.epsilon.as_ref().unwrap().is_tight(8), "{name}");
        for (account, epsilon) in &exact.accounts {
            let Some(epsilon) = epsilon else { continue };
            assert!(exact.epsilon.as_ref().unwrap().lower() <= epsilon.upper(), "{name}: {account}");
        }
    }
}

/// An entry with a figure for every rule.
pub const ENTRY: &str = r"url_slug: made-up-counts-2024
status: Draft
tier: 3
deployment:
  basic:
    name: Made-up counts
    data_curators:
      - Somebody
    intended_use: A test
    data_product_type: Summary statistics
    data_product_region: Nowhere
    description: Counts that nobody published
    publication_date: '2024-05-01'
  dp_variant:
    variant_name: Zero-concentrated DP
    unprotected_quantities: The threshold \\(\tau\\) = 90.
  privacy_loss:
    privacy_unit: person-day
    privacy_parameters:
      epsilon: 2.0
      delta: 1.0e-05
      rho: 0.0834
    privacy_parameters_details: |
      - Total \\(\rho\\) = 0.0834, of which:
        - persons: \\(\rho\\) = 0.05
        - homes: \\(\rho\\) = 0.0334
      - The pair is \\(\epsilon\\) = 2.0 and \\(\delta\\) = 10^{-5}.
  accounting:
    post_processing: Counts below \\(\tau\\) = 90 are left out.
    composition: |
      Two levels of three queries each: 2 * (0.01 + 0.015) = 0.05.
      For each person, Gaussian noise of \\(\mu\\) = 0.408.
  implementation:
    justification: |
      - Histogram: Laplace noise, \\(\epsilon\\) = 0.1 (sensitivity = 1, noise scale = 10).
  administrative:
    registry_authors:
      - A test
";

fn verdict_of(text: &str) -> (Verdict, Vec<String>) {
    let entry = Entry::parse("made-up.yaml", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let found = registry::judge(entry, &delta(), 12).unwrap();
    let wrong = found.findings.iter().filter(|finding| finding.verdict != Verdict::Agrees);
    (found.verdict, wrong.map(|finding| format!("{} line {}: {}", finding.rule, finding.line, finding.words)).collect())
}

#[test]
fn a_wrong_figure_in_any_field_that_another_determines_is_found() {
    let (verdict, said) = verdict_of(ENTRY);
    assert_eq!((verdict, said.len()), (Verdict::Agrees, 0), "{said:?}");
    for (right, wrong, rule, line) in [
        ("rho: 0.0834", "rho: 0.0934", "field", 22),
        ("Total \\\\(\\rho\\\\) = 0.0834", "Total \\\\(\\rho\\\\) = 0.0934", "total", 24),
        ("= 0.0334", "= 0.0434", "total", 24),
        ("\\\\(\\rho\\\\) = 0.05", "\\\\(\\rho\\\\) = 0.06", "total", 24),
        ("0.015) = 0.05", "0.015) = 0.09", "calculation", 31),
        ("0.01 + 0.015", "0.02 + 0.015", "calculation", 31),
        ("\\\\(\\mu\\\\) = 0.408", "\\\\(\\mu\\\\) = 0.308", "mu", 32),
        ("noise scale = 10", "noise scale = 40", "noise", 35),
        ("sensitivity = 1,", "sensitivity = 2,", "noise", 35),
        ("\\\\(\\epsilon\\\\) = 0.1 (", "\\\\(\\epsilon\\\\) = 0.2 (", "noise", 35),
        ("Zero-concentrated DP", "Pure DP", "variant", 21),
    ] {
        assert!(ENTRY.contains(right), "{right}");
        let (verdict, said) = verdict_of(&ENTRY.replacen(right, wrong, 1));
        assert!(matches!(verdict, Verdict::EntryContradictsItself), "{wrong}: {verdict:?} {said:?}");
        assert!(said.iter().any(|words| words.starts_with(&format!("{rule} line {line}:"))), "{wrong}: {said:?}");
    }
    // What is a part, rounded or a guess accuses nothing: a remark with its reason.
    for (right, wrong, rule, reason) in [
        ("epsilon: 2.0", "epsilon: 2.1", "field", "that of the whole"),
        ("delta: 1.0e-05", "delta: 1.0e-06", "field", "that of the whole"),
        (
            ", of which:\n        - persons: \\\\(\\rho\\\\) = 0.05",
            ":\n        - persons: \\\\(\\rho\\\\) = 0.06",
            "total",
            "all parts",
        ),
        ("0.015) = 0.05", "0.015) = 0.051", "calculation", "rounded"),
        ("Gaussian noise of \\\\(\\mu\\\\) = 0.408", "\\\\(\\mu\\\\) = 0.308", "mu", "Gaussian"),
        ("Laplace noise, \\\\(\\epsilon\\\\) = 0.1", "noise, \\\\(\\epsilon\\\\) = 0.2", "noise", "Laplace"),
    ] {
        assert!(ENTRY.contains(right), "{right}");
        let (verdict, said) = verdict_of(&ENTRY.replacen(right, wrong, 1));
        assert_eq!(verdict, Verdict::Agrees, "{wrong}: {said:?}");
        let is_said = |words: &String| words.starts_with(rule) && words.contains("no fault:") && words.contains(reason);
        assert!(said.iter().any(is_said), "{wrong}: {said:?}");
    }
    // A slip outside of the privacy parameters is a remark, and no verdict.
    for (right, wrong, rule, line) in [
        ("below \\\\(\\tau\\\\) = 90", "below \\\\(\\tau\\\\) = 80", "symbol", 29),
        ("'2024-05-01'", "'2023-05-01'", "date", 13),
    ] {
        assert!(ENTRY.contains(right), "{right}");
        let entry = Entry::parse("made-up.yaml", &ENTRY.replacen(right, wrong, 1)).unwrap();
        let found = registry::judge(entry, &delta(), 12).unwrap();
        let slips: Vec<_> = found.slips.iter().map(|slip| (slip.rule, slip.line)).collect();
        assert_eq!((found.verdict, slips), (Verdict::Agrees, vec![(rule, line)]));
    }
    // Both the field and its text: only the conversion from rho is left. What rho proves holds with a larger epsilon, and a smaller one is not
    // decided by rho: noise of another law may have it.
    let both = |epsilon: &str| {
        let field = ENTRY.replace("epsilon: 2.0", &format!("epsilon: {epsilon}"));
        field.replace("\\\\(\\epsilon\\\\) = 2.0", &format!("\\\\(\\epsilon\\\\) = {epsilon}"))
    };
    let (verdict, said) = verdict_of(&both("3.0"));
    assert_eq!((verdict, said.len()), (Verdict::Agrees, 0), "{said:?}");
    let (verdict, said) = verdict_of(&both("1.0"));
    assert_eq!((verdict, said.len()), (Verdict::Agrees, 1), "{said:?}");
    assert!(
        said[0].starts_with("conversion line 20:") && said[0].contains("does not follow from rho 0.0834 alone"),
        "{said:?}"
    );
    assert!(said[0].contains("by zCDP (Bun-Steinke)"), "{said:?}");
}

/// The program's own entry has an exact epsilon below every bound by its rho; nothing of it differs, and its noise is not missing.
#[test]
fn the_own_entry_with_its_rho_agrees() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.yaml");
    let page = folder.path().join("page.html");
    let (name, page) = (file.to_str().unwrap(), page.to_str().unwrap());
    let made = ["report", "--discrete-gaussian", "4x3", "--delta", "1e-5", "--registry", name, "--out", page];
    assay(&made).assert().success();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("epsilon: 3.71"), "{text}");
    let with_rho = text.replacen("      delta: ", "      rho: 0.375\n      delta: ", 1);
    assert_ne!(text, with_rho);
    let entry = Entry::parse("own.yaml", &with_rho).unwrap();
    let found = registry::judge(entry, &delta(), 12).unwrap();
    assert_eq!(found.verdict, Verdict::Agrees, "{:?}", found.findings);
    assert!(!found.missing.iter().any(|missing| missing.contains("scale of the noise")), "{:?}", found.missing);
    // The printed pair is smaller than what its rho gives.
    let scale = found.scale.unwrap();
    let upper = scale.epsilon.as_ref().unwrap().upper().to_f64();
    assert!((3.71..3.72).contains(&upper), "{upper}");
    assert!(scale.accounts.iter().any(|(name, _)| name == "zCDP (best order)"), "{:?}", scale.accounts);
}

/// A pair that is printed beside a rho holds as well: the smaller of both bounds, and both directions of it.
#[test]
fn the_pair_beside_a_rho_is_not_forgotten() {
    let parameters = "      epsilon: 1.0\n      delta: 1.0e-06\n      rho: 0.5\n";
    let text = ENTRY.replace("      epsilon: 2.0\n      delta: 1.0e-05\n      rho: 0.0834\n", parameters);
    assert_ne!(text, ENTRY);
    let at = |delta: &str| {
        let entry = Entry::parse("made-up.yaml", &text).unwrap();
        registry::judge(entry, &delta.parse().unwrap(), 12).unwrap().scale.unwrap()
    };
    // (1, 1e-6): 1 - (1 - 1e-6) / (1 + e) = 0.731058, where rho 1/2 gives 73.96.
    let scale = at("1e-6");
    assert_eq!((scale.epsilon_text().as_str(), scale.right_of_100().as_str()), ("<= 1", "73.11"));
    // At a smaller delta rho alone says something: 1/2 + 2 sqrt(ln(1e8) / 2) = 6.57 at most.
    let scale = at("1e-8");
    let upper = scale.epsilon.as_ref().unwrap().upper().to_f64();
    assert!((5.0..6.57).contains(&upper) && scale.right_of_100() == "73.11", "{upper}");
}

/// Anything that the schema does not allow is refused with its line, and so is text that can grow or be read in two ways.
#[test]
fn hostile_and_wrong_yaml_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("entry.yaml");
    let name = file.to_str().unwrap();
    let refused = |text: &[u8]| {
        fs::write(&file, text).unwrap();
        refusal(&["deployments", "--from", name])
    };
    for (right, wrong, line, part) in [
        ("tier: 3", "tier: 4", 3, "1, 2 or 3"),
        ("tier: 3", "tier: '3'", 3, "1, 2 or 3"),
        ("tier: 3", "teir: 3", 3, "did you mean \"tier\""),
        ("epsilon: 2.0", "epsilon: '2.0'", 20, "a number without quotes"),
        ("epsilon: 2.0", "epsilon: [2.0]", 20, "a list"),
        ("epsilon: 2.0", "epsilon: .inf", 20, "not a decimal"),
        ("epsilon: 2.0", "epsilon: 0x10", 20, "not a decimal"),
        ("epsilon: 2.0", "epsilon: -2.0", 20, "out of range"),
        ("epsilon: 2.0", "epsilon: 1e9999", 20, "out of range"),
        ("epsilon: 2.0", "epsilon: 1e99999999999", 20, "not a decimal"),
        ("delta: 1.0e-05", "delta: 1.5", 21, "0 <= delta < 1"),
        ("delta: 1.0e-05", "epsilon: 2.0", 21, "occurs twice: first in line 20"),
        ("rho: 0.0834", "rho: ~", 22, "a number without quotes"),
        ("'2024-05-01'", "'2024-02-30'", 13, "YYYY-MM-DD"),
        ("'2024-05-01'", "2024-05-01", 13, "must be in quotes: \"2024-05-01\""),
        ("intended_use: A test", "intended_use: >\n      A test", 10, "folded text (>)"),
        ("Summary statistics", "Summary", 10, "Summary statistics"),
        ("name: Made-up counts", "name: 5", 6, "must be a text"),
        ("      - Somebody", "      - 7", 8, "a list of texts"),
        ("  administrative:\n", "  administrative: 5\n  other:\n", 36, "a map of fields"),
        ("    registry_authors:\n      - A test\n", "    notes: none\n", 37, "registry_authors is missing"),
        ("name: Made-up counts", "name: &a Made-up counts", 6, "anchor"),
        ("intended_use: A test", "intended_use: *a", 9, ""),
        ("status: Draft", "status: !!str Draft", 2, "tag"),
        ("status: Draft", "<<: {status: Draft}", 2, "merge key"),
        ("status: Draft", "status: Draft\n---", 3, ""),
    ] {
        assert!(ENTRY.contains(right), "{right}");
        let message = refused(ENTRY.replacen(right, wrong, 1).as_bytes());
        assert!(message.contains("entry.yaml") && message.contains(part), "{wrong}: {message}");
        assert!(message.contains(&format!("line {line}")), "{wrong}: {message}");
    }
    let bomb = (1..12).map(|k| format!("a{k}: &a{k} [*a{}, *a{}]\n", k - 1, k - 1)).collect::<String>();
    assert!(refused(format!("a0: &a0 x\n{bomb}").as_bytes()).contains("line 1"));
    for text in [&b""[..], b"# nothing\n", b"- 1\n", b"5\n", b"a: \xff\xfe\n", b"\0\0\0", b"a: [", &b"[".repeat(50_000)]
    {
        let message = refused(text);
        assert!(message.contains("entry.yaml"), "{message}");
    }
    assert!(refused(&vec![b'a'; 2 << 20]).contains("larger"));
}

/// A folder with no entry, one in which every wrong file is named, and wrong arguments.
#[test]
fn wrong_folders_and_arguments_of_deployments_are_refused() {
    let empty = tempfile::tempdir().unwrap();
    assert!(refusal(&["deployments", "--from", empty.path().to_str().unwrap()]).contains(".yaml"));
    fs::write(empty.path().join("one.yaml"), "a: 1\n").unwrap();
    fs::write(empty.path().join("two.yaml"), ENTRY.replacen("tier: 3", "tier: 9", 1)).unwrap();
    fs::write(empty.path().join("three.yaml"), ENTRY).unwrap();
    let message = refusal(&["deployments", "--from", empty.path().to_str().unwrap()]);
    assert!(
        message.contains("one.yaml") && message.contains("two.yaml") && !message.contains("three.yaml"),
        "{message}"
    );
    for (arguments, part) in [
        (&["deployments", "nosuch"][..], "unknown deployment"),
        (&["deployments", "google-mobilty"], "did you mean \"google-mobility\""),
        (&["deployments", "--delta", "0"], "delta"),
        (&["deployments", "--from", "/no/such.yaml"], "no such file"),
        (&["deployments", "--format", "htm"], "html"),
    ] {
        assert!(refusal(arguments).contains(part), "{arguments:?}: {}", refusal(arguments));
    }
}

/// A text of every length, cut anywhere, is judged or refused without a panic.
#[test]
fn every_piece_of_an_entry_is_judged_or_refused() {
    for end in (0..ENTRY.len()).step_by(7) {
        if let Ok(entry) = Entry::parse("cut.yaml", &ENTRY[..end]) {
            registry::judge(entry, &delta(), 12).unwrap();
        }
    }
    // Texts that look like figures and are none.
    for text in [
        "ε = ",
        "ε = .",
        "10^",
        "10-",
        "(1,",
        "(1, 2",
        "= 5",
        "1 = = 2",
        "ε_",
        "ε'",
        "1e",
        "1 × 10^",
        "((((",
        "k = k = 5",
        "- - - 5",
        "2 * = 4",
        "1/0 = 5",
        "sensitivity = 1 scale = 0, ε = 1",
        "½ = ε = 5 × 10−9999999",
        "ρ = 0 ε = 1 δ = 1",
        "ρ = 5, ε = 1, δ = 0",
        "μ = 1e400",
        "99999999999999999999,999 = 1 + 1",
    ] {
        let entry = ENTRY.replace("The threshold \\\\(\\tau\\\\) = 90.", &format!("\"{text}\""));
        let entry = Entry::parse("odd.yaml", &entry).unwrap_or_else(|error| panic!("{text}: {error}"));
        registry::judge(entry, &delta(), 12).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

fn answer(arguments: &[&str], code: i32) -> Value {
    let output = assay(arguments).arg("--json").assert().code(code).get_output().stdout.clone();
    serde_json::from_slice(&output).expect("one JSON object")
}

#[test]
fn the_answer_has_its_contract_and_its_exit_status() {
    let answer_of_all = answer(&[&["deployments"][..], &LIGHT].concat(), 1);
    let all = answer_of_all["deployments"].as_array().unwrap();
    assert_eq!((all.len(), &answer_of_all["summary"]["disproved"]), (LIGHT.len(), &1.into()));
    for one in all {
        for key in [
            "name",
            "unit",
            "per",
            "neighbors",
            "printed",
            "printed_by",
            "entry_status",
            "epsilon",
            "delta",
            "correct_decision",
            "verdict",
            "reasons",
        ] {
            assert!(one.get(key).is_some(), "{}: {key}", one["name"]);
        }
        assert!(["curator", "paper", "second-hand", "registry"].contains(&one["printed_by"].as_str().unwrap()));
    }
    let one = answer(&["deployments", "google-mobility", "--delta", "1e-9"], 0);
    let mobility = &one["deployments"][0];
    assert_eq!((&mobility["verdict"], &mobility["printed"]["epsilon"]), (&"agrees".into(), &"2.64".into()));
    assert_eq!(mobility["epsilon"]["lower"], 0);
    assert!(mobility["correct_decision"]["upper"].as_f64().is_some_and(|upper| upper > 0.6289 && upper <= 0.629));
    answer(&["deployments", "recurve-ohmconnect-paper"], 1);
    answer(&["deployments", "census-2020-pl94"], 0);
}

#[test]
fn the_page_holds_everything_and_loads_nothing() {
    let arguments = [&["deployments", "--format", "html"][..], &LIGHT].concat();
    let output = assay(&arguments).assert().code(1).get_output().stdout.clone();
    let page = String::from_utf8(output).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    for part in ["<script", "src=", "<link", "url("] {
        assert!(!page.contains(part), "{part}");
    }
    // Links lead out of the page, and load nothing.
    let links = page.matches("href=\"http").count();
    assert_eq!(links, page.matches("<a href=\"https://").count());
    assert_eq!(links, page.matches("rel=\"noreferrer\"").count());
    for said in [
        "As of 2026-",
        "3e9c812",
        "/deployments/google_mobility.yaml",
        "/issues",
        "the registry's entry",
        "(Pending)",
        "50 is blind guessing",
    ] {
        assert!(page.contains(&said.replace('\'', "&#39;")) || page.contains(said), "{said}");
    }
    assert!(page.contains("<svg") && page.contains("Content-Security-Policy"));
    for name in LIGHT {
        assert!(page.contains(&format!("id=\"d-{name}\"")), "{name}");
    }
    for tag in ["section", "article", "table", "tr", "td", "dl", "ul", "div"] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    // On a telephone each row is a card whose cells say what they are.
    let rows = page.split("<table class=\"all\"").skip(1).filter_map(|rest| rest.split("</table>").next());
    let cells: Vec<&str> = rows.flat_map(|table| table.split("<td").skip(1)).collect();
    assert!(cells.len() >= 7 * LIGHT.len() && cells.iter().all(|cell| cell.contains(" data-label=\"")));
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let unique: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "an id occurs twice");
}

/// The page, the numbers and the chart are written, with the same bytes on every run.
#[test]
fn files_are_written_with_the_same_bytes() {
    let write = || {
        let folder = tempfile::tempdir().unwrap();
        let arguments = [&["deployments", "--out", "out", "--reproducible"][..], &LIGHT].concat();
        assay(&arguments).current_dir(folder.path()).assert().code(1);
        ["deployments.html", "deployments.csv", "deployments.svg"]
            .map(|file| fs::read_to_string(folder.path().join("out").join(file)).unwrap())
    };
    let [html, csv, svg] = write();
    assert_eq!([html.clone(), csv.clone(), svg.clone()], write());
    assert!(html.contains("assay deployments --out out --reproducible") && !html.contains(", commit <code>"));
    assert!(csv.lines().count() > 5 && csv.starts_with("name,delta,epsilon_lower") && svg.starts_with("<svg"));
}

/// Every entry of the registry, where a copy is at hand: it is read, and its verdict is the known one; a wrong figure planted in a parameter
/// that a text or another parameter determines is found.
#[test]
fn every_entry_of_the_registry_is_judged_where_it_is_at_hand() {
    let facts = std::env::var_os("ASSAY_FACTS").map(|facts| Path::new(&facts).join("deployments/entries"));
    let Some(folder) = facts.filter(|folder| folder.is_dir()) else {
        eprintln!("skipped: ASSAY_FACTS does not name the folder of public data");
        return;
    };
    let entries = Entry::read_all(&folder).unwrap();
    assert_eq!(entries.len(), 41);
    let known: Vec<String> = find(&[]).unwrap().into_iter().filter_map(|one| one.registry).collect();
    let mut wrong = Vec::new();
    let mut planted = 0;
    for entry in entries {
        let name = Path::new(&entry.file).file_name().unwrap().to_str().unwrap().to_string();
        assert!(known.contains(&name), "{name} is not among the bundled deployments");
        let text = fs::read_to_string(folder.join(&name)).unwrap();
        let found = registry::judge(entry, &delta(), 12).unwrap();
        if found.verdict.is_wrong() {
            wrong.push(name.clone());
        }
        planted += plant(&name, &text, found.findings.len());
    }
    assert_eq!(
        wrong,
        [
            "apple_iconic_scenes_photo_selections_2023.yaml",
            "census_demographic_and_housing.yaml",
            "covid19_search_trends_symptoms.yaml",
            "wikimedia_russian_editor_activity_statistics_2023.yaml",
        ]
    );
    assert!(planted >= 35, "{planted} wrong figures were planted");
}

/// Each line's status, date, authors and source are those of the registry's files, where a copy is at hand.
#[test]
fn what_is_said_of_an_entry_is_what_its_file_says() {
    let facts = std::env::var_os("ASSAY_FACTS").map(|facts| Path::new(&facts).join("deployments/entries"));
    let Some(folder) = facts.filter(|folder| folder.is_dir()) else {
        eprintln!("skipped: ASSAY_FACTS does not name the folder of public data");
        return;
    };
    let mut entries = 0;
    for one in find(&[]).unwrap() {
        let Some(file) = &one.registry else {
            assert_eq!(one.entry(), Default::default(), "{}", one.name);
            assert!(one.printed_by != PrintedBy::Registry, "{}: no entry", one.name);
            continue;
        };
        entries += 1;
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let line = |name: &str| {
            let found = text.lines().find_map(|line| line.trim().strip_prefix(&format!("{name}: ")));
            // A remark can follow.
            found.and_then(|rest| rest.split(" #").next()).map(|rest| rest.trim_matches('\'').to_string())
        };
        assert_eq!(one.entry().status, line("status"), "{}", one.name);
        assert_eq!(one.entry().date, line("publication_date"), "{}", one.name);
        let (_, authors) = text.split_once("registry_authors:").unwrap_or_else(|| panic!("{file}"));
        let authors: Vec<&str> = (authors.lines().skip(1))
            .map_while(|line| line.trim().strip_prefix("- "))
            .map(|author| author.trim_matches(['\'', '"']))
            .collect();
        assert_eq!(one.entry().authors, authors, "{}", one.name);
        for link in &one.links {
            let known = link.trim_start_matches("https://arxiv.org/abs/");
            let known = text.replace("&amp;", "&").contains(known);
            assert!(known || one.name.starts_with("census-2020-pl94"), "{}: {link} is not in {file}", one.name);
        }
    }
    assert!(entries >= Snapshot::bundled().unwrap().entries, "{entries}");
}

/// Plants a wrong figure in each parameter of an entry. Returns the number that was found; those that no other figure determines are named
/// here.
fn plant(name: &str, text: &str, before: usize) -> usize {
    const ALONE: &[(&str, &str)] = &[
        ("apple_iconic_scenes_photo_selections_2023.yaml", "epsilon"),
        ("apple_iconic_scenes_photo_selections_2023.yaml", "delta"),
        ("covid19_notifications.yaml", "delta"),
        ("uber.yaml", "epsilon"),
    ];
    let mut found = 0;
    for field in ["epsilon", "delta", "rho"] {
        let Some(line) = text.lines().find(|line| line.trim_start().starts_with(&format!("{field}: "))) else {
            continue;
        };
        let digits = line.split(':').nth(1).unwrap().trim();
        let Ok(value) = digits.parse::<f64>() else { continue };
        let wrong = line.replace(digits, &format!("{:e}", value * 3.7));
        let entry = Entry::parse(name, &text.replacen(line, &wrong, 1)).unwrap();
        let judged = registry::judge(entry, &delta(), 12).unwrap();
        let is_found = judged.findings.iter().any(|finding| {
            finding.verdict != Verdict::Agrees
                && (finding.field == field || ["total", "conversion", "mu"].contains(&finding.rule))
        });
        let is_alone = ALONE.contains(&(name, field));
        assert!(is_found || is_alone, "{name}: {wrong} is not found; {before} findings before");
        found += usize::from(is_found);
    }
    found
}
