//! Least squares of all queries of P.L. 94-171, in memory: processor time of one thread per block, up and down, without reading. Where the
//! system reports the time of threads (Linux), other work of the machine has no effect; elsewhere it is wall-clock time.
//!
//! `cargo bench --bench gls` uses a synthetic state, with the zeros of group quarters and without constraints. With a folder of noisy
//! measurement files of one state and its exact total, `cargo bench --bench gls -- FOLDER TOTAL`, it uses these, with all constraints,
//! together with the nation's counts, and prints a line of JSON for scripts/compare-peers.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
    time::Instant,
};

use dp_assay::{
    release::Release,
    spine::{blocks::Blocks, hierarchy::Tree},
    topdown::{
        gls::{
            areas::AreaSums,
            basis::Part,
            belief::{Belief, Below, Descent, Measured},
            pass::{Measurements, Pass, Risen, UnitCounts},
            problem::{Problem, Shape, Shapes},
        },
        nmf::{
            answers::Answers,
            budgets::Budgets,
            counts::{NationCounts, PartCounts},
            folder::NmfFolder,
            names::{Names, parts_of},
            units::{Asked, PartUnits, RootConstraints},
        },
    },
};

/// Measures how long something ran.
struct Clock(f64, Instant);

impl Clock {
    fn start() -> Clock {
        Clock(processor_seconds().unwrap_or(0.0), Instant::now())
    }

    fn seconds(&self) -> f64 {
        processor_seconds().map_or_else(|| self.1.elapsed().as_secs_f64(), |now| now - self.0)
    }
}

