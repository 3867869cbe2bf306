//! Prints the microseconds of the calls of scripts/peers/bench_python.py from Rust: one line each, name and median. Accounts keep their
//! evaluators, as in Python. With the argument `thread` the calls are made on a second thread, as in Python: the system's allocator
//! takes locks there, which it does not in a process with one thread.

use std::time::Instant;

use dp_assay::{
    account::{Account, Composition, Counts},
    noise::DiscreteGaussian,
    numeric::rational::parse,
    release::Release,
};

/// The median of a hundred runs, in microseconds.
fn median(mut question: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..100)
        .map(|_| {
            let began = Instant::now();
            question();
            began.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> dp_assay::Result<()> {
    if std::env::args().any(|argument| argument == "thread") {
        return std::thread::spawn(ask).join().expect("no question panics");
    }
    ask()
}

fn ask() -> dp_assay::Result<()> {
    let counts = Composition::new(["5x10".parse()?])?;
    let bounded = Composition::new([Counts::parse_discrete_laplace("1x1")?])?;
    let release = Release::find("su-su-wang-2025")?.composition(&[] as &[&str], None)?;
    let (sigma2, by_counts, by_release) = (parse("5")?, counts.evaluator(), release.evaluator());
    let by_bounded = bounded.evaluator();
    println!("nothing {}", median(|| drop(bounded.delta_by(&by_bounded, "5", 12))));
    println!("mass {}", median(|| drop(DiscreteGaussian::new(sigma2.clone()).map(|law| law.mass(3, 12)))));
    println!("delta {}", median(|| drop(counts.delta_by(&by_counts, "10", 12))));
    println!("epsilon {}", median(|| drop(counts.epsilon_by(&by_counts, "1e-9", 12))));
    println!("release {}", median(|| drop(release.delta_by(&by_release, "30", 12))));
    Ok(())
}
