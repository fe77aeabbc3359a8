//! Answers: JSON, with arrays named by where they lie in memory.

use serde_json::{Map, Value, json};

/// An answer in the making.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) value: Value,
    arrays: Map<String, Value>,
}

impl Answer {
    pub(crate) fn new(value: Value) -> Self {
        Self { value, arrays: Map::new() }
    }

    /// Names an array, which must stay where it is until the next call.
    pub(crate) fn with<T: bytemuck::NoUninit>(mut self, name: &str, kind: &str, array: &[T]) -> Self {
        let bytes: &[u8] = bytemuck::cast_slice(array);
        self.arrays.insert(name.to_owned(), json!([bytes.as_ptr() as usize, bytes.len(), kind]));
        self
    }

    pub(crate) fn json(self) -> Vec<u8> {
        json!({ "value": self.value, "arrays": self.arrays }).to_string().into_bytes()
    }
}
