//! The sections that all memos have, around a statement and its numbers.

use std::{fs, path::Path};

use super::{
    folder::{File, Memo, Request, SUMS, sums},
    number::{Number, slug},
    sentence::SAID,
};
use crate::{
    certificate::{CHECKER, CHECKER_PAGE},
    document::{Block, Document, origin, section, table, text},
    error::{Error, Result, visible},
    io::{
        provenance::{Input, VERSION, sha256_of_text},
        reading::{MOST_BYTES, read_text},
    },
};

/// The names of the checkers in the folder.
const CHECK: &str = "check.py";
const CHECK_PAGE: &str = "check.html";

/// A statement and its numbers.
#[derive(Default)]
pub(super) struct Draft {
    pub title: String,
    pub about: Vec<String>,
    pub statement: Vec<String>,
    pub numbers: Vec<Block>,
    pub certificates: Vec<File>,
    /// For each certificate, the number of block paths, or pairs of them, of which it claims the worst.
    pub units: Vec<usize>,
    pub without: Vec<(String, String)>,
    pub assumptions: Vec<String>,
    pub not_said: Vec<String>,
    pub inputs: Vec<File>,
    /// Inputs that are too large to be copied, besides those of the request.
    pub named: Vec<Input>,
    pub disagrees: bool,
}

impl Draft {
    /// Takes the certificate of a number, or the reason why there is none, under the number's name.
    pub fn take(&mut self, name: &str, number: &Number) {
        match &number.certificate {
            Ok(file) => {
                self.certificates.push(file.clone());
                self.units.push(number.units);
            }
            Err(why) => self.without.push((name.to_string(), why.clone())),
        }
    }

    /// Copies an input into the folder, once, under a name of its own.
    pub fn copy(&mut self, name: &str, text: String) {
        if self.inputs.iter().any(|file| file.about == name && file.text == text) {
            return;
        }
        let lower = name.to_lowercase();
        let end = ["csv", "json", "log"].into_iter().find(|end| lower.ends_with(&format!(".{end}"))).unwrap_or("toml");
        let base = Path::new(name).file_stem().map_or(String::new(), |stem| slug(&stem.to_string_lossy()));
        let named = |base: &str| format!("inputs/{base}.{end}");
        let mut path = named(&base);
        for count in 2.. {
            if self.inputs.iter().all(|file| file.name != path) {
                break;
            }
            path = named(&format!("{base}-{count}"));
        }
        self.inputs.push(File { name: path, text, about: name.to_string() });
    }

    /// Copies a file that decides an answer, as it was when the request was made. Of one that is too large to be read as a whole only the hash is recorded.
    pub fn copy_file(&mut self, path: &Path, request: &Request) -> Result<()> {
        let input = Input::public(path)?;
        if input.sha256().is_none() {
            let why = format!(
                "{} can be read only once, and a memo has a copy of every input: save it to a file, and give its name",
                visible(&input.name)
            );
            return Err(Error::conflict(why));
        }
        let known = request.inputs.iter().find(|other| other.name == input.name).and_then(Input::sha256);
        if known.is_some_and(|known| input.sha256() != Some(known)) {
            return Err(changed(&input.name));
        }
        let is_large = fs::metadata(path).is_ok_and(|about| about.len() > MOST_BYTES);
        if is_large {
            if known.is_none() && !self.named.contains(&input) {
                self.named.push(input);
            }
            return Ok(());
        }
        let text = read_text(path)?;
        if input.sha256().is_some_and(|sha256| sha256 != sha256_of_text(&text)) {
            return Err(changed(&input.name));
        }
        self.copy(&input.name, text);
        Ok(())
    }

    /// The memo.
    pub fn finish(mut self, request: &Request) -> Memo {
        // A sentence is a line, whatever names are in it.
        self.statement.iter_mut().for_each(|sentence| *sentence = visible(sentence));
        let mut about = std::mem::take(&mut self.about);
        about.push(format!("Date of this memo: {}.", request.date));
        let mut sections = vec![
            section("Statement", self.statement.iter().cloned().map(text).collect()),
            section("Numbers", std::mem::take(&mut self.numbers)),
            section("Certificates", self.about_certificates()),
        ];
        sections.extend([
            section("How to check", how_to_check(&self.units, &sha256_of_text(&sums(&self.files())))),
            section("Assumptions", vec![Block::List(self.assumptions.clone())]),
            section("Outside of this memo", vec![Block::List(self.not_said.clone())]),
            section("Program, inputs and files", self.origin(request)),
            section("Signature", signature(&sha256_of_text(&sums(&self.files())))),
        ]);
        let document = Document { title: visible(&self.title), about, sections };
        let files = self.files();
        let (statement, without_certificate) = (self.statement, self.without);
        Memo { document, statement, files, without_certificate, agrees: !self.disagrees }
    }

