//! Output in a terminal: colour only where it is displayed, tables of readable length, and help that begins with the essentials.

use crate::common::program::assay;

fn text(args: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = assay(args);
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM"] {
        command.env_remove(name);
    }
    for (name, value) in variables {
        command.env(name, value);
    }
    String::from_utf8(command.assert().success().get_output().stdout.clone()).expect("UTF-8")
}

#[test]
fn a_pipe_has_no_colour_unless_it_is_forced() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("own.toml").to_str().expect("UTF-8").to_string();
    text(&["verify", "--new", &file], &[]);
    let verify = ["verify", &file];
    let plain = text(&verify, &[]);
    assert!(!plain.contains('\u{1b}') && plain.contains("agrees"), "{plain}");
    assert_eq!(text(&verify, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), plain);
    assert_eq!(text(&verify, &[("TERM", "xterm-256color")]), plain);
    let coloured = text(&verify, &[("CLICOLOR_FORCE", "1")]);
    assert!(
        coloured.contains("\u{1b}[1mvalue\u{1b}[0m") && coloured.contains("\u{1b}[32magrees\u{1b}[0m"),
        "{coloured}"
    );
    // Only the colour differs.
    let stripped: String = coloured.split('\u{1b}').enumerate().fold(String::new(), |text, (at, part)| {
        text + if at == 0 { part } else { part.split_once('m').map_or("", |(_, rest)| rest) }
    });
    let lines = |text: &str| text.lines().map(|line| line.trim_end().to_string()).collect::<Vec<_>>();
    assert_eq!(lines(&stripped), lines(&plain));
    // Neither JSON nor CSV has any.
    for form in ["json", "csv", "md", "latex"] {
        let formed = text(&[&verify[..], &["--format", form]].concat(), &[("CLICOLOR_FORCE", "1")]);
        assert!(!formed.contains('\u{1b}'), "{form}");
    }
}

#[test]
fn a_curve_has_as_many_rows_as_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_string();
    let (svg, csv) = (path("curve.svg"), path("curve.csv"));
    for (command, first, last) in [("curve", "0 ", "30 "), ("tradeoff", "0 ", "1 ")] {
        let with =
            |rest: &[&str]| text(&[&[command, "--discrete-gaussian", "5x10", "--digits", "6"], rest].concat(), &[]);
        let rows = |text: &str| {
            text.lines()
                .filter(|line| line.starts_with(|letter: char| letter.is_ascii_digit()) && !line.contains("points"))
                .count()
        };
        let table = with(&[]);
        assert_eq!(rows(&table), 21, "{table}");
        assert!(
            table.lines().any(|line| line.starts_with(first)) && table.lines().any(|line| line.starts_with(last)),
            "{table}"
        );
        assert!(
            table.ends_with("\n21 of 201 points: --csv and --json give all, --points N gives others.\n"),
            "{table}"
        );
        assert_eq!(with(&["--csv"]).lines().count(), 1 + 201);
        // As many as requested, and none beside a drawing.
        let some = with(&["--points", "33"]);
        assert!(rows(&some) == 33 && !some.contains("points"), "{some}");
        let drawn = with(&["--svg", &svg]);
        assert!(rows(&drawn) == 0 && drawn.contains(&format!("201 points are drawn in {svg}")), "{drawn}");
        let beside = with(&["--csv", &csv]);
        assert!(rows(&beside) == 21 && beside.ends_with(&format!("\n21 of 201 points; {csv} has all.\n")), "{beside}");
        let written = std::fs::read_to_string(&csv).expect("CSV");
        assert_eq!(written, with(&["--csv"]));
        // The rows of the table are points of the curve.
        let shown = table.lines().find(|line| line.starts_with("0.5 ") || line.starts_with("15 ")).expect("a row");
        let (at, value) = shown.split_once(' ').expect("two cells");
        let all = written.lines().find(|line| line.starts_with(&format!("{at},"))).expect("a point");
        let ends: Vec<f64> = all.split(',').skip(1).take(2).map(|end| end.parse().expect("a number")).collect();
        let value: f64 = value.split_whitespace().next().expect("a cell").parse().expect("a number");
        assert!((value / ends[0] - 1.0).abs() < 1e-5 && (value / ends[1] - 1.0).abs() < 1e-5, "{shown}: {all}");
    }
}

#[test]
fn help_begins_with_what_is_needed_and_shows_a_mechanism_of_ones_own() {
    for command in ["epsilon", "delta", "compare", "explain", "prove", "calibrate", "report"] {
        let help = text(&[command, "--help"], &[]);
        assert!(help.contains("\n  assay ") && help.contains("--discrete-gaussian 5x10"), "{help}");
    }
    let help = text(&["epsilon", "--help"], &[]);
    let options = help.split_once("Options:").expect("options").1;
    assert!(options.trim_start().starts_with("--delta <DELTA>"), "{help}");
}
