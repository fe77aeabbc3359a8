//! The part of ZIP that `.npz` needs: stored entries, ZIP64 where sizes or offsets ask for it.

use std::io::{self, Seek, SeekFrom, Write};

/// From this on a 32-bit field says "see the ZIP64 record".
const FULL: u64 = u32::MAX as u64;
/// 1980-01-01, the format's earliest day: the same input gives the same bytes whatever the clock says.
const DAY: u16 = (1 << 5) | 1;

/// `TABLES[k][b]`: the CRC of byte `b` followed by `k` zero bytes, so that eight bytes go in at once.
static TABLES: [[u32; 256]; 8] = {
    let mut tables = [[0u32; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 * (crc & 1));
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut k = 1;
    while k < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[k - 1][byte];
            tables[k][byte] = (before >> 8) ^ tables[0][(before & 255) as usize];
            byte += 1;
        }
        k += 1;
    }
    tables
};

/// CRC-32 of what came before (`crc`, 0 at first) followed by `bytes`.
fn crc32(crc: u32, bytes: &[u8]) -> u32 {
    let mut crc = !crc;
    let mut eights = bytes.chunks_exact(8);
    for eight in &mut eights {
        let low = crc.to_le_bytes();
        let mut next = 0;
        for k in 0..8 {
            let byte = if k < 4 { eight[k] ^ low[k] } else { eight[k] };
            next ^= TABLES[7 - k][byte as usize];
        }
        crc = next;
    }
    for &byte in eights.remainder() {
        crc = (crc >> 8) ^ TABLES[0][((crc ^ u32::from(byte)) & 255) as usize];
    }
    !crc
}

#[derive(Debug)]
struct Entry {
    name: String,
    crc: u32,
    size: u64,
    offset: u64,
}

/// A ZIP file in the making. Sizes are given before the data, so that only checksums are filled in later.
#[derive(Debug)]
pub(super) struct Zip<W> {
    sink: W,
    at: u64,
    entries: Vec<Entry>,
    /// Bytes that the entry begun last still lacks.
    missing: u64,
}

impl<W: Write + Seek> Zip<W> {
    pub(super) fn new(sink: W) -> Self {
        Self { sink, at: 0, entries: Vec::new(), missing: 0 }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Begins an entry of `size` bytes, which follow by [`Zip::write`].
    pub(super) fn begin(&mut self, name: &str, size: u64) -> io::Result<()> {
        self.end()?;
        let offset = self.at;
        let large = size >= FULL;
        let mut head = Vec::new();
        head.extend(0x0403_4b50u32.to_le_bytes());
        let version: u16 = if large { 45 } else { 20 };
        // Version needed, flags, method (stored), time, day.
        [version, 0, 0, 0, DAY].iter().for_each(|v| head.extend(v.to_le_bytes()));
        let short = size.min(FULL) as u32;
        [0, short, short].iter().for_each(|v| head.extend(v.to_le_bytes()));
        head.extend((name.len() as u16).to_le_bytes());
        head.extend(if large { 20u16 } else { 0 }.to_le_bytes());
        head.extend(name.as_bytes());
        if large {
            head.extend([1, 0, 16, 0]);
            head.extend(size.to_le_bytes());
            head.extend(size.to_le_bytes());
        }
        self.put(&head)?;
        self.entries.push(Entry { name: name.into(), crc: 0, size, offset });
        self.missing = size;
        Ok(())
    }

    /// Adds to the entry begun last.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let long = || io::Error::new(io::ErrorKind::InvalidInput, "more data than the entry's size");
        self.missing = self.missing.checked_sub(bytes.len() as u64).ok_or_else(long)?;
        if let Some(entry) = self.entries.last_mut() {
            entry.crc = crc32(entry.crc, bytes);
        }
        self.put(bytes)
    }

    /// Fills in the checksum of the entry begun last.
    fn end(&mut self) -> io::Result<()> {
        if self.missing > 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "less data than the entry's size"));
        }
        if let Some(entry) = self.entries.last() {
            self.sink.seek(SeekFrom::Start(entry.offset + 14))?;
            self.sink.write_all(&entry.crc.to_le_bytes())?;
            self.sink.seek(SeekFrom::Start(self.at))?;
        }
        Ok(())
    }

    /// Writes the directory.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.end()?;
        let mut list = Vec::new();
        for entry in &self.entries {
            let mut wide = Vec::new();
            if entry.size >= FULL {
                wide.extend(entry.size.to_le_bytes());
                wide.extend(entry.size.to_le_bytes());
            }
            if entry.offset >= FULL {
                wide.extend(entry.offset.to_le_bytes());
            }
            let version: u16 = if wide.is_empty() { 20 } else { 45 };
            list.extend(0x0201_4b50u32.to_le_bytes());
            [version, version, 0, 0, 0, DAY].iter().for_each(|v| list.extend(v.to_le_bytes()));
            let size = entry.size.min(FULL) as u32;
            [entry.crc, size, size].iter().for_each(|v| list.extend(v.to_le_bytes()));
            list.extend((entry.name.len() as u16).to_le_bytes());
            list.extend(if wide.is_empty() { 0 } else { wide.len() as u16 + 4 }.to_le_bytes());
            // Comment length, disk, internal attributes; external attributes.
            list.extend([0; 10]);
            list.extend((entry.offset.min(FULL) as u32).to_le_bytes());
            list.extend(entry.name.as_bytes());
            if !wide.is_empty() {
                list.extend([1, 0]);
                list.extend((wide.len() as u16).to_le_bytes());
                list.extend(wide);
            }
        }
        let (start, size, count) = (self.at, list.len() as u64, self.entries.len() as u64);
        if start >= FULL {
            let record = start + size;
            list.extend(0x0606_4b50u32.to_le_bytes());
            list.extend(44u64.to_le_bytes());
            [45u16, 45].iter().for_each(|v| list.extend(v.to_le_bytes()));
            list.extend([0; 8]);
            [count, count, size, start].iter().for_each(|v| list.extend(v.to_le_bytes()));
            list.extend(0x0706_4b50u32.to_le_bytes());
            list.extend(0u32.to_le_bytes());
            list.extend(record.to_le_bytes());
            list.extend(1u32.to_le_bytes());
        }
        list.extend(0x0605_4b50u32.to_le_bytes());
        [0, 0, count as u16, count as u16].iter().for_each(|v| list.extend(v.to_le_bytes()));
        [size as u32, start.min(FULL) as u32].iter().for_each(|v| list.extend(v.to_le_bytes()));
        list.extend([0; 2]);
        self.put(&list)?;
        Ok(self.sink)
    }
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn checksums_are_the_published_ones() {
        assert_eq!(crc32(0, b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(0, b"The quick brown fox jumps over the lazy dog"), 0x414F_A339);
        assert_eq!(crc32(crc32(0, b"1234567890"), b"abc"), crc32(0, b"1234567890abc"));
    }
}
