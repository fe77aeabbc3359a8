//! What is said to people, on standard error.

use std::io::Write;
use std::path::Path;

/// A line that is longer than this tells nobody anything.
const LONGEST_LINE: usize = 600;

/// One line. A terminal that is gone is no reason to stop.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", one_line(text));
}

/// Text from a file or a name without what a terminal would obey: line breaks, escapes, and too much of it.
pub(crate) fn one_line(text: &str) -> String {
    let mut line: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST_LINE).collect();
    if text.chars().nth(LONGEST_LINE).is_some() {
        line.push_str("...");
    }
    line
}

/// A path as people read it.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_but_text() {
        let line = one_line("a\u{1b}[31mred\nwarning: fake\r\0\u{9b}x");
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert!(one_line(&"x".repeat(1_000_000)).len() < 700);
    }
}
