use thiserror::Error;

/// Why data cannot become an asset. Carries where: the index of the element that is wrong.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum AssetError {
    /// A NaN or an infinity.
    #[error("{what} {index} is not a finite number")]
    NotFinite {
        /// Kind of element.
        what: &'static str,
        /// Which one.
        index: usize,
    },
    /// An index past the end of what it points into.
    #[error("{what} {index} refers to {target} {value}, but there are only {count}")]
    OutOfRange {
        /// Kind of element that refers.
        what: &'static str,
        /// Which one.
        index: usize,
        /// Kind of element referred to.
        target: &'static str,
        /// The bad index.
        value: usize,
        /// How many there are.
        count: usize,
    },
    /// Two arrays that must be of one length are not.
    #[error("{what}: {found} where {expected} are needed")]
    Length {
        /// What is miscounted.
        what: &'static str,
        /// Count needed.
        expected: usize,
        /// Count found.
        found: usize,
    },
    /// A joint before its parent: joints come parents first, which also rules out cycles.
    #[error("joint {joint} has parent {parent}, which does not come before it")]
    ParentOrder {
        /// The joint.
        joint: usize,
        /// Its parent.
        parent: usize,
    },
    /// Weights of a vertex that are negative or do not sum to one.
    #[error("the weights of vertex {vertex} {why}")]
    Weights {
        /// The vertex.
        vertex: usize,
        /// What is wrong with them.
        why: &'static str,
    },
    /// Key times that do not increase.
    #[error("key {key} of a track is not later than the key before it")]
    KeyOrder {
        /// The key.
        key: usize,
    },
    /// A rotation whose quaternion is not of length one.
    #[error("the rotation of joint {joint} is not a unit quaternion")]
    NotUnit {
        /// The joint.
        joint: usize,
    },
    /// A part whose ranges do not fit the surface, or that stands in the wrong place.
    #[error("part {part} {why}")]
    Part {
        /// The part.
        part: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A painted attribute that is none.
    #[error("painted attribute {index} {why}")]
    Paint {
        /// Which one.
        index: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A tet whose four nodes lie in one plane.
    #[error("tet {tet} is flat")]
    FlatTet {
        /// The tet.
        tet: usize,
    },
    /// A rate that is not a positive number.
    #[error("{rate} frames a second are no rate")]
    Rate {
        /// The rate.
        rate: f64,
    },
    /// Something that must hold at least one element is empty.
    #[error("{what}: empty")]
    Empty {
        /// What is empty.
        what: &'static str,
    },
    /// More elements than the engine's index types can count.
    #[error("{what}: {count} is more than the {limit} that can be handled")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many.
        count: usize,
        /// The most that can be handled.
        limit: usize,
    },
}
