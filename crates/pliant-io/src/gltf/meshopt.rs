//! Decoder for the buffer views of `KHR_meshopt_compression` and `EXT_meshopt_compression`, after the bitstream
//! appendix of the former. Every read is checked: a broken stream is an error, never garbage or a panic.

/// The longest element of the attribute codec, in bytes.
const MAX_STRIDE: usize = 256;
const GROUP: usize = 16;

type Decoded<T> = Result<T, &'static str>;

const SHORT: &str = "the compressed data ends too early";

/// Decodes a view of `count` elements of `stride` bytes.
pub(crate) fn decode(
    mode: &str,
    filter: Option<&str>,
    data: &[u8],
    count: usize,
    stride: usize,
) -> Decoded<Vec<u8>> {
    let size = count.checked_mul(stride).ok_or("the decompressed size overflows")?;
    let mut out = vec![0; size];
    match mode {
        "ATTRIBUTES" => attributes(data, count, stride, &mut out)?,
        "TRIANGLES" => triangles(data, count, stride, &mut out)?,
        "INDICES" => indices(data, count, stride, &mut out)?,
        _ => return Err("unknown compression mode"),
    }
    match filter.unwrap_or("NONE") {
        "NONE" => {}
        _ if mode != "ATTRIBUTES" => return Err("only attributes can have a filter"),
        "OCTAHEDRAL" if stride == 4 => octahedral8(&mut out),
        "OCTAHEDRAL" if stride == 8 => octahedral16(&mut out),
        "QUATERNION" if stride == 8 => quaternion(&mut out),
        "EXPONENTIAL" if stride.is_multiple_of(4) => exponential(&mut out),
        "COLOR" if stride == 4 => color8(&mut out),
        "COLOR" if stride == 8 => color16(&mut out),
        "OCTAHEDRAL" | "QUATERNION" | "EXPONENTIAL" | "COLOR" => {
            return Err("the filter does not fit the stride");
        }
        _ => return Err("unknown filter"),
    }
    Ok(out)
}

/// A cursor over the compressed bytes.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Decoded<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count).ok_or(SHORT)?;
        self.0 = rest;
        Ok(head)
    }

    fn byte(&mut self) -> Decoded<u8> {
        Ok(self.take(1)?[0])
    }

    /// Unsigned LEB128 of one to five bytes.
    fn varint(&mut self) -> Decoded<u32> {
        let mut value = 0u32;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number in the compressed data is longer than five bytes")
    }

    fn finish(&self) -> Decoded<()> {
        if self.0.is_empty() { Ok(()) } else { Err("there are bytes left over in the compressed data") }
    }
}

fn attributes(data: &[u8], count: usize, stride: usize, out: &mut [u8]) -> Decoded<()> {
    if stride == 0 || stride > MAX_STRIDE || !stride.is_multiple_of(4) {
        return Err("the stride of compressed attributes must be a multiple of 4, up to 256");
    }
    let (&header, body) = data.split_first().ok_or(SHORT)?;
    let version = match header {
        0xa0 => 0,
        0xa1 => 1,
        _ => return Err("the compressed data does not start as attributes"),
    };
    let (modes_len, smallest_tail) = if version == 0 { (0, 32) } else { (stride / 4, 24) };
    let tail_len = (stride + modes_len).max(smallest_tail);
    let (body, tail) = body.split_at_checked(body.len().checked_sub(tail_len).ok_or(SHORT)?).ok_or(SHORT)?;
    let (baseline, modes) = tail[tail_len - stride - modes_len..].split_at(stride);
    for &mode in modes {
        if mode & 15 > 2 || (mode & 15 < 2 && mode >> 4 != 0) {
            return Err("unknown channel mode in the compressed data");
        }
    }
    let mut last = [0u8; MAX_STRIDE];
    last[..stride].copy_from_slice(baseline);
    let block_len = ((8192 / stride) & !(GROUP - 1)).min(256);
    let mut input = Input(body);
    // Deltas of one block: one row of up to 256 bytes per byte of the element.
    let mut deltas = vec![0u8; stride * block_len];
    for block in out.chunks_mut(block_len * stride) {
        let elements = block.len() / stride;
        let control = if version == 1 { input.take(stride / 4)? } else { &[] };
        for k in 0..stride {
            let row = &mut deltas[k * block_len..][..block_len];
            let control = control.get(k / 4).map(|c| c >> (k % 4 * 2) & 3);
            byte_deltas(&mut input, control, &mut row[..elements.next_multiple_of(GROUP)], elements)?;
        }
        for channel in 0..stride / 4 {
            let rows: [&[u8]; 4] =
                std::array::from_fn(|i| &deltas[(channel * 4 + i) * block_len..][..elements]);
            let mode = modes.get(channel).copied().unwrap_or(0);
            let last: &mut [u8; 4] = (&mut last[channel * 4..][..4]).try_into().map_err(|_| SHORT)?;
            for (e, element) in block.chunks_exact_mut(stride).enumerate() {
                *last = undelta(mode, *last, [rows[0][e], rows[1][e], rows[2][e], rows[3][e]]);
                element[channel * 4..][..4].copy_from_slice(last);
            }
        }
    }
    debug_assert_eq!(out.len(), count * stride);
    input.finish()
}

