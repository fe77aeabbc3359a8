//! Names that were meant: for messages about names that are not there.

/// Names in a message; more tell nobody anything.
const LISTED: usize = 12;
/// Characters of a name in a message, and characters that names are compared by: a name of a megabyte is no slip.
const LONGEST: usize = 60;

/// The known name that a wrong one is most like, unless it is like none.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let folded = |text: &str| text.chars().take(LONGEST).collect::<String>().to_lowercase();
    let wrong = folded(name);
    let length = wrong.chars().count();
    let near = known.into_iter().filter(|k| k.chars().count().abs_diff(length) <= length.div_ceil(2));
    let near = near.map(|k| (strsim::osa_distance(&wrong, &folded(k)), k)).min_by_key(|found| found.0);
    // A slip changes a letter or two, or a third of a short name.
    near.filter(|&(slips, _)| slips <= 2.max(length.div_ceil(3)) && slips < length).map(|(_, known)| known)
}

/// Names for a message: the first ones, and how many more there are.
pub(super) fn listed<'k>(names: impl IntoIterator<Item = &'k str>) -> String {
    let mut names = names.into_iter();
    let mut list: Vec<String> = names.by_ref().take(LISTED).map(quoted).collect();
    let more = names.count();
    if more > 0 {
        list.push(format!("and {more} more"));
    }
    list.join(", ")
}

/// A name in quotes, cut where it is too long.
pub(super) fn quoted(name: &str) -> String {
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("'{}...'", &name[..end]),
        None => format!("'{name}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood() {
        let known = ["iterations", "step", "preroll", "volume_sweeps"];
        for (wrong, meant) in [
            ("itterations", Some("iterations")),
            ("iteration", Some("iterations")),
            ("Step", Some("step")),
            ("setp", Some("step")),
            ("volumesweeps", Some("volume_sweeps")),
            ("colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(wrong, known), meant, "{wrong}");
        }
        assert_eq!(nearest(&"iterations".repeat(100_000), known), None);
    }

    #[test]
    fn lists_are_short() {
        let names: Vec<String> = (0..1000).map(|i| format!("{i}").repeat(1000)).collect();
        let list = listed(names.iter().map(String::as_str));
        assert!(list.ends_with("and 988 more") && list.len() < 1000, "{list}");
    }
}
