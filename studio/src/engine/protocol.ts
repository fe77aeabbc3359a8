/**
 * What the page and the engine say to each other.
 *
 * One engine is one worker with one WASM instance, which holds at most one character and one method prepared for it. To
 * try another method the page starts another engine while the first goes on playing, and swaps them when the second is
 * ready; to cancel, it stops the second. Two halves of a split view are two engines.
 */

/** A file that was dropped, picked or served. Names are relative paths with `/`. */
export interface NamedFile {
  name: string;
  bytes: Uint8Array;
}

/** What to open: a built-in character, or one of some files with those that it refers to beside it. */
export type Source =
  | { sample: string }
  | {
      /** The `.glb`, `.gltf`, `.vrm`, `.obj` or `.bvh`. */
      main: string;
      files: NamedFile[];
      /** An OBJ's `.tgf`, `.bvh` or `.mhskel`, among the files. */
      skeleton?: string;
      /** An OBJ's `.dmat`, `.mhw` or `.json`, among the files. */
      weights?: string;
    };

/** A recording to be put on the character as one more clip. */
export interface Recording {
  file: NamedFile;
  /** A joint map in TOML, where names do not say. */
  map?: NamedFile;
}

/** A settings file as JSON: only what is set, keys as in `examples/settings.toml`. */
export type Settings = { [key: string]: unknown };

export type Vec3 = [number, number, number];

/** What is known of a character once it is open. */
export interface About {
  name: string;
  format: 'sample' | 'gltf' | 'obj' | 'bvh';
  vertices: number;
  triangles: number;
  /** Of the rest shape. */
  bounds: [Vec3, Vec3];
  diagonal: number;
  joints: Joint[];
  /** Segments from a joint to a child, at rest, in the scene. */
  bones: { joint: number; start: Vec3; end: Vec3 }[];
  clips: Clip[];
  parts: Part[];
  /** How the recording came onto the character, where there is one. */
  mapping: Mapping | null;
  /** Which of the clips the recording is. */
  recorded: number | null;
  /** Where the weights come from, in words. */
  weights: string;
  /** What is painted on the file's vertices, by name. */
  painted: string[];
  /** Soft regions that the file brings (VRM springs, painted softness), in words. */
  regions: string[];
  warnings: string[];
}

export interface Joint {
  name: string;
  /** Index, or -1. */
  parent: number;
  /** Whether skin is bound to it. */
  deforms: boolean;
  /** The glTF node that it is. */
  node: number;
}

export interface Clip {
  name: string;
  seconds: number;
  /** Frames a second, where it was recorded at a rate. */
  fps: number | null;
}

/** A run of vertices and triangles that has one material: a primitive of a node of the glTF document. */
export interface Part {
  name: string;
  node: number;
  primitive: number;
  /** First, and behind the last. */
  vertices: [number, number];
  triangles: [number, number];
}

export interface Mapping {
  frames: number;
  fps: number | null;
  seconds: number;
  skipped: number;
  scale: number;
  joints: { motion: string; character: string }[];
  unused: string[];
  unmoved: string[];
}

export interface Opened {
  about: About;
  /** Rest positions and normals, three numbers a vertex. */
  positions: Float32Array;
  normals: Float32Array;
  /** Three indices a triangle, all parts together. */
  triangles: Uint32Array;
  /** For formats other than glTF: the character as a GLB, with materials to load as from any glTF. */
  document: Uint8Array | null;
}

export interface Prepared {
  method: string;
  /** Everything that can be set, with defaults filled in. */
  settings: Settings;
  /** Whether a frame depends on the ones before it. */
  remembers: boolean;
  milliseconds: number;
  tets: number;
  balls: number;
  warnings: string[];
  /** Which heat maps and drawings this method has. */
  heats: Heat[];
  drawings: DrawingKind[];
}

/** Colours over the skin. */
export type Heat = 'stretch' | 'volume' | 'softness' | 'residual';

/** What may be drawn within or over the skin. */
export type DrawingKind = 'tets' | 'layers' | 'pins' | 'frames' | 'balls';

/** What frames carry beside the skin. */
export interface Show {
  heat: Heat | null;
  drawing: DrawingKind | null;
  /** For `tets` and `layers`: share of the body's volume that is cut away, and from which side (a unit vector to the eye). */
  cut: number;
  eye: Vec3;
}