/// The time that all threads of this process spent on a processor.
fn processor_seconds() -> Option<f64> {
    let tasks = fs::read_dir("/proc/self/task").ok()?;
    let ran = |task: fs::DirEntry| -> Option<f64> {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    tasks.map(|task| ran(task.ok()?)).sum::<Option<f64>>().map(|nanoseconds| nanoseconds / 1e9)
}

/// Counties, tracts, block groups and blocks per unit above.
const FANOUTS: [u64; 4] = [10, 12, 4, 30];

/// The counts of every level, in memory. A pass consumes them, so each pass gets a copy made before it.
struct Held {
    levels: Vec<Vec<UnitCounts>>,
    copy: Mutex<Vec<Vec<UnitCounts>>>,
}

impl Held {
    fn new(levels: Vec<Vec<UnitCounts>>) -> Held {
        Held { levels, copy: Mutex::new(Vec::new()) }
    }

    fn prepare(&self) {
        *self.copy.lock().expect("one thread") = self.levels.clone();
    }
}

impl Measurements for Held {
    fn read(
        &self,
        level: usize,
        take: &mut dyn FnMut(Vec<UnitCounts>) -> dp_assay::Result<()>,
    ) -> dp_assay::Result<()> {
        let units = std::mem::take(&mut self.copy.lock().expect("one thread")[level]);
        let mut rest = units.into_iter();
        loop {
            let some: Vec<UnitCounts> = rest.by_ref().take(64).collect();
            if some.is_empty() {
                return Ok(());
            }
            take(some)?;
        }
    }

    fn name(&self, level: usize, unit: usize) -> String {
        format!("unit {unit} of level {level}")
    }
}

fn main() {
    // With one thread, a second of the clock is a second of a core.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the first pool");
    let release = Release::find("pl94-persons-us").expect("bundled");
    let given: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match &given[..] {
        [] => synthetic(&release),
        [folder, total] => {
            let total = total.parse().expect("the exact total of the state, a whole number");
            of_files(&release, Path::new(folder), total).unwrap_or_else(|why| panic!("{folder}: {why}"));
        }
        _ => panic!("expected nothing, or a folder of noisy measurement files and the total of its state"),
    }
}

fn synthetic(release: &Release) {
    let schema = release.schema.clone().expect("with attributes");
    let sizes: Vec<usize> = schema.attributes.iter().map(|attribute| attribute.values.len()).collect();
    let queries: Vec<Vec<Vec<Part>>> = (release.levels.iter())
        .map(|level| level.queries.iter().map(|query| parts_of(&schema, &query.name).expect("a query")).collect())
        .collect();
    let [counties, tracts, groups, blocks] = FANOUTS;
    let mut geoids = Vec::new();
    for county in 0..counties {
        for tract in 0..tracts {
            for block in 0..groups * blocks {
                let number = (1 + block / blocks) * 1000 + block % blocks;
                geoids.push(44 * 10_u64.pow(13) + (2 * county + 1) * 10_u64.pow(10) + (tract + 1) * 1_000_000 + number);
            }
        }
    }
    let tree = Tree::census(&Blocks::from_geoids(geoids).expect("different blocks"));
    let blocks = tree.units(5);
    println!("P.L. 94-171 persons, {blocks} blocks, {} block groups, one thread", tree.units(4));
    for (name, part) in [("no constraints", Part::Total), ("zeros of group quarters", Part::Whole)] {
        let with_zeros = part == Part::Whole;
        let apart = [part.clone(), part, Part::Total, Part::Total];
        let problem = Problem::new(&sizes, &queries, &[], &apart).expect("a problem");
        let held = draw(&problem, &tree, release);
        let shapes = shapes(&problem, &tree, with_zeros);
        let pass = Pass { problem: &problem, tree: &tree, first: 0, shapes: &shapes, measurements: &held };
        held.prepare();
        let (up, risen) = timed(|| pass.up(5, &mut AreaSums::default()).expect("an estimate"));
        let root = risen.root().expect("an estimate").clone();
        held.prepare();
        let (down, sum) = timed(|| to_blocks(&pass, &risen, root, |belief| belief.x[0]).expect("final estimates"));
        let each = 1e6 / blocks as f64;
        println!("{name}: up {:.1}, down to every block {:.1} microseconds a block ({sum:.0})", up * each, down * each);
    }
}

/// Runs something, and returns its time and its result.
fn timed<T>(what: impl FnOnce() -> T) -> (f64, T) {
    let start = Clock::start();
    let given = what();
    (start.seconds(), given)
}

/// The downward pass to every block; returns the sum of `each` over the final estimates of all units.
fn to_blocks(pass: &Pass, risen: &Risen, root: Belief, each: impl Fn(&Belief) -> f64 + Sync) -> dp_assay::Result<f64> {
    let mut sum = 0.0;
    pass.down(
        risen,
        root,
        true,
        |_, _, belief| Ok(each(belief)),
        |own| {
            sum += own;
            Ok(())
        },
    )?;
    Ok(sum)
}

/// The problem of all queries and of every cell.
fn problem_of(names: &Names, root: &RootConstraints) -> dp_assay::Result<Problem> {
    let queries = |level: usize| names.queries(level).iter().map(|query| query.parts.clone()).collect();
    let levels: Vec<Vec<Vec<Part>>> = (0..names.levels.len()).map(queries).collect();
    let cells = vec![vec![Part::Whole; names.sizes.len()]];
    Problem::new(&names.sizes, &levels, &cells, &root.zeros.apart)
}

/// The counts of all levels of a part.
fn all_counts(counts: &PartCounts, levels: usize) -> dp_assay::Result<Vec<Vec<UnitCounts>>> {
    let of_level = |level| {
        let mut all = Vec::new();
        counts.read(level, &mut |some| {
            all.extend(some);
            Ok(())
        })?;
        Ok(all)
    };
    (0..levels).map(of_level).collect()
}

/// The shapes of all units of a part, level by level.
fn shapes_of(problem: &Problem, units: &PartUnits) -> Vec<Vec<Arc<Shape>>> {
    let mut made = Shapes::default();
    let of_frees: Vec<Arc<Shape>> = units.frees.iter().map(|free| made.shape(problem, free)).collect();
    let of_level = |free: &Vec<u32>| free.iter().map(|free| of_frees[*free as usize].clone()).collect();
    units.free.iter().map(of_level).collect()
}

/// The estimate of the nation that consists of one state, from the state's exact total and the nation's own counts.
fn nation_above(problem: &Problem, of_state: &Below, total: f64, counts: &mut UnitCounts) -> Belief {
    let state = of_state.estimate(false, None).expect("an estimate").with_total(problem, total);
    let mut of_states = Below::new(of_state.shape.clone());
    of_states.add(&state.expect("a total that zeros allow"));
    let mut scratch = vec![0.0; problem.basis.coordinates()];
    let information = Arc::new(problem.information(0, &counts.variances, &of_states.shape));
    let right_side = problem.right_side(0, &counts.variances, &mut counts.counts, &mut scratch, &of_states.shape);
    of_states.estimate(false, Some(&Measured { information, right_side })).expect("an estimate")
}

/// The number of repetitions of the passes over files; the median counts.
const REPEATS: usize = 9;

/// The state of a folder with all constraints and its exact total, and the nation that consists of this state.
fn of_files(release: &Release, folder: &Path, total: f64) -> dp_assay::Result<()> {
    let names = Names::new(release)?;
    let folder = NmfFolder::open(folder, &names.levels)?;
    let root = RootConstraints::read(&folder, &names)?;
    let parts = folder.parts();
    assert!(root.is_nation && parts.len() == 1, "expected the nation and one state in one part, found {parts:?}");
    let problem = problem_of(&names, &root)?;
    let answers = Answers::of_queries(&problem, names.schema(), &["detailed".to_string()])?;
    let requested = Asked { zeros: Some(&root.zeros), bounds: false };
    let units = PartUnits::read(&folder, &names, &problem, 1, &parts[0], requested)?;
    let budgets = Budgets::new(release, &names)?;
    let (folder, names, budgets) = (&folder, &names, &budgets);
    let counts = PartCounts { folder, names, units: &units, first: 1, budgets, seen: None, watch: None };
    let (of_nation, _) = NationCounts { folder, names, budgets }.read()?.expect("its counts");
    let held = Held::new(all_counts(&counts, units.tree.levels())?);
    let shapes = shapes_of(&problem, &units);
    let pass = Pass { problem: &problem, tree: &units.tree, first: 1, shapes: &shapes, measurements: &held };
    let last = units.tree.levels() - 1;
    let blocks = units.tree.units(last);
    let mut times = [const { Vec::new() }; 3];
    let mut sums = Vec::new();
    for _ in 0..REPEATS {
        held.prepare();
        let mut counts = of_nation.clone();
        let (up, above) = timed(|| {
            let risen = pass.up(last, &mut AreaSums::default())?;
            let mut of_state = Below::new(shapes[0][0].clone());
            of_state.add(risen.root().expect("an estimate of the state"));
            let nation = nation_above(&problem, &of_state, total, &mut counts);
            dp_assay::Result::Ok((risen, of_state, nation))
        });
        let (risen, of_state, nation) = above?;
        times[0].push(up);
        // The nation consists of one state, so both have the same final estimate.
        let down = |each: &(dyn Fn(&Belief) -> f64 + Sync)| {
            held.prepare();
            timed(|| {
                let own = Descent::new(&nation, &of_state, false).estimate(risen.root());
                to_blocks(&pass, &risen, own, each)
            })
        };
        let (down_to_blocks, sum) = down(&|belief| belief.x[0]);
        times[1].push(down_to_blocks);
        sums.push(sum?);
        let (with_cells, sum) = down(&|belief| {
            let answer = &answers.answers(&problem, belief)[0];
            answer.estimates.iter().chain(&answer.variances).sum()
        });
        times[2].push(with_cells);
        sums.push(sum?);
    }
    let [up, down, cells] = times.map(|mut own| {
        own.sort_by(f64::total_cmp);
        1e6 * own[REPEATS / 2] / blocks as f64
    });
    let line =
        serde_json::json!({ "blocks": blocks, "up": up, "down": down, "down_with_cells": cells, "sum": sums[0] });
    println!("{line}");
    Ok(())
}

/// Random counts for every unit, with the variances of the release.
fn draw(problem: &Problem, tree: &Tree, release: &Release) -> Held {
    let mut seed = 7_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((seed >> 33) % 21) as f64 - 10.0
    };
    let levels = release.levels.iter().enumerate().map(|(at, level)| {
        let variances: Arc<[f32]> = level.queries.iter().map(|query| query.sigma2().unwrap().to_f64() as f32).collect();
        let unit = |unit| UnitCounts {
            unit,
            variances: variances.clone(),
            counts: (0..problem.counts(at)).map(|_| next()).collect(),
        };
        (0..tree.units(at)).map(unit).collect()
    });
    Held::new(levels.collect())
}