    /// The files beside the memo.
    fn files(&self) -> Vec<File> {
        let checkers = [
            (CHECK_PAGE, CHECKER_PAGE, "the checker of certificates for a browser"),
            (CHECK, CHECKER, "the checker of certificates, one file of plain Python"),
        ];
        let checkers = checkers.map(|(name, text, about)| File {
            name: name.to_string(),
            text: text.to_string(),
            about: about.to_string(),
        });
        let copy = |file: &File| File { about: format!("copy of the input {}", visible(&file.about)), ..file.clone() };
        let inputs = self.inputs.iter().map(copy);
        let said = File {
            name: SAID.to_string(),
            text: self.statement.iter().map(|sentence| format!("{sentence}\n")).collect(),
            about: "the Statement of this memo, a sentence a line".to_string(),
        };
        self.certificates.iter().cloned().chain(checkers).chain(inputs).chain([said]).collect()
    }

    fn about_certificates(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        if self.certificates.is_empty() {
            blocks.push(text("No certificate was written: every number of this memo rests on the program alone."));
        } else {
            blocks.push(text("A certificate has a claim and the hints from which the checker proves it again, with its own arithmetic and without this \
                 program. The checker proves the claim about the counts and the noise that the certificate lists; that these are the counts and \
                 the noise of the inputs is this program's reading of them."));
            let row = |file: &File| vec![file.name.clone(), file.about.clone()];
            blocks.push(table(
                "The certificates and their claims.",
                &["file", "claim"],
                self.certificates.iter().map(row).collect(),
                &[0, 1],
            ));
        }
        if !self.without.is_empty() {
            let rows = by_reason(&self.without);
            let caption = "Numbers without a certificate: proven by this program, and by no independent checker.";
            blocks.push(table(caption, &["number", "reason"], rows, &[0, 1]));
        }
        blocks
    }

    fn origin(&self, request: &Request) -> Vec<Block> {
        let is_copied =
            |input: &Input| self.inputs.iter().any(|file| input.sha256().is_some_and(|sha256| sha256 == file.sha256()));
        let others = request.inputs.iter().chain(&self.named).filter(|input| !is_copied(input));
        let facts = origin(&request.command, others);
        let row = |file: File| vec![file.name.clone(), file.about.clone(), file.sha256()];
        // A certificate's claim is in its own table.
        let short = |file: File| match file.name.starts_with("certificates/") {
            true => File { about: "certificate".to_string(), ..file },
            false => file,
        };
        vec![
            table("The program and the command.", &["", ""], facts, &[0, 1]),
            table(
                "The files beside this memo. SHA256SUMS lists them; its own SHA-256 is above the signature.",
                &["file", "content", "SHA-256"],
                self.files().into_iter().map(short).map(row).collect(),
                &[0, 1, 2],
            ),
        ]
    }
}

/// An error: the copy of an input would not be what was accounted for.
pub(super) fn changed(name: &str) -> Error {
    Error::conflict(format!("{} changed while it was read", visible(name)))
}

/// The numbers without a certificate, those of one reason in one row.
fn by_reason(without: &[(String, String)]) -> Vec<Vec<String>> {
    let mut rows: Vec<(Vec<&str>, &str)> = Vec::new();
    for (name, why) in without {
        match rows.iter_mut().find(|(_, known)| known == why) {
            Some((names, _)) => names.push(name),
            None => rows.push((vec![name], why)),
        }
    }
    rows.into_iter().map(|(names, why)| vec![names.join(", "), why.to_string()]).collect()
}

/// Upper bound on the ways of a claim that takes the checker a few seconds.
const FEW_UNITS: usize = 20;

