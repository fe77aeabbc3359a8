import { Vector3 } from 'three';
import type { About, DrawingKind, Settings, Vec3 } from '../engine/protocol';
import { list, writeList } from '../state/settings';

/** A point of a curve in the rest pose, and the joint whose bone it goes with where that counts. */
export interface CurvePoint {
  at: Vec3;
  joint?: string;
}

export interface Curve {
  points: CurvePoint[];
  /** The table of the settings that it was read from: what the tool does not know is kept. */
  table: Settings;
}

/** How one kind of curve stands in the settings. */
export interface CurveBook {
  /** Where points need a joint. */
  joints: boolean;
  /** Curves have a stem for new names. */
  stem: string;
  /** What shows how the flesh follows the curves. */
  field: DrawingKind | null;
  read(settings: Settings, about: About): Curve[];
  write(settings: Settings, curves: Curve[]): Settings;
  /** Points to draw it through. */
  drawn(points: Vector3[]): Vector3[];
}

interface Fibre {
  name?: string;
  points?: Vec3[];
  degree?: number;
}

/** Fibres: control points of NURBS curves, for `strain`. */
export const FIBRES: CurveBook = {
  joints: false,
  stem: 'fibre',
  field: 'frames',
  read: (settings) =>
    list<Fibre>(settings, 'fibre').map((fibre) => ({
      points: (fibre.points ?? []).map((at) => ({ at })),
      table: fibre as Settings,
    })),
  write: (settings, curves) =>
    writeList(settings, 'fibre', curves.map(({ points, table }) => {
      // A fibre of a file has no points of its own here.
      if (points.length === 0) return table;
      const { degree: _degree, knots: _knots, weights: _weights, ...rest } = table;
      const degree = Math.min(3, points.length - 1);
      return { ...rest, points: points.map((point) => point.at), ...(degree < 3 ? { degree } : {}) };
    })),
  drawn: (points) => (points.length < 3 ? points : splinePoints(points, Math.min(3, points.length - 1), 12 * points.length)),
};

interface MusclePoint {
  joint: string;
  at?: Vec3;
}

interface Muscle {
  name?: string;
  from: MusclePoint;
  via?: MusclePoint[];
  to: MusclePoint;
}

/** Action lines of muscles from bone to bone, for `metaballs`. */
export const MUSCLES: CurveBook = {
  joints: true,
  stem: 'muscle',
  field: null,
  read: (settings, about) =>
    list<Muscle>(settings, 'metaballs.muscle').map((muscle) => ({
      points: [muscle.from, ...(muscle.via ?? []), muscle.to].map((point) => ({ joint: point.joint, at: point.at ?? boneMiddle(about, point.joint) })),
      table: muscle as unknown as Settings,
    })),
  write: (settings, curves) =>
    writeList(settings, 'metaballs.muscle', curves.map(({ points, table }) => {
      const { via: _via, ...rest } = table;
      const between = points.slice(1, -1);
      return { ...rest, from: points[0], ...(between.length > 0 ? { via: between } : {}), to: points.at(-1) };
    })),
  drawn: (points) => points,
};

function boneMiddle(about: About, name: string): Vec3 {
  const joint = about.joints.findIndex((one, i) => one.name === name || `#${i}` === name);
  const bone = about.bones.find((one) => one.joint === joint);
  if (!bone) return about.bounds[0];
  return bone.start.map((x, i) => 0.5 * (x + bone.end[i]!)) as Vec3;
}

/** A name that no curve has yet. */
export function freeName(stem: string, curves: Curve[]): string {
  const names = curves.map((curve) => curve.table.name);
  for (let i = 1; ; i++) if (!names.includes(`${stem} ${i}`)) return `${stem} ${i}`;
}

/** Points along a B-spline with even, clamped knots. */
export function splinePoints(control: Vector3[], degree: number, count: number): Vector3[] {
  const spans = control.length - degree;
  const knot = (i: number) => Math.min(Math.max(i - degree, 0), spans);
  return Array.from({ length: count + 1 }, (_, k) => {
    const t = (k / count) * spans;
    const span = degree + Math.min(Math.floor(t), spans - 1);
    // De Boor: blend neighbours until one point is left.
    const points = control.slice(span - degree, span + 1).map((point) => point.clone());
    for (let level = 1; level <= degree; level++) {
      for (let j = degree; j >= level; j--) {
        const left = knot(span - degree + j);
        const right = knot(span + 1 + j - level);
        points[j]!.lerpVectors(points[j - 1]!, points[j]!, right > left ? (t - left) / (right - left) : 0);
      }
    }
    return points[degree]!;
  });
}