/// Households everywhere, one type of group quarters in every seventh block; no minors in nursing facilities.
fn shapes(problem: &Problem, tree: &Tree, with_zeros: bool) -> Vec<Vec<Arc<Shape>>> {
    let mut shapes = Shapes::default();
    let leaf = |block: usize| {
        let mut free = problem.all_free();
        if with_zeros {
            let quarters = if block.is_multiple_of(7) { 1 + block / 7 % 7 } else { 0 };
            let zero = |hhgq: usize, age: usize| (hhgq != 0 && hhgq != quarters) || (hhgq == 3 && age == 0);
            for (hhgq, age) in (0..8).flat_map(|hhgq| (0..2).map(move |age| (hhgq, age))) {
                if zero(hhgq, age) {
                    let is = |axis, value| axis > 1 || value == if axis == 0 { hhgq } else { age };
                    problem.points_with(is).0.into_iter().for_each(|point| free.remove(point));
                }
            }
        }
        free
    };
    let mut of_level = |level: usize| {
        let unit = |unit: usize| {
            let blocks = if level == 5 { unit..unit + 1 } else { tree.blocks(level, unit) };
            let mut free = problem.all_free().none();
            blocks.for_each(|block| free.unite(&leaf(block)));
            shapes.shape(problem, &free)
        };
        (0..tree.units(level)).map(unit).collect::<Vec<_>>()
    };
    (0..6).map(&mut of_level).collect()
}
