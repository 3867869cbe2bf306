//! Ledgers: entries of every kind, partitions, and the odometer, also with several processes at once and killed at any moment.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use dp_assay::{
    provenance::sha256_of_text,
    release::{GeoLevel, Release},
};
use serde_json::Value;

use crate::common::{
    numbers::Numbers,
    program::{assay, json, refusal},
};

/// A folder with a ledger of one population and releases.
pub struct Bench {
    folder: tempfile::TempDir,
}

pub const DELTA: [&str; 2] = ["--delta", "1e-6"];

impl Bench {
    pub fn new(neighbors: &str, more: &str) -> Bench {
        let bench = Bench { folder: tempfile::tempdir().unwrap() };
        let head = "name = 'l'\ntitle = 't'\nsource = 's'\nrule = 'all compose'\n";
        bench.put("l.toml", &format!("{head}[[population]]\nname = 'p'\nneighbors = '{neighbors}'\n{more}"));
        for (name, query) in [
            ("weekly", "sigma2 = 200\ncells = 3"),
            ("coarse", "law = 'discrete-laplace'\nepsilon = 0.3"),
            ("pure", "law = 'pure'\nepsilon = '1/2'"),
            ("approximate", "law = 'approximate'\nepsilon = '1/2'\ndelta = 1e-8"),
            ("sgd", "law = 'sampled-gaussian'\nrate = 0.01\nsigma2 = 1\ntimes = 100"),
            ("gaussian", "law = 'gaussian'\nsigma2 = 40"),
            ("still", "sigma2 = 50\nmoves = 0\n[[level.query]]\nname = 'r'\nsigma2 = 20"),
        ] {
            bench.put(&format!("{name}.toml"), &release(name, "add-remove", query));
        }
        bench.put("given.toml", &release("given", "bounded", "law = 'pure'\nepsilon = '1/2'"));
        bench
    }

    pub fn put(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    }

