//! Commands that write files, killed at any moment and on a full disk: a file with its final name is complete, a repetition writes the same
//! bytes, and published noise is not drawn again.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use super::{cases::Numbers, harness, record::Record};

/// A command that writes one file or folder, and its undisturbed output.
struct Job {
    name: &'static str,
    words: Vec<String>,
    /// Whether an existing output may be overwritten.
    replaces: bool,
    /// The file without which a folder is not read: it is removed first and written last.
    marker: Option<&'static str>,
    whole: BTreeMap<PathBuf, Vec<u8>>,
    seconds: f64,
}

/// Inputs in their own folder, with all jobs; made once.
struct Bench {
    jobs: Vec<Job>,
    _folder: tempfile::TempDir,
}

fn bench() -> &'static Bench {
    static BENCH: OnceLock<Bench> = OnceLock::new();
    BENCH.get_or_init(Bench::new)
}

/// The name of all outputs, because files name their command line.
const OUT: &str = "out";

/// The program in the folder for its output.
fn assay(words: &[String], out: &Path) -> Command {
    let mut command = Command::new(harness::program());
    command.env_remove("ASSAY_FACTS").args(words).current_dir(out.parent().expect("a folder")).stdin(Stdio::null());
    command
}

/// Every file below a path with its bytes, by its relative name; a single file has an empty name.
fn contents(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![path.to_path_buf()];
    while let Some(at) = open.pop() {
        match fs::read_dir(&at) {
            Ok(entries) => open.extend(entries.map(|entry| entry.expect("a readable entry").path())),
            Err(_) => {
                let name = at.strip_prefix(path).expect("below").to_path_buf();
                all.insert(name, fs::read(&at).expect("a readable file"));
            }
        }
    }
    all
}

/// Writes the inputs of all jobs.
fn write_inputs(folder: &Path) {
    let at = |name: &str| folder.join(name);
    let (mut blocks, mut counts) = (String::from("block,place\n"), String::from("block,h1,count\n"));
    for n in 0..480_u64 {
        // Four counties of three tracts of four block groups of ten blocks.
        let (county, tract, group, block) = (1 + 2 * (n / 120), n / 40 % 3, n / 10 % 4, n % 10);
        let id = format!("44{county:03}{:06}{}00{block}", 100 * (tract + 1), group + 1);
        blocks += &format!("{id},{}\n", n / 7 % 5);
        counts += &format!("{id},occupied,{}\n{id},vacant,{}\n", n * 37 % 90, n % 7);
    }
    let column: String = (0..60_000_u64).map(|n| format!("{n},{}\n", n * 7919 % 1000)).collect();
    fs::write(at("blocks.csv"), blocks).expect("written");
    fs::write(at("counts.csv"), counts).expect("written");
    fs::write(at("column.csv"), format!("id,count\n{column}")).expect("written");
    fs::write(at("plan.toml"), "settings = \"redistricting-units\"\nrelease = \"pl94-units-us\"\n").expect("written");
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        write_inputs(folder.path());
        let at = |name: &str| folder.path().join(name);
        let name = |name: &str| at(name).display().to_string();
        let noise = [
            "noise",
            &name("column.csv"),
            "--column",
            "count",
            "--discrete-gaussian",
            "5",
            "--out",
            OUT,
            "--insecure-seed",
            "7",
        ];
        let spine = ["spine", "--blocks", &name("blocks.csv"), "--plan", &name("plan.toml"), "--out", OUT];
        let measure = [
            "measure",
            "--spine",
            &name("spine/out"),
            "--counts",
            &name("counts.csv"),
            "--release",
            "pl94-units-us",
            "--out",
            OUT,
            "--insecure-seed",
            "7",
        ];
        let estimate = [
            "estimate",
            "--spine",
            &name("spine/out"),
            "--measurements",
            &name("measure/out"),
            "--release",
            "pl94-units-us",
            "--out",
            OUT,
        ];
        let jobs: [(&'static str, &[&str], bool); 4] = [
            ("noise", &noise, false),
            ("spine", &spine, true),
            ("measure", &measure, false),
            ("estimate", &estimate, false),
        ];
        let jobs = jobs.map(|(job, words, replaces)| {
            let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
            fs::create_dir(at(job)).expect("made");
            let out = at(job).join(OUT);
            let start = Instant::now();
            let output = assay(&words, &out).output().expect("the program starts");
            assert!(output.status.success(), "{job}: {}", String::from_utf8_lossy(&output.stderr));
            let marker = (job == "spine").then_some("spine.toml");
            Job { name: job, words, replaces, marker, whole: contents(&out), seconds: start.elapsed().as_secs_f64() }
        });
        Bench { jobs: jobs.into(), _folder: folder }
    }

    fn job(&self, name: &str) -> &Job {
        self.jobs.iter().find(|job| job.name == name).expect("a job")
    }
}

