//! The book's page of settings, made from the schema that the engine gives.

use crate::{Build, is_there, pliant, pliant_built, root, run};
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::process::Command;

/// Tells a person what to change instead.
const HEAD: &str = "\
<!-- Written by `cargo xtask book` from `pliant schema`. Change the settings' types, not this page. -->

# Settings reference

Every key of a settings file (`--config C.toml`), as `pliant schema` has it. What is left out keeps its default; a dash
means that there is none, and that the column on the right says what happens then. A key that is not listed is an error,
and so is a number out of range. `examples/settings.toml` in the repository is a file with every key in it.

Dotted keys are tables within a value: `on.bone.joint` is `on = { bone = { joint = \"Spine\" } }`; `via[].joint` is in every
table of the list `via`.
";

/// Writes the page, and builds the book where mdBook is there.
pub(crate) fn book() -> Result<()> {
    std::fs::write(page(), settings(&pliant()?)?)?;
    println!("wrote {}", page().display());
    if !is_there("mdbook") {
        println!("mdBook makes a site of docs/: cargo install mdbook, then this again");
        return Ok(());
    }
    run(&["mdbook", "build", "docs"])?;
    println!("The book: {}", root().join("target/book/index.html").display());
    Ok(())
}

/// Fails where the page is not what the schema gives.
pub(crate) fn check() -> Result<()> {
    let made = settings(&pliant_built(Build::Tests, &[])?)?;
    if std::fs::read_to_string(page())? != made {
        bail!("{} is not what `pliant schema` gives: cargo xtask book", page().display());
    }
    Ok(())
}

fn page() -> PathBuf {
    root().join("docs/book/settings.md")
}

fn settings(pliant: &str) -> Result<String> {
    let schema = Command::new(pliant).arg("schema").output()?;
    if !schema.status.success() {
        bail!("`pliant schema` fails");
    }
    Schema { root: serde_json::from_slice(&schema.stdout)? }.page()
}

struct Schema {
    root: Value,
}

/// A table of the page: its heading, what it is, and its rows.
struct Section {
    heading: String,
    about: String,
    rows: String,
}

impl Schema {
    fn page(&self) -> Result<String> {
        let top = Section {
            heading: "At the top of the file".into(),
            about: "Keys that stand before the first table.".into(),
            rows: String::new(),
        };
        let mut sections = vec![top];
        self.table(&self.root, "", &mut sections, 0)?;
        let mut page = HEAD.to_owned();
        for Section { heading, about, rows } in sections {
            page += &format!("\n## {heading}\n\n{about}\n\n| key | type | default | range | meaning |\n");
            page += &format!("|---|---|---|---|---|\n{rows}");
        }
        Ok(page)
    }

    /// Rows for what a TOML table holds; tables in it become sections of their own.
    fn table(&self, object: &Value, path: &str, sections: &mut Vec<Section>, own: usize) -> Result<()> {
        for (key, property) in properties(object)? {
            let full = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let list = property.get("items").map(|items| self.resolved(items)).transpose()?;
            let (heading, inner) = match (list, self.resolved(property)?) {
                (Some(list), _) if list.get("properties").is_some() => (format!("`[[{full}]]`"), list),
                (_, own) if own.get("properties").is_some() => (format!("`[{full}]`"), own),
                _ => {
                    self.row(key, property, object, &mut sections[own].rows)?;
                    continue;
                }
            };
            let most = property.get("maxItems").map(|n| format!(" At most {n}."));
            let mut about = text(property);
            // The type says more than the key only where it is longer.
            if text(inner).len() > about.len() {
                about = text(inner);
            }
            let about = about + &most.unwrap_or_default();
            sections.push(Section { heading, about, rows: String::new() });
            let its = sections.len() - 1;
            if list.is_some() {
                self.rows("", inner, &mut sections[its].rows)?;
            } else {
                self.table(inner, &full, sections, its)?;
            }
        }
        Ok(())
    }

    fn rows(&self, prefix: &str, object: &Value, out: &mut String) -> Result<()> {
        properties(object)?
            .iter()
            .try_for_each(|(key, property)| self.row(&format!("{prefix}{key}"), property, object, out))
    }

