//! Broken copies of files, and where the real ones are.
#![allow(dead_code, reason = "each test file uses some of it")]

#[path = "../common/data.rs"]
pub(crate) mod data;

/// A small generator, so that broken files are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }
}

/// A broken copy: bytes flipped, cut, doubled, or words put in that parsers trip over.
pub(crate) fn broken(file: &[u8], random: &mut Random) -> Vec<u8> {
    const WORDS: [&[u8]; 22] = [
        b" nan ",
        b" -inf ",
        b" 1e999 ",
        b" 999999999999999999999 ",
        b" -1 ",
        b" 0 ",
        b"{",
        b"}",
        b"\n",
        b"\r",
        b"\\\n",
        b"#",
        b"/",
        b"//",
        b"\0",
        b"\xFF\xFE",
        b"JOINT ",
        b"End Site",
        b" f 1 2 3 ",
        b"[",
        b"\"",
        b"4294967296",
    ];
    let mut bytes = file.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(40)).min(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.splice(at..end, WORDS[random.below(WORDS.len())].iter().copied())),
            2 => drop(bytes.splice(at..at, WORDS[random.below(WORDS.len())].iter().copied())),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
    bytes
}