/// The earlier content of the marker.
const OLD: &[u8] = b"of another spine";

/// Whether a draw was begun and its release is not known to be complete.
fn is_begun(out: &Path) -> bool {
    let log = fs::read_to_string(out.with_extension("log")).unwrap_or_default();
    log.contains("\"event\":\"intent\"") && !log.contains("\"event\":\"released\"")
}

impl Job {
    /// Whether it draws noise that a log records.
    fn draws(&self) -> bool {
        self.name == "measure"
    }

    /// A new place for the output; if there is a marker, it contains one of an older output.
    fn place(&self, folder: &Path) -> PathBuf {
        let out = folder.join(OUT);
        if let Some(marker) = self.marker {
            fs::create_dir(&out).expect("made");
            fs::write(out.join(marker), OLD).expect("written");
        }
        out
    }

    /// Whether a reader would accept the existing files as the output.
    fn is_there(&self, out: &Path) -> bool {
        self.marker.map_or(out.exists(), |marker| fs::read(out.join(marker)).is_ok_and(|text| text != OLD))
    }

    /// Whether it is the complete output, apart from files marked as parts, and from pictures if there is a marker.
    fn is_whole(&self, out: &Path) -> bool {
        let is_extra = |name: &Path| {
            let name = name.to_string_lossy();
            is_part(&name) || (self.marker.is_some() && (name.ends_with(".svg") || self.is_of_picture(&name)))
        };
        let kept = |all: &BTreeMap<PathBuf, Vec<u8>>| -> BTreeMap<PathBuf, Vec<u8>> {
            all.iter().filter(|(name, _)| !is_extra(name)).map(|(name, text)| (name.clone(), text.clone())).collect()
        };
        kept(&contents(out)) == kept(&self.whole)
    }

    /// Whether the name is of the numbers beside a picture.
    fn is_of_picture(&self, name: &str) -> bool {
        name.strip_suffix(".csv").is_some_and(|stem| self.whole.contains_key(Path::new(&format!("{stem}.svg"))))
    }
}

/// Whether a name marks an incomplete file.
fn is_part(name: &str) -> bool {
    (name.starts_with(".assay-") || name == format!(".{OUT}.part")) && name.ends_with(".part")
}

/// Whether the name is of a file kept beside noisy counts: the log of draws, or the key of an incomplete one.
fn is_of_draw(name: &str) -> bool {
    [format!("{OUT}.log"), format!("{OUT}.key")].contains(&name.to_string())
}

/// The output is complete or missing, and beside it are only files marked as parts. Returns whether it exists.
fn whole_or_nothing(record: &mut Record, kind: &'static str, job: &Job, out: &Path, parts: bool, what: &str) -> bool {
    let there = job.is_there(out);
    let same = there && job.is_whole(out);
    record.check(kind, !there || same, &|| format!("{what}: the file with the final name is incomplete"));
    let folder = out.parent().expect("a folder");
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let name = entry.expect("a readable entry").file_name().to_string_lossy().into_owned();
        let own = name == OUT || name == format!("{OUT}.provenance.json") || (job.draws() && is_of_draw(&name));
        record.check(kind, own || (parts && is_part(&name)), &|| format!("{what}: left {name}"));
    }
    if job.marker.is_some() && !there {
        // An older marker remains only if nothing else was written yet.
        let names: Vec<PathBuf> = contents(out).into_keys().filter(|name| !is_part(&name.to_string_lossy())).collect();
        let old = job.marker.is_some_and(|marker| out.join(marker).exists());
        record.check(kind, !old || names.len() == 1, &|| format!("{what}: {names:?} beside an older marker"));
    }
    there
}

