//! Which shells of a skin are one flesh.
//!
//! Many figures are put together from limbs that are stuck into a trunk, each with bones of its own; their artists count on
//! skin that passes through skin. Filled as one flesh they would be glued to each other there, and a raised arm would drag
//! collar and chest along.

use crate::asset::Character;
use crate::body::Body;

/// Share of a shell's weights that must be on bones which another shell has too, for both to be one flesh: a coat and what
/// is in it are, a sleeve and the trunk that it ends in are not.
const SHARED: f64 = 0.25;
/// Share of a shell's weights from which on a bone is one of its own: less may be a stroke of a brush that went too far.
const OWN: f64 = 0.02;

/// The part that each shell of a body's skin is of: those that hang on the same bones are of one.
pub(super) fn parts(character: &Character, body: &Body) -> Vec<u32> {
    let shares = shares(character, body);
    let on_bones_of = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).filter(|(_, of_b)| **of_b >= OWN).map(|(of_a, _)| of_a).sum()
    };
    let mut part: Vec<u32> = (0..shares.len() as u32).collect();
    for a in 0..shares.len() {
        for b in 0..a {
            let shared = on_bones_of(&shares[a], &shares[b]).max(on_bones_of(&shares[b], &shares[a]));
            if part[a] != part[b] && shared >= SHARED {
                let (from, to) = (part[a].max(part[b]), part[a].min(part[b]));
                part.iter_mut().filter(|p| **p == from).for_each(|p| *p = to);
            }
        }
    }
    part
}

/// For each shell how much of its weights each joint has; they sum to one.
fn shares(character: &Character, body: &Body) -> Vec<Vec<f64>> {
    let mut shares = vec![vec![0.0; character.skeleton().len()]; body.shells().len()];
    for (vertex, &shell) in body.shell_of_vertex().iter().enumerate() {
        // Vertices of no triangle are of no shell.
        let Some(of_shell) = shares.get_mut(shell as usize) else { continue };
        for (slot, weight) in character.weights().of(vertex) {
            of_shell[character.slots()[slot as usize].joint as usize] += f64::from(weight);
        }
    }
    for of_shell in &mut shares {
        let sum: f64 = of_shell.iter().sum();
        of_shell.iter_mut().for_each(|share| *share /= sum.max(f64::MIN_POSITIVE));
    }
    shares
}
