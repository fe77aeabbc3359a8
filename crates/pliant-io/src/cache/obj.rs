use crate::WriteError;
use pliant::asset::Character;
use pliant::method::Shape;
use std::io::Write;

/// Writes one frame as an OBJ: an object per part, every vertex in order with its normal.
pub fn write_obj(sink: &mut impl Write, character: &Character, frame: &Shape) -> Result<(), WriteError> {
    let vertices = character.surface().positions().len();
    WriteError::check_length("vertices of a frame", vertices, frame.positions.len())?;
    WriteError::check_length("normals of a frame", vertices, frame.normals.len())?;
    for (what, values) in [("position", &frame.positions), ("normal", &frame.normals)] {
        if let Some(vertex) = values.iter().position(|v| !v.is_finite()) {
            return Err(WriteError::NotFinite { what, vertex, frame: 0 });
        }
    }
    for part in character.parts() {
        // A name is the rest of its line.
        let name: String = part.name.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
        writeln!(sink, "o {}", if name.trim().is_empty() { "part" } else { name.trim() })?;
        let range = part.vertices.start as usize..part.vertices.end as usize;
        for p in &frame.positions[range.clone()] {
            writeln!(sink, "v {} {} {}", p.x, p.y, p.z)?;
        }
        for n in &frame.normals[range] {
            writeln!(sink, "vn {} {} {}", n.x, n.y, n.z)?;
        }
        let range = part.triangles.start as usize..part.triangles.end as usize;
        for triangle in &character.surface().triangles()[range] {
            let [a, b, c] = triangle.map(|v| u64::from(v) + 1);
            writeln!(sink, "f {a}//{a} {b}//{b} {c}//{c}")?;
        }
    }
    Ok(())
}
