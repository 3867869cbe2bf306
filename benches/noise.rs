//! The speed of the samplers, with that of the raw random words that they use, in one run; quoted in the guide.
//!
//! All on one core except the last group, and in processor time where Linux reports it, so that other work of the machine has little
//! effect. For comparison, the rejection sampler of Canonne, Kamath & Steinke (2020, Algorithms 1 to 3) in exact 128-bit integers,
//! implemented here from the paper.

use std::{
    fs,
    hint::black_box,
    time::{Duration, Instant},
};

use criterion::{
    Criterion, Throughput, criterion_group, criterion_main,
    measurement::{Measurement, ValueFormatter, WallTime},
};
use dp_assay::{
    noise::{Sampler, Source, Streams},
    numeric::rational::parse,
};

const SAMPLES: usize = 1 << 16;

/// Processor time of this thread, in nanoseconds; wall-clock time on systems that do not report it.
struct ProcessorTime {
    began: Instant,
}

fn processor_time() -> ProcessorTime {
    ProcessorTime { began: Instant::now() }
}

impl ProcessorTime {
    fn now(&self) -> Duration {
        let text = fs::read_to_string("/proc/thread-self/schedstat").ok();
        let nanoseconds = text.and_then(|text| text.split_whitespace().next()?.parse().ok());
        nanoseconds.map_or_else(|| self.began.elapsed(), Duration::from_nanos)
    }
}

impl Measurement for ProcessorTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        self.now()
    }

    fn end(&self, start: Duration) -> Duration {
        self.now().saturating_sub(start).max(Duration::from_nanos(1))
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

fn gaussian(sigma2: &str) -> Sampler {
    Sampler::discrete_gaussian(parse(sigma2).expect("a number of this file")).expect("a sampler")
}

fn laplace(epsilon: &str) -> Sampler {
    Sampler::discrete_laplace(parse(epsilon).expect("a number of this file")).expect("a sampler")
}

fn source() -> Source {
    Streams::from_system().expect("random numbers").take()
}

fn one_core(criterion: &mut Criterion<ProcessorTime>) {
    let mut group = criterion.benchmark_group("one core");
    group.throughput(Throughput::Elements(SAMPLES as u64));
    let mut words = vec![0_u32; SAMPLES];
    let mut source = source();
    group.bench_function("ChaCha20, 32-bit words", |b| b.iter(|| source.words(black_box(&mut words))));
    let mut out = vec![0; SAMPLES];
    for sigma2 in ["5", "456.62", "1e6", "4e6", "5e6", "1e12", "1e18"] {
        let sampler = gaussian(sigma2);
        let name = format!("discrete Gaussian {sigma2} ({})", sampler.method());
        group.bench_function(name, |b| b.iter(|| sampler.fill(black_box(&mut out), &mut source)));
    }
    for epsilon in ["1", "0.1", "1e-6"] {
        let sampler = laplace(epsilon);
        let name = format!("discrete Laplace {epsilon} ({})", sampler.method());
        group.bench_function(name, |b| b.iter(|| sampler.fill(black_box(&mut out), &mut source)));
    }
    let sampler = gaussian("5");
    group.bench_function("discrete Gaussian 5, sample by sample", |b| {
        b.iter(|| out.iter_mut().for_each(|value| *value = sampler.sample(&mut source)));
    });
    group.finish();
}

fn peer(criterion: &mut Criterion<ProcessorTime>) {
    const FEW: usize = 1 << 10;
    let mut group = criterion.benchmark_group("rejection as published");
    group.throughput(Throughput::Elements(FEW as u64));
    let mut source = source();
    for sigma2 in [5, 1_000_000] {
        group.bench_function(format!("discrete Gaussian {sigma2}"), |b| {
            b.iter(|| (0..FEW).map(|_| published::gaussian(sigma2, &mut source)).sum::<i64>());
        });
    }
    group.finish();
}

/// Canonne, Kamath & Steinke (2020) for integer sigma2 up to 2^40.
mod published {
    use dp_assay::noise::Source;

    /// A uniform integer below `end`, by rejection of larger binary numbers.
    fn below(end: u128, source: &mut Source) -> u128 {
        let digits = 128 - (end - 1).leading_zeros();
        loop {
            let words = (0..digits.div_ceil(32)).fold(0, |sum, _| sum << 32 | u128::from(source.word()));
            let value = words & ((1_u128 << digits) - 1);
            if value < end {
                return value;
            }
        }
    }

    /// True with probability exp(-top / bottom), for top <= bottom (Algorithm 1).
    fn exp_below_one(top: u128, bottom: u128, source: &mut Source) -> bool {
        let mut k = 1;
        while below(bottom * k, source) < top {
            k += 1;
        }
        k % 2 == 1
    }

    /// The same for any top.
    fn exp(mut top: u128, bottom: u128, source: &mut Source) -> bool {
        while top > bottom {
            if !exp_below_one(1, 1, source) {
                return false;
            }
            top -= bottom;
        }
        exp_below_one(top, bottom, source)
    }

    /// Discrete Laplace of scale t (Algorithm 2 with s = 1).
    fn laplace(t: u128, source: &mut Source) -> i128 {
        loop {
            let u = below(t, source);
            if !exp_below_one(u, t, source) {
                continue;
            }
            let mut v = 0;
            while exp_below_one(1, 1, source) {
                v += 1;
            }
            let magnitude = (u + t * v) as i128;
            let negative = source.word() % 2 == 1;
            if !(negative && magnitude == 0) {
                return if negative { -magnitude } else { magnitude };
            }
        }
    }

    /// N_Z(0, sigma2) (Algorithm 3).
    pub fn gaussian(sigma2: u64, source: &mut Source) -> i64 {
        let t = u128::from(sigma2.isqrt()) + 1;
        let sigma2 = u128::from(sigma2);
        loop {
            let y = laplace(t, source);
            // (|y| - sigma2 / t)^2 / (2 sigma2) = (|y| t - sigma2)^2 / (2 sigma2 t^2)
            let away = (y.unsigned_abs() * t).abs_diff(sigma2);
            if exp(away * away, 2 * sigma2 * t * t, source) {
                return y as i64;
            }
        }
    }
}

fn set_up(criterion: &mut Criterion<ProcessorTime>) {
    let mut group = criterion.benchmark_group("set-up");
    for sigma2 in ["5", "456.62", "1e6", "1e12"] {
        group.bench_function(format!("discrete Gaussian {sigma2}"), |b| b.iter(|| gaussian(black_box(sigma2))));
    }
    group.bench_function("discrete Laplace 0.1", |b| b.iter(|| laplace(black_box("0.1"))));
    group.finish();
}

fn all_cores(criterion: &mut Criterion) {
    let sampler = gaussian("5");
    let mut streams = Streams::from_system().expect("random numbers");
    let mut out = vec![0; 1 << 24];
    let mut group = criterion.benchmark_group("all cores");
    group.sample_size(10);
    group.throughput(Throughput::Elements(out.len() as u64));
    group.bench_function("discrete Gaussian 5", |b| b.iter(|| streams.fill(&sampler, black_box(&mut out))));
    group.finish();
}

criterion_group!(
    name = one_thread;
    config = Criterion::default().with_measurement(processor_time());
    targets = one_core, peer, set_up
);
criterion_group!(all_threads, all_cores);
criterion_main!(one_thread, all_threads);