    /// The row of a key, and those of tables within its value.
    fn row(&self, key: &str, property: &Value, object: &Value, out: &mut String) -> Result<()> {
        let inner = self.resolved(property)?;
        let name = key.rsplit('.').next().unwrap_or(key);
        let required = object["required"].as_array().is_some_and(|all| all.iter().any(|k| k == name));
        let default = match property.get("default") {
            _ if required => "required".to_owned(),
            None | Some(Value::Null) => "–".to_owned(),
            Some(value) => format!("`{value}`"),
        };
        let choices = inner.get("oneOf").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut meaning = text(property);
        for choice in choices {
            if let (Some(value), Some(about)) = (choice.get("const"), choice.get("description")) {
                meaning += &format!(" `{value}`: {}", lower_first(&one_line(about)));
            }
        }
        *out += &line([&format!("`{key}`"), &self.kind(inner)?, &default, &range(inner), &meaning]);
        // A table as the value, or in a list that is the value, or as one of several values.
        if inner.get("properties").is_some() {
            self.rows(&format!("{key}."), inner, out)?;
        }
        if let Some(items) = inner.get("items") {
            let items = self.resolved(items)?;
            if items.get("properties").is_some() {
                self.rows(&format!("{key}[]."), items, out)?;
            }
        }
        for choice in choices.iter().filter(|c| c.get("properties").is_some()) {
            for (variant, value) in properties(choice)? {
                let nested = format!("{key}.{variant}");
                let value = self.resolved(value)?;
                *out +=
                    &line([&format!("`{nested}`"), &self.kind(value)?, "–", &range(value), &text(choice)]);
                if value.get("properties").is_some() {
                    self.rows(&format!("{nested}."), value, out)?;
                }
            }
        }
        Ok(())
    }

    /// What a reference, or one that may be null, stands for.
    fn resolved<'s>(&'s self, value: &'s Value) -> Result<&'s Value> {
        let options = value.get("anyOf").and_then(Value::as_array);
        let value = options.and_then(|all| all.iter().find(|v| v["type"] != "null")).unwrap_or(value);
        let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return Ok(value) };
        let pointer = reference.strip_prefix('#').context("a reference out of the schema")?;
        self.root.pointer(pointer).with_context(|| format!("no {reference} in the schema"))
    }

    fn kind(&self, value: &Value) -> Result<String> {
        let value = self.resolved(value)?;
        if let Some(choices) = value.get("oneOf").and_then(Value::as_array) {
            let shown = choices.iter().map(|choice| match choice.get("const") {
                Some(value) => Ok(format!("`{value}`")),
                None => Ok(format!("`{}`", properties(choice)?.keys().next().context("an empty choice")?)),
            });
            return Ok(shown.collect::<Result<Vec<_>>>()?.join(", "));
        }
        // A text of which some are known: their list says more than that it is text.
        if let Some(known) = value.get("examples").and_then(Value::as_array) {
            return Ok(known.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", "));
        }
        let kinds = match &value["type"] {
            Value::Array(all) => all.iter().filter_map(Value::as_str).find(|k| *k != "null"),
            one => one.as_str(),
        };
        Ok(match kinds.context("a type without a name")? {
            "object" => "table".into(),
            "boolean" => "true or false".into(),
            "array" => {
                let items = plural(&self.kind(&value["items"])?);
                fixed_length(value).map_or(format!("list of {items}"), |length| format!("{length} {items}"))
            }
            other => other.to_owned(),
        })
    }
}

fn properties(object: &Value) -> Result<&Map<String, Value>> {
    object["properties"].as_object().context("a table without keys in the schema")
}

/// What the type's comment says.
fn text(value: &Value) -> String {
    one_line(&value["description"])
}