/** Lines, dots, facets and balls in the scene. Colours are linear RGB, one a line, dot, triangle or ball. */
export interface Drawing {
  /** Six numbers a line. */
  lines: Float32Array;
  lineColours: Float32Array;
  /** Three numbers a dot. */
  dots: Float32Array;
  dotColours: Float32Array;
  /** Nine numbers a triangle. */
  facets: Float32Array;
  facetColours: Float32Array;
  /** Four numbers a ball: its middle and radius. */
  balls: Float32Array;
  ballColours: Float32Array;
}

export interface Frame {
  /** Seconds of the clip. */
  seconds: number;
  positions: Float32Array;
  normals: Float32Array;
  /** Scene from joint: sixteen numbers each, column by column. */
  joints: Float32Array;
  numbers: Numbers;
  /** One number a vertex. */
  heat: Float32Array | null;
  drawing: Drawing | null;
}

export interface Numbers {
  /** Of the skin, or of the tets where the skin is open; null where there is neither. */
  volumeErrorPercent: number | null;
  volumeSource: 'skin' | 'tets' | null;
  residual: number | null;
  invertedTets: number | null;
  /** Nodes that could not be solved for. */
  held: number;
  milliseconds: Milliseconds;
}

export interface Milliseconds {
  total: number;
  skin: number;
  solve: number;
  embed: number;
  filter: number;
  overlap: number;
}

/**
 * How to read a heat map: values at and below `low` are the strongest blue, `neutral` is white, `high` the strongest red.
 * With the unit `%` values are shares, to be shown times 100.
 */
export interface HeatScale {
  title: string;
  unit: string;
  low: number;
  neutral: number;
  high: number;
}

/** A joint turned by hand, on top of the clip: in the joint's own axes, x y z w. */
export interface Turn {
  joint: number;
  quaternion: [number, number, number, number];
}

export interface VertexNumbers {
  index: number;
  part: string;
  position: Vec3;
  rest: Vec3;
  normal: Vec3;
  weights: { joint: string; weight: number }[];
  /** Departure from rest length of the edge that is worst, and of the volume below, as shares; how soft. */
  stretch: number | null;
  volume: number | null;
  softness: number | null;
}

/** A sample character. */
export interface Sample {
  name: string;
  about: string;
  clips: string[];
}

export interface Bake {
  /** Clip index, or null for the default pose. */
  clip: number | null;
  format: 'glb' | 'pc2';
  fps?: number;
}

export interface Baked {
  /** One for a GLB, one a part for point caches. */
  files: NamedFile[];
  /** XXH3-64 of all skin positions, as `pliant bake --report` gives it. */
  stateHash: string;
  frames: number;
}

/** What was wrong, in words that say what, where and what to do. */
export class EngineError extends Error {}

/** What the page can ask. Calls are answered in the order in which they are made. */
export interface Engine {
  /** Reads a character, with a recording as one more clip where there is one. `progress` goes from 0 to 1. */
  open(source: Source, recording: Recording | null, settings: Settings, progress?: (share: number) => void): Promise<Opened>;
  /** Makes a method ready. The method is `settings.method`, or `lbs`. */
  prepare(settings: Settings, progress?: (share: number) => void): Promise<Prepared>;
  /** What the next frames carry beside the skin. */
  show(show: Show): Promise<void>;
  /** The state at a time of a clip: what playing from the clip's start gives, to the bit. Null is the default pose. */
  seek(clip: number | null, seconds: number): Promise<Frame>;
  /**
   * Plays on. `seconds` counts from where the last `seek` was, and may not decrease; with `loop` the clip starts again
   * at its end, and flesh swings on. The frame says where in the clip it is.
   */
  play(clip: number | null, seconds: number, loop: boolean): Promise<Frame>;
  /** Holds the clip's pose at the last time, with joints turned by hand, and lets `seconds` more pass. */
  pose(turns: Turn[], seconds: number): Promise<Frame>;
  /** Takes other numbers from the next frame on; false where the method must be prepared anew for them. */
  tune(settings: Settings): Promise<boolean>;
  heatScale(heat: Heat): Promise<HeatScale>;
  vertex(index: number): Promise<VertexNumbers>;
  bake(bake: Bake, progress?: (share: number) => void): Promise<Baked>;
  /** XXH3-64 of the skin positions of the last frame. */
  hash(): Promise<string>;
  /** A settings file to settings and back. */
  readSettings(toml: string): Promise<Settings>;
  writeSettings(settings: Settings): Promise<string>;
  samples(): Promise<Sample[]>;
  /** Ends the worker, whatever it is doing; what was asked and not answered is rejected. */
  stop(): void;
}
