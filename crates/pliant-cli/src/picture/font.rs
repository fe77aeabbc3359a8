//! A stroke font: lines drawn with a round pen, sharp at any size.

/// Height of capitals, in units.
pub(crate) const CAP_HEIGHT: f32 = 6.0;
/// From the top of capitals to the end of descenders, in units.
pub(crate) const DEPTH: f32 = 8.0;
/// Between glyphs, and for a blank.
const GAP: f32 = 1.8;
const BLANK: f32 = 2.2;

/// Strokes of a glyph, apart by blanks, each a list of points: x then y downwards, one digit each. Capitals span y 0
/// to 6, small letters 2 to 6, descenders to 8. `~` makes a stroke a smooth curve, `o` a smooth closed one.
fn glyph(c: char) -> &'static str {
    match c {
        'A' => "062046 1434",
        'B' => "200006 ~20404323 0323 ~23434626 0626",
        'C' => "~414000064645",
        'D' => "100006 ~10404616 0616",
        'E' => "40000646 0333",
        'F' => "400006 0333",
        'G' => "~414000064644 4424",
        'H' => "0006 4046 0343",
        'I' => "0006",
        'J' => "~3034360605",
        'K' => "0006 4004 1346",
        'L' => "000646",
        'M' => "0600244046",
        'N' => "06004640",
        'O' => "o00404606",
        'P' => "200006 ~20404323 0323",
        'Q' => "o00404606 2446",
        'R' => "200006 ~20404323 0323 2346",
        'S' => "~4140000343460605",
        'T' => "0040 2026",
        'U' => "~000406464440",
        'V' => "002640",
        'W' => "0016223640",
        'X' => "0046 4006",
        'Y' => "002340 2326",
        'Z' => "00400646",
        'a' => "o02323606 3236",
        'b' => "0006 o02323606",
        'c' => "~333202063635",
        'd' => "3036 o02323606",
        'e' => "0434 ~343202063635",
        'f' => "~201012 1216 0222",
        'g' => "o02323606 3236 ~36380807",
        'h' => "0006 ~0402323436",
        'i' => "0206 0000",
        'j' => "1216 ~161808 1010",
        'k' => "0006 3205 1436",
        'l' => "0006",
        'm' => "0206 ~0402222426 ~2422424446",
        'n' => "0206 ~0402323436",
        'o' => "o02323606",
        'p' => "0208 o02323606",
        'q' => "3238 o02323606",
        'r' => "0206 ~040222",
        's' => "~3332020434360605",
        't' => "1014 ~141626 0222",
        'u' => "~020406363432 3236",
        'v' => "022642",
        'w' => "0216233642",
        'x' | '×' => "0236 3206",
        'y' => "0226 4218",
        'z' => "02320636",
        '0' => "o00404606",
        '1' => "012026",
        '2' => "~02004042 ~424306 0646",
        '3' => "~0100404323 ~2343460605 1323",
        '4' => "36300444",
        '5' => "400003 ~0342460605",
        '6' => "o02424606 ~30000104",
        '7' => "004016",
        '8' => "o00404303 o03434606",
        '9' => "o00404404 ~42454616",
        ' ' => "",
        '.' => "0606",
        ',' => "0607",
        ':' => "0303 0606",
        ';' => "0303 0607",
        '-' | '−' => "0323",
        '+' => "0343 2125",
        '=' => "0232 0434",
        '/' => "0640",
        '\\' => "0046",
        '|' => "0007",
        '%' => "o00202202 o24444626 0640",
        '(' => "~10010516",
        ')' => "~00111506",
        '[' => "20000626",
        ']' => "00202606",
        '<' => "310335",
        '>' => "013305",
        '_' => "0646",
        '!' => "0004 0606",
        '?' => "~0100404323 2324 2626",
        '\'' => "0001",
        '"' => "0001 2021",
        '*' => "2024 0143 0341",
        '#' => "1006 3026 0242 0444",
        '&' => "~46100030 3005 ~05063643",
        '°' => "o00202202",
        _ => "0040460600",
    }
}

type Point = [f32; 2];

/// The polyline of one stroke of a glyph.
fn polyline(stroke: &str) -> Vec<Point> {
    let digits: Vec<f32> = stroke.chars().filter_map(|c| c.to_digit(10)).map(|d| d as f32).collect();
    let mut points: Vec<Point> = digits.as_chunks().0.to_vec();
    let closed = stroke.starts_with('o');
    if !closed && !stroke.starts_with('~') {
        return points;
    }
    // Cutting corners three times draws a quadratic spline to a tenth of a pixel.
    for _ in 0..3 {
        let mut cut = Vec::with_capacity(2 * points.len());
        let segments = if closed { points.len() } else { points.len() - 1 };
        for i in 0..segments {
            let (a, b) = (points[i], points[(i + 1) % points.len()]);
            let between = |t: f32| [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t];
            let keep_start = !closed && i == 0;
            let keep_end = !closed && i + 1 == segments;
            cut.push(if keep_start { a } else { between(0.25) });
            cut.push(if keep_end { b } else { between(0.75) });
        }
        points = cut;
    }
    if closed {
        points.push(points[0]);
    }
    points
}

fn advance(c: char) -> f32 {
    let widest = glyph(c).split(' ').flat_map(polyline).map(|p| p[0]).fold(0.0, f32::max);
    GAP + if c == ' ' { BLANK } else { widest }
}

/// Width of a text, in units.
pub(crate) fn width(text: &str) -> f32 {
    (text.chars().map(advance).sum::<f32>() - GAP).max(0.0)
}

/// Calls `draw(from, to)` for each straight piece, in units from the top left of the capitals.
pub(crate) fn strokes(text: &str, mut draw: impl FnMut(Point, Point)) {
    let mut x = 0.0;
    for c in text.chars() {
        for stroke in glyph(c).split(' ').filter(|s| !s.is_empty()) {
            let points = polyline(stroke);
            for pair in points.windows(2) {
                draw([x + pair[0][0], pair[0][1]], [x + pair[1][0], pair[1][1]]);
            }
        }
        x += advance(c);
    }
}
