/** Engines in workers: the page's side. */

import {
  EngineError,
  type About,
  type Bake,
  type Baked,
  type Drawing,
  type Engine,
  type Frame,
  type Heat,
  type HeatScale,
  type NamedFile,
  type Numbers,
  type Opened,
  type Prepared,
  type Recording,
  type Sample,
  type Settings,
  type Show,
  type Source,
  type Turn,
  type VertexNumbers,
} from './protocol';
import type { Arrays, Ask, Tell } from './worker';

type Answer = { value: unknown; arrays: Arrays };
type Waiting = {
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
  progress?: (share: number) => void;
};

/** Compiled once, shared by all workers. */
let compiled: Promise<WebAssembly.Module> | null = null;

async function compile(): Promise<WebAssembly.Module> {
  const response = await fetch(new URL('pliant.wasm', document.baseURI));
  if (!response.ok) throw new EngineError(`the engine could not be loaded: ${response.status} ${response.statusText}`);
  const isWasm = response.headers.get('content-type')?.startsWith('application/wasm');
  // Some static hosts do not know the type, and streaming insists on it.
  return isWasm ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

/** A sample that the page has ready as a GLB, as `pliant sample` writes it: quicker to read than to make. */
async function readySample(name: string): Promise<NamedFile | null> {
  const file = `${name}.glb`;
  const response = await fetch(new URL(`samples/${encodeURIComponent(file)}`, document.baseURI)).catch(() => null);
  const isThere = response?.ok && !response.headers.get('content-type')?.startsWith('text/html');
  return isThere ? { name: file, bytes: new Uint8Array(await response.arrayBuffer()) } : null;
}

/** Starts an engine in a worker of its own. */
export async function startEngine(): Promise<Engine> {
  compiled ??= compile();
  const module = await compiled.catch((error: unknown) => {
    compiled = null;
    throw error;
  });
  return new WorkerEngine(module);
}

class WorkerEngine implements Engine {
  private readonly worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  private readonly waiting = new Map<number, Waiting>();
  private module: WebAssembly.Module | undefined;
  private last = 0;
  private over: string | null = null;

  constructor(module: WebAssembly.Module) {
    this.module = module;
    this.worker.onmessage = ({ data }: MessageEvent<Tell>) => this.hear(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.end(`the engine has stopped: ${event.message}`);
    };
  }

  async open(source: Source, recording: Recording | null, settings: Settings, progress?: (share: number) => void): Promise<Opened> {
    const files: NamedFile[] = [];
    let from: object = source;
    const ready = 'sample' in source ? await readySample(source.sample) : null;
    if (ready) {
      files.push(ready);
      from = { main: ready.name };
    } else if ('main' in source) {
      files.push(...source.files);
      from = { main: source.main, skeleton: source.skeleton, weights: source.weights };
    }
    // Under names of their own: a recording may be called as the character is.
    const beside = (file: NamedFile) => {
      const name = `recording/${file.name.slice(file.name.lastIndexOf('/') + 1)}`;
      files.push({ name, bytes: file.bytes });
      return name;
    };
    const recorded = recording && { file: beside(recording.file), map: recording.map && beside(recording.map) };
    const { value, arrays } = await this.ask({ do: 'open', source: from, recording: recorded, settings }, progress, files);
    const document = arrays.document as Uint8Array;
    return {
      about: value as About,
      positions: arrays.positions as Float32Array,
      normals: arrays.normals as Float32Array,
      triangles: arrays.triangles as Uint32Array,
      document: ready?.bytes ?? (document.length > 0 ? document : null),
    };
  }

  async prepare(settings: Settings, progress?: (share: number) => void): Promise<Prepared> {
    return (await this.ask({ do: 'prepare', settings }, progress)).value as Prepared;
  }

  async show(show: Show): Promise<void> {
    await this.ask({ do: 'show', ...show });
  }

  seek(clip: number | null, seconds: number): Promise<Frame> {
    return this.frame({ do: 'seek', clip, seconds });
  }

  play(clip: number | null, seconds: number, loop: boolean): Promise<Frame> {
    return this.frame({ do: 'play', clip, seconds, loop });
  }

  pose(turns: Turn[], seconds: number): Promise<Frame> {
    return this.frame({ do: 'pose', turns, seconds });
  }

  async tune(settings: Settings): Promise<boolean> {
    return (await this.ask({ do: 'tune', settings })).value as boolean;
  }

  async heatScale(heat: Heat): Promise<HeatScale> {
    return (await this.ask({ do: 'heat-scale', heat })).value as HeatScale;
  }

  async vertex(index: number): Promise<VertexNumbers> {
    return (await this.ask({ do: 'vertex', index })).value as VertexNumbers;
  }

  async bake(bake: Bake, progress?: (share: number) => void): Promise<Baked> {
    const { value, arrays } = await this.ask({ do: 'bake', ...bake }, progress);
    const { names, stateHash, frames } = value as { names: string[]; stateHash: string; frames: number };
    const files = names.map((name, k) => ({ name, bytes: arrays[`file${k}`] as Uint8Array }));
    return { files, stateHash, frames };
  }

  async hash(): Promise<string> {
    return (await this.ask({ do: 'hash' })).value as string;
  }

  async readSettings(toml: string): Promise<Settings> {
    return (await this.ask({ do: 'read-settings', toml })).value as Settings;
  }

  async writeSettings(settings: Settings): Promise<string> {
    return (await this.ask({ do: 'write-settings', settings })).value as string;
  }

  async samples(): Promise<Sample[]> {
    return (await this.ask({ do: 'samples' })).value as Sample[];
  }

  stop(): void {
    this.end('the engine was stopped');
  }

  private async frame(command: object): Promise<Frame> {
    const { value, arrays } = await this.ask(command);
    const about = value as { seconds: number; numbers: Numbers; heat: boolean; drawing: boolean };
    const float = (name: string) => arrays[name] as Float32Array;
    const drawing = (): Drawing => ({
      lines: float('lines'),
      lineColours: float('lineColours'),
      dots: float('dots'),
      dotColours: float('dotColours'),
      facets: float('facets'),
      facetColours: float('facetColours'),
      balls: float('balls'),
      ballColours: float('ballColours'),
    });
    return {
      seconds: about.seconds,
      positions: float('positions'),
      normals: float('normals'),
      joints: float('joints'),
      numbers: about.numbers,
      heat: about.heat ? float('heat') : null,
      drawing: about.drawing ? drawing() : null,
    };
  }

  private ask(command: object, progress?: (share: number) => void, files: NamedFile[] = []): Promise<Answer> {
    if (this.over) return Promise.reject(new EngineError(this.over));
    const id = ++this.last;
    const message: Ask = { id, files, command };
    if (this.module) message.module = this.module;
    this.module = undefined;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, progress });
      this.worker.postMessage(message);
    });
  }

  private hear(message: Tell): void {
    const waiting = this.waiting.get(message.id);
    if (!waiting) return;
    if ('progress' in message) return waiting.progress?.(message.progress);
    this.waiting.delete(message.id);
    if ('value' in message) return waiting.resolve(message);
    waiting.reject(new EngineError(message.error));
    if (message.dead) this.end(message.error);
  }

  private end(why: string): void {
    this.over ??= why;
    this.worker.terminate();
    for (const { reject } of this.waiting.values()) reject(new EngineError(this.over));
    this.waiting.clear();
  }
}
