import {
  BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Group, InstancedMesh, LineBasicMaterial,
  LineSegments, Matrix4, Mesh, MeshLambertMaterial, Points, PointsMaterial, SphereGeometry,
} from 'three';
import type { Drawing } from '../engine/protocol';

/** What lies within or over the skin: lines, dots, facets and balls of a frame. */
export class Overlays {
  readonly group = new Group();
  private readonly lines = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ vertexColors: true, toneMapped: false }));
  private readonly dots = new Points(
    new BufferGeometry(),
    new PointsMaterial({ vertexColors: true, size: 5, sizeAttenuation: false, toneMapped: false }),
  );
  private readonly facets = new Mesh(
    new BufferGeometry(),
    new MeshLambertMaterial({ vertexColors: true, side: DoubleSide, flatShading: true, toneMapped: false }),
  );
  private readonly sphere = new SphereGeometry(1, 16, 12);
  private balls: InstancedMesh | null = null;

  constructor() {
    for (const object of [this.lines, this.dots, this.facets]) {
      object.frustumCulled = false;
      this.group.add(object);
    }
    this.facets.castShadow = true;
    this.facets.renderOrder = -0.5;
  }

  show(drawing: Drawing | null): void {
    this.group.visible = drawing !== null;
    if (!drawing) return;
    fill(this.lines.geometry, drawing.lines, drawing.lineColours, 2);
    fill(this.dots.geometry, drawing.dots, drawing.dotColours, 1);
    fill(this.facets.geometry, drawing.facets, drawing.facetColours, 3);
    this.showBalls(drawing.balls, drawing.ballColours);
  }

  dispose(): void {
    for (const object of [this.lines, this.dots, this.facets]) object.geometry.dispose();
    this.sphere.dispose();
    this.balls?.dispose();
  }

  private showBalls(balls: Float32Array, colours: Float32Array): void {
    const count = balls.length / 4;
    if (!this.balls || this.balls.instanceMatrix.count < count) {
      if (this.balls) {
        this.group.remove(this.balls);
        this.balls.dispose();
      }
      this.balls = new InstancedMesh(this.sphere, new MeshLambertMaterial({ toneMapped: false }), Math.max(1, count));
      this.balls.frustumCulled = false;
      this.balls.castShadow = true;
      this.group.add(this.balls);
    }
    this.balls.count = count;
    const matrix = new Matrix4();
    const colour = new Color();
    for (let i = 0; i < count; i++) {
      const radius = balls[4 * i + 3]!;
      matrix.makeScale(radius, radius, radius).setPosition(balls[4 * i]!, balls[4 * i + 1]!, balls[4 * i + 2]!);
      this.balls.setMatrixAt(i, matrix);
      this.balls.setColorAt(i, colour.fromArray(colours, 3 * i));
    }
    this.balls.instanceMatrix.needsUpdate = true;
    if (this.balls.instanceColor) this.balls.instanceColor.needsUpdate = true;
  }
}

/** Puts vertices and their colours (one for each `corners` of them) into a geometry, which grows where it must. */
function fill(geometry: BufferGeometry, places: Float32Array, colours: Float32Array, corners: number): void {
  const count = places.length / 3;
  const position = room(geometry, 'position', count);
  (position.array as Float32Array).set(places);
  const colour = room(geometry, 'color', count);
  for (let i = 0; i < count; i++) {
    const from = 3 * Math.floor(i / corners);
    colour.setXYZ(i, colours[from]!, colours[from + 1]!, colours[from + 2]!);
  }
  position.needsUpdate = colour.needsUpdate = true;
  geometry.setDrawRange(0, count);
}

function room(geometry: BufferGeometry, name: string, count: number): BufferAttribute {
  const has = geometry.getAttribute(name) as BufferAttribute | undefined;
  if (has && has.count >= count) return has;
  if (has) geometry.dispose();
  const made = new BufferAttribute(new Float32Array(3 * Math.max(1, Math.ceil(1.25 * count))), 3).setUsage(DynamicDrawUsage);
  geometry.setAttribute(name, made);
  return made;
}
