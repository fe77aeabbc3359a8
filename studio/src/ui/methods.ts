import type { Settings } from '../engine/protocol';
import { read, write } from '../state/settings';
import type { Method } from '../state/state';
import type { Choice, SliderSpec } from './controls';

/** A number, a switch or a choice of a method, and where it stands in the settings. */
export type FieldSpec =
  | ({ kind: 'slider'; get(s: Settings): unknown; put(s: Settings, value: number, filled: Settings): Settings; otherwise: number } & SliderSpec)
  | { kind: 'toggle'; label: string; hint?: string; get(s: Settings): unknown; put(s: Settings, on: boolean): Settings; otherwise: boolean }
  | { kind: 'choice'; label: string; get(s: Settings): unknown; put(s: Settings, value: unknown): Settings; options: Choice<unknown>[]; otherwise: unknown };

/** A name for some settings that go well together. */
export interface Preset {
  label: string;
  hint: string;
  values: Record<string, unknown>;
}

export interface MethodSpec {
  title: string;
  about: string;
  presets: Preset[];
  fields: FieldSpec[];
}

function slide(path: string, spec: SliderSpec, otherwise: number): FieldSpec {
  return { kind: 'slider', ...spec, get: (s) => read(s, path), put: (s, value) => write(s, path, value), otherwise };
}

function turn(path: string, label: string, otherwise: boolean, hint?: string): FieldSpec {
  return { kind: 'toggle', label, hint, get: (s) => read(s, path), put: (s, on) => write(s, path, on), otherwise };
}

function choose(path: string, label: string, options: Choice<unknown>[], otherwise: unknown): FieldSpec {
  return { kind: 'choice', label, options, get: (s) => read(s, path), put: (s, value) => write(s, path, value), otherwise };
}

const unit = (label: string, hint: string): SliderSpec => ({ label, hint, low: 0, high: 1, step: 0.01 });

/** Some of the three numbers of an axis setting. */
function axes(path: string, label: string, hint: string, which: number[], otherwise: number): FieldSpec {
  return {
    kind: 'slider',
    ...unit(label, hint),
    otherwise,
    get: (s) => read(s, `${path}.${which[0]!}`),
    put(s, value, filled) {
      const before = (read(s, path) ?? read(filled, path) ?? [otherwise, otherwise, otherwise]) as number[];
      return write(s, path, before.map((number, i) => (which.includes(i) ? value : number)));
    },
  };
}

const TISSUE = choose(
  'preset',
  'Softness of the whole body',
  [
    { value: undefined, label: 'None', hint: 'What the file and painted regions say' },
    { value: 'firm', label: 'Firm', hint: 'Joints keep their volume, nothing swings' },
    { value: 'muscle', label: 'Muscle', hint: 'A short, small swing' },
    { value: 'fat', label: 'Fat', hint: 'Two or three swings' },
    { value: 'jelly', label: 'Jelly', hint: 'Swings long and far' },
  ],
  undefined,
);
const OVERLAP = (otherwise: boolean) => turn('overlap', 'Part overlapping skin', otherwise, 'Skin that has passed through itself at bent joints is parted');
const TETS = slide(
  'body.tets',
  { label: 'Tets in the body', low: 1000, high: 30000, step: 100, logarithmic: true, hint: 'More are finer and slower' },
  8000,
);
const ITERATIONS = (otherwise: number) =>
  slide('simulation.iterations', { label: 'Iterations', low: 1, high: 40, step: 1, hint: 'More are stiffer and slower' }, otherwise);
const GRAVITY: FieldSpec = {
  kind: 'toggle',
  label: 'Gravity',
  hint: 'Pulls soft regions down',
  otherwise: true,
  get: (s) => {
    const gravity = read(s, 'simulation.gravity') as number[] | undefined;
    return gravity ? gravity.some((g) => g !== 0) : undefined;
  },
  put: (s, on) => write(s, 'simulation.gravity', on ? undefined : [0, 0, 0]),
};
const SKINNING = choose(
  'skinning',
  'Skinned by',
  [
    { value: 'lbs', label: 'Linear' },
    { value: 'dqs', label: 'Dual quaternion' },
    { value: 'smooth', label: 'Smooth' },
  ],
  'lbs',
);

