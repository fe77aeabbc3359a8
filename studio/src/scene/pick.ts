import { type Ray, Vector3 } from 'three';
import type { Opened } from '../engine/protocol';

/** Where a ray meets the skin. */
export interface Hit {
  triangle: number;
  /** The corner that is nearest. */
  vertex: number;
  /** Now, and in the rest pose. */
  position: Vector3;
  rest: Vector3;
  normal: Vector3;
}

/** The nearest triangle that a ray meets, over the skin as it is shown. */
export function pickSkin(ray: Ray, positions: Float32Array, opened: Opened): Hit | null {
  const { triangles } = opened;
  const [a, b, c, at] = [new Vector3(), new Vector3(), new Vector3(), new Vector3()];
  let nearest = Infinity;
  let found = -1;
  for (let t = 0; t < triangles.length; t += 3) {
    a.fromArray(positions, 3 * triangles[t]!);
    b.fromArray(positions, 3 * triangles[t + 1]!);
    c.fromArray(positions, 3 * triangles[t + 2]!);
    if (!ray.intersectTriangle(a, b, c, false, at)) continue;
    const distance = at.distanceToSquared(ray.origin);
    if (distance < nearest) [nearest, found] = [distance, t];
  }
  return found < 0 ? null : describe(ray, positions, opened, found);
}

function describe(ray: Ray, positions: Float32Array, opened: Opened, t: number): Hit {
  const corners = [0, 1, 2].map((k) => opened.triangles[t + k]!);
  const [a, b, c] = corners.map((vertex) => new Vector3().fromArray(positions, 3 * vertex)) as [Vector3, Vector3, Vector3];
  const position = new Vector3();
  ray.intersectTriangle(a, b, c, false, position);
  const normal = b.clone().sub(a).cross(c.clone().sub(a)).normalize();
  const shares = barycentric(position, a, b, c);
  const rest = new Vector3();
  corners.forEach((vertex, k) => rest.addScaledVector(new Vector3().fromArray(opened.positions, 3 * vertex), shares[k]!));
  const vertex = corners[shares.indexOf(Math.max(...shares))]!;
  return { triangle: t / 3, vertex, position, rest, normal };
}

function barycentric(p: Vector3, a: Vector3, b: Vector3, c: Vector3): number[] {
  const [ab, ac, ap] = [b.clone().sub(a), c.clone().sub(a), p.clone().sub(a)];
  const [d00, d01, d11] = [ab.dot(ab), ab.dot(ac), ac.dot(ac)];
  const [d20, d21] = [ap.dot(ab), ap.dot(ac)];
  const area = d00 * d11 - d01 * d01;
  if (area <= 0) return [1, 0, 0];
  const v = (d11 * d20 - d01 * d21) / area;
  const w = (d00 * d21 - d01 * d20) / area;
  return [1 - v - w, v, w];
}

/** The vertex nearest to a place, of positions of three numbers each. */
export function nearestVertex(positions: Float32Array, place: Vector3): number {
  let best = 0;
  let nearest = Infinity;
  for (let i = 0; i < positions.length; i += 3) {
    const distance = (positions[i]! - place.x) ** 2 + (positions[i + 1]! - place.y) ** 2 + (positions[i + 2]! - place.z) ** 2;
    if (distance < nearest) [nearest, best] = [distance, i / 3];
  }
  return best;
}
