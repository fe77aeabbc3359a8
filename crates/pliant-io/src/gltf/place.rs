//! Where in a JSON text an error is, as a path: line and column say little in a file of one line.

use super::buffers::{NAME, shorten};

/// Most characters of a path.
const LONGEST: usize = 120;

/// A step down into the text.
enum Step {
    Key(String),
    Item(usize),
}

/// The path of the value at a line and column (from 1), such as `accessors[3].count`.
pub(crate) fn path_at(json: &[u8], line: usize, column: usize) -> String {
    let start =
        json.split_inclusive(|&b| b == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum::<usize>();
    let end = start.saturating_add(column).min(json.len());
    let mut steps: Vec<Step> = Vec::new();
    let mut text: Option<Vec<u8>> = None;
    let mut last_text = Vec::new();
    let mut escaped = false;
    for &byte in &json[..end] {
        if let Some(open) = &mut text {
            match byte {
                _ if escaped => {
                    open.push(byte);
                    escaped = false;
                }
                b'\\' => escaped = true,
                b'"' => last_text = text.take().unwrap_or_default(),
                _ => open.push(byte),
            }
            continue;
        }
        match byte {
            b'"' => text = Some(Vec::new()),
            b'{' => steps.push(Step::Key(String::new())),
            b'[' => steps.push(Step::Item(0)),
            b'}' | b']' => drop(steps.pop()),
            b':' => {
                if let Some(Step::Key(key)) = steps.last_mut() {
                    *key = String::from_utf8_lossy(&last_text).into_owned();
                }
            }
            b',' => match steps.last_mut() {
                Some(Step::Key(key)) => key.clear(),
                Some(Step::Item(index)) => *index += 1,
                None => {}
            },
            _ => {}
        }
    }
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Key(key) if key.is_empty() => {}
            Step::Key(key) if path.is_empty() => path = shorten(&key, NAME),
            Step::Key(key) => path.extend([".", &shorten(&key, NAME)]),
            Step::Item(index) => path.push_str(&format!("[{index}]")),
        }
        // A file may nest as deep as it is long; where it starts to says enough.
        if path.len() > LONGEST {
            return shorten(&path, LONGEST);
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::path_at;

    #[test]
    fn paths() {
        let json = br#"{"a": {"x": [1, 2]}, "nodes": [{}, {"name": "a\",b", "mesh": -1}]}"#;
        let at = |needle: &str| {
            let found = json.windows(needle.len()).position(|w| w == needle.as_bytes()).unwrap();
            path_at(json, 1, found + 1)
        };
        assert_eq!(at("-1"), "nodes[1].mesh");
        assert_eq!(at("2]"), "a.x[1]");
        assert_eq!(path_at(b"{\n\"a\":\n[3,\n4]}", 4, 1), "a[1]");
        assert_eq!(path_at(json, 99, 99), "");
        for open in ["[", r#"{"a":"#, r#"{"a long name that goes on and on":"#] {
            let deep = open.repeat(100_000);
            let path = path_at(deep.as_bytes(), 1, deep.len());
            assert!((100..130).contains(&path.len()) && path.ends_with("..."), "{path:.300}");
        }
    }
}