/// The value after `last`, in one channel of four bytes.
fn undelta(mode: u8, last: [u8; 4], delta: [u8; 4]) -> [u8; 4] {
    match mode & 15 {
        0 => std::array::from_fn(|i| {
            let d = delta[i];
            last[i].wrapping_add((d >> 1) ^ (d & 1).wrapping_neg())
        }),
        1 => {
            let half = |i: usize| {
                let d = u16::from_le_bytes([delta[i], delta[i + 1]]);
                u16::from_le_bytes([last[i], last[i + 1]])
                    .wrapping_add((d >> 1) ^ (d & 1).wrapping_neg())
                    .to_le_bytes()
            };
            let ([a, b], [c, d]) = (half(0), half(2));
            [a, b, c, d]
        }
        _ => {
            let d = u32::from_le_bytes(delta).rotate_right(u32::from(mode >> 4));
            (u32::from_le_bytes(last) ^ d).to_le_bytes()
        }
    }
}

/// The deltas of one byte of the element over one block. `row` is a whole number of groups.
fn byte_deltas(input: &mut Input<'_>, control: Option<u8>, row: &mut [u8], elements: usize) -> Decoded<()> {
    // Bits per delta for each header value: 0 nothing stored, 8 plain bytes.
    let widths: [u8; 4] = match control {
        None => [0, 2, 4, 8],
        Some(0) => [0, 1, 2, 4],
        Some(1) => [1, 2, 4, 8],
        Some(2) => {
            row.fill(0);
            return Ok(());
        }
        Some(_) => {
            row[..elements].copy_from_slice(input.take(elements)?);
            return Ok(());
        }
    };
    let groups = row.len() / GROUP;
    let headers = input.take(groups.div_ceil(4))?;
    for (g, group) in row.chunks_exact_mut(GROUP).enumerate() {
        match widths[usize::from(headers[g / 4] >> (g % 4 * 2) & 3)] {
            0 => group.fill(0),
            8 => group.copy_from_slice(input.take(GROUP)?),
            bits => {
                let packed = input.take(GROUP * usize::from(bits) / 8)?;
                let sentinel = (1u8 << bits) - 1;
                let per_byte = 8 / usize::from(bits);
                for (i, delta) in group.iter_mut().enumerate() {
                    let place = i % per_byte;
                    // One-bit deltas start at the low end of the byte, the others at the high end.
                    let place = if bits == 1 { place } else { per_byte - 1 - place };
                    let value = packed[i / per_byte] >> (place * usize::from(bits)) & sentinel;
                    *delta = if value == sentinel { input.byte()? } else { value };
                }
            }
        }
    }
    Ok(())
}

fn index_size(stride: usize) -> Decoded<()> {
    if stride == 2 || stride == 4 { Ok(()) } else { Err("compressed indices must have 2 or 4 bytes") }
}

