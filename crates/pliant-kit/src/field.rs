//! One number for each vertex of the skin, to colour it by.

use glam::DVec3;
use pliant::asset::Character;
use pliant::body::{Body, Node};
use pliant::method::{Settings, SettingsError};

/// How soft the flesh is, 0 to 1: the softness of regions, of two on one place the later.
pub fn softness(settings: &Settings, character: &Character) -> Result<Vec<f32>, SettingsError> {
    let mut soft = vec![0.0f32; character.surface().positions().len()];
    if let Some(preset) = settings.preset {
        soft.fill(preset.tissue().softness as f32);
    }
    for (region, choice) in settings.regions.iter().zip(settings.choices(character)?) {
        let own = region.resolved().softness as f32;
        soft.iter_mut().zip(choice).for_each(|(soft, share)| *soft += (own - *soft) * share);
    }
    Ok(soft)
}

/// How far the tet under each vertex is from its rest shape: the root mean square of what its six edges and its volume
/// are off, as shares. Negative where the tet is squeezed.
pub fn residual(body: &Body, nodes: &[Node]) -> Vec<f32> {
    const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    let (mesh, embedding) = (body.tets(), body.embedding());
    let of_tet = |tet: usize| {
        let rest = mesh.corners(tet);
        let now = mesh.tets()[tet].map(|n| {
            let [x, y, z, _] = nodes[n as usize];
            DVec3::new(x.into(), y.into(), z.into())
        });
        let volume = |[a, b, c, d]: [DVec3; 4]| (b - a).cross(c - a).dot(d - a);
        let off_volume = volume(now) / volume(rest) - 1.0;
        let off = EDGES.map(|[a, b]| now[a].distance(now[b]) / rest[a].distance(rest[b]) - 1.0);
        let squares = off.iter().map(|e| e * e).sum::<f64>() + off_volume * off_volume;
        let mean = off.iter().sum::<f64>() + off_volume;
        (squares / 7.0).sqrt().copysign(mean)
    };
    embedding.tets().iter().map(|&tet| of_tet(tet as usize) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::body::{Fineness, rest_nodes};
    use pliant::method::{Place, Preset, Region};
    use pliant::zoo;

    #[test]
    fn the_later_region_counts() {
        let character = zoo::character("cylinder", Some(500)).unwrap();
        let mut settings = Settings { preset: Some(Preset::Fat), ..Settings::default() };
        assert!(softness(&settings, &character).unwrap().iter().all(|&s| s == 1.0));
        settings.regions = vec![Region::new("all", Place::All, Preset::Muscle)];
        assert!(softness(&settings, &character).unwrap().iter().all(|&s| s == 0.5));
    }

    #[test]
    fn a_body_at_rest_or_moved_as_one_is_off_by_nothing() {
        let character = zoo::character("cylinder", Some(500)).unwrap();
        let skin = character.surface();
        let body =
            Body::of_skin(skin.positions(), skin.triangles(), Fineness::Tets(500), &mut |_| true).unwrap();
        let mut nodes = rest_nodes(body.tets());
        nodes.iter_mut().for_each(|n| *n = [n[1] + 0.25, -n[0], n[2], n[3]]);
        assert!(residual(&body, &nodes).iter().all(|r| r.abs() < 1e-4));
        nodes.iter_mut().for_each(|n| *n = [1.1 * n[0], 1.1 * n[1], 1.1 * n[2], n[3]]);
        let wanted = ((6.0 * 0.1f64.powi(2) + 0.331f64.powi(2)) / 7.0).sqrt() as f32;
        assert!(residual(&body, &nodes).iter().all(|r| (r - wanted).abs() < 1e-3));
    }
}