    pub fn at(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_string()
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// The account of the ledger, or its refusal.
    pub fn account(&self) -> Value {
        json(&[&["ledger", &self.at("l.toml"), "--digits", "8"][..], &DELTA].concat())
    }

    pub fn refused(&self, more: &[&str]) -> String {
        refusal(&[&["ledger", &self.at("l.toml")][..], more].concat())
    }

    pub fn add(&self, release: &str, promise: &str, more: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("assay"));
        command.env_remove("ASSAY_FACTS").args(["ledger", &self.at("l.toml"), "--add", &self.at(release)]);
        command.args(["--promise", promise, "--json", "--digits", "6"]).args(DELTA).args(more);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Adds a release: the status and the answer.
    pub fn added(&self, release: &str, promise: &str, more: &[&str]) -> (i32, Value) {
        let output = self.add(release, promise, more).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        let answer = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{error}"));
        (output.status.code().unwrap(), answer)
    }

    pub fn shown(&self) -> Value {
        json(&["ledger", &self.at("l.toml"), "--show"])
    }

    /// The answer about candidates: the status and the answer.
    pub fn checked(&self, more: &[&str]) -> (i32, Value) {
        let output =
            assay(&[&["ledger", &self.at("l.toml"), "--json", "--digits", "6"][..], more].concat()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        let answer = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{error}"));
        (output.status.code().unwrap(), answer)
    }

    /// The words of a command about the ledger, on one line.
    pub fn words(&self, command: &[&str], more: &[&str]) -> String {
        let ledger = self.at("l.toml");
        let output = assay(&[command, &[ledger.as_str()][..], more].concat()).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The account, the list of entries and the memo of the ledger state this condition.
    pub fn says_everywhere(&self, condition: &str) {
        assert!(self.words(&["ledger"], &DELTA).contains(condition));
        assert!(self.words(&["ledger"], &["--show"]).contains(condition));
        assert!(self.shown()["populations"][0]["entries"][0]["condition"].as_str().unwrap().contains(condition));
        let memo = self.folder.path().join("memo-of-condition");
        let out = ["--out", memo.to_str().unwrap()];
        let said = json(&[&["memo", "--ledger", &self.at("l.toml")][..], &DELTA, &out].concat());
        assert!(said["statement"].to_string().contains(condition), "{said}");
        fs::remove_dir_all(memo).unwrap();
    }

    /// Every file in the folder of the ledger that is not a release.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| !name.ends_with(".toml") || name == "l.toml").collect();
        names.sort();
        names
    }
}

pub fn release(name: &str, neighbors: &str, query: &str) -> String {
    format!(
        "name = '{name}'\ntitle = 't'\nsource = 's'\nneighbors = '{neighbors}'\n[[level]]\nname = 'A'\n[[level.query]]\nname = 'q'\n{query}\n"
    )
}

pub fn ends(value: &Value) -> (f64, f64) {
    let end = |key: &str| value[key].to_string().parse().unwrap_or_else(|_| panic!("{value}"));
    (end("lower"), end("upper"))
}

pub fn overlap(a: &Value, b: &Value) -> bool {
    let (a, b) = (ends(a), ends(b));
    a.0 <= b.1 && b.0 <= a.1
}

/// The epsilon of counts on the command line.
pub fn epsilon(words: &[&str]) -> Value {
    json(&[&["epsilon", "--digits", "8"][..], &DELTA, words].concat())["epsilon"].clone()
}

pub fn entry(release: &str, more: &str) -> String {
    format!("[[entry]]\nrelease = '{release}.toml'\n{more}\n")
}

#[test]
fn entries_of_every_law_compose_as_their_counts_do() {
    for (entries, counts) in [
        (entry("weekly", "times = 3"), vec!["--discrete-gaussian", "200x9"]),
        (
            entry("weekly", "") + &entry("pure", "times = 2") + &entry("approximate", ""),
            vec!["--discrete-gaussian", "200x3", "--pure", "1/2x2", "--approximate", "1/2:1e-8"],
        ),
        (
            entry("sgd", "times = 2") + &entry("gaussian", ""),
            vec!["--sampled", "0.01:gaussian:1x200", "--gaussian", "40"],
        ),
        // Of a partition the worst part counts, with what is about all records.
        (
            "[[partition]]\nname = 'day'\nrule = 'the day'\n".to_string()
                + &entry("gaussian", "")
                + &entry("weekly", "partition = 'day'\npart = '1'")
                + &entry("weekly", "name = 'w'\npartition = 'day'\npart = '2'\ntimes = 2")
                + &entry("coarse", "partition = 'day'\npart = '3'"),
            vec!["--gaussian", "40", "--discrete-gaussian", "200x6"],
        ),
    ] {
        let bench = Bench::new("add-remove", &entries);
        let answer = bench.account();
        let composed = &answer["populations"][0]["composed"];
        assert!(overlap(&composed["epsilon"], &epsilon(&counts)), "{counts:?}: {answer}");
    }
}

#[test]
fn what_no_account_is_known_of_is_refused_with_its_place() {
    let partition = "[[partition]]\nname = 'day'\nrule = 'the day'\nparts = ['1', '2']\n";
    let part = "partition = 'day'\npart = '1'";
    for (neighbors, entries, said) in [
        ("bounded", entry("sgd", ""), "Poisson samples are accounted for under neighbors = \"add-remove\" only"),
        ("add-remove", entry("given", ""), "says nothing about one record more or less"),
        ("bounded", partition.to_string() + &entry("given", part), "has to be a release for add-remove"),
        (
            "bounded",
            partition.to_string() + &entry("pure", part),
            "is a guarantee, which does not say which counts are left",
        ),
        ("bounded", partition.to_string() + &entry("still", part), "\"q\" of still has moves = 0"),
        ("bounded", partition.to_string() + &entry("weekly", "partition = 'day'\npart = '3'"), "unknown part \"3\""),
        ("add-remove", entry("weekly", "") + &entry("weekly", ""), "occurs twice: say times = 2"),
    ] {
        let bench = Bench::new(neighbors, &entries);
        let message = bench.refused(&DELTA);
        assert!(message.contains(said) && message.contains("l.toml, line "), "{said}: {message}");
    }
    // A changed record is a group of two for a guarantee about one record more or less.
    let answer = Bench::new("bounded", &entry("approximate", "")).account();
    let of_two = epsilon(&["--approximate", "1/2:1e-8", "--group", "2"]);
    assert!(overlap(&answer["populations"][0]["composed"]["epsilon"], &of_two));
    // Samples compose with outputs of infinite loss.
    let bench = Bench::new("add-remove", &(entry("sgd", "") + &entry("approximate", "")));
    assert!(bench.refused(&[]).contains("--delta"));
    // In different parts they do not compose.
    let parts = entry("sgd", part) + &entry("weekly", &part.replace('1', "2"));
    let answer = Bench::new("add-remove", &(partition.to_string() + &parts)).account();
    let worst = epsilon(&["--sampled", "0.01:gaussian:1x100"]);
    let other = epsilon(&["--discrete-gaussian", "200x3"]);
    let larger = if ends(&worst).0 > ends(&other).0 { worst } else { other };
    assert!(overlap(&answer["populations"][0]["composed"]["epsilon"], &larger));
}

#[test]
fn a_changed_record_may_leave_one_part_and_enter_another() {
    let partition = "[[partition]]\nname = 'day'\nrule = 'the day'\n";
    let parts = entry("weekly", "partition = 'day'\npart = '1'") + &entry("coarse", "partition = 'day'\npart = '2'");
    let bench = Bench::new("bounded", &(partition.to_string() + &parts));
    let answer = bench.account();
    let pairs = [
        epsilon(&["--discrete-gaussian", "200x6"]),
        epsilon(&["--discrete-gaussian", "200x3", "--discrete-laplace", "0.3"]),
        epsilon(&["--discrete-laplace", "0.3x2"]),
    ];
    let largest = pairs.iter().max_by(|a, b| ends(a).1.total_cmp(&ends(b).1)).unwrap();
    assert!(overlap(&answer["populations"][0]["composed"]["epsilon"], largest), "{answer}");
    // A guarantee for add-remove covers a changed record as two; one for bounded neighbors is as given.
    for (name, times) in [("pure", "1/2x1@2"), ("given", "1/2x1")] {
        let answer = Bench::new("bounded", &(entry("weekly", "") + &entry(name, ""))).account();
        let counts = epsilon(&["--discrete-gaussian", "200x6", "--pure", times]);
        assert!(overlap(&answer["populations"][0]["composed"]["epsilon"], &counts), "{name}: {answer}");
    }
    let own = |name: &str| {
        let words = ["epsilon", "--delta", "1e-6", "--neighbors", "bounded", "--release", &bench.at(name)];
        ends(&json(&words)["epsilon"]).1
    };
    assert!(own("pure.toml") > 0.99 && own("given.toml") < 0.51);
}

#[test]
fn a_certificate_of_safetab_enters_with_the_counts_that_it_certifies() {
    let data = |name: &str| format!("{}/data/examples/{name}", env!("CARGO_MANIFEST_DIR"));
    let (spec, geography) = (data("safetab"), data("safetab/GRF-C.txt"));
    let (config, persons) = (data("safetab/config.json"), data("safetab/person-records.txt"));
    let persons = ["--config", &config, "--spec", &spec, "--persons", &persons, "--geography", &geography];
    let (config, records) = (data("safetab-h/config.json"), data("safetab-h/household-records.txt"));
    let totals = data("safetab-h/pop-group-totals.txt");
    let households = ["--households", &records, "--totals", &totals, "--geography", &geography];
    let households = [&["--config", &config, "--spec", &spec][..], &households].concat();
    let [spec, areas, people] =
        ["specification.toml", "hamlets.csv", "persons.csv"].map(|name| data(&format!("safetab-aldria/{name}")));
    let country = ["--spec", &spec, "--geography", &areas, "--persons", &people];
    for words in [&persons[..], &households, &country] {
        let certificate = json(&[&["tabulate", "--dry-run"][..], words].concat());
        // The budget needs no records.
        let is_of_records = |option: &&str| ["--persons", "--households"].contains(option);
        let at = words.iter().position(is_of_records).unwrap();
        let public = [&["tabulate", "--dry-run"], &words[..at], &words[at + 2..]].concat();
        let planned = json(&public);
        for key in ["algorithm", "passes", "rho_exact", "pure_epsilon_exact", "epsilon"] {
            assert_eq!(planned[key], certificate[key], "{key}");
        }
        let drawn: Vec<&str> = public.iter().map(|word| if *word == "--dry-run" { "--check" } else { word }).collect();
        assert!(refusal(&drawn).contains("give --persons"), "{drawn:?}");
        for neighbors in ["add-remove", "bounded"] {
            let bench = Bench::new(neighbors, "[[entry]]\nsafetab = 'certificate.json'\n");
            bench.put("certificate.json", &certificate.to_string());
            let answer = json(&["ledger", &bench.at("l.toml"), "--delta", "1e-10", "--digits", "8"]);
            let stated = if neighbors == "bounded" { &certificate["bounded"] } else { &certificate };
            let upper = |value: &Value| value["upper"].as_f64().unwrap();
            let (own, stated) = (upper(&answer["populations"][0]["composed"]["epsilon"]), upper(&stated["epsilon"]));
            assert!((own - stated).abs() < 1e-6, "{answer}");
        }
        // After earlier draws, of which only the budgets are known, their sum counts.
        let bench = Bench::new("bounded", "[[entry]]\nsafetab = 'certificate.json'\n");
        let mut after = certificate.clone();
        after["earlier_draws"] = 1.into();
        after["earlier_budgets_exact"] = serde_json::json!(["1/2"]);
        after["earlier_draws_of_another_unit"] = 0.into();
        after["earlier_draws_into_other_folders"] = 0.into();
        after["all_draws"] = serde_json::json!({ "rho": 20, "rho_exact": "20" });
        bench.put("certificate.json", &after.to_string());
        let people = &bench.account()["populations"][0];
        assert!(people["composed"]["epsilon"].is_null() && people["zcdp_total"]["rho"] == 40, "{people}");
        // The sum holds under a condition, which every answer about the ledger states.
        let condition = "its budget is that of 2 draws together, for a record that is in the same part in every draw";
        assert_eq!(people["releases"][0]["condition"], condition, "{people}");
        assert!(people["zcdp_total"]["conditions"][0].as_str().unwrap().contains(condition), "{people}");
        bench.says_everywhere(condition);
        after["blocks"] = "cut to blocks that hold a unit, as the bureau's reader does".into();
        bench.put("certificate.json", &after.to_string());
        bench.says_everywhere(&format!(
            "{condition}; which blocks hold a unit is no secret, and not part of the guarantee"
        ));
        after["earlier_draws_of_another_unit"] = 1.into();
        bench.put("certificate.json", &after.to_string());
        assert!(bench.refused(&DELTA).contains("earlier_draws_of_another_unit"));
        // Of such a draw no more is known than that the log does not name its unit.
        assert!(
            bench
                .refused(&DELTA)
                .contains("1 earlier draw spent a budget whose unit or neighbors the log does not name")
        );
        let bench = Bench::new("add-remove", "[[entry]]\nsafetab = 'certificate.json'\n");
        let (rho, stability) = (&certificate["rho_exact"], &certificate["passes"][0]["levels"][0]["stability"]);
        for (from, to, said) in [
            ("\"insecure_seed\":null", "\"insecure_seed\":7", "insecure_seed: expected null"),
            ("\"algorithm\":\"SafeTab", "\"algorithm\":\"Safe", "algorithm: expected"),
            (
                &format!("\"rho_exact\":{rho}"),
                "\"rho_exact\":\"1/9\"",
                "rho_exact: expected a budget that covers the noise",
            ),
            (&format!("\"stability\":{stability}"), "\"stability\":\"many\"", "stability: expected a whole number"),
            ("\"passes\":[", "\"pases\":[", "passes: expected a list"),
            ("\"earlier_draws\":null", "\"earlier_draws\":1", "earlier_draws: expected"),
            ("{", "[", "certificate.json, line 1"),
        ] {
            let text = certificate.to_string();
            assert!(text.contains(from), "{from} in {text}");
            bench.put("certificate.json", &text.replacen(from, to, 1));
            let message = bench.refused(&DELTA);
            assert!(message.contains(said), "{to}: {message}");
        }
    }
}

/// A memo has a copy of everything that decides the account of measurements.
fn copied_to_a_memo(bench: &Bench) {
    let out = bench.at("memo");
    assay(&["memo", "--ledger", &bench.at("l.toml"), "--delta", "1e-10", "--out", &out]).assert().success();
    let copies = [
        ("measurements.json", "measured/measurements.json"),
        ("spine.toml", "spine/spine.toml"),
        ("levels.csv", "spine/levels.csv"),
        ("units.csv", "spine/units.csv"),
        ("blocks.csv", "spine/blocks.csv"),
    ];
    for (copy, of) in copies {
        assert_eq!(bench.read(&format!("memo/inputs/{copy}")), bench.read(of));
    }
    let release = dp_assay::release::bundled_text("pl94-units-us").unwrap();
    assert_eq!(bench.read("memo/inputs/pl94-units-us.toml"), release);
}

#[test]
fn a_folder_of_measurements_enters_with_its_budget_or_exactly() {
    let bench = Bench::new("bounded", "[[entry]]\nmeasurements = 'measured'\n");
    let folder = bench.folder.path();
    let blocks: String =
        (0..20).map(|n| format!("44001{:06}{}00{}\n", 100 * (n / 10 + 1), n / 5 % 2 + 1, n % 5)).collect();
    let blocks = bench.put("blocks.csv", &format!("block\n{blocks}"));
    let plan = bench.put("plan.toml", "settings = \"redistricting-units\"\nrelease = \"pl94-units-us\"\n");
    let counts = bench.put("counts.csv", "block,h1,count\n440010001001000,occupied,7\n");
    let (spine, out) = (folder.join("spine"), folder.join("measured"));
    let (spine, out) = (spine.to_str().unwrap(), out.to_str().unwrap());
    assay(&["spine", "--blocks", &blocks, "--plan", &plan, "--out", spine]).assert().success();
    let release = ["--release", "pl94-units-us"];
    let measure = [&["measure", "--spine", spine, "--counts", &counts, "--out", out][..], &release].concat();
    let drawn = json(&measure);
    // Only the budget.
    let answer = bench.account();
    let people = &answer["populations"][0];
    assert_eq!(people["composed"]["not_covered"][0], "measured");
    assert_eq!(people["zcdp_total"]["rho"], drawn["rho"], "{drawn}");
    // With the release and the spine the exact account, which is that of the draw at its delta.
    let own = bench.read("l.toml");
    bench.put("l.toml", &format!("{own}release = 'pl94-units-us'\nspine = 'spine'\n"));
    copied_to_a_memo(&bench);
    let answer = json(&["ledger", &bench.at("l.toml"), "--delta", "1e-10", "--digits", "8"]);
    assert!(overlap(&answer["populations"][0]["composed"]["epsilon"], &drawn["epsilon"]), "{answer} {drawn}");
    bench.put("l.toml", &format!("{own}release = 'pl94-units-pr'\nspine = 'spine'\n"));
    assert!(bench.refused(&DELTA).contains("is not what was drawn"));
    bench.put("l.toml", &format!("{own}release = 'pl94-units-us'\n"));
    assert!(bench.refused(&DELTA).contains("belong together"));
    bench.put("l.toml", &own);
    let manifest = bench.read("measured/measurements.json");
    bench.put("measured/measurements.json", &manifest.replacen("\"insecure_seed\": null", "\"insecure_seed\": 3", 1));
    assert!(bench.refused(&DELTA).contains("insecure_seed"));
    bench.put("measured/measurements.json", &manifest.replacen("\"neighbors\"", "\"neighbours\"", 1));
    assert!(bench.refused(&DELTA).contains("expected neighbors and rho"));
    bench.put("measured/measurements.json", &manifest.replacen("\"draw\": 1", "\"draw\": 2", 1));
    assert!(bench.refused(&DELTA).contains("the draws before it spent budgets as well"));
    // With the budgets of earlier draws their sum enters, and an exact account is refused.
    let earlier = "\"earlier_draws\": 1, \"earlier_budgets_exact\": [\"5\"], \"earlier_draws_of_another_unit\": 0, \
                   \"earlier_budgets_of_other_units\": [], \"earlier_draws_into_other_folders\": 1, \
                   \"all_draws\": { \"rho\": 6, \"rho_exact\": \"6\" }";
    let after = manifest.replacen("\"earlier_draws\": 0", earlier, 1);
    assert_ne!(after, manifest);
    bench.put("measured/measurements.json", &after);
    assert_eq!(bench.account()["populations"][0]["zcdp_total"]["rho"], 6);
    // A draw of `measure` has no parts, so the sum holds for every record.
    bench.says_everywhere("its budget is that of 2 draws together");
    assert!(!bench.words(&["ledger"], &DELTA).contains("same part"));
    bench.put("l.toml", &format!("{own}release = 'pl94-units-us'\nspine = 'spine'\n"));
    assert!(bench.refused(&DELTA).contains("only the budgets are known"));
    bench.put("l.toml", &own);
    let other = "\"earlier_draws_of_another_unit\": 1, \"earlier_budgets_of_other_units\": [{ \"draws\": 1 }]";
    let other =
        after.replacen("\"earlier_draws_of_another_unit\": 0, \"earlier_budgets_of_other_units\": []", other, 1);
    bench.put("measured/measurements.json", &other);
    assert!(bench.refused(&DELTA).contains("earlier_draws_of_another_unit"));
    // Pure differential privacy: a guarantee, or with the spine the noise itself.
    let shares = Release::find("pl94-units-us").unwrap();
    let share = |level: &GeoLevel| {
        let share = dp_assay::rug::Rational::from(&level.rho / &shares.rho);
        format!("[[level]]\nname = \"{}\"\nproportion = \"{share}\"\n", level.name)
    };
    let levels: String = shares.levels.iter().map(share).collect();
    let plan = format!("settings = \"redistricting-units\"\nprivacy = \"pure\"\n{levels}");
    let plan = bench.put("pure-plan.toml", &plan);
    let (spine, out) = (bench.at("pure-spine"), bench.at("pure-measured"));
    assay(&["spine", "--blocks", &blocks, "--plan", &plan, "--out", &spine]).assert().success();
    let others = bench.put("others.csv", "block,h1,count\n440010001001000,occupied,7\n");
    let measure = ["measure", "--spine", &spine, "--counts", &others, "--out", &out, "--epsilon", "2"];
    let drawn = json(&[&measure[..], &release].concat());
    let own = own.replace("'measured'", "'pure-measured'");
    bench.put("l.toml", &own);
    let guarantee = &bench.account()["populations"][0]["composed"]["epsilon"];
    assert!(overlap(guarantee, &epsilon(&["--pure", "2"])), "{guarantee}");
    // With an earlier draw every command that takes everything in the ledger states the condition of its budget.
    let manifest = bench.read("pure-measured/measurements.json");
    let earlier = "\"earlier_draws\": 1, \"earlier_budgets_exact\": [\"1\"], \"earlier_draws_of_another_unit\": 0, \
                   \"earlier_budgets_of_other_units\": [], \"earlier_draws_into_other_folders\": 0, \
                   \"all_draws\": { \"pure_epsilon\": 3, \"pure_epsilon_exact\": \"3\" }";
    let after = manifest.replacen("\"earlier_draws\": 0", earlier, 1);
    assert_ne!(after, manifest);
    bench.put("pure-measured/measurements.json", &after);
    let condition = "its budget is that of 2 draws together";
    bench.says_everywhere(condition);
    for command in
        [&["risk", "bound", "--prior", "1/2", "--ledger"][..], &["risk", "curve", "--prior", "1/2", "--ledger"]]
    {
        assert!(bench.words(command, &[]).contains(condition), "{command:?}");
        assert!(bench.words(command, &["--json"]).contains(condition), "{command:?}");
    }
    let page = bench.at("report.html");
    assay(&["report", "--ledger", &bench.at("l.toml"), "--out", &page]).assert().success();
    assert!(bench.read("report.html").contains(condition));
    let sought = ["calibrate", "--discrete-gaussian", "?", "--epsilon", "4", "--delta", "1e-6", "--ledger"];
    assert!(bench.words(&sought, &[]).contains(condition) && bench.words(&sought, &["--json"]).contains(condition));
    let (_, added) = bench.added("weekly.toml", "0.1", &[]);
    assert!(added["conditions"][0].as_str().unwrap().contains(condition), "{added}");
    bench.put("pure-measured/measurements.json", &manifest);
    bench.put("l.toml", &format!("{own}release = 'pl94-units-us'\nspine = 'pure-spine'\n"));
    let answer = json(&["ledger", &bench.at("l.toml"), "--delta", "1e-10", "--digits", "8"]);
    assert!(overlap(&answer["populations"][0]["composed"]["epsilon"], &drawn["epsilon"]), "{answer} {drawn}");
}

#[test]
fn a_new_ledger_is_written_once_and_shown_without_an_account() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.toml");
    let name = file.to_str().unwrap();
    assay(&["ledger", "--new", name]).assert().success();
    let text = fs::read_to_string(&file).unwrap();
    assert!(refusal(&["ledger", "--new", name]).contains("is there already"));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert!(refusal(&["ledger", "--new", &name.replace(".toml", ".csv")]).contains("toml"));
    let shown = json(&["ledger", name, "--show"]);
    assert_eq!((&shown["populations"][0]["entries"], &shown["pending"]), (&serde_json::json!([]), &0.into()));
    let empty = json(&["ledger", name, "--delta", "1e-6"]);
    assert!(empty["populations"][0]["composed"].is_null());
    let bundled = json(&["ledger", "us-2020-persons", "--show"]);
    assert_eq!(bundled["populations"][0]["entries"].as_array().unwrap().len(), 4);
    assert!(refusal(&["ledger", name, "--show", "--delta", "1e-6"]).contains("--delta"));
    assert!(refusal(&["ledger", name, "--promise", "1", "--delta", "1e-6"]).contains("--add"));
}

/// From rho alone a change of one record, which is two steps, costs 2^2 rho; counts that are left and entered cost twice theirs.
#[test]
fn rho_alone_of_one_record_is_spent_four_times_by_a_change() {
    let bench = Bench::new("bounded", &(entry("weekly", "") + &entry("budget", "")));
    fs::copy("tests/common/budget-only.toml", bench.at("budget.toml")).unwrap();
    let text =
        String::from_utf8(assay(&[&["ledger", &bench.at("l.toml")][..], &DELTA].concat()).output().unwrap().stdout)
            .unwrap();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("Four times its rho, for a change of one record, which is two steps: budget-only"),
        "{text}"
    );
    assert!(words.contains("Counted twice, for the record that leaves and the one that enters: weekly"), "{text}");
    // 4 * 5/4 and 2 * 3 / 400.
    assert!(words.contains("5.015"), "{text}");
}