fn put(out: &mut [u8], at: usize, stride: usize, value: u32) {
    out[at * stride..][..stride].copy_from_slice(&value.to_le_bytes()[..stride]);
}

/// The last 16 values pushed, the newest at 0. Reading what was never written is an error.
struct Recent<T> {
    values: [T; 16],
    pushed: usize,
}

impl<T: Copy> Recent<T> {
    fn new(filler: T) -> Self {
        Self { values: [filler; 16], pushed: 0 }
    }

    fn push(&mut self, value: T) {
        self.values[self.pushed % 16] = value;
        self.pushed += 1;
    }

    fn get(&self, back: u8) -> Decoded<T> {
        let back = usize::from(back) + 1;
        if back > self.pushed.min(16) {
            return Err("the compressed triangles refer to what was not there yet");
        }
        Ok(self.values[(self.pushed - back) % 16])
    }
}

struct Triangles<'a> {
    input: Input<'a>,
    next: u32,
    last: u32,
    edges: Recent<[u32; 2]>,
    vertices: Recent<u32>,
}

impl Triangles<'_> {
    fn fresh(&mut self) -> u32 {
        let value = self.next;
        self.next = self.next.wrapping_add(1);
        value
    }

    fn explicit(&mut self) -> Decoded<u32> {
        let v = self.input.varint()?;
        self.last = self.last.wrapping_add((v >> 1) ^ (v & 1).wrapping_neg());
        Ok(self.last)
    }

    /// An index by its 4-bit code, and whether it is new to the vertex queue.
    fn coded(&mut self, code: u8) -> Decoded<(u32, bool)> {
        match code {
            0 => Ok((self.fresh(), true)),
            15 => Ok((self.explicit()?, true)),
            _ => Ok((self.vertices.get(code - 1)?, false)),
        }
    }

    /// A triangle on a known edge.
    fn on_edge(&mut self, code: u8) -> Decoded<[u32; 3]> {
        let [a, b] = self.edges.get(code >> 4)?;
        let (c, new) = match code & 15 {
            0 => (self.fresh(), true),
            13 | 14 => {
                let step = if code & 15 == 13 { u32::MAX } else { 1 };
                self.last = self.last.wrapping_add(step);
                (self.last, true)
            }
            15 => (self.explicit()?, true),
            back => (self.vertices.get(back)?, false),
        };
        self.edges.push([c, b]);
        self.edges.push([a, c]);
        if new {
            self.vertices.push(c);
        }
        Ok([a, b, c])
    }

    /// A triangle that shares no recent edge.
    fn apart(&mut self, code: u8, table: &[u8]) -> Decoded<[u32; 3]> {
        let (a, second) = if code < 0xfe {
            (self.fresh(), table[usize::from(code & 15)])
        } else {
            let second = self.input.byte()?;
            if second == 0 {
                self.next = 0;
            }
            (if code == 0xfe { self.fresh() } else { self.explicit()? }, second)
        };
        let (b, b_new) = self.coded(second >> 4)?;
        let (c, c_new) = self.coded(second & 15)?;
        [[b, a], [c, b], [a, c]].into_iter().for_each(|e| self.edges.push(e));
        self.vertices.push(a);
        if b_new {
            self.vertices.push(b);
        }
        if c_new {
            self.vertices.push(c);
        }
        Ok([a, b, c])
    }
}

fn triangles(data: &[u8], count: usize, stride: usize, out: &mut [u8]) -> Decoded<()> {
    index_size(stride)?;
    if !count.is_multiple_of(3) {
        return Err("the number of compressed triangle indices is not a multiple of 3");
    }
    let body = data.strip_prefix(&[0xe1]).ok_or("the compressed data does not start as triangles")?;
    let (codes, rest) = body.split_at_checked(count / 3).ok_or(SHORT)?;
    let (extra, table) = rest.split_at_checked(rest.len().checked_sub(16).ok_or(SHORT)?).ok_or(SHORT)?;
    if table[14..] != [0, 0] || table.iter().any(|&t| t >> 4 == 15 || t & 15 == 15) {
        return Err("the table of the compressed triangles is broken");
    }
    let mut state = Triangles {
        input: Input(extra),
        next: 0,
        last: 0,
        edges: Recent::new([0; 2]),
        vertices: Recent::new(0),
    };
    for (t, &code) in codes.iter().enumerate() {
        let triangle = if code < 0xf0 { state.on_edge(code)? } else { state.apart(code, table)? };
        for (k, index) in triangle.into_iter().enumerate() {
            put(out, t * 3 + k, stride, index);
        }
    }
    state.input.finish()
}

