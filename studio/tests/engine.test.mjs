// The engine's WASM without a page: the same bits as the command's native code, for every method.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { start } from './engine.mjs';

const pliant = process.env.PLIANT_BIN;
const folder = mkdtempSync(join(tmpdir(), 'pliant-'));
after(() => rmSync(folder, { recursive: true }));

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