#[test]
fn the_odometer_adds_below_the_promise_and_writes_nothing_above() {
    let bench = Bench::new("add-remove", "");
    let (status, first) = bench.added("weekly.toml", "0.75", &[]);
    assert_eq!((status, &first["added"], &first["log"]["line"]), (0, &true.into(), &1.into()), "{first}");
    assert!(overlap(&first["after"]["epsilon"], &epsilon(&["--discrete-gaussian", "200x3"])));
    let (status, second) = bench.added("weekly.toml", "0.75", &[]);
    assert_eq!((status, second["name"].as_str()), (0, Some("weekly (2)")), "{second}");
    let before = (bench.read("l.toml"), bench.read("l.toml.log"), bench.files());
    let (status, third) = bench.added("weekly.toml", "0.75", &[]);
    assert_eq!((status, &third["added"], &third["log"]), (1, &false.into(), &Value::Null), "{third}");
    assert!(ends(&third["after"]["epsilon"]).1 > 0.75);
    assert_eq!((bench.read("l.toml"), bench.read("l.toml.log"), bench.files()), before);
    // By the sum of rho less remains: two of them are 0.77.
    let (status, answer) = bench.added("gaussian.toml", "0.9", &["--adaptive"]);
    assert_eq!((status, answer["after"]["by"].as_str()), (1, Some("rho")), "{answer}");
    assert_eq!(answer["other_promise"]["epsilon"], "0.75");
    assert_eq!(bench.read("l.toml"), before.0);
    // A budget alone decides by rho; several times, under a name, in a part.
    fs::copy("tests/common/budget-only.toml", bench.at("budget.toml")).unwrap();
    let (status, answer) = bench.added("budget.toml", "1000", &["--name", "b", "--times", "2"]);
    assert_eq!((status, answer["after"]["by"].as_str()), (0, Some("rho")), "{answer}");
    // 2 * 1.25 and 2 * 3 / 400.
    assert_eq!((answer["after"]["rho"].to_string(), &answer["name"]), ("2.515".to_string(), &"b".into()));
    assert_eq!(bench.shown()["populations"][0]["entries"][2]["times"], 2);
    for (more, said) in [
        (vec!["--population", "q"], "unknown population"),
        (vec!["--partition", "day", "--part", "1"], "unknown partition"),
        (vec!["--name", "weekly"], "occurs twice"),
        (vec!["--times", "0"], "--times"),
        (vec!["--partition", "day"], "--part"),
    ] {
        let output = bench.add("weekly.toml", "9", &more).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains(said), "{more:?}: {message}");
    }
}