fn indices(data: &[u8], count: usize, stride: usize, out: &mut [u8]) -> Decoded<()> {
    index_size(stride)?;
    let body = data.strip_prefix(&[0xd1]).ok_or("the compressed data does not start as indices")?;
    let mut input = Input(&body[..body.len().checked_sub(4).ok_or(SHORT)?]);
    let mut last = [0u32; 2];
    for i in 0..count {
        let v = input.varint()?;
        let base = &mut last[(v & 1) as usize];
        let zigzag = v >> 1;
        *base = base.wrapping_add((zigzag >> 1) ^ (zigzag & 1).wrapping_neg());
        put(out, i, stride, *base);
    }
    input.finish()
}

/// Rounds half away from zero, as the filters are specified.
fn rounded(value: f32) -> i32 {
    value.round() as i32
}

/// Octahedral coordinates to a unit vector times `scale`.
fn octahedral(x: f32, y: f32, one: f32, scale: f32) -> [i32; 3] {
    // A vector without its `1.0` is not valid; it must only not divide by zero.
    let one = if one == 0.0 { 1.0 } else { one };
    let (mut x, mut y) = (x / one, y / one);
    let z = 1.0 - x.abs() - y.abs();
    let fold = z.min(0.0);
    x -= fold.copysign(x);
    y -= fold.copysign(y);
    let length = (x * x + y * y + z * z).sqrt();
    [x, y, z].map(|c| rounded(c / length * scale))
}

fn octahedral8(out: &mut [u8]) {
    for v in out.chunks_exact_mut(4) {
        let [x, y, one] = [v[0], v[1], v[2]].map(|b| f32::from(b as i8));
        for (to, c) in v.iter_mut().zip(octahedral(x, y, one, 127.0)) {
            *to = c as i8 as u8;
        }
    }
}

/// The four little-endian 16-bit numbers of an element, rewritten.
fn words(out: &mut [u8], change: impl Fn([i16; 4]) -> [i32; 4]) {
    for v in out.chunks_exact_mut(8) {
        let given = std::array::from_fn(|i| i16::from_le_bytes([v[2 * i], v[2 * i + 1]]));
        for (to, c) in v.chunks_exact_mut(2).zip(change(given)) {
            to.copy_from_slice(&(c as i16).to_le_bytes());
        }
    }
}

fn octahedral16(out: &mut [u8]) {
    words(out, |[x, y, one, w]| {
        let [x, y, z] = octahedral(f32::from(x), f32::from(y), f32::from(one), 32767.0);
        [x, y, z, i32::from(w)]
    });
}

fn quaternion(out: &mut [u8]) {
    words(out, |[x, y, z, w]| {
        let one = f32::from(w | 3);
        let [x, y, z] = [x, y, z].map(|c| f32::from(c) / one * std::f32::consts::FRAC_1_SQRT_2);
        let largest = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
        let at = usize::from(w as u16 & 3);
        let mut q = [0; 4];
        for (k, c) in [largest, x, y, z].into_iter().enumerate() {
            q[(at + k) % 4] = rounded(c * 32767.0);
        }
        q
    });
}

fn exponential(out: &mut [u8]) {
    for v in out.chunks_exact_mut(4) {
        let packed = i32::from_le_bytes([v[0], v[1], v[2], v[3]]);
        let (exponent, mantissa) = ((packed >> 24).clamp(-100, 100), (packed << 8) >> 8);
        // 2^e is exact: it is built from its bits.
        let power = f32::from_bits(((exponent + 127) as u32) << 23);
        v.copy_from_slice(&(power * mantissa as f32).to_le_bytes());
    }
}

