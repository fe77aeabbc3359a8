//! Sample characters and motions made by code: the same scenes in demos, tests and benches.
//!
//! A character is written down as joints with flesh on them (round cones and ellipsoids), melted into one distance
//! field; its skin is that field's surface, closed, of one piece and of genus 0, remeshed to exactly the number of
//! vertices asked for. Y is up, characters face +Z, lengths are metres, feet stand at y = 0.

mod beasts;
mod biped;
mod field;
mod figure;
mod grid;
mod hooves;
mod limbs;
mod mesh;
mod monsters;
mod motion;
mod people;
mod quadruped;
mod remesh;
mod weigh;

use crate::asset::{AssetError, Character};
use figure::Figure;
use motion::Motion;
use thiserror::Error;

/// A sample character: what [`list`] says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// What [`character`] takes.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Vertices where none are asked for.
    pub default_vertices: usize,
    /// Names of its clips, in order.
    pub motions: &'static [&'static str],
}

/// Why there is no such character.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ZooError {
    /// No sample has this name.
    #[error("no sample is called `{name}`; did you mean `{nearest}`? There are: {all}")]
    UnknownName {
        /// What was asked for.
        name: String,
        /// The known name most like it.
        nearest: &'static str,
        /// All names.
        all: String,
    },
    /// Too few vertices to show the character, or more than it is made for.
    #[error("{count} vertices: a sample can have {MIN_VERTICES} to {MAX_VERTICES}")]
    VertexCount {
        /// What was asked for.
        count: usize,
    },
    /// The character could not be put together.
    #[error("the sample could not be made: {0}")]
    Asset(#[from] AssetError),
}

/// Fewest vertices of a sample: with less, fingers and tails vanish.
pub const MIN_VERTICES: usize = 500;
/// Most vertices of a sample.
pub const MAX_VERTICES: usize = 200_000;

const PERSON: &[&str] = &["walk", "run", "bend", "twist", "kick", "jump", "shake", "wave"];
const BEAST: &[&str] = &["walk", "run", "jump", "shake", "bend"];

const fn sample(
    name: &'static str,
    about: &'static str,
    default_vertices: usize,
    motions: &'static [&'static str],
) -> Sample {
    Sample { name, about, default_vertices, motions }
}

static SAMPLES: [Sample; 13] = [
    sample("cylinder", "a round limb of two bones", 2000, &["bend", "twist", "shake"]),
    sample("arm", "a tapered arm with its bone off-centre", 5000, &["bend", "twist", "shake", "wave"]),
    sample("leg", "a leg from hip to toes", 5000, &["bend", "twist", "kick", "shake"]),
    sample("torso", "a muscular upper body", 4345, &["bend", "twist", "shake", "wave"]),
    sample("human", "a person of average build", 9528, PERSON),
    sample("bunny", "a rabbit with a big belly and long ears", 8111, PERSON),
    sample("octopus", "eight arms and a soft head", 4000, &["wave", "twist", "shake", "bend"]),
    sample("horse", "a horse with mane and tail", 3833, BEAST),
    sample("giraffe", "long legs and a longer neck", 1667, BEAST),
    sample("elephant", "trunk, tusks and big ears", 5720, BEAST),
    sample("hand", "a hand with five fingers", 8636, &["bend", "wave", "twist", "shake"]),
    sample("chubby", "a fat person", 8620, PERSON),
    sample("armadillo", "a spiky fellow with shell, claws and tail", 34_594, PERSON),
];

/// All samples.
pub fn list() -> &'static [Sample] {
    &SAMPLES
}

/// Makes a sample character with its motions: the same bits every time. `vertices` sets the density of its skin, to
/// the vertex; `None` takes the sample's own.
pub fn character(name: &str, vertices: Option<usize>) -> Result<Character, ZooError> {
    let sample = list().iter().find(|s| s.name == name);
    let (sample, (figure, motions)) = sample.zip(written(name)).ok_or_else(|| ZooError::UnknownName {
        name: name.to_owned(),
        nearest: nearest(name),
        all: list().iter().map(|s| s.name).collect::<Vec<_>>().join(", "),
    })?;
    let count = vertices.unwrap_or(sample.default_vertices);
    if !(MIN_VERTICES..=MAX_VERTICES).contains(&count) {
        return Err(ZooError::VertexCount { count });
    }
    Ok(figure.build(name, count, &motions)?)
}

/// A sample as it is written down; the motions in the order of [`Sample::motions`].
fn written(name: &str) -> Option<(Figure, Vec<Motion>)> {
    Some(match name {
        "cylinder" => (limbs::cylinder(), limbs::cylinder_motions()),
        "arm" => (limbs::arm(), limbs::arm_motions()),
        "leg" => (limbs::leg(), limbs::leg_motions()),
        "hand" => (limbs::hand(), limbs::hand_motions()),
        "torso" => (people::torso(), biped::torso_motions()),
        "chubby" => (people::chubby(), biped::motions(&biped::CHUBBY)),
        "bunny" => (monsters::bunny(), biped::motions(&biped::BUNNY)),
        "armadillo" => (monsters::armadillo(), biped::motions(&biped::ARMADILLO)),
        "octopus" => (monsters::octopus(), monsters::octopus_motions()),
        "horse" => (hooves::horse(), quadruped::motions(&hooves::HORSE)),
        "giraffe" => (hooves::giraffe(), quadruped::motions(&hooves::GIRAFFE)),
        "elephant" => (beasts::elephant(), quadruped::motions(&beasts::ELEPHANT)),
        "human" => (people::human(), biped::motions(&biped::HUMAN)),
        _ => return None,
    })
}

/// The known name with the fewest letters to change.
fn nearest(name: &str) -> &'static str {
    let changes = |other: &str| {
        let mut row: Vec<usize> = (0..=other.chars().count()).collect();
        for (i, a) in name.chars().take(64).enumerate() {
            let mut diagonal = row[0];
            row[0] = i + 1;
            for (j, b) in other.chars().enumerate() {
                let replaced = diagonal + usize::from(a != b);
                diagonal = row[j + 1];
                row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
            }
        }
        row.last().copied().unwrap_or(usize::MAX)
    };
    list().iter().map(|s| s.name).min_by_key(|n| changes(n)).unwrap_or("human")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(feature = "parallel")]
    fn any_number_of_threads_gives_the_same_bits() {
        let make = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| character("arm", Some(3000)).unwrap())
        };
        assert_eq!(make(1), make(3));
    }

    #[test]
    fn every_name_is_written_and_joints_are_called_apart() {
        for sample in list() {
            let (figure, motions) = written(sample.name).unwrap();
            assert_eq!(motions.len(), sample.motions.len(), "{}", sample.name);
            let mut names: Vec<&str> = figure.pins.iter().map(|p| p.name.as_str()).collect();
            names.sort_unstable();
            assert!(names.windows(2).all(|w| w[0] != w[1]), "{}", sample.name);
            let leaf = |j: usize| figure.children(j).next().is_none();
            assert!((0..names.len()).all(|j| !leaf(j) || figure.pins[j].tail.is_some()), "{}", sample.name);
            assert!(figure.pins.iter().all(|p| !p.lumps.is_empty()), "{}", sample.name);
        }
    }
}