/// A guarantee with a delta has no epsilon at a smaller one, and no decision by the sum of rho; and wrong arguments.
#[test]
fn the_odometer_refuses_what_it_cannot_add() {
    let bench = Bench::new("add-remove", "");
    let output = bench.add("approximate.toml", "9", &["--adaptive"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("only one of two neighbors can have"));
    let words =
        ["ledger", &bench.at("l.toml"), "--add", &bench.at("approximate.toml"), "--promise", "9", "--delta", "1e-9"];
    // An infinite epsilon breaks every promise.
    let (before, output) = (bench.read("l.toml"), assay(&words).output().unwrap());
    assert!(output.status.code() == Some(1) && bench.read("l.toml") == before, "{output:?}");
    let (status, answer) =
        bench.checked(&["--check", &bench.at("approximate.toml"), "--promise", "9", "--delta", "1e-9"]);
    assert!(status == 1 && answer["candidates"][0]["fits"] == false, "{answer}");
    assert!(answer["candidates"][0]["epsilon"]["upper"].is_null(), "{answer}");
    assert!(
        refusal(&["ledger", &bench.at("none.toml"), "--add", "x", "--promise", "9", "--delta", "1e-9"])
            .contains("no such file")
    );
    for (promise, delta) in [("0", "2"), ("-1", "1e-6"), ("x", "1e-6")] {
        refusal(&[
            "ledger",
            &bench.at("l.toml"),
            "--add",
            &bench.at("weekly.toml"),
            "--promise",
            promise,
            "--delta",
            delta,
        ]);
    }
    assert!(
        refusal(&["ledger", "us-2020-persons", "--add", "su-su-wang-2025", "--promise", "1", "--delta", "1e-6"])
            .contains("bundled")
    );
}

#[test]
fn a_log_or_ledger_that_was_changed_is_noticed_and_an_interrupted_addition_counts() {
    let bench = Bench::new("add-remove", "");
    let at_first = bench.read("l.toml");
    for release in ["weekly.toml", "gaussian.toml", "weekly.toml"] {
        assert_eq!(bench.added(release, "9", &[]).0, 0);
    }
    let (ledger, log) = (bench.read("l.toml"), bench.read("l.toml.log"));
    let refused = |ledger: &str, log: Option<&str>| {
        bench.put("l.toml", ledger);
        match log {
            Some(log) => drop(bench.put("l.toml.log", log)),
            None => fs::remove_file(bench.at("l.toml.log")).unwrap(),
        }
        bench.refused(&["--show"])
    };
    let lines: Vec<&str> = log.lines().collect();
    let blocks: Vec<&str> = ledger.split("\n[[entry]]").collect();
    assert!(refused(&ledger, None).contains("has no such line"));
    assert!(refused(&ledger, Some(&format!("{}\n{}\n", lines[0], lines[1]))).contains("has no such line"));
    assert!(refused(&ledger, Some(&log.replacen("\"promise\":\"9\"", "\"promise\":\"1\"", 1))).contains("line 2"));
    assert!(refused(&ledger.replacen("'p'", "'q'", 1), Some(&log)).contains("unknown population \"p\""));
    let without = format!("{}\n[[entry]]{}\n[[entry]]{}", blocks[0], blocks[1], blocks[3]);
    assert!(refused(&without, Some(&log)).contains("was removed or moved"));
    let changed = ledger.replacen("name = \"weekly\"", "name = \"weekly\"\ntimes = 1", 1);
    assert!(refused(&changed, Some(&log)).contains("is not the one that was added"));
    bench.put("weekly.toml", &release("weekly", "add-remove", "sigma2 = 2000"));
    assert!(refused(&ledger, Some(&log)).contains("is not the file that was entered"));
    bench.put("weekly.toml", &release("weekly", "add-remove", "sigma2 = 200\ncells = 3"));
    // A ledger that lacks the last entries has them by its log, and the next addition completes it; a torn line is none.
    let all = (bench.put("l.toml", &ledger), bench.account()).1;
    for kept in [1, 2] {
        let partial = ledger.split("\n[[entry]]").take(kept).collect::<Vec<_>>().join("\n[[entry]]");
        bench.put("l.toml", &partial);
        bench.put("l.toml.log", &format!("{log}{{\"number\":4,\"da"));
        assert_eq!(bench.shown()["pending"], 4 - kept);
        assert_eq!(bench.account()["populations"], all["populations"]);
        let (status, answer) = bench.added("gaussian.toml", "9", &[]);
        assert_eq!((status, &answer["log"]["line"]), (0, &4.into()), "{answer}");
        let shown = bench.shown();
        assert_eq!((&shown["pending"], shown["log"].as_array().unwrap().len()), (&0.into(), 4));
        assert!(bench.read("l.toml").starts_with(ledger.trim_end()), "the same text as without the interruption");
    }
    // Entries in a list have no end at which another one can stand.
    fs::remove_file(bench.at("l.toml.log")).unwrap();
    bench.put("l.toml", &format!("entry = [{{ release = 'coarse.toml' }}]\n{at_first}"));
    let output = bench.add("gaussian.toml", "9", &[]).output().unwrap();
    assert!(
        output.status.code() == Some(2) && String::from_utf8_lossy(&output.stderr).contains("can stand at its end")
    );
    assert_eq!(bench.files(), ["l.toml"]);
    // What a person enters by hand stays, and comments do.
    bench.put("l.toml", &format!("# mine\n{at_first}{}", entry("coarse", "")));
    bench.put("l.toml.log", &log);
    assert_eq!(bench.added("gaussian.toml", "9", &[]).0, 0);
    assert!(bench.read("l.toml").starts_with("# mine\n"));
    assert_eq!(bench.shown()["populations"][0]["entries"].as_array().unwrap().len(), 5);
}

#[cfg(unix)]
#[test]
fn two_names_of_a_ledger_have_one_log() {
    let bench = Bench::new("add-remove", "");
    std::os::unix::fs::symlink("l.toml", bench.at("link.toml")).unwrap();
    fs::create_dir(bench.at("other")).unwrap();
    std::os::unix::fs::symlink("../l.toml", bench.at("other/link.toml")).unwrap();
    let words = ["ledger", &bench.at("link.toml"), "--add", &bench.at("weekly.toml"), "--promise", "9"];
    json(&[&words[..], &DELTA].concat());
    assert_eq!(bench.files(), ["l.toml", "l.toml.log", "other"]);
    let log = bench.read("l.toml.log");
    // In another folder the same paths are other files.
    assert!(refusal(&["ledger", &bench.at("other/link.toml"), "--show"]).contains("no such file"));
    assert_eq!(bench.read("l.toml.log"), log);
    assert!(fs::symlink_metadata(bench.at("link.toml")).unwrap().is_symlink());
    assert_eq!(bench.shown()["log"].as_array().unwrap().len(), 1);
}

/// Of budgets alone nothing is composed, so no line says that it is.
#[test]
fn budgets_alone_have_one_line_for_all() {
    let bench = Bench::new("add-remove", "[[entry]]\nrelease = 'budget.toml'\n");
    fs::copy("tests/common/budget-only.toml", bench.at("budget.toml")).unwrap();
    let output =
        assay(&[&["ledger", &bench.at("l.toml")][..], &DELTA].concat()).assert().success().get_output().clone();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("all, by zCDP alone") && !said.contains("all but"), "{said}");
}