/// YCoCg and a marked alpha to red, green, blue, alpha, each up to `max`.
fn color(y: i32, co: i32, cg: i32, alpha: u32, max: f32) -> [i32; 4] {
    let full = (2u32 << alpha.max(1).ilog2()) - 1;
    let a = alpha & (full >> 1);
    let a = (a << 1 | a & 1) as i32;
    let scale = max / full as f32;
    [y + co - cg, y + cg, y - co - cg, a].map(|c| rounded((c as f32 * scale).clamp(0.0, max)))
}

fn color8(out: &mut [u8]) {
    for v in out.chunks_exact_mut(4) {
        let [y, alpha] = [v[0], v[3]].map(i32::from);
        let [co, cg] = [v[1], v[2]].map(|b| i32::from(b as i8));
        for (to, c) in v.iter_mut().zip(color(y, co, cg, alpha as u32, 255.0)) {
            *to = c as u8;
        }
    }
}

fn color16(out: &mut [u8]) {
    words(out, |[y, co, cg, alpha]| {
        color(i32::from(y as u16), i32::from(co), i32::from(cg), u32::from(alpha as u16), 65535.0)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example of the format's description.
    #[test]
    fn four_bit_deltas_as_in_the_description() {
        let packed = [0x17, 0x5f, 0xf0, 0xbc, 0x77, 0xa9, 0x21, 0x00, 0x34, 0xb5];
        let mut data = vec![2u8]; // header: the only group has 4-bit deltas (version 0)
        data.extend(packed);
        let mut row = [0; 16];
        let mut input = Input(&data);
        byte_deltas(&mut input, None, &mut row, 16).unwrap();
        input.finish().unwrap();
        let signed = row.map(|d| ((d >> 1) ^ (d & 1).wrapping_neg()) as i8);
        assert_eq!(signed, [-1, -4, -3, 26, -91, 0, -6, 6, -4, -4, 5, -5, 1, -1, 0, 0]);
    }

    #[test]
    fn variable_length_numbers_as_in_the_description() {
        assert_eq!(Input(&[0x7f]).varint(), Ok(0x7f));
        assert_eq!(Input(&[0x81, 0x04]).varint(), Ok(0x201));
        assert_eq!(Input(&[0xff, 0xa0, 0x05]).varint(), Ok(0x1_507f));
        assert!(Input(&[0x80; 5]).varint().is_err());
        assert!(Input(&[0x80]).varint().is_err());
    }

    #[test]
    fn triangles_and_indices_round() {
        // Two triangles that share an edge: 0 1 2 and 2 1 3.
        let data = [&[0xe1, 0xf0, 0x10][..], &[0; 16]].concat();
        let out = decode("TRIANGLES", None, &data, 6, 2).unwrap();
        let indices: Vec<u16> = out.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
        assert_eq!(indices, [0, 1, 2, 2, 1, 3]);
        // Never-written edges are refused.
        assert!(decode("TRIANGLES", None, &[&[0xe1, 0x10][..], &[0; 16]].concat(), 3, 2).is_err());
        // +1, +1, -2 on the first baseline.
        let data = [0xd1, 4, 4, 6, 0, 0, 0, 0];
        let out = decode("INDICES", None, &data, 3, 4).unwrap();
        assert_eq!(out, [1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn filters_give_unit_vectors() {
        let mut v = [0u8; 8];
        for (to, c) in v.chunks_exact_mut(2).zip([-700i16, 123, 1023, 5]) {
            to.copy_from_slice(&c.to_le_bytes());
        }
        octahedral16(&mut v);
        let [x, y, z, w] = std::array::from_fn(|i| i16::from_le_bytes([v[2 * i], v[2 * i + 1]]));
        let length = [x, y, z].map(|c| f64::from(c) / 32767.0).iter().map(|c| c * c).sum::<f64>().sqrt();
        assert!((length - 1.0).abs() < 1e-4 && w == 5);
        let mut e = ((-3i32 << 24) | (20 & 0xff_ffff)).to_le_bytes();
        exponential(&mut e);
        assert_eq!(f32::from_le_bytes(e), 2.5);
    }
}
