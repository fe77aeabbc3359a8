import type { HeatScale, Settings } from '../engine/protocol';
import { list, read, write, writeList } from '../state/settings';
import type { Brush, Method, PaintKind } from '../state/state';

/** What is painted of one kind, as settings have it: only where it is not nothing. */
export interface Paint {
  name: string;
  vertices: number[];
  values: number[];
}

export const PAINTS: Record<PaintKind, { label: string; hint: string; methods: Method[]; scale: HeatScale }> = {
  _SOFTNESS: {
    label: 'Softness',
    hint: 'Where flesh swings',
    methods: ['position', 'strain', 'metaballs'],
    scale: { title: 'Painted softness', unit: '', low: 0, neutral: 0, high: 1 },
  },
  _FAT: {
    label: 'Fat',
    hint: 'Where skin bulges at bends',
    methods: ['smooth'],
    scale: { title: 'Painted fat', unit: '', low: 0, neutral: 0, high: 1 },
  },
  _CORRECTION: {
    label: 'Correction',
    hint: 'Where skin gives way to keep the volume',
    methods: ['volume'],
    scale: { title: 'Painted correction', unit: '', low: 0, neutral: 0, high: 1 },
  },
};

/** The paint of a kind as one number a vertex. */
export function paintOf(settings: Settings, kind: PaintKind, vertices: number): Float32Array {
  const values = new Float32Array(vertices);
  const paint = list<Paint>(settings, 'paint').find((one) => one.name === kind);
  paint?.vertices.forEach((vertex, i) => {
    if (vertex < vertices) values[vertex] = paint.values[i] ?? 0;
  });
  return values;
}

/** Settings with this paint in place of what was painted, and with what makes it count. */
export function withPaint(settings: Settings, kind: PaintKind, values: Float32Array): Settings {
  const paint: Paint = { name: kind, vertices: [], values: [] };
  values.forEach((value, vertex) => {
    const rounded = Math.round(value * 1000) / 1000;
    if (rounded <= 0) return;
    paint.vertices.push(vertex);
    paint.values.push(rounded);
  });
  const empty = paint.vertices.length === 0;
  const others = list<Paint>(settings, 'paint').filter((one) => one.name !== kind);
  return counting(writeList(settings, 'paint', empty ? others : [...others, paint]), kind, !empty);
}

/** Makes settings look at a paint, or no longer. */
function counting(settings: Settings, kind: PaintKind, on: boolean): Settings {
  if (kind === '_FAT') return write(settings, 'smooth.fat', on ? kind : undefined);
  if (kind === '_CORRECTION') return write(settings, 'volume.painted', on ? kind : undefined);
  const regions = list<{ name?: string; on?: unknown }>(settings, 'region');
  const has = regions.some((region) => read(region as Settings, 'on.painted') === kind);
  if (on === has) return settings;
  if (on) return writeList(settings, 'region', [...regions, { name: 'painted', on: { painted: kind }, preset: 'fat' }]);
  return writeList(settings, 'region', regions.filter((region) => read(region as Settings, 'on.painted') !== kind));
}

/** How much a brush does at a distance, both in the character's units. */
export function reach(distance: number, radius: number, falloff: number): number {
  if (distance >= radius) return 0;
  const inner = radius * (1 - falloff);
  if (distance <= inner) return 1;
  const t = 1 - (distance - inner) / (radius - inner);
  return t * t * (3 - 2 * t);
}

/** Paints a dab around places of the rest pose; the most that a stroke does to a vertex is kept in `done`. */
export function dab(values: Float32Array, before: Float32Array, done: Float32Array, rest: Float32Array, places: number[][], brush: Brush, radius: number): void {
  for (let i = 0; i < values.length; i++) {
    let most = done[i]!;
    for (const [x = 0, y = 0, z = 0] of places) {
      const distance = Math.hypot(rest[3 * i]! - x, rest[3 * i + 1]! - y, rest[3 * i + 2]! - z);
      most = Math.max(most, reach(distance, radius, brush.falloff));
    }
    if (most === done[i]) continue;
    done[i] = most;
    const change = brush.strength * most;
    values[i] = brush.erase ? Math.max(0, before[i]! - change) : Math.min(1, before[i]! + change);
  }
}
