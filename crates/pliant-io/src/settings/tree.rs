//! A TOML value as serde sees it, with errors that know their place and say what was meant.

use crate::Problem;
use crate::text::shown;
use pliant::method::nearest;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use std::fmt::{self, Display};
use toml::Spanned;
use toml::de::{DeString, DeValue};

/// Why a value cannot be a setting.
#[derive(Debug)]
pub(super) struct Fault {
    /// Byte of the file, once it is known.
    at: Option<usize>,
    /// Keys from the value outwards.
    path: Vec<String>,
    what: String,
    hint: String,
}

impl Fault {
    fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { at: None, path: Vec::new(), what: what.into(), hint: hint.into() }
    }

    fn at(mut self, at: usize) -> Self {
        self.at.get_or_insert(at);
        self
    }

    fn under(mut self, key: impl Into<String>) -> Self {
        self.path.push(key.into());
        self
    }

    pub(super) fn problem(self, place: impl Fn(usize) -> String) -> Problem {
        let mut path = String::new();
        for step in self.path.iter().rev() {
            if !path.is_empty() && !step.starts_with('[') {
                path.push('.');
            }
            path.push_str(step);
        }
        let what = if path.is_empty() { self.what } else { format!("{path}: {}", self.what) };
        Problem::new(self.at.map(place).unwrap_or_default(), what).hint(self.hint)
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Fault {}

/// What serde calls the types of settings, in words.
fn needed(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    match &text[..] {
        "u32" | "usize" => "a whole number that is not negative".into(),
        "f64" => "a number".into(),
        "a string" => "text in quotes".into(),
        "a boolean" => "true or false".into(),
        "a sequence" => "a list in [ ]".into(),
        "an array of length 3" => "a list of three numbers".into(),
        _ if text.starts_with("struct") => "a table".into(),
        _ => text,
    }
}

fn given(unexpected: Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Str(text) => format!("the text \"{}\"", shown(text.as_bytes())),
        Unexpected::Signed(n) => n.to_string(),
        Unexpected::Unsigned(n) => n.to_string(),
        Unexpected::Float(n) => n.to_string(),
        Unexpected::Bool(b) => b.to_string(),
        Unexpected::Seq => "a list".into(),
        Unexpected::Map => "a table".into(),
        other => other.to_string(),
    }
}

/// Something that is not known, and what was meant.
fn unknown(kind: &str, name: &str, known: &'static [&'static str]) -> Fault {
    let meant = nearest(name, known.iter().copied());
    let hint = match meant {
        Some(meant) => format!("did you mean '{meant}'?"),
        None => format!("known are {}", known.join(", ")),
    };
    Fault::new(format!("unknown {kind} '{}'", shown(name.as_bytes())), hint)
}

impl Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string(), "")
    }
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!("{} is needed, not {}", needed(expected), given(unexpected)), "")
    }
    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }
    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::new(format!("{} is needed, not a list of {length}", needed(expected)), "")
    }
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        unknown("key", field, expected)
    }
    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        unknown("choice", variant, expected)
    }
    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("'{field}' is missing"), "")
    }
}

/// A value and where it starts.
#[derive(Clone, Copy)]
pub(super) struct Value<'de> {
    value: &'de DeValue<'de>,
    at: usize,
}

impl<'de> Value<'de> {
    pub(super) fn new(value: &'de DeValue<'de>, at: usize) -> Self {
        Self { value, at }
    }

    fn of(item: &'de Spanned<DeValue<'de>>) -> Self {
        Self::new(item.get_ref(), item.span().start)
    }

    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.value {
            DeValue::String(text) => visitor.visit_borrowed_str(text),
            DeValue::Boolean(b) => visitor.visit_bool(*b),
            DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
                Ok(n) => visitor.visit_i64(n),
                Err(_) => Err(Fault::new("the number is too large", "")),
            },
            DeValue::Float(n) => match n.as_str().parse::<f64>() {
                Ok(n) => visitor.visit_f64(n),
                Err(_) => Err(Fault::new("this is not a number", "")),
            },
            DeValue::Datetime(_) => Err(Error::invalid_type(Unexpected::Other("a date"), &visitor)),
            DeValue::Array(list) => visitor.visit_seq(List { items: list.iter(), index: 0 }),
            DeValue::Table(table) => visitor.visit_map(Entries { entries: table.iter(), value: None }),
        }
    }
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.visit(visitor).map_err(|fault| fault.at(self.at))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let choice = match self.value {
            DeValue::String(name) => Choice { name, name_at: self.at, value: None },
            DeValue::Table(table) if table.len() == 1 => match table.iter().next() {
                Some((key, value)) => {
                    Choice { name: key.get_ref(), name_at: key.span().start, value: Some(Value::of(value)) }
                }
                None => return Err(Fault::new("is empty", "").at(self.at)),
            },
            _ => {
                let what = format!("one of {} is needed", variants.join(", "));
                return Err(Fault::new(what, "").at(self.at));
            }
        };
        visitor.visit_enum(choice).map_err(|fault| fault.at(self.at))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct List<'de> {
    items: std::slice::Iter<'de, Spanned<DeValue<'de>>>,
    index: usize,
}

impl<'de> SeqAccess<'de> for List<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        seed.deserialize(Value::of(item)).map(Some).map_err(|fault| fault.under(format!("[{index}]")))
    }
}

struct Entries<'de> {
    entries: toml::map::Iter<'de, Spanned<DeString<'de>>, Spanned<DeValue<'de>>>,
    /// What the last key goes with.
    value: Option<(&'de str, Value<'de>)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((key, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some((key.get_ref(), Value::of(value)));
        let named = BorrowedStrDeserializer::new(key.get_ref());
        seed.deserialize(named).map(Some).map_err(|fault: Fault| fault.at(key.span().start))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let Some((key, value)) = self.value.take() else {
            return Err(Fault::new("a value without a key", ""));
        };
        seed.deserialize(value).map_err(|fault| fault.under(shown(key.as_bytes())))
    }
}

/// A choice by name, with what goes with it.
struct Choice<'de> {
    name: &'de str,
    name_at: usize,
    value: Option<Value<'de>>,
}

impl<'de> EnumAccess<'de> for Choice<'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        let named = BorrowedStrDeserializer::new(self.name);
        let chosen = seed.deserialize(named).map_err(|fault: Fault| fault.at(self.name_at))?;
        Ok((chosen, self))
    }
}

impl<'de> Choice<'de> {
    /// What goes with the choice, which needs it.
    fn value(self) -> Result<(&'de str, Value<'de>), Fault> {
        let lone =
            || Fault::new(format!("'{}' needs a value", self.name), format!("{{ {} = ... }}", self.name));
        self.value.ok_or_else(lone).map(|value| (self.name, value))
    }
}

impl<'de> VariantAccess<'de> for Choice<'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.value {
            Some(value) => {
                Err(Fault::new(format!("'{}' takes no value", self.name), format!("write \"{}\"", self.name))
                    .at(value.at))
            }
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        let (name, value) = self.value()?;
        seed.deserialize(value).map_err(|fault| fault.under(name))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        let (name, value) = self.value()?;
        value.deserialize_any(visitor).map_err(|fault| fault.under(name))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let (name, value) = self.value()?;
        value.deserialize_any(visitor).map_err(|fault| fault.under(name))
    }
}
