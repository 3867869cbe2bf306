//! Noise, suppression and rows of ten million counts; and whole runs from a million and from ten million synthetic persons on the
//! production's specification and Rhode Island's blocks, if the files are available (in the folder that ASSAY_FACTS names, or
//! ../shared/facts beside the package). The guide quotes it.

use std::{
    fs,
    hint::black_box,
    path::{Path, PathBuf},
};

use criterion::{Criterion, criterion_group, criterion_main};
use dp_assay::{
    draws::UnfinishedDraw,
    loss::law::Law,
    noise::Streams,
    numeric::rational::parse,
    safetab::{
        groups::{Specification, TabulatedIteration},
        schema::{
            Geography, IterationCode, IterationLevel, Pass, RegionType, SafeTabConfig, SummaryOrder, ValidationReport,
        },
        synthetic::{Population, write_geography},
        tabulate::{
            Job, Outcome, ProgramInputs, PublicJob,
            coterminous::Coterminous,
            levels::{CountNoise, KnownPersons, TabulatedLevel},
            output::ReleaseTables,
            two_stage::Tabulation,
        },
    },
    spine::blocks::{Blocks, EntityKind as Entity},
};

fn noise(sigma2: &str) -> CountNoise {
    CountNoise { law: Law::DiscreteGaussian { sigma2: parse(sigma2).expect("a number") }, margin: 0 }
}

/// A level of `regions` entities with 1000 iterations; groups get one count each unless `threshold` is low.
fn plan(regions: usize, threshold: i64) -> TabulatedLevel {
    let code = |number: usize| IterationCode::read(format!("{number:04}").as_bytes()).expect("a code");
    TabulatedLevel {
        region_type: RegionType::Tract,
        level: IterationLevel::Two,
        budget: parse("0.159").expect("a number"),
        stability: 9,
        total_only: noise("1500/53"),
        stage_1: noise("15000/53"),
        stage_2: noise("5000/159"),
        thresholds: [threshold; 3],
        suppression: Some([20, 21]),
        iterations: (0..1000).map(|i| TabulatedIteration { iteration: code(i), detailed_only: false }).collect(),
        regions: (0..regions).map(|i| format!("{i:011}")).collect(),
        known: KnownPersons::default(),
    }
}

fn tabulate(plan: &TabulatedLevel) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut streams = Streams::from_system().expect("random numbers");
    let pass = Pass::UnitedStates;
    let mut tables =
        ReleaseTables::create(folder.path(), pass, pass.region_types(), Coterminous::default(), None).expect("tables");
    let tabulation = Tabulation::new(plan, true).expect("a tabulation");
    tabulation.finish(&mut streams, &mut |piece| tables.write(plan, &piece)).expect("noise");
    black_box(tables.finish().expect("tables"));
}

fn ten_million_counts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ten million counts");
    group.sample_size(10);
    // Two draws for each of 5 million groups, nearly all of them suppressed.
    let sparse = plan(5000, i64::MAX);
    group.bench_function("5 million totals, suppressed", |bencher| bencher.iter(|| tabulate(&sparse)));
    // All cells are published.
    let dense = plan(213, i64::MIN);
    group.bench_function("sex by 23 ages, published", |bencher| bencher.iter(|| tabulate(&dense)));
    group.finish();
}

fn from_persons_to_a_release(criterion: &mut Criterion) {
    let facts = std::env::var_os("ASSAY_FACTS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/facts"), PathBuf::from);
    let production = facts.join("safetab/production");
    let blocks_of = |name: &str| facts.join(format!("geography/rhode-island/BlockAssign_ST44_RI_{name}.txt"));
    if !production.exists() || !blocks_of("AIANNH").exists() {
        println!("from persons to a release: skipped, the files of the production or of Rhode Island are not there");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let places = blocks_of("INCPLACE_CDP");
    let mut blocks = Blocks::read(&places).expect("blocks");
    blocks.attach(Entity::Place, &places, None, "PLACEFP").expect("places");
    blocks.attach(Entity::Aian, &blocks_of("AIANNH"), None, "AIANNHCE").expect("areas");
    let mut job = Job {
        public: PublicJob {
            config: production.join("config.json"),
            specification: production,
            geography: folder.path().join("GRF-C.txt"),
            program: ProgramInputs::Persons { order: SummaryOrder::default() },
            edited: None,
            delta: "1e-10".parse().expect("a delta"),
        },
        records: folder.path().join("persons"),
        out: folder.path().join("release"),
        insecure_seed: None,
        unfinished: UnfinishedDraw::Refuse,
        cluster: None,
    };
    write_geography(&blocks, &job.public.geography).expect("a geography");
    let mut report = ValidationReport::new();
    let config = SafeTabConfig::read(&job.public.config, &mut report).expect("a configuration");
    let specification = Specification::read(&job.public.specification, &config, &mut report).expect("a specification");
    let geography = Geography::read(&job.public.geography, &config, &mut report).expect("a geography");
    let population = Population::new(&geography, &specification, 7).expect("a population");

    let mut group = criterion.benchmark_group("from persons to a release");
    group.sample_size(10);
    for (name, count) in [("1 million", 1_000_000), ("10 million", 10_000_000)] {
        let persons = folder.path().join(name);
        population.write(count, &persons, |_| {}).expect("persons");
        job.records = persons;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let outcome = job.run(&mut |_| {}).expect("a release");
                assert!(matches!(outcome, Outcome::Released { records, .. } if records == count));
                // Remove the first release before the next run.
                fs::remove_dir_all(&job.out).expect("a release");
                fs::remove_file(job.out.with_extension("log")).expect("a log");
            })
        });
        if let Ok(status) = fs::read_to_string("/proc/self/status") {
            let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
            println!("memory so far, at its peak: {}", peak.trim_start_matches("VmHWM:").trim());
        }
    }
    group.finish();
}

criterion_group!(benches, ten_million_counts, from_persons_to_a_release);
criterion_main!(benches);
