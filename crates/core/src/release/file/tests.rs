use super::*;

const GOOD: &str = r#"name = "two"
title = "Two levels"
source = "made up for a test"
neighbors = "add-remove"
rho = "1"
sigma2_times_rho = "1/2"

[[level]]
name = "A"
proportion = "1/3"
[[level.query]]
name = "q"
proportion = "1"

[[level]]
name = "B"
rho = "2/3"
[[level.query]]
name = "q"
proportion = "1/4"
times = 4
"#;

fn refused(change: impl Fn(&str) -> String) -> String {
    parse(&change(GOOD), "two.toml").expect_err("the file was accepted").to_string()
}

#[test]
fn a_good_file_is_read_exactly() {
    let release = parse(GOOD, "two.toml").unwrap();
    assert_eq!(*release.levels[1].queries[0].sigma2().unwrap(), 3);
    assert_eq!(*release.composition(&[] as &[&str], None).unwrap().rho(), 1);
}

/// Noise that is given directly: no budget is declared, and every number is plain.
const OWN: &str = r#"name = "own"
title = "A mechanism of one's own"
source = "made up for a test"
neighbors = "bounded"

[[level]]
name = "State"
[[level.query]]
name = "total"
sigma2 = 2.5
times = 3
sensitivity = 2
[[level.query]]
name = "by age"
law = "discrete-laplace"
epsilon = 0.1
cells = 2

[[level]]
name = "County"
rho = 0.5
[[level.query]]
name = "total"
law = "gaussian"
proportion = 1
"#;

#[test]
fn noise_may_be_given_in_place_of_a_budget() {
    let release = parse(OWN, "own.toml").unwrap();
    let [state, county] = &release.levels[..] else { panic!("{release:?}") };
    // Two cells that change by 2: 2 * 4 / (2 * 2.5), and 2 * 2 cells of loss 0.1: 4 * 0.1^2 / 2.
    assert_eq!((&state.queries[0].rho, &state.queries[1].rho), (&Rational::from((8, 5)), &Rational::from((1, 50))));
    assert_eq!(state.rho, Rational::from((24, 5)) + Rational::from((1, 50)));
    assert_eq!(county.queries[0].law, Law::Gaussian { sigma2: Rational::from(2) });
    assert_eq!(release.rho, Rational::from(&state.rho + &county.rho));
    let composition = release.composition(&[] as &[&str], None).unwrap();
    assert_eq!(*composition.rho(), release.rho);
    assert_eq!(composition.counts()[0].to_string(), "discrete Gaussian 2.5x6@2");
    assert!(state.queries[0].sigma2().is_ok() && state.queries[1].sigma2().is_err());
    // The same noise with its rho.
    let both = OWN.replace("sigma2 = 2.5", "sigma2 = 2.5\nrho = 1.6").replace("sensitivity", "shift");
    assert_eq!(parse(&both, "own.toml").unwrap().rho, release.rho);
    let paths = parse(&(OWN.to_string() + "[paths]\nnote = \"n\"\ndroppable = [\"County\"]\n"), "own.toml");
    assert!(paths.unwrap_err().to_string().contains("line 26"));
}

