//! What every page is made of: it needs nothing but itself.

use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");

/// The page up to its first section.
pub(super) fn begin(title: &str, kind: &str, lead: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>{0}: Pliant {kind}</title><style>{STYLE}</style></head>\n\
         <body><main><h1>{0}</h1><p class=\"lead\">{1}</p>",
        escape(title),
        escape(lead)
    )
}

/// The page's end, with what is small.
pub(super) fn end(out: &mut String, footer: &str) {
    let _ = writeln!(out, "<footer>{footer}</footer></main></body></html>");
}

/// What was odd, where anything was.
pub(super) fn warnings(out: &mut String, warnings: &[String]) {
    if !warnings.is_empty() {
        out.push_str("<section class=\"warn\" aria-label=\"Warnings\"><h2>Warnings</h2><ul>");
        for warning in warnings {
            let _ = write!(out, "<li>{}</li>", escape(warning));
        }
        out.push_str("</ul></section>");
    }
}

/// A PNG with its caption, which is markup.
pub(super) fn picture(out: &mut String, alt: &str, caption: &str, png: &[u8]) {
    let _ = write!(
        out,
        "<figure><img alt=\"{}\" src=\"data:image/png;base64,{}\"><figcaption>{caption}</figcaption></figure>",
        escape(alt),
        base64(png)
    );
}

/// How many frames, from when to when.
pub(super) fn extent(times: &[f64], fps: Option<f64>) -> String {
    let count = times.len();
    let mut text = format!("{count} frame{}", if count == 1 { "" } else { "s" });
    if let (Some(&first), Some(&last)) = (times.first(), times.last()) {
        let _ = write!(text, " from {} to {} s", short(first), short(last));
    }
    if let Some(fps) = fps {
        let _ = write!(text, " at {} a second", short(fps));
    }
    text
}

/// A number to about four digits.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = (3 - libm::log10(size).floor() as i32).clamp(0, 7) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Text that cannot be taken for markup, in content or in quotes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Controls have no place in HTML.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().enumerate().fold(0u32, |n, (k, &b)| n | u32::from(b) << (16 - 8 * k));
        for k in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * k)) as usize & 63];
            out.push(if k <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (plain, coded) in cases {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.12345, "0.1235"),
            (12.345, "12.35"),
            (123_456.7, "123457"),
            (-2.5, "-2.5"),
            (1e-9, "1.00e-9"),
            (100.0, "100"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }
}