/// The log binds the relation, and entries that were written by hand: who changes them frees no budget unnoticed.
#[test]
fn a_log_binds_the_relation_and_entries_by_hand() {
    let by_hand = "releases = ['coarse.toml']\n[[entry]]\nname = 'mine'\nrelease = 'gaussian.toml'\n";
    let bench = Bench::new("bounded", by_hand);
    assert_eq!(bench.added("weekly.toml", "9", &[]).0, 0);
    let text = bench.read("l.toml");
    for (from, to, said) in [
        ("neighbors = 'bounded'", "neighbors = 'add-remove'", "has add-remove neighbors, and had bounded in line 1"),
        ("[[entry]]\nname = 'mine'\nrelease = 'gaussian.toml'\n", "", "\"mine\""),
        ("name = 'mine'\nrelease = 'gaussian.toml'", "name = 'mine'\nrelease = 'weekly.toml'", "\"mine\""),
        ("releases = ['coarse.toml']\n", "", "\"coarse\""),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        bench.put("l.toml", &changed);
        for words in [&["--show"][..], &DELTA] {
            let message = bench.refused(words);
            assert!(message.contains(said) && message.contains("line 1"), "{said}: {message}");
        }
        let output = bench.add("weekly.toml", "9", &[]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
    }
    // So is a release file by hand whose noise changed, for which the ledger has no hash.
    bench.put("l.toml", &text);
    let gaussian = bench.read("gaussian.toml");
    bench.put("gaussian.toml", &gaussian.replace("sigma2 = 40", "sigma2 = 4000"));
    assert!(bench.refused(&["--show"]).contains("\"mine\""));
    bench.put("gaussian.toml", &format!("# a comment\n{gaussian}"));
    assert_eq!(bench.shown()["log"].as_array().unwrap().len(), 1);
    // More by hand is no less, and from a reason on the lines before it bind no more.
    bench.put("l.toml", &format!("{text}\n[[entry]]\nname = 'more'\nrelease = 'weekly.toml'\n"));
    bench.shown();
    bench.put("l.toml", &text.replacen("releases = ['coarse.toml']\n", "", 1));
    assert!(bench.refused(&["--show"]).contains("\"coarse\""));
    for reason in ["", " "] {
        let output = bench.add("weekly.toml", "9", &["--because", reason]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
    }
    let (status, _) = bench.added("weekly.toml", "9", &["--because", "coarse was never published"]);
    assert_eq!((status, bench.shown()["log"].as_array().unwrap().len()), (0, 2));
    assert!(bench.read("l.toml.log").contains("\"because\":\"coarse was never published\""));
    bench.put("l.toml", &bench.read("l.toml").replacen("neighbors = 'bounded'", "neighbors = 'add-remove'", 1));
    assert!(bench.refused(&["--show"]).contains("had bounded in line 2"));
}

/// The log binds the rules of partitions: by another rule other records are in a part.
#[test]
fn a_log_binds_the_rules_of_partitions() {
    let partition = |name: &str, rule: &str| format!("[[partition]]\nname = '{name}'\nrule = '{rule}'\n");
    let bench = Bench::new("add-remove", &[partition("day", "by start"), partition("other", "unused")].concat());
    for part in ["a", "b"] {
        assert_eq!(bench.added("weekly.toml", "9", &["--partition", "day", "--part", part]).0, 0);
    }
    let text = bench.read("l.toml");
    let changed = text.replace("by start", "by end");
    bench.put("l.toml", &changed);
    let said = "the partition \"day\" had the rule \"by start\" in line 1 of the log, and has another one or is gone";
    assert!(bench.refused(&["--show"]).contains(said));
    assert_eq!(bench.add("weekly.toml", "9", &[]).output().unwrap().status.code(), Some(2));
    // A rule that no entry uses binds nothing, and a reason frees the other.
    bench.put("l.toml", &text.replace("unused", "still unused"));
    bench.shown();
    bench.put("l.toml", &changed);
    assert_eq!(bench.added("weekly.toml", "9", &["--because", "it was by end from the first day"]).0, 0);
    bench.put("l.toml", &bench.read("l.toml").replace("by end", "by start"));
    assert!(bench.refused(&["--show"]).contains("had the rule \"by end\" in line 3"));
}

/// At the same delta the account never becomes less, whatever was promised: here the parts of a partition change, and no entry.
#[test]
fn an_account_below_an_earlier_line_needs_a_reason() {
    let partition = "[[partition]]\nname = 'day'\nrule = 'r'\n";
    let bench = Bench::new("add-remove", partition);
    for _ in 0..2 {
        assert_eq!(bench.added("weekly.toml", "9", &[]).0, 0);
    }
    // An old log, without what it binds: each line is written again with the hash of the line before it.
    let rewritten = |change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
        let mut previous = "0".repeat(64);
        let mut ledger = bench.read("l.toml");
        let mut log = String::new();
        for line in bench.read("l.toml.log").lines() {
            let mut value: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
            value.insert("previous".into(), previous.into());
            change(&mut value);
            let text = serde_json::to_string(&value).unwrap();
            let (old, new) = (sha256_of_text(line), sha256_of_text(&text));
            ledger = ledger.replace(&old, &new);
            previous = new;
            log += &format!("{text}\n");
        }
        (ledger, log)
    };
    // A line that says more than the entries account for, as after a change that nothing else notices.
    let (ledger, log) = rewritten(&|line| drop(line.insert("at_least".into(), "5".into())));
    bench.put("l.toml", &ledger);
    bench.put("l.toml.log", &log);
    let output = bench.add("weekly.toml", "9", &[]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).to_string();
    assert!(output.status.code() == Some(2) && message.contains("line 1 of the log has at least 5"), "{message}");
    // What was spent does not depend on what was promised, and a withdrawal of noise that may have been drawn takes nothing away.
    let refused = |bench: &Bench, promise: &str| {
        let output = bench.add("weekly.toml", promise, &[]).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).to_string();
        assert!(output.status.code() == Some(2) && message.contains("line 1 of the log has at least 5"), "{message}");
    };
    refused(&bench, "8");
    let text = bench.read("l.toml");
    json(&["ledger", &bench.at("l.toml"), "--withdraw", "weekly", "--because", "it was late"]);
    refused(&bench, "9");
    assert_eq!(bench.read("l.toml"), text);
    assert_eq!(bench.added("weekly.toml", "9", &["--because", "the lower end was a slip"]).0, 0);
    assert_eq!(bench.added("weekly.toml", "8", &[]).0, 0);
    assert_eq!(bench.added("weekly.toml", "9", &[]).0, 0);
    // Lines of earlier versions bind nothing, and are read.
    let (ledger, log) = rewritten(&|line| {
        for key in ["at_least", "neighbors", "by_hand", "partitions", "because"] {
            line.remove(key);
        }
    });
    bench.put("l.toml", &ledger.replacen("neighbors = 'add-remove'", "neighbors = 'bounded'", 1));
    bench.put("l.toml.log", &log);
    assert_eq!(bench.shown()["log"].as_array().unwrap().len(), 6);
}

