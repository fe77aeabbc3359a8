//! What two runs are compared by.

use glam::Vec3;
use xxhash_rust::xxh3::Xxh3;

/// XXH3-64 of the positions of all frames in order, as little-endian f32: two runs with one hash gave the same skin.
#[derive(Clone, Default)]
pub struct StateHash(Xxh3);

impl StateHash {
    /// Takes in the next frame.
    pub fn frame(&mut self, positions: &[Vec3]) {
        if cfg!(target_endian = "little") {
            self.0.update(bytemuck::cast_slice(positions));
        } else {
            let bytes = positions.iter().flat_map(|p| p.to_array()).flat_map(f32::to_le_bytes);
            self.0.update(&bytes.collect::<Vec<u8>>());
        }
    }

    /// Takes in the corners of tets.
    pub fn corners(&mut self, tets: &[[u32; 4]]) {
        tets.as_flattened().iter().for_each(|corner| self.0.update(&corner.to_le_bytes()));
    }

    /// Sixteen hexadecimal digits.
    pub fn hex(&self) -> String {
        format!("{:016x}", self.0.digest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_of_little_endian_floats_in_order() {
        let frames = [[Vec3::new(1.0, -2.5, 3.0), Vec3::ZERO], [Vec3::ONE, Vec3::splat(0.1)]];
        let mut hash = StateHash::default();
        frames.iter().for_each(|f| hash.frame(f));
        let bytes: Vec<u8> =
            frames.iter().flatten().flat_map(|p| p.to_array()).flat_map(f32::to_le_bytes).collect();
        assert_eq!(hash.hex(), format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes)));
        // Of no bytes: the value that the definition of XXH3 gives.
        assert_eq!(StateHash::default().hex(), "2d06800538d394c2");
    }
}