export const METHOD_SPECS: Record<Method, MethodSpec> = {
  lbs: {
    title: 'Linear blend',
    about: 'What every engine does: quick, and joints collapse. To compare with.',
    presets: [],
    fields: [OVERLAP(false)],
  },
  dqs: {
    title: 'Dual quaternion',
    about: 'No candy-wrapper twists; bends bulge outwards.',
    presets: [],
    fields: [OVERLAP(false)],
  },
  smooth: {
    title: 'Smooth bulge',
    about: 'Bones blended along arcs, with the bulge that brings the volume back.',
    presets: [
      { label: 'Subtle', hint: 'Half the bulge', values: { 'smooth.bulge': 0.5, 'smooth.ridge_width': 2 } },
      { label: 'True', hint: 'The bulge that keeps the volume', values: { 'smooth.bulge': undefined, 'smooth.ridge_width': undefined } },
      { label: 'Strong', hint: 'More than life', values: { 'smooth.bulge': 1.8, 'smooth.ridge_width': 1.2 } },
    ],
    fields: [
      slide('smooth.bulge', { label: 'Bulge', low: 0, high: 3, step: 0.05, hint: '1 brings the volume back' }, 1),
      slide('smooth.ridge_width', { label: 'Ridge width', low: 0.4, high: 4, step: 0.05 }, 1.6),
      slide('smooth.fat_radius', { label: 'Fat radius', low: 0.5, high: 10, step: 0.1, unit: ' radii', hint: 'How far from a joint flesh bulges' }, 4),
      choose('smooth.weights', 'Weights', [{ value: 'file', label: 'As in the file' }, { value: 'angle', label: 'By angle' }], 'file'),
      slide('smooth.limit_angle', { label: 'Limit angle', low: 5, high: 85, step: 1, unit: '°', hint: 'Within it skin moves with its bone alone; with weights by angle' }, 30),
      OVERLAP(false),
    ],
  },
  volume: {
    title: 'Volume kept',
    about: 'Skinning, then the skin moves just so far that the volume is exact.',
    presets: [
      { label: 'Organic', hint: 'Gives way where flesh is thick', values: { 'volume.map': undefined, 'volume.alpha': undefined, 'volume.beta': undefined } },
      { label: 'Rubber', hint: 'Alike all around', values: { 'volume.map': 'rubber' } },
    ],
    fields: [
      choose('volume.map', 'Map', [{ value: 'organic', label: 'Organic' }, { value: 'rubber', label: 'Rubber' }, { value: 'painted', label: 'Painted' }], 'organic'),
      slide('volume.alpha', { label: 'Alpha', low: 0, high: 3, step: 0.05, hint: 'How near joints it happens' }, 0.5),
      slide('volume.beta', { label: 'Beta', low: 0, high: 6, step: 0.1, hint: 'How much thick flesh gives way more' }, 2),
      SKINNING,
      OVERLAP(true),
    ],
  },
  position: {
    title: 'Soft body',
    about: 'Flesh of tets that keeps its volume and follows through.',
    presets: [
      { label: 'Balanced', hint: 'The defaults', values: { 'position.stretch': undefined, 'position.volume': undefined, 'position.bind': undefined, 'simulation.iterations': undefined } },
      { label: 'Loose', hint: 'Gives way far', values: { 'position.stretch': 0.4, 'position.bind': 0.12 } },
      { label: 'Tight', hint: 'Stays with its bones', values: { 'position.stretch': 0.95, 'position.bind': 0.6 } },
    ],
    fields: [
      TISSUE,
      slide('position.stretch', unit('Stretch stiffness', 'How much of their lengths edges keep'), 0.75),
      slide('position.volume', unit('Volume stiffness', 'How much of their volumes tets keep'), 1),
      slide('position.bind', unit('Bind to bones', 'How firmly flesh keeps its distance from the bone'), 0.3),
      ITERATIONS(12),
      GRAVITY,
      OVERLAP(false),
      TETS,
    ],
  },
  strain: {
    title: 'Fibres',
    about: 'Flesh that is stiff along its fibres and soft across. Draw your own.',
    presets: [
      { label: 'Even', hint: 'Alike along all axes', values: { 'strain.stretch': undefined, 'strain.shear': undefined } },
      { label: 'Fibrous', hint: 'Stiff along, soft across', values: { 'strain.stretch': [0.9, 0.15, 0.15], 'strain.shear': [0.1, 0.1, 0.1] } },
      { label: 'Soft', hint: 'Gives way', values: { 'strain.stretch': [0.15, 0.15, 0.15], 'strain.shear': [0.06, 0.06, 0.06] } },
    ],
    fields: [
      TISSUE,
      axes('strain.stretch', 'Stretch along', 'Stiffness along fibres or bones', [0], 0.4),
      axes('strain.stretch', 'Stretch across', 'Stiffness across them', [1, 2], 0.4),
      axes('strain.shear', 'Shear', 'How much of their angles tets keep', [0, 1, 2], 0.18),
      slide('strain.volume', unit('Volume', 'How much of their volumes tets keep'), 1),
      slide('strain.damping', { label: 'Damping', low: 0, high: 100, step: 1, unit: ' /s' }, 40),
      ITERATIONS(10),
      turn('strain.settled', 'Settled under gravity', false, 'The rest shape is what gravity has made of the flesh'),
      OVERLAP(false),
      TETS,
    ],
  },
  metaballs: {
    title: 'Metaballs',
    about: 'Balls fill the body, tied by springs; muscles grow along lines.',
    presets: [
      { label: 'Plain', hint: 'No muscles', values: { 'metaballs.humanoid_muscles': undefined } },
      { label: 'Athletic', hint: 'Muscles of a human body', values: { 'metaballs.humanoid_muscles': 0.2 } },
      { label: 'Heroic', hint: 'Large ones', values: { 'metaballs.humanoid_muscles': 0.45 } },
    ],
    fields: [
      TISSUE,
      slide('metaballs.balls', { label: 'Balls', low: 50, high: 3000, step: 10, logarithmic: true }, 500),
      slide('metaballs.springs', unit('Springs', 'How much of their lengths springs between balls keep'), 0.5),
      slide('metaballs.filter', unit('Detail filter', "How much of the skin's own detail is brought back"), 0.5),
      slide('metaballs.joint_radius', { label: 'Joint radius', low: 0, high: 5, step: 0.05, unit: ' radii' }, 2.2),
      {
        kind: 'slider', label: 'Humanoid muscles', low: 0, high: 0.8, step: 0.01, otherwise: 0,
        hint: 'How much the muscles of a human body grow in a bend of 90 degrees',
        get: (s) => read(s, 'metaballs.humanoid_muscles'),
        put: (s, value) => write(s, 'metaballs.humanoid_muscles', value > 0 ? value : undefined),
      },
      OVERLAP(true),
    ],
  },
};