/// A bundled release is entered with the hash of its account: its text may change with the program, and its noise may not.
#[test]
fn a_bundled_release_is_bound_by_its_account() {
    let bench = Bench::new("bounded", "");
    let words = ["ledger", &bench.at("l.toml"), "--add", "pl94-units-us", "--promise", "99"];
    json(&[&words[..], &DELTA].concat());
    let text = bench.read("l.toml");
    assert!(text.contains("account = ") && !text.contains("sha256 = "), "{text}");
    let (_, account) = text.split_once("account = \"").unwrap();
    let account = &account[..64];
    // The same release as a file of another text has the same account; with more noise it has not.
    let own = Release::find("pl94-units-us").unwrap();
    let entry = |name: &str| {
        let head = text.split("[[entry]]").next().unwrap();
        format!("{head}[[entry]]\nrelease = '{name}'\naccount = '{account}'\n")
    };
    fs::remove_file(bench.at("l.toml.log")).unwrap();
    bench.put("same.toml", &format!("# a comment\n{}", own.to_toml()));
    bench.put("l.toml", &entry("same.toml"));
    bench.shown();
    let quieter = own.to_toml().replacen("sigma2 = \"", "sigma2 = \"1", 1);
    assert_ne!(quieter, own.to_toml());
    bench.put("other.toml", &quieter);
    bench.put("l.toml", &entry("other.toml"));
    assert!(bench.refused(&["--show"]).contains("account: "));
}

