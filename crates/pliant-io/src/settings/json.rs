//! Settings as JSON, for shells that edit them key by key.

use super::{MAX_BYTES, SettingsFile, read};
use crate::{Problem, ReadError};
use serde_json::{Map, Value};

/// What a settings file sets, key by key, once it is found sound.
pub fn to_json(bytes: &[u8]) -> Result<Value, ReadError> {
    let file = read(bytes)?;
    toml::from_str(&file.text).map_err(|e| Problem::new("", e.message().to_owned()).into())
}

/// Settings given key by key, and the file that they make. What is null is left out.
pub fn from_json(settings: &Value) -> Result<(SettingsFile, String), ReadError> {
    let refuse = |what: String| ReadError::from(Problem::new("", what));
    let table = without_nulls(settings).unwrap_or(Value::Object(Map::new()));
    let text = toml::to_string(&table).map_err(|e| refuse(format!("these are no settings: {e}")))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(refuse(format!(
            "{} bytes are too many for settings, {MAX_BYTES} at most: paint fewer vertices",
            text.len()
        )));
    }
    Ok((read(text.as_bytes())?, text))
}

fn without_nulls(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Array(list) => Some(list.iter().filter_map(without_nulls).collect()),
        Value::Object(table) => {
            let kept = table.iter().filter_map(|(key, value)| Some((key.clone(), without_nulls(value)?)));
            Some(Value::Object(kept.collect()))
        }
        other => Some(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_go_to_a_file_and_back() {
        let settings = json!({
            "method": "position",
            "preset": null,
            "body": { "tets": 3000 },
            "strain": { "stretch": [0.5, 0.25, 0.125], "settled": true },
            "region": [
                { "name": "belly", "on": { "painted": "_SOFTNESS" }, "preset": "fat", "damping": 1.5 },
                { "name": "all", "on": "all", "preset": null },
            ],
            "metaballs": { "muscle": [{ "name": "b", "from": { "joint": "A", "at": [0.0, 1.0, 0.5] }, "to": { "joint": "B" } }] },
            "paint": [{ "name": "_SOFTNESS", "vertices": [0, 7, 12], "values": [0.5, 1.0, 0.25] }],
        });
        let (file, text) = from_json(&settings).unwrap();
        assert_eq!(file.settings.body.tets, Some(3000));
        assert_eq!(file.settings.paints[0].vertices, [0, 7, 12]);
        let back = to_json(text.as_bytes()).unwrap();
        assert_eq!(Some(back.clone()), without_nulls(&settings));
        assert_eq!(from_json(&back).unwrap().1, text);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (settings, word) in [
            (json!({ "metod": "lbs" }), "method"),
            (json!({ "position": { "stretch": 7 } }), "position.stretch"),
            (json!({ "paint": [{ "name": "soft" }] }), "_SOFTNESS"),
            (json!({ "paint": [{ "name": "_A", "vertices": [1], "values": [] }] }), "paint[0].values"),
            (json!({ "paint": [{ "name": "_A", "vertices": [1], "values": [2.0] }] }), "paint[0].values"),
            (json!([1, 2]), "settings"),
        ] {
            let error = from_json(&settings).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
