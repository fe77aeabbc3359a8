import {
  BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Group, type Material, Mesh, MeshBasicMaterial,
  MeshLambertMaterial, MeshStandardMaterial, Sphere, Vector3,
} from 'three';
import type { Opened } from '../engine/protocol';
import type { Look } from './look';

/** How the skin is drawn: as in the file, in one number's colours, or so that one sees through it. */
export type SkinStyle = 'file' | 'colours' | 'ghost' | 'hidden';

interface PartMesh {
  mesh: Mesh;
  wire: Mesh;
  range: [number, number];
  material: Material;
  fileColour: BufferAttribute | null;
  colour: BufferAttribute;
}

/** The character's skin: one mesh a part, moved by the engine's frames. */
export class Skin {
  readonly group = new Group();
  /** As last shown, three numbers a vertex. */
  positions: Float32Array;
  private readonly parts: PartMesh[];
  /** Linear, three numbers a vertex. */
  private readonly colours: Float32Array;
  /** Dimmed, so that the lights together do not wash the colours out. */
  private readonly coloured = new MeshLambertMaterial({ color: new Color().setScalar(0.7), vertexColors: true, side: DoubleSide, toneMapped: false });
  private readonly ghost = new MeshStandardMaterial({
    color: 0x9fb4c0, transparent: true, opacity: 0.16, depthWrite: false, roughness: 0.6,
  });
  private readonly lines = new MeshBasicMaterial({
    color: 0x10161c, wireframe: true, transparent: true, opacity: 0.32, depthWrite: false,
    polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -1,
  });

  constructor(opened: Opened, look: Look) {
    this.positions = opened.positions;
    this.colours = new Float32Array(opened.positions.length);
    this.parts = opened.about.parts.map((part, i) => {
      const [first, end] = part.vertices;
      const geometry = new BufferGeometry();
      const dynamic = (values: Float32Array) => new BufferAttribute(values.slice(3 * first, 3 * end), 3).setUsage(DynamicDrawUsage);
      geometry.setAttribute('position', dynamic(opened.positions));
      geometry.setAttribute('normal', dynamic(opened.normals));
      const { attributes, material } = look.parts[i]!;
      for (const [name, values] of Object.entries(attributes)) geometry.setAttribute(name, values);
      const index = opened.triangles.slice(3 * part.triangles[0], 3 * part.triangles[1]).map((vertex) => vertex - first);
      geometry.setIndex(new BufferAttribute(index, 1));
      // Skin goes where the engine says: no bounds hold for long.
      geometry.boundingSphere = new Sphere(new Vector3(), Infinity);
      const mesh = new Mesh(geometry, material);
      mesh.name = part.name;
      mesh.castShadow = mesh.receiveShadow = true;
      const wire = new Mesh(geometry, this.lines);
      wire.visible = false;
      mesh.frustumCulled = wire.frustumCulled = false;
      this.group.add(mesh, wire);
      const fileColour = (attributes.color as BufferAttribute | undefined) ?? null;
      return { mesh, wire, range: [first, end], material, fileColour, colour: dynamic(this.colours) };
    });
  }

  move(positions: Float32Array, normals: Float32Array): void {
    this.positions = positions;
    for (const part of this.parts) {
      this.upload(part, part.mesh.geometry.getAttribute('position') as BufferAttribute, positions);
      this.upload(part, part.mesh.geometry.getAttribute('normal') as BufferAttribute, normals);
    }
  }

  /** Shows colours of another's making, which `fill` writes. */
  colour(fill: (colours: Float32Array) => void): void {
    fill(this.colours);
    for (const part of this.parts) this.upload(part, part.colour, this.colours);
  }

  style(style: SkinStyle, wire: boolean): void {
    for (const part of this.parts) {
      const { geometry } = part.mesh;
      part.mesh.visible = style !== 'hidden';
      part.mesh.material = { file: part.material, colours: this.coloured, ghost: this.ghost, hidden: part.material }[style];
      part.mesh.castShadow = style !== 'ghost';
      part.wire.visible = wire;
      if (style === 'colours') geometry.setAttribute('color', part.colour);
      else if (part.fileColour) geometry.setAttribute('color', part.fileColour);
      else geometry.deleteAttribute('color');
    }
  }

  /** Lines that can be seen on dark and light skin. */
  theme(dark: boolean): void {
    this.lines.color.set(dark ? 0x0c1116 : 0x1c2630);
  }

  dispose(): void {
    for (const { mesh } of this.parts) mesh.geometry.dispose();
    for (const material of [this.coloured, this.ghost, this.lines]) material.dispose();
  }

  private upload(part: PartMesh, attribute: BufferAttribute, from: Float32Array): void {
    (attribute.array as Float32Array).set(from.subarray(3 * part.range[0], 3 * part.range[1]));
    attribute.needsUpdate = true;
  }
}
