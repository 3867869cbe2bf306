//! Inputs that are changed by chance: what a fuzzer does first.

/// Pieces that readers treat in a way of their own.
const PIECES: [&[u8]; 22] = [
    b"\"",
    b"\"\"",
    b",",
    b";",
    b"|",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b"\n\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b" ",
    b"-",
    b"1e999999999",
    b"99999999999999999999",
    b"0",
    b"#",
    b"=",
    b"\n%%\n",
    b"[[level]]\n",
];

struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        // The generator of Knuth's MMIX, whose upper bits are good.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end.max(1) as u64) as usize
    }
}

/// One of the inputs, with one to four changes. The same number makes the same changes.
pub fn changed(inputs: &[Vec<u8>], seed: u64) -> Vec<u8> {
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5eed);
    let mut input = inputs[chance.below(inputs.len())].clone();
    for _ in 0..1 + chance.below(4) {
        change(&mut input, inputs, &mut chance);
    }
    input
}

fn change(input: &mut Vec<u8>, inputs: &[Vec<u8>], chance: &mut Chance) {
    let at = chance.below(input.len() + 1);
    let end = (at + chance.below(40)).min(input.len());
    match chance.below(8) {
        0 if at < input.len() => input[at] ^= 1 << chance.below(8),
        1 if at < input.len() => input[at] = chance.below(256) as u8,
        2 => drop(input.drain(at..end)),
        3 => {
            let part = input[at..end].to_vec();
            input.splice(at..at, part);
        }
        4 => input.truncate(at),
        5 => {
            // A whole line once more, or another input's.
            let other = &inputs[chance.below(inputs.len())];
            let lines: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
            let line = lines.get(chance.below(lines.len())).map_or_else(Vec::new, |line| line.to_vec());
            let start = input[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            input.splice(start..start, line);
        }
        _ => {
            let piece = PIECES[chance.below(PIECES.len())];
            input.splice(at..at, piece.iter().copied());
        }
    }
}
