// The engine's WASM without a page.
import { readFileSync } from 'node:fs';

const wasm = new WebAssembly.Module(readFileSync(new URL('../public/pliant.wasm', import.meta.url)));

/** A session: files are put, commands asked (see `crates/pliant-web/src/command.rs`). */
export function start() {
  const imports = { pliant: { milliseconds: () => performance.now(), progress: () => {} } };
  const engine = new WebAssembly.Instance(wasm, imports).exports;
  const write = (...pieces) => {
    let at = engine.pliant_reserve(pieces.reduce((sum, piece) => sum + piece.length, 0));
    for (const piece of pieces) {
      new Uint8Array(engine.memory.buffer, at, piece.length).set(piece);
      at += piece.length;
    }
  };
  const bytes = (text) => new TextEncoder().encode(text);
  return {
    put(name, file) {
      write(file, bytes(name));
      engine.pliant_put(bytes(name).length);
    },
    ask(command) {
      write(bytes(JSON.stringify(command)));
      const failed = engine.pliant_call();
      const at = engine.pliant_answer();
      const text = new TextDecoder().decode(new Uint8Array(engine.memory.buffer, at, engine.pliant_answer_bytes()));
      if (failed) throw new Error(text);
      return JSON.parse(text).value;
    },
  };
}
