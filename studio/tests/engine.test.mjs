// The engine's WASM without a page: the same bits as the command's native code, for every method.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const wasm = new WebAssembly.Module(readFileSync(new URL('../public/pliant.wasm', import.meta.url)));
const pliant = process.env.PLIANT_BIN;
const folder = mkdtempSync(join(tmpdir(), 'pliant-'));
after(() => rmSync(folder, { recursive: true }));

function start() {
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

for (const method of ['lbs', 'dqs', 'smooth', 'volume', 'position', 'strain', 'metaballs']) {
  test(`${method}: the same bits as native code`, { skip: pliant ? false : 'PLIANT_BIN is not set' }, () => {
    const file = join(folder, 'arm.glb');
    execFileSync(pliant, ['sample', 'arm', '--vertices', '1500', '-o', file, '--quiet']);
    const bake = ['bake', file, '--clip', 'bend', '--method', method, '-o', join(folder, 'out.glb'), '--json', '--quiet'];
    const native = JSON.parse(execFileSync(pliant, bake, { encoding: 'utf8' })).state_hash;
    const engine = start();
    engine.put('arm.glb', readFileSync(file));
    const settings = { method };
    const { clips } = engine.ask({ do: 'open', source: { main: 'arm.glb' }, settings });
    engine.ask({ do: 'prepare', settings });
    const clip = clips.findIndex((c) => c.name === 'bend');
    assert.equal(engine.ask({ do: 'bake', clip, format: 'glb' }).stateHash, native);
  });
}