/// Killed at a random moment of its run, then repeated.
pub fn kill(name: &'static str, kind: &'static str, numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let job = bench().job(name);
    let folder = tempfile::tempdir().ok()?;
    let out = job.place(folder.path());
    let after = numbers.unit() * job.seconds * 1.1;
    let what = format!("{name} killed after {:.1} ms", after * 1e3);
    let running = record.ask(kind, &|| what.clone(), || {
        let mut child =
            assay(&job.words, &out).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
        thread::sleep(Duration::from_secs_f64(after));
        let _ = child.kill();
        Ok(child.wait().expect("it ends").signal() == Some(9))
    })?;
    record.rows.entry(kind).or_default().sharp += u64::from(running);
    let there = whole_or_nothing(record, kind, job, &out, true, &what);
    // A draw that was begun is resumed with the same noise; without the flag it is refused.
    let mut begun = job.draws() && is_begun(&out);
    let mut words = job.words.clone();
    if begun {
        let refused = assay(&words, &out).output().expect("the program starts");
        record.check(kind, refused.status.code() == Some(2), &|| format!("{what}: drawn again, {}", refused.status));
        // A release that lacked only the last line of its log has it now, and there is nothing to resume.
        begun = is_begun(&out) || !there;
        if begun {
            words.push("--resume".to_string());
        }
    }
    let again = assay(&words, &out).output().expect("the program starts");
    if there && !job.replaces && !begun {
        // A published draw is not repeated.
        record.check(kind, again.status.code() == Some(2), &|| {
            format!("{what}: a repetition ended with {}", again.status)
        });
    } else {
        record.check(kind, again.status.success(), &|| format!("{what}: the repetition failed: {}", said(&again)));
    }
    let same = job.is_there(&out) && job.is_whole(&out);
    record.check(kind, same, &|| format!("{what}: the repetition wrote other bytes"));
    Some(())
}

fn said(output: &Output) -> String {
    format!("{} {}", output.status, String::from_utf8_lossy(&output.stderr))
}

/// Files are limited to a random size below that of the output: writing fails, or the system kills the command.
pub fn full_disk(numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    const KIND: &str = "full disk";
    let job = &bench().jobs[numbers.below(4) as usize];
    let folder = tempfile::tempdir().ok()?;
    let out = job.place(folder.path());
    let largest = job.whole.values().map(Vec::len).max()? as u64 / 1024 + 1;
    let (blocks, deaf) = (numbers.below(largest + 2), numbers.below(4) > 0);
    let what = format!("{} with files of at most {blocks} KiB{}", job.name, if deaf { "" } else { ", by a signal" });
    let trap = if deaf { "trap '' XFSZ; " } else { "" };
    let program = assay(&job.words, &out);
    let output = record.ask(KIND, &|| what.clone(), || {
        let mut shell = Command::new("bash");
        shell.args(["-c", &format!("{trap}ulimit -c 0; ulimit -f {blocks}; exec \"$@\""), "bash"]);
        shell.arg(program.get_program()).args(program.get_args()).env_remove("ASSAY_FACTS");
        shell.current_dir(out.parent().expect("a folder"));
        Ok(shell.stdin(Stdio::null()).output().expect("bash starts"))
    })?;
    // A process that the signal ends cannot clean up.
    let there = whole_or_nothing(record, KIND, job, &out, !deaf, &what);
    let failed = !output.status.success();
    record.rows.entry(KIND).or_default().sharp += u64::from(failed);
    record.check(KIND, failed != there, &|| format!("{what}: {}, and the output is {there}", output.status));
    if failed && deaf {
        let message = String::from_utf8_lossy(&output.stderr);
        let plain = output.status.code() == Some(2) && !message.contains("panicked") && !message.trim().is_empty();
        record.check(KIND, plain, &|| format!("{what}: {}", said(&output)));
    }
    Some(())
}