/// A ledger and its log with the hashes of version 0.2.0, which have the name of a table in place of its masses: they are read, bind what they hold,
/// and the next line has the hashes of now.
#[test]
fn hashes_of_earlier_versions_are_read_and_bind() {
    let bench = Bench::new("bounded", "");
    for name in ["l.toml", "l.toml.log"] {
        fs::copy(format!("tests/common/ledger-0.2.0{}", &name[1..]), bench.at(name)).unwrap();
    }
    let shown = bench.shown();
    assert_eq!((&shown["pending"], shown["log"].as_array().unwrap().len()), (&0.into(), 2));
    let log = bench.read("l.toml.log");
    bench.put("gaussian.toml", &bench.read("gaussian.toml").replace("sigma2 = 40", "sigma2 = 41"));
    assert!(bench.refused(&["--show"]).contains("\"mine\""));
    bench.put("gaussian.toml", &bench.read("gaussian.toml").replace("sigma2 = 41", "sigma2 = 40"));
    assert_eq!(bench.added("weekly.toml", "9", &[]).0, 0);
    let line: Value = serde_json::from_str(bench.read("l.toml.log").lines().last().unwrap()).unwrap();
    let before: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!(line["by_hand"].as_array().unwrap().len(), 2);
    for (new, old) in line["by_hand"].as_array().unwrap().iter().zip(before["by_hand"].as_array().unwrap()) {
        assert!(new[0] == old[0] && new[1] != old[1], "{new} {old}");
    }
    assert_eq!(bench.shown()["log"].as_array().unwrap().len(), 3);
}

/// A hard link would be a second ledger of the same releases, with a log of its own.
#[cfg(unix)]
#[test]
fn a_ledger_with_hard_links_gets_no_additions() {
    let bench = Bench::new("add-remove", "");
    fs::hard_link(bench.at("l.toml"), bench.at("m.toml")).unwrap();
    let output = bench.add("weekly.toml", "9", &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("hard links"));
    fs::remove_file(bench.at("m.toml")).unwrap();
    assert_eq!(bench.added("weekly.toml", "9", &[]).0, 0);
}

/// Waits for all, and counts those that added and those that refused.
fn wait(children: Vec<Child>) -> (usize, usize) {
    let codes: Vec<Option<i32>> =
        children.into_iter().map(|child| child.wait_with_output().unwrap().status.code()).collect();
    let count = |code: i32| codes.iter().filter(|own| **own == Some(code)).count();
    assert_eq!(count(0) + count(1), codes.len(), "{codes:?}");
    (count(0), count(1))
}

