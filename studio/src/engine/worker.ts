/// <reference lib="webworker" />
/** Runs one engine: a WASM instance, one command at a time. See `crates/pliant-web`. */

import type { NamedFile } from './protocol';

/** What the client sends. The first message has the module. */
export interface Ask {
  id: number;
  module?: WebAssembly.Module;
  files: NamedFile[];
  command: object;
}

export type Arrays = { [name: string]: Float32Array | Uint32Array | Uint8Array };

/** What the worker sends: how far it is, then the answer or what was wrong. */
export type Tell =
  | { id: number; progress: number }
  | { id: number; value: unknown; arrays: Arrays }
  | { id: number; error: string; dead: boolean };

interface Exports {
  memory: WebAssembly.Memory;
  pliant_reserve(bytes: number): number;
  pliant_put(nameBytes: number): void;
  pliant_call(): number;
  pliant_answer(): number;
  pliant_answer_bytes(): number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
let engine: Exports | null = null;
let current = 0;
/** The last share that was told: the page need not hear of less than a percent. */
let told = 0;

const imports = {
  pliant: {
    milliseconds: () => performance.now(),
    progress: (share: number) => {
      if (share < told || share >= told + 0.01) {
        told = share;
        tell({ id: current, progress: Math.min(1, share) });
      }
    },
  },
};

function tell(message: Tell, transfer: Transferable[] = []): void {
  postMessage(message, transfer);
}

/** Bytes into the engine's buffer, one piece behind the other. */
function write(engine: Exports, pieces: Uint8Array[]): void {
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  let at = engine.pliant_reserve(bytes);
  for (const piece of pieces) {
    new Uint8Array(engine.memory.buffer, at, piece.length).set(piece);
    at += piece.length;
  }
}

/** An array of the answer, copied out of the engine's memory, which may grow and move. */
function copied(engine: Exports, [at, bytes, kind]: [number, number, string]): Arrays[string] {
  const buffer = engine.memory.buffer.slice(at, at + bytes);
  if (kind === 'f32') return new Float32Array(buffer);
  return kind === 'u32' ? new Uint32Array(buffer) : new Uint8Array(buffer);
}

function carryOut(engine: Exports, ask: Ask): void {
  for (const file of ask.files) {
    const name = encoder.encode(file.name);
    write(engine, [file.bytes, name]);
    engine.pliant_put(name.length);
  }
  write(engine, [encoder.encode(JSON.stringify(ask.command))]);
  const failed = engine.pliant_call() !== 0;
  const answer = new Uint8Array(engine.memory.buffer, engine.pliant_answer(), engine.pliant_answer_bytes());
  const text = decoder.decode(answer);
  if (failed) return tell({ id: ask.id, error: text, dead: false });
  const { value, arrays } = JSON.parse(text) as { value: unknown; arrays: { [name: string]: [number, number, string] } };
  const out: Arrays = {};
  for (const [name, where] of Object.entries(arrays)) out[name] = copied(engine, where);
  tell({ id: ask.id, value, arrays: out }, Object.values(out).map((array) => array.buffer));
}

/** What the browser says when it is out of memory, in words for people. */
function explained(error: unknown): string {
  const what = error instanceof Error ? error.message : String(error);
  const memory = /memory|allocation|unreachable/i.test(what);
  return memory
    ? `the engine has stopped (${what}): the character may need more memory than the browser gives; try fewer tets`
    : `the engine has stopped: ${what}`;
}

onmessage = async ({ data }: MessageEvent<Ask>) => {
  current = data.id;
  told = 0;
  try {
    if (data.module) {
      const instance = await WebAssembly.instantiate(data.module, imports);
      engine = instance.exports as unknown as Exports;
    }
    if (!engine) throw new Error('it was never started');
    carryOut(engine, data);
  } catch (error) {
    tell({ id: data.id, error: explained(error), dead: true });
  }
};