/// The time that checks take. A node is evaluated for each way, so that hundreds of pairs of block paths take hundreds of times as long as one.
fn time_of_checks(units: &[usize]) -> String {
    if units.is_empty() {
        return "Without certificates the checks compare the files, and whether each sentence says that it has none."
            .to_string();
    }
    let long = units.iter().filter(|units| **units > FEW_UNITS).count();
    let each = "The checker prints each certificate as soon as it is proven.";
    match (long, units.iter().max()) {
        (1.., Some(most)) => format!(
            "{long} of {} certificates are the worst of many block paths or pairs of them, at most {most}. Each of these takes the checker from seconds to some \
             minutes, longer for more digits; the others take seconds at most. {each} To check several at a time: ls certificates/*.json | xargs -n 1 -P 4 python3 -I {CHECK}",
            units.len()
        ),
        _ => format!("Each takes the checker seconds at most. {each}"),
    }
}

fn how_to_check(units: &[usize], hash: &str) -> Vec<Block> {
    vec![
        text(format!(
            "With a browser and nothing else: open {CHECK_PAGE} of this folder, enter HASH, the SHA-256 of {SUMS} that stands above the signature, from the signed paper, and choose \
             this folder. The page compares {SUMS} with HASH and every file with {SUMS}, names every file that was added, proves every certificate again, without a network, and says which \
             certificate bears each sentence of {SAID}. It refuses a sentence that none bears and that does not say so. Compare the Statement on the paper with what it shows. \
             A browser does not tell a link from a file, and may leave out empty folders; the command below names both."
        )),
        text(format!(
            "With Python 3.9 or newer and nothing else installed, in this folder: take HASH from the signed paper. The command compares {SUMS} with it and every file with {SUMS}, names every file and link that was added, proves every certificate again, and prints the Statement \
             from {SAID}, with the certificate that bears each sentence. Its exit status is 0 if nothing was changed, added or removed, every certificate is proven, and every sentence is \
             borne by one or says that it has none. Compare the Statement and the Numbers on the paper with what it prints: the two forms of the memo in this folder have the hash in \
             them, so they are not compared."
        )),
        Block::Commands(vec![format!("python3 -I {CHECK} --signed {hash}")]),
        text(time_of_checks(units)),
        text(format!(
            "With the hash every change of the files beside the memo is found. Without it, sha256sum -c {SUMS} finds every change and removal of them that leaves {SUMS} as it was, but no added file. \
             Python without -I may run a file of the folder in place of one of its own."
        )),
        text(format!(
            "SHA-256 of {CHECK}: {}; of {CHECK_PAGE}: {}. A changed checker may print anything, so first compare them with proofs/{CHECK} and proofs/{CHECK_PAGE} of the source of assay \
             {VERSION}, or run those.",
            sha256_of_text(CHECKER),
            sha256_of_text(CHECKER_PAGE)
        )),
    ]
}

fn signature(hash: &str) -> Vec<Block> {
    vec![
        text(format!("SHA-256 of {SUMS}, which lists all files beside this memo: {hash}")),
        text(
            "The signature says that the signer has read this memo and compared the inputs with what is published about them. If the certificates were \
             checked, the lines below name the day and the computer.",
        ),
        Block::Fields(vec![
            "Certificates checked on",
            "with (computer, Python)",
            "Name",
            "Organization",
            "Place and date",
            "Signature",
        ]),
    ]
}

/// The assumptions of every account.
pub(super) fn common_assumptions() -> Vec<String> {
    [
        "The noise was drawn from the declared law, independently for every count, with secret randomness.",
        "One record changes the counts as the inputs declare, and nothing else that is published depends on it.",
        "An adversary may know all other records and the law of the noise, and has any computing power.",
        "Both ends of a number are proven, with all rounding and truncation errors added on the safe side.",
        "Lower ends are those of the account. Where the inputs state exactly what one record changes, and the noise, no smaller number is true. Where \
         they state only an upper bound of the change, or only a guarantee, the truth may be smaller.",
    ]
    .map(String::from)
    .to_vec()
}

/// The limits of every memo.
pub(super) fn common_limits() -> Vec<String> {
    [
        "Whether the noise was drawn as it was declared: a memo is about the declared mechanism.",
        "Counts that are published without noise (invariants), and information that an adversary has from elsewhere.",
        "Other releases about the same records, unless they are listed above.",
    ]
    .map(String::from)
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::time_of_checks;

    #[test]
    fn the_time_of_a_check_depends_on_the_ways_of_a_claim() {
        assert!(time_of_checks(&[1, 2]).contains("seconds at most"));
        assert!(time_of_checks(&[]).starts_with("Without certificates"));
        let long = time_of_checks(&[1, 946, 946]);
        assert!(long.contains("2 of 3 certificates") && long.contains("at most 946"), "{long}");
    }
}
