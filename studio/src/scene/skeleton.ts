import {
  Color, DynamicDrawUsage, Group, InstancedMesh, Matrix4, MeshBasicMaterial, OctahedronGeometry, Quaternion, SphereGeometry,
  Vector2, Vector3, type Camera,
} from 'three';
import type { About } from '../engine/protocol';

const PLAIN = new Color(0xe8edf2);
const HOVER = new Color(0xffd479);
const CHOSEN = new Color(0x36c7b4);
/** How near to a bone the pointer counts as on it, in pixels. */
const REACH_PIXELS = 12;
/** How near to a joint it is the joint that is meant. */
const DOT_PIXELS = 7;

/** Bones and joints over the skin. */
export class Skeleton {
  readonly group = new Group();
  hovered: number | null = null;
  chosen: number | null = null;
  /** From a joint to a child of its. */
  private readonly segments: { joint: number; child: number }[] = [];
  private readonly shown: number[];
  private readonly bones: InstancedMesh;
  private readonly dots: InstancedMesh;
  private readonly places: Vector3[];
  private readonly dotRadius: number;

  constructor(about: About) {
    const { joints } = about;
    joints.forEach((joint, child) => {
      const parent = joint.parent;
      if (parent >= 0 && (joint.deforms || joints[parent]!.deforms)) this.segments.push({ joint: parent, child });
    });
    this.shown = joints.map((_, i) => i).filter((i) => {
      return joints[i]!.deforms || this.segments.some(({ joint, child }) => joint === i || child === i);
    });
    this.places = joints.map(() => new Vector3());
    this.dotRadius = 0.006 * about.diagonal;
    const over = { transparent: true, opacity: 0.85, depthTest: false, depthWrite: false, toneMapped: false };
    const bone = new OctahedronGeometry(1).translate(0, 1, 0).scale(0.5, 0.5, 0.5);
    this.bones = instances(bone, new MeshBasicMaterial({ ...over, opacity: 0.55 }), this.segments.length);
    this.dots = instances(new SphereGeometry(1, 12, 8), new MeshBasicMaterial(over), this.shown.length);
    this.bones.renderOrder = 10;
    this.dots.renderOrder = 11;
    this.group.add(this.bones, this.dots);
    this.group.visible = false;
  }

  move(joints: Float32Array): void {
    this.places.forEach((place, i) => place.fromArray(joints, 16 * i + 12));
    this.draw();
  }

  /** Where a joint is now. */
  place(joint: number): Vector3 {
    return this.places[joint]!;
  }

  /** The middle of all joints. */
  middle(): Vector3 {
    const sum = this.shown.reduce((all, joint) => all.add(this.places[joint]!), new Vector3());
    return sum.divideScalar(Math.max(1, this.shown.length));
  }

  draw(): void {
    const up = new Vector3(0, 1, 0);
    const along = new Vector3();
    const turn = new Quaternion();
    const matrix = new Matrix4();
    this.segments.forEach(({ joint, child }, i) => {
      along.subVectors(this.places[child]!, this.places[joint]!);
      const length = along.length();
      const width = Math.min(0.16 * length, 5 * this.dotRadius);
      turn.setFromUnitVectors(up, length > 0 ? along.divideScalar(length) : up);
      this.bones.setMatrixAt(i, matrix.compose(this.places[joint]!, turn, new Vector3(width, length, width)));
      this.bones.setColorAt(i, this.colourOf(joint));
    });
    this.shown.forEach((joint, i) => {
      const size = this.dotRadius * (joint === this.chosen ? 1.8 : 1);
      this.dots.setMatrixAt(i, matrix.makeScale(size, size, size).setPosition(this.places[joint]!));
      this.dots.setColorAt(i, this.colourOf(joint));
    });
    for (const mesh of [this.bones, this.dots]) {
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  /** The joint whose bone is under a place of the view (-1 to 1), if any. */
  pick(x: number, y: number, camera: Camera, size: Vector2): number | null {
    const pointer = new Vector2(x * size.x, y * size.y).multiplyScalar(0.5);
    const screen = this.places.map((place) => {
      const at = place.clone().project(camera);
      return new Vector2(at.x * size.x, at.y * size.y).multiplyScalar(0.5);
    });
    let best: number | null = null;
    let nearest = REACH_PIXELS;
    const consider = (joint: number, distance: number) => {
      if (distance < nearest) [best, nearest] = [joint, distance];
    };
    for (const joint of this.shown) consider(joint, pointer.distanceTo(screen[joint]!));
    // On a dot it is that joint, though its parent's bone ends there too.
    if (nearest < DOT_PIXELS) return best;
    for (const { joint, child } of this.segments) consider(joint, distanceToSegment(pointer, screen[joint]!, screen[child]!));
    return best;
  }

  dispose(): void {
    for (const mesh of [this.bones, this.dots]) {
      mesh.geometry.dispose();
      mesh.dispose();
    }
  }

  private colourOf(joint: number): Color {
    return joint === this.chosen ? CHOSEN : joint === this.hovered ? HOVER : PLAIN;
  }
}

function instances(geometry: OctahedronGeometry | SphereGeometry, material: MeshBasicMaterial, count: number): InstancedMesh {
  const mesh = new InstancedMesh(geometry, material, count);
  mesh.instanceMatrix.setUsage(DynamicDrawUsage);
  mesh.frustumCulled = false;
  return mesh;
}

function distanceToSegment(point: Vector2, start: Vector2, end: Vector2): number {
  const along = end.clone().sub(start);
  const share = along.lengthSq() > 0 ? point.clone().sub(start).dot(along) / along.lengthSq() : 0;
  return point.distanceTo(start.clone().addScaledVector(along, Math.min(1, Math.max(0, share))));
}