#[test]
fn every_broken_rule_is_refused_with_its_line() {
    for (from, to, says) in [
        ("title =", "titel =", "line 2"),
        ("name = \"B\"", "name = \"A\"", "line 16, column 8: the level \"A\" occurs twice"),
        ("proportion = \"1/3\"", "proportion = \"1/4\"", "add up to 11/12"),
        ("proportion = \"1/4\"", "proportion = \"1/5\"", "line 16"),
        ("source = \"made up for a test\"\n", "", "missing field `source`"),
        ("made up for a test", " ", "source"),
        ("\"1/3\"", "\"1/0\"", "line 10, column 14"),
        ("\"1/3\"", "\"-1/3\"", "above 0"),
        ("\"1/3\"", "0.333", "line 5, column 7: the shares of the levels add up to"),
        ("\"1/3\"", "[0.333]", "line 10, column 14"),
        ("rho = \"1\"\n", "", "line 9, column 14: the proportion of the level \"A\" is one of what? give the rho"),
        ("rho = \"2/3\"\n", "", "line 19, column 14: the proportion of the query \"q\""),
        ("times = 4", "times = 4\nsigma2 = 3.5", "its noise spends rho = 1/7, and not 1/6"),
        ("times = 4", "times = 4\nepsilon = 1", "line 22, column 11"),
        (
            "times = 4",
            "times = 4\nsensitivity = 2",
            "each changed by 2, and add-remove neighbors, sigma2_times_rho must be 2",
        ),
        ("times = 4", "times = 4\nsensitivity = 1.5", "a whole number, at least 1"),
        ("times = 4", "times = 4\nlaw = \"cauchy\"", "line 22, column 7: law = \"cauchy\": expected"),
        ("times = 4", "times = 4\nlaw = \"laplace\"", "needs its scale"),
        ("times = 4", "times = 4\nlaw = \"discrete-laplace\"", "needs its epsilon"),
        ("times = 4", "times = 4\nlaw = \"discrete-laplace\"\nsigma2 = 3", "line 23, column 10"),
        ("proportion = \"1/4\"\ntimes = 4", "times = 4", "needs a sigma2"),
        ("proportion = \"1/4\"\ntimes = 4", "sigma2 = 1e-9", "line 19, column 8: the query \"q\": sigma2 = 1e-9"),
        ("times = 4", "times = 0", "at least 1"),
        ("times = 4", "times = 4\ncells = 9", "sigma2_times_rho must be 9/2"),
        ("add-remove", "swap", "line 4, column 13"),
        ("rho = \"2/3\"", "rho = \"2/3\"\nproportion = \"2/3\"", "either a proportion or a rho"),
        ("sigma2_times_rho = \"1/2\"", "sigma2_times_rho = \"1\"", "1/2"),
        ("[[level]]", "[[level", "line 8"),
        ("times = 4\n", "times = 4\n[paths]\nnote = \"n\"\ndroppable = [\"C\"]\n", "line 24, column 14"),
        ("times = 4\n", "times = 4\n[paths]\nnote = \"n\"\ndroppable = [\"A\"]\n", "below the first"),
        ("times = 4\n", "times = 4\n[paths]\nnote = \"n\"\ndroppable = []\ndropped = [[\"B\"]]\n", "not among"),
        ("times = 4\n", "times = 4\n[paths]\nnote = \"n\"\ndroppable = [\"B\"]\ndropped = [[], []]\n", "twice"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let message = refused(|good| good.replacen(from, to, 1));
        assert!(message.contains(says) && message.contains("two.toml"), "{from} -> {to}: {message}");
    }
}

/// A mechanism under bounded neighbors, in which no record leaves the only cell of the first query.
const STILL: &str = r#"name = "still"
title = "A total that does not move"
source = "made up for a test"
neighbors = "substitution"

[[level]]
name = "US"
[[level.query]]
name = "total"
sigma2 = 10
moves = 0

[[level]]
name = "State"
[[level.query]]
name = "total"
sigma2 = 10
"#;

#[test]
fn a_query_that_a_changed_record_never_leaves_spends_nothing() {
    let release = parse(STILL, "still.toml").unwrap();
    assert_eq!(release.neighbors, Neighbors::Bounded);
    assert_eq!((release.levels[0].rho.clone(), release.rho.clone()), (Rational::new(), Rational::from((1, 10))));
    let rho = |neighbors| release.composition(&[] as &[&str], Some(neighbors)).unwrap().rho().clone();
    // Added or removed it moves both.
    assert_eq!((rho(Neighbors::Bounded), rho(Neighbors::AddRemove)), ("0.1".parse().unwrap(), "0.1".parse().unwrap()));
    assert!(release.composition(&["US"], None).unwrap_err().to_string().contains("epsilon is 0"));
    let again = parse(&release.to_toml(), "again.toml").unwrap();
    assert_eq!((again.rho, again.levels[0].queries[0].changed), (release.rho.clone(), Changed::Never));
    // The same counts, described for the relation.
    let given = STILL.replace("moves = 0\n", "").replace("\"substitution\"", "\"bounded\"\ncounts_as_given = true");
    let given = parse(&given, "given.toml").unwrap();
    assert_eq!(given.rho, Rational::from((1, 10)));
    assert!(given.composition(&["US"], Some(Neighbors::AddRemove)).is_err());
    assert_eq!(parse(&given.to_toml(), "again.toml").unwrap().rho, given.rho);
    assert!(release.shares_budget(Neighbors::Bounded).is_err() && release.shares_budget(Neighbors::AddRemove).is_ok());
    for (from, to, says) in [
        ("moves = 0", "moves = 1", "line 11, column 9: the query \"total\": moves must be 0"),
        ("moves = 0", "moves = 0\ncells = 2", "the single cell"),
        ("moves = 0", "moves = 0\nrho = 0.1", "spends nothing"),
        ("\"substitution\"", "\"bounded\"\ncounts_as_given = true", "with counts_as_given"),
        ("\"substitution\"", "\"unbounded\"\ncounts_as_given = true", "line 5, column 19: counts_as_given is for"),
        (
            "[[level]]\nname = \"State\"",
            "[paths]\nnote = \"n\"\ndroppable = [\"State\"]\n[[level]]\nname = \"State\"",
            "moves = 0",
        ),
        ("substitution", "bound", "line 4, column 13: neighbors = \"bound\": expected add-remove"),
    ] {
        assert!(STILL.contains(from), "{from}");
        let message = parse(&STILL.replacen(from, to, 1), "still.toml").expect_err(to).to_string();
        assert!(message.contains(says), "{to}: {message}");
    }
}

#[test]
fn rows_move_into_cells_of_any_choice() {
    let text = |query: &str| {
        format!(
            "name = \"n\"\ntitle = \"t\"\nsource = \"s\"\nneighbors = \"add-remove\"\n[[level]]\nname = \"US\"\n\
             [[level.query]]\nname = \"q\"\n{query}"
        )
    };
    let release = parse(&text("rows = 22\nrho = \"1/2\"\n"), "f").unwrap();
    let query = &release.levels[0].queries[0];
    assert_eq!((query.sigma2().unwrap(), query.shift, query.free_rows), (&Rational::from(484), 22, true));
    let counts = query.counts(Neighbors::Bounded).unwrap().remove(0);
    assert_eq!((counts.count, counts.shift, counts.free_rows), (2, 22, true));
    let again = parse(&release.to_toml(), "again").unwrap();
    assert!(again.levels[0].queries[0].free_rows && again.rho == release.rho);
    for (query, says) in [
        ("rows = 22\nsigma2 = 87\n", "line 8, column 8: the query \"q\": sigma2 = 87 is out of range: at least 88"),
        ("rows = 0\nrho = 1\n", "line 9, column 8"),
        ("rows = 2\ncells = 2\nrho = 1\n", "line 10, column 9: the query \"q\": rows move among any of its cells"),
        ("rows = 2\nsensitivity = 2\nrho = 1\n", "give rows without sensitivity"),
        ("rows = 2\nmoves = 0\nrho = 1\n", "give rows without moves"),
        ("rows = 2\nlaw = \"discrete-laplace\"\nepsilon = 1\n", "discrete Gaussian noise"),
    ] {
        let message = parse(&text(query), "f").expect_err(query).to_string();
        assert!(message.contains(says), "{query}: {message}");
    }
}

/// Two kinds of groups; either spends the budget of the level.
const MIXED: &str = r#"name = "mixed"
title = "Groups of two kinds"
source = "made up for a test"
neighbors = "add-remove"

[[mix]]
name = "the nation"
levels = ["US"]
groups = 3
kind = "short"
most = 2

[[level]]
name = "US"
rho = "3/2"
[[level.query]]
name = "stages"
cells = 3
times = 2
rho = "3/4"
[[level.query]]
name = "once"
kind = "short"
cells = 3
rho = "3/2"

[[level]]
name = "State"
[[level.query]]
name = "total"
sigma2 = 5
"#;

#[test]
fn either_kind_of_groups_spends_the_budget_of_its_level() {
    let release = parse(MIXED, "mixed.toml").unwrap();
    assert_eq!((release.levels[0].rho.clone(), release.rho.clone()), (Rational::from((3, 2)), Rational::from((8, 5))));
    let mixes = release.mixes_at(&[0, 1], Neighbors::AddRemove).unwrap();
    assert_eq!(mixes.len(), 3);
    assert!(mixes.iter().all(|(_, mix)| **mix.rho() == release.rho), "{mixes:?}");
    assert_eq!(mixes[2].0, "2 of 3 groups short at the nation");
    let counts: Vec<String> = mixes[1].1.counts().iter().map(ToString::to_string).collect();
    assert_eq!(counts, ["discrete Gaussian 2x4@1", "discrete Gaussian 1x1@1", "discrete Gaussian 5x1@1"]);
    let again = parse(&release.to_toml(), "again.toml").unwrap();
    assert_eq!((&again.mixes, &again.rho), (&release.mixes, &release.rho));
    assert_eq!(release.only(&["State"]).unwrap().mixes, []);
    assert!(release.shares_budget(Neighbors::AddRemove).is_err());
    for (from, to, says) in [
        ("most = 2", "most = 4", "line 11, column 8: most = 4 is more than the 3 groups"),
        ("most = 2", "most = 0", "at least 1"),
        ("levels = [\"US\"]", "levels = [\"Moon\"]", "\"Moon\" is not a level of this release: US, State"),
        ("levels = [\"US\"]", "levels = []", "at least one level"),
        ("levels = [\"US\"]", "levels = [\"US\", \"State\"]", "line 30, column 8: the query \"total\" has cells = 1"),
        ("kind = \"short\"\nmost", "kind = \"long\"\nmost", "the query \"once\" is of kind = \"short\""),
        ("groups = 3", "groups = 4", "the query \"stages\" has cells = 3"),
        ("rho = \"3/2\"\n\n", "rho = \"1\"\n\n", "of each kind of the level \"US\" add up to 2/3"),
        (
            "[[mix]]\nname = \"the nation\"\nlevels = [\"US\"]\ngroups = 3\nkind = \"short\"\nmost = 2\n",
            "",
            "no [[mix]] names its level",
        ),
        ("sigma2 = 5\n", "sigma2 = 5\n[paths]\nnote = \"n\"\ndroppable = [\"State\"]\n", "either [[mix]] or [paths]"),
    ] {
        assert!(MIXED.contains(from), "{from}");
        let message = parse(&MIXED.replacen(from, to, 1), "mixed.toml").expect_err(to).to_string();
        assert!(message.contains(says), "{to}: {message}");
    }
    let many = MIXED.replace("groups = 3", "groups = 200").replace("most = 2", "most = 200");
    assert!(parse(&many, "mixed.toml").unwrap_err().to_string().contains("at most 128"));
}

/// Steps of DP-SGD by their noise multiplier, the square root of sigma2; elsewhere, beside sigma2 or at zero it is refused.
#[test]
fn a_noise_multiplier_is_the_root_of_sigma2() {
    let steps = |fields: &str| {
        let head = "name = 'run'\ntitle = 'A run'\nsource = 'made up'\nneighbors = 'add-remove'\n[[level]]\nname = 'all'\n[[level.query]]\nname = 'steps'\n";
        parse(&format!("{head}{fields}\ntimes = 100\n"), "run.toml")
    };
    let law = |fields: &str| steps(fields).unwrap().levels[0].queries[0].law.clone();
    let sampled = "law = 'sampled-gaussian'\nrate = 0.01\n";
    assert_eq!(law(&format!("{sampled}noise_multiplier = 1.1")), law(&format!("{sampled}sigma2 = 1.21")));
    for (fields, words) in [
        (format!("{sampled}noise_multiplier = 1.1\nsigma2 = 1.21"), "in place of sigma2"),
        ("law = 'gaussian'\nnoise_multiplier = 1.1".to_string(), "where law = \"sampled-gaussian\""),
        (format!("{sampled}noise_multiplier = 0"), "noise_multiplier of the query"),
    ] {
        let refused = steps(&fields).unwrap_err().to_string();
        assert!(refused.starts_with("run.toml, line ") && refused.contains(words), "{refused}");
    }
}
