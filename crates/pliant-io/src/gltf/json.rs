//! The parts of the glTF JSON that Pliant reads. Strings are borrowed from the file; unknown properties are skipped.

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// Text, borrowed unless it has escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Str<'a>(pub(crate) Cow<'a, str>);

impl Deref for Str<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Str<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }
        }
        from.deserialize_str(Text)
    }
}

/// A whole number, however it is written (`3`, `3.0`, `30e-1`): an index, a count, a length or an offset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Whole(pub(crate) usize);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Whole;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number that is not negative")
            }
            fn visit_u64<E: Error>(self, n: u64) -> Result<Whole, E> {
                usize::try_from(n).map(Whole).map_err(|_| E::custom("the number is too large"))
            }
            fn visit_f64<E: Error>(self, n: f64) -> Result<Whole, E> {
                // Beyond 2^53 a float no longer names one whole number.
                if (0.0..=9_007_199_254_740_992.0).contains(&n) && n.trunc() == n {
                    self.visit_u64(n as u64)
                } else {
                    Err(E::custom(format_args!("{n} is not a whole number")))
                }
            }
        }
        from.deserialize_u64(Number)
    }
}

/// An array that the standard does not allow to be empty: remembers whether it was.
#[derive(Debug, Clone)]
pub(crate) struct List<T> {
    items: Vec<T>,
    given: bool,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { items: Vec::new(), given: false }
    }
}

impl<T> List<T> {
    /// Written in the file, with nothing in it.
    pub(crate) fn is_hollow(&self) -> bool {
        self.given && self.items.is_empty()
    }
}

impl<T> Deref for List<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self { items: Vec::deserialize(from)?, given: true })
    }
}

/// Up to 16 numbers, the first four kept in place: the bounds of an accessor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbers {
    few: [f64; 4],
    len: usize,
    many: Option<Box<[f64; 16]>>,
}

impl Deref for Numbers {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        match &self.many {
            Some(many) => &many[..self.len],
            None => &self.few[..self.len],
        }
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Sequence;
        impl<'de> Visitor<'de> for Sequence {
            type Value = Numbers;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of at most 16 numbers")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Numbers, A::Error> {
                let mut all = [0.0; 16];
                let mut len = 0;
                while let Some(value) = seq.next_element()? {
                    *all.get_mut(len).ok_or_else(|| A::Error::invalid_length(len + 1, &self))? = value;
                    len += 1;
                }
                let many = (len > 4).then(|| Box::new(all));
                Ok(Numbers { few: [all[0], all[1], all[2], all[3]], len, many })
            }
        }
        from.deserialize_seq(Sequence)
    }
}

/// A JSON object kept as a list, in the file's order.
#[derive(Debug, Clone)]
pub(crate) struct Map<'a, T>(pub(crate) Vec<(Str<'a>, T)>);

impl<T> Default for Map<'_, T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Map<'_, T> {
    pub(crate) fn get(&self, key: &str) -> Option<T> {
        self.0.iter().find(|e| &*e.0 == key).map(|e| e.1)
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Map<'a, T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
            type Value = Map<'de, T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Map<'de, T>, A::Error> {
                let mut entries: Vec<(Str<'de>, T)> = Vec::new();
                while let Some((key, value)) = map.next_entry::<Str<'de>, T>()? {
                    entries.push((key, value));
                }
                Ok(Map(entries))
            }
        }
        from.deserialize_map(Object(PhantomData))
    }
}

/// An object whose content does not matter here.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AnyObject;

impl<'de> Deserialize<'de> for AnyObject {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = AnyObject;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AnyObject, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(AnyObject)
            }
        }
        from.deserialize_map(Object)
    }
}

/// Extensions of the whole file: each must be an object. Those of VRM are kept as text, to be read when all else is
/// known to be sound.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RootExtensions<'a> {
    /// `VRMC_springBone` (VRM 1.0).
    pub(crate) spring_bone: Option<&'a RawValue>,
    /// `VRM` (0.x).
    pub(crate) vrm: Option<&'a RawValue>,
    /// `VRMC_vrm` (1.0).
    pub(crate) vrmc: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for RootExtensions<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = RootExtensions<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut extensions = RootExtensions::default();
                while let Some(name) = map.next_key::<Str<'de>>()? {
                    let kept = match &*name {
                        "VRMC_springBone" => &mut extensions.spring_bone,
                        "VRM" => &mut extensions.vrm,
                        "VRMC_vrm" => &mut extensions.vrmc,
                        _ => {
                            map.next_value::<AnyObject>()?;
                            continue;
                        }
                    };
                    let text = map.next_value::<&'de RawValue>()?;
                    if !text.get().starts_with('{') {
                        return Err(A::Error::custom(format_args!("the extension {} is no object", &*name)));
                    }
                    *kept = Some(text);
                }
                Ok(extensions)
            }
        }
        from.deserialize_map(Object)
    }
}

/// What `mesh.extras.targetNames` holds, if it holds that; `extras` may be anything at all.
#[derive(Debug, Clone, Default)]
pub(crate) struct MeshExtras<'a> {
    pub(crate) target_names: Vec<Str<'a>>,
}

/// A visitor that takes any scalar as nothing.
macro_rules! scalars_are_default {
    () => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("anything")
        }
        fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
    };
}

/// A string, or nothing where something else stands.
#[derive(Default)]
struct MaybeText<'a>(Option<Str<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for MaybeText<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = MaybeText<'de>;
            scalars_are_default!();
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(MaybeText(Some(Str(Cow::Borrowed(text)))))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(MaybeText(Some(Str(Cow::Owned(text.to_owned())))))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(MaybeText(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(MaybeText(None))
            }
        }
        from.deserialize_any(Any)
    }
}

/// A list of strings, or nothing where something else stands.
#[derive(Default)]
struct MaybeNames<'a>(Vec<Str<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for MaybeNames<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = MaybeNames<'de>;
            scalars_are_default!();
            fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
                Ok(MaybeNames::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut names = Vec::new();
                while let Some(MaybeText(name)) = seq.next_element()? {
                    names.push(name.unwrap_or(Str(Cow::Borrowed(""))));
                }
                Ok(MaybeNames(names))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(MaybeNames::default())
            }
        }
        from.deserialize_any(Any)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for MeshExtras<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = MeshExtras<'de>;
            scalars_are_default!();
            fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
                Ok(MeshExtras::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(MeshExtras::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut extras = MeshExtras::default();
                while let Some(key) = map.next_key::<Str<'de>>()? {
                    if &*key == "targetNames" {
                        extras.target_names = map.next_value::<MaybeNames<'de>>()?.0;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(extras)
            }
        }
        from.deserialize_any(Any)
    }
}
