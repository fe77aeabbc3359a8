import type { DrawingKind, Heat, HeatScale, Opened, Prepared, Recording, Sample, Settings, Source } from '../engine/protocol';
import { Store } from './store';

export const METHODS = ['lbs', 'dqs', 'smooth', 'volume', 'position', 'strain', 'metaballs'] as const;
export type Method = (typeof METHODS)[number];

export type ToolName = 'look' | 'brush' | 'fibre' | 'muscle' | 'pose';
export type PaintKind = '_SOFTNESS' | '_FAT' | '_CORRECTION';
export type Theme = 'auto' | 'light' | 'dark';

/** The character that is shown, and all that it takes to open it again. */
export interface Character {
  source: Source;
  recording: Recording | null;
  opened: Opened;
}

/** Something long that is under way. */
export interface Work {
  label: string;
  share: number;
  cancel: () => void;
}

export interface Brush {
  kind: PaintKind;
  /** Share of the character's diagonal. */
  radius: number;
  strength: number;
  /** 0 is hard, 1 fades from the middle on. */
  falloff: number;
  erase: boolean;
  mirror: boolean;
}

export interface State {
  theme: Theme;
  samples: Sample[];
  character: Character | null;
  /** What the user has set: the settings file. */
  settings: Settings;
  prepared: Prepared | null;
  /** The settings that it was prepared with; some may have been tuned since. */
  preparedWith: Settings;
  canUndo: boolean;
  canRedo: boolean;
  clip: number | null;
  seconds: number;
  playing: boolean;
  loop: boolean;
  speed: number;
  /** Whether a seek takes its time. */
  seeking: boolean;
  heat: Heat | null;
  /** Of the shown heat map. */
  scale: HeatScale | null;
  drawing: DrawingKind | null;
  cut: number;
  wire: boolean;
  skeleton: boolean;
  skin: boolean;
  /** The method of the right half, where the view is split. */
  split: Method | null;
  tool: ToolName;
  brush: Brush;
  /** Which fibre or muscle is worked on. */
  curve: number | null;
  bone: number | null;
  panelOpen: boolean;
  galleryOpen: boolean;
  hint: boolean;
}

export const store = new Store<State>({
  theme: 'auto',
  samples: [],
  character: null,
  settings: {},
  prepared: null,
  preparedWith: {},
  canUndo: false,
  canRedo: false,
  clip: null,
  seconds: 0,
  playing: true,
  loop: true,
  speed: 1,
  seeking: false,
  heat: null,
  scale: null,
  drawing: null,
  cut: 0.5,
  wire: false,
  skeleton: false,
  skin: true,
  split: null,
  tool: 'look',
  brush: { kind: '_SOFTNESS', radius: 0.08, strength: 0.6, falloff: 0.7, erase: false, mirror: true },
  curve: null,
  bone: null,
  panelOpen: true,
  galleryOpen: true,
  hint: true,
});

/** The method that settings ask for. */
export function methodOf(settings: Settings): Method {
  return METHODS.find((name) => name === settings.method) ?? 'lbs';
}