fn one_line(text: &Value) -> String {
    text.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn plural(kind: &str) -> String {
    match kind.strip_prefix("list of ") {
        Some(items) => format!("lists of {items}"),
        None if kind.ends_with('s') => kind.to_owned(),
        None => format!("{kind}s"),
    }
}

/// How many items a list has, where that is always the same.
fn fixed_length(list: &Value) -> Option<u64> {
    let [low, high] = [list["minItems"].as_u64(), list["maxItems"].as_u64()];
    low.filter(|_| low == high)
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_lowercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

/// The numbers that are allowed, or how many of them and those of the list's items.
fn range(value: &Value) -> String {
    let most = value.get("maxItems").filter(|_| fixed_length(value).is_none());
    let most = most.map(|n| format!("at most {n}")).unwrap_or_default();
    let items = value.get("items").map(range).filter(|items| !items.is_empty()).unwrap_or(most);
    match (value.get("minimum"), value.get("maximum")) {
        (Some(low), Some(high)) => format!("{} to {}", short(low), short(high)),
        (Some(low), None) => format!("from {}", short(low)),
        (None, Some(high)) => format!("up to {}", short(high)),
        (None, None) => items,
    }
}

/// A number as people write it.
fn short(number: &Value) -> String {
    let Some(value) = number.as_f64() else { return number.to_string() };
    if value != 0.0 && !(1e-4..1e6).contains(&value.abs()) { format!("{value:e}") } else { value.to_string() }
}

fn line(cells: [&str; 5]) -> String {
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(json: &str) -> String {
        let schema = Schema { root: serde_json::from_str(json).expect("JSON") };
        schema.page().expect("a page")
    }

    #[test]
    fn a_key_has_its_type_default_range_and_meaning() {
        let page = page(
            r##"{"properties": {
                "step": {"type": ["number", "null"], "default": null, "minimum": 1e-4, "maximum": 1e12, "description": "Two\nlines."},
                "map": {"$ref": "#/$defs/Map", "default": "a", "description": "Which."},
                "body": {"$ref": "#/$defs/Body", "description": "The body."}},
              "$defs": {
                "Map": {"oneOf": [{"const": "a", "description": "This."}, {"const": "b", "description": "That."}]},
                "Body": {"properties": {"g": {"type": "array", "items": {"type": "number", "maximum": 9.5}, "minItems": 3,
                  "maxItems": 3, "default": [1.0, 2.0, 3.0], "description": "a|b"}}}}}"##,
        );
        assert!(page.contains("| `step` | number | – | 0.0001 to 1e12 | Two lines. |\n"), "{page}");
        assert!(
            page.contains(r#"| `map` | `"a"`, `"b"` | `"a"` |  | Which. `"a"`: this. `"b"`: that. |"#),
            "{page}"
        );
        assert!(page.contains("## `[body]`\n\nThe body.\n"), "{page}");
        assert!(page.contains("| `g` | 3 numbers | `[1.0,2.0,3.0]` | up to 9.5 | a\\|b |\n"), "{page}");
    }

    #[test]
    fn tables_in_values_are_dotted_and_those_in_lists_too() {
        let page = page(
            r##"{"properties": {"region": {"type": "array", "items": {"$ref": "#/$defs/Region"}, "maxItems": 7}},
              "$defs": {
                "Region": {"required": ["on"], "properties": {
                  "on": {"$ref": "#/$defs/Place", "description": "Where."},
                  "via": {"type": "array", "items": {"$ref": "#/$defs/Point"}, "default": [], "maxItems": 5},
                  "how": {"type": ["string", "null"], "examples": ["a", "b"]},
                  "groups": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}}},
                "Point": {"type": "object", "required": ["joint"], "properties": {"joint": {"type": "string"}}},
                "Place": {"oneOf": [{"type": "string", "const": "all"},
                  {"description": "A ball.", "properties": {"sphere": {"$ref": "#/$defs/Point"}}}]}}}"##,
        );
        assert!(page.contains("## `[[region]]`\n\n At most 7.\n"), "{page}");
        for row in [
            r#"| `on` | `"all"`, `sphere` | required |  | Where. |"#,
            "| `on.sphere` | table | – |  | A ball. |",
            "| `on.sphere.joint` | string | required |  |  |",
            "| `via` | list of tables | `[]` | at most 5 |  |",
            "| `via[].joint` | string | required |  |  |",
            "| `groups` | list of lists of strings | – |  |  |",
            r#"| `how` | `"a"`, `"b"` | – |  |  |"#,
        ] {
            assert!(page.contains(row), "{row}\n{page}");
        }
    }
}
