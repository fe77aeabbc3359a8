// Time: the state at a moment is what playing from the clip's start gives, however one gets there.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { downloaded, farthest, positions, seek, settled, state, Studio } from './helper.mjs';

const COMMAND = process.env.PLIANT_BIN ?? fileURLToPath(new URL('../../target/release/pliant', import.meta.url));

let studio;
before(async () => (studio = await Studio.start()));
after(() => studio.stop());

for (const method of ['position', 'strain', 'metaballs', 'volume']) {
  test(`scrubbing back and forth gives the same bits: ${method}`, async () => {
    const page = await studio.open({ hash: `#sample=cylinder&clip=shake&method=${method}&preset=fat` });
    const times = [0.91, 0.13, 1.37, 0.52];
    const once = [];
    for (const t of times) once.push(await seek(page, 'shake', t));
    const again = [];
    for (const t of [...times].reverse()) again.unshift(await seek(page, 'shake', t));
    assert.deepEqual(once, again);
    assert.equal(new Set(once).size, times.length, 'moments differ');
    assert.deepEqual(page.complaints, []);
  });
}

test('the scrub bar, the clip list and the ends', async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=bend&method=position' });
  const box = await page.locator('#scrub').boundingBox();
  await page.mouse.click(box.x + 0.5 * box.width, box.y + 0.5 * box.height);
  const { playing, about, clip, seconds } = await state(page);
  assert.equal(playing, false);
  assert.ok(Math.abs(seconds - 0.5 * about.clips[clip].seconds) < 0.05 * about.clips[clip].seconds);
  const bent = await positions(page);
  await page.selectOption('#clips', { label: 'twist' });
  await settled(page);
  const twisted = await state(page);
  assert.deepEqual([twisted.clip, twisted.seconds], [1, 0]);
  assert.ok(farthest(bent, await positions(page)) > 0);
  await page.click('#loop');
  await page.click('#to-end');
  await page.click('#to-start');
  await page.selectOption('#speed', '2');
  await page.click('#play');
  await page.waitForFunction(() => !window.pliant.state().playing, null, { timeout: 60_000 });
  const end = await state(page);
  assert.ok(Math.abs(end.seconds - about.clips[1].seconds) < 1e-6, 'without loop it stops at the end');
});

test('the page bakes the bits that the command bakes', { skip: !existsSync(COMMAND) && 'no pliant command' }, async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=bend&method=position&preset=fat&t=0' });
  await page.click('#save');
  const settings = await downloaded(page, () => page.click('#save-settings'));
  await page.click('#save');
  await page.click('#export');
  const glb = await downloaded(page, () => page.click('#export-glb'));
  const hash = /state hash (\w+)/.exec(await page.locator('.note', { hasText: 'state hash' }).innerText())[1];
  const folder = await mkdtemp(join(tmpdir(), 'pliant-'));
  await writeFile(join(folder, 'cylinder.toml'), settings.bytes);
  const report = join(folder, 'report.json');
  await promisify(execFile)(COMMAND, ['bake', 'sample:cylinder', '--config', join(folder, 'cylinder.toml'), '--clip', 'bend', '-o', join(folder, 'out.glb'), '--report', report]);
  assert.equal(hash, JSON.parse(await readFile(report, 'utf8')).state_hash);
  assert.deepEqual(glb.bytes, await readFile(join(folder, 'out.glb')), 'the file too');
  await settled(page);
});