#[test]
fn processes_at_once_keep_the_promise_together() {
    let bench = Bench::new("add-remove", "");
    // Four of them have 1.04, five 1.17.
    let children = (0..8).map(|_| bench.add("weekly.toml", "1.1", &[]).spawn().unwrap()).collect();
    assert_eq!(wait(children), (4, 4));
    let shown = bench.shown();
    let names = |list: &Value| list.as_array().unwrap().iter().map(|one| one["name"].clone()).collect::<Vec<_>>();
    assert_eq!(names(&shown["log"]), names(&shown["populations"][0]["entries"]));
    assert_eq!((names(&shown["log"]).len(), &shown["pending"]), (4, &0.into()));
    assert_eq!(bench.files(), ["l.toml", "l.toml.log"]);
    let (_, upper) = ends(&bench.account()["populations"][0]["composed"]["epsilon"]);
    assert!(upper <= 1.1);
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_ledger_as_it_was() {
    let bench = Bench::new("add-remove", "");
    assert_eq!(bench.added("weekly.toml", "9", &[]).0, 0);
    let before = (bench.read("l.toml"), bench.read("l.toml.log"), bench.files());
    let add = bench.add("weekly.toml", "9", &[]);
    let mut shell = Command::new("bash");
    shell.args(["-c", "trap '' XFSZ; ulimit -c 0; ulimit -f 0; exec \"$@\"", "bash"]);
    let output = shell.arg(add.get_program()).args(add.get_args()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!((bench.read("l.toml"), bench.read("l.toml.log"), bench.files()), before);
    assert_eq!(bench.added("weekly.toml", "9", &[]).0, 0);
    assert_eq!(bench.shown()["log"].as_array().unwrap().len(), 2);
}

#[cfg(unix)]
#[test]
fn a_kill_at_any_moment_leaves_the_old_state_or_the_new_one() {
    let bench = Bench::new("add-remove", "");
    let start = Instant::now();
    assert_eq!(bench.added("weekly.toml", "99", &[]).0, 0);
    let seconds = start.elapsed().as_secs_f64();
    let (mut numbers, mut known, mut killed) = (Numbers(7), 1, 0);
    for _ in 0..30 {
        // Two at once: one is killed, the other one adds.
        let mut child = bench.add("weekly.toml", "99", &[]).spawn().unwrap();
        let beside = bench.add("gaussian.toml", "99", &[]).spawn().unwrap();
        thread::sleep(Duration::from_secs_f64(numbers.below(1000) as f64 / 1000.0 * seconds * 1.5));
        child.kill().unwrap();
        let is_killed = child.wait().unwrap().code().is_none();
        killed += usize::from(is_killed);
        assert_eq!(wait(vec![beside]), (1, 0));
        let lines = whole_lines(Path::new(&bench.at("l.toml.log")));
        assert!(lines == known + 1 || lines == known + 2, "{lines} lines after {known}");
        assert!(is_killed || lines == known + 2);
        let shown = bench.shown();
        assert_eq!(shown["populations"][0]["entries"].as_array().unwrap().len(), lines);
        known = lines;
    }
    assert!(killed > 5, "{killed} were killed");
    // The next addition completes the ledger.
    assert_eq!(bench.added("gaussian.toml", "99", &[]).0, 0);
    assert_eq!(bench.shown()["pending"], 0);
    assert_eq!(bench.read("l.toml").matches("[[entry]]").count(), known + 1);
    let left: Vec<String> = bench.files().into_iter().filter(|name| !name.starts_with("l.toml")).collect();
    assert!(left.iter().all(|name| name.starts_with(".assay-") && name.ends_with(".part")), "{left:?}");
}

fn whole_lines(path: &Path) -> usize {
    fs::read_to_string(path).unwrap_or_default().matches('\n').count()
}

#[test]
fn a_path_in_a_ledger_is_relative_to_its_folder() {
    let bench = Bench::new("add-remove", "");
    let below: PathBuf = bench.folder.path().join("a/b");
    fs::create_dir_all(&below).unwrap();
    fs::rename(bench.at("l.toml"), below.join("l.toml")).unwrap();
    let ledger = below.join("l.toml");
    let ledger = ledger.to_str().unwrap();
    json(&["ledger", ledger, "--add", &bench.at("weekly.toml"), "--promise", "9", "--delta", "1e-6"]);
    assert!(fs::read_to_string(ledger).unwrap().contains("release = \"../../weekly.toml\""));
    assert_eq!(json(&["ledger", ledger, "--show"])["populations"][0]["entries"][0]["name"], "weekly");
}

/// The names and hashes of the inputs of an answer.
fn inputs(answer: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let inputs = answer["provenance"]["inputs"].as_array().unwrap();
    inputs.iter().map(|input| (text(&input["name"]), text(&input["sha256"]))).collect()
}

#[test]
fn provenance_has_everything_that_a_ledger_reads() {
    let bench = Bench::new(
        "add-remove",
        "[[entry]]\nrelease = 'coarse.toml'\n[[entry]]\nname = 'two'\nrelease = 'coarse.toml'\n",
    );
    assert_eq!(bench.added("weekly.toml", "9", &[]).0, 0);
    let read = |names: &[&str]| -> Vec<(String, String)> {
        names.iter().map(|name| (bench.at(name), sha256_of_text(&bench.read(name)))).collect()
    };
    let all = read(&["l.toml", "l.toml.log", "coarse.toml", "weekly.toml"]);
    assert_eq!(inputs(&bench.account()), all);
    let ledger = bench.at("l.toml");
    let bound = json(&["risk", "bound", "--ledger", &ledger, "--prior", "1/2", "--delta", "1e-6"]);
    assert_eq!(inputs(&bound), all);
    // A candidate, too: the file of a release, a certificate in a folder, or a bundled one.
    let (_, checked) = bench.checked(&["--check", &bench.at("pure.toml"), "--promise", "9", "--delta", "1e-6"]);
    assert_eq!(inputs(&checked), [read(&["pure.toml"]), all].concat());
    let bundled = json(&["ledger", "us-2020-persons", "--show"]);
    assert_eq!(inputs(&bundled).len(), 8, "{bundled}");
    assert!(inputs(&bundled).iter().all(|(_, sha256)| sha256.len() == 64));
    // A ledger that is written reads none.
    assert_eq!(inputs(&json(&["ledger", "--new", &bench.at("new.toml")])), []);
}

#[test]
fn an_infinite_epsilon_is_null_beside_the_probability_of_infinite_losses() {
    let bench = Bench::new("add-remove", "releases = ['weekly.toml', 'leaky.toml']\n");
    bench.put("leaky.toml", &release("leaky", "add-remove", "law = 'approximate'\nepsilon = '1/2'\ndelta = '1/100'"));
    let people = &bench.account()["populations"][0];
    let [plain, leaky] = [&people["releases"][0], &people["releases"][1]];
    assert!(plain["infinite_loss_mass"].is_null() && plain["epsilon"].is_object(), "{plain}");
    for infinite in [leaky, &people["composed"], &people["zcdp_total"]] {
        assert!(infinite["epsilon"].is_null(), "{infinite}");
        assert!((ends(&infinite["infinite_loss_mass"]).0 - 0.01).abs() < 1e-9, "{infinite}");
    }
}
