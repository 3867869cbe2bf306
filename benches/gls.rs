//! Least squares of all queries of P.L. 94-171 on a synthetic state, in memory: `cargo bench --bench gls`. Processor time of one
//! thread a block, up and down, with the zeros of group quarters and without constraints; reading is not in it. Where the system
//! says how long threads ran (Linux), other work on the machine does not disturb it; elsewhere it is time that passes.

use std::{fs, sync::Arc, time::Instant};

use dp_assay::{
    release::Release,
    spine::{blocks::Blocks, hierarchy::Tree},
    topdown::{
        gls::{
            areas::AreaSums,
            basis::Part,
            pass::{Measurements, Pass, UnitCounts},
            problem::{Problem, Shape, Shapes},
        },
        nmf::names::parts_of,
    },
};

/// For how long something ran.
struct Clock(f64, Instant);

impl Clock {
    fn start() -> Clock {
        Clock(processor_seconds().unwrap_or(0.0), Instant::now())
    }

    fn seconds(&self) -> f64 {
        processor_seconds().map_or_else(|| self.1.elapsed().as_secs_f64(), |now| now - self.0)
    }
}

/// The time that all threads of this process were on a processor.
fn processor_seconds() -> Option<f64> {
    let tasks = fs::read_dir("/proc/self/task").ok()?;
    let ran = |task: fs::DirEntry| -> Option<f64> {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    tasks.map(|task| ran(task.ok()?)).sum::<Option<f64>>().map(|nanoseconds| nanoseconds / 1e9)
}

/// Counties, tracts, block groups and blocks, each of the unit above.
const FANOUTS: [u64; 4] = [10, 12, 4, 30];

struct Drawn(Vec<Vec<UnitCounts>>);

impl Measurements for Drawn {
    fn read(
        &self,
        level: usize,
        take: &mut dyn FnMut(Vec<UnitCounts>) -> dp_assay::Result<()>,
    ) -> dp_assay::Result<()> {
        self.0[level].chunks(64).try_for_each(|units| take(units.to_vec()))
    }

    fn name(&self, level: usize, unit: usize) -> String {
        format!("unit {unit} of level {level}")
    }
}

fn main() {
    // One thread: a second of the clock is one of a core.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the first pool");
    let release = Release::find("pl94-persons-us").expect("bundled");
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
    for (name, told) in [("no constraints", Part::Total), ("zeros of group quarters", Part::Whole)] {
        let with_zeros = told == Part::Whole;
        let apart = [told.clone(), told, Part::Total, Part::Total];
        let problem = Problem::new(&sizes, &queries, &[], &apart).expect("a problem");
        let drawn = draw(&problem, &tree, &release);
        let shapes = shapes(&problem, &tree, with_zeros);
        let pass = Pass { problem: &problem, tree: &tree, first: 0, shapes: &shapes, measurements: &drawn };
        // The copies that the reader makes are not part of it.
        let start = Clock::start();
        drawn
            .read(5, &mut |units| {
                std::hint::black_box(units);
                Ok(())
            })
            .expect("counts");
        let copying = start.seconds();
        let start = Clock::start();
        let risen = pass.up(5, &mut AreaSums::default()).expect("an estimate");
        let up = start.seconds() - copying;
        let root = risen.root().expect("an estimate").clone();
        let start = Clock::start();
        let mut sum = 0.0;
        pass.down(
            &risen,
            root,
            true,
            |_, _, belief| Ok(belief.x[0]),
            |x| {
                sum += x;
                Ok(())
            },
        )
        .expect("final estimates");
        let down = start.seconds() - copying;
        let each = 1e6 / blocks as f64;
        println!("{name}: up {:.1}, down to every block {:.1} microseconds a block ({sum:.0})", up * each, down * each);
    }
}

/// Noise-like counts for every unit, with the variances of the release.
fn draw(problem: &Problem, tree: &Tree, release: &Release) -> Drawn {
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
    Drawn(levels.collect())
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
            shapes.of(problem, &free)
        };
        (0..tree.units(level)).map(unit).collect::<Vec<_>>()
    };
    (0..6).map(&mut of_level).collect()
}
