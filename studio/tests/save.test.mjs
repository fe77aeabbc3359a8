// What leaves the page: settings, baked files, a picture, a command and a link; and what comes back.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { downloaded, drop, farthest, positions, seek, seenVertex, settled, state, Studio } from './helper.mjs';

const VALIDATOR = fileURLToPath(new URL('../../tools/validator', import.meta.url));

let studio;
let folder;
before(async () => {
  studio = await Studio.start();
  folder = await mkdtemp(join(tmpdir(), 'pliant-'));
});
afterEach(() => studio.tidy());
after(() => studio.stop());

test('settings with paint are saved, and loaded into a fresh page they give the same bits', async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=shake&method=position&t=0' });
  await page.keyboard.press('b');
  const at = await seenVertex(page, 0.6);
  await page.mouse.click(at.x, at.y);
  await settled(page);
  const hash = await seek(page, 'shake', 0.7);
  const { settings } = await state(page);
  await page.click('#save');
  const file = await downloaded(page, () => page.click('#save-settings'));
  assert.equal(file.name, 'cylinder.toml');
  const path = join(folder, file.name);
  await writeFile(path, file.bytes);
  const other = await studio.open({ hash: '#sample=cylinder&clip=shake&method=lbs&t=0' });
  await drop(other, path);
  await other.waitForFunction(() => window.pliant.state().settings.paint !== undefined);
  await settled(other);
  assert.deepEqual((await state(other)).settings, settings);
  assert.equal(await seek(other, 'shake', 0.7), hash);
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(other.complaints, []);
});

test('an exported GLB passes the validator and opens again', async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=bend&method=position&t=0.5' });
  const soft = await positions(page);
  await page.click('#save');
  await page.click('#export');
  const file = await downloaded(page, () => page.click('#export-glb'));
  assert.equal(file.name, 'cylinder-soft.glb');
  const path = join(folder, file.name);
  await writeFile(path, file.bytes);
  if (existsSync(join(VALIDATOR, 'node_modules'))) {
    const { stdout } = await promisify(execFile)('node', [join(VALIDATOR, 'validate.mjs'), path], { cwd: VALIDATOR });
    assert.deepEqual(JSON.parse(stdout).errors, []);
  } else {
    console.log('tools/validator has no node_modules: the export is not validated');
  }
  await drop(page, path);
  await page.waitForFunction(() => document.querySelector('.error') || window.pliant.state().character.source.main);
  assert.equal(await page.locator('.error').count(), 0);
  assert.equal((await positions(page)).length, soft.length);
  assert.deepEqual(page.complaints, []);
});

test('a point cache and a picture are written', async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=bend&method=lbs&t=0.5' });
  await page.click('#save');
  await page.click('#export');
  const cache = await downloaded(page, () => page.click('#export-pc2'));
  assert.match(cache.name, /\.pc2$/);
  assert.equal(cache.bytes.subarray(0, 11).toString(), 'POINTCACHE2');
  assert.equal(cache.bytes.readInt32LE(16), (await state(page)).about.vertices);
  await page.click('#save');
  const picture = await downloaded(page, () => page.click('#picture'));
  assert.equal(picture.bytes.subarray(1, 4).toString(), 'PNG');
  assert.ok(picture.bytes.length > 5000, 'with something on it');
});

test('a bake can be cancelled', async () => {
  const page = await studio.open({ hash: '#sample=human&clip=walk&method=position&t=0.5' });
  await page.click('#save');
  await page.click('#export');
  await page.click('#export-glb');
  await page.locator('#work').waitFor({ state: 'visible' });
  await page.click('#cancel-work');
  await page.locator('#work').waitFor({ state: 'hidden' });
  assert.equal(await page.locator('.error').count(), 0);
});

test('the address restores sample, clip, method and time', async () => {
  const page = await studio.open({ hash: '#sample=arm&clip=twist&method=dqs&t=0.4' });
  const first = await state(page);
  assert.equal(first.source, 'arm');
  assert.equal(first.about.clips[first.clip].name, 'twist');
  assert.equal(first.method, 'dqs');
  assert.ok(Math.abs(first.seconds - 0.4) < 1e-9);
  assert.equal(first.playing, false);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('1');
  await settled(page);
  await page.waitForFunction(() => /method=lbs/.test(location.hash) && !/t=0\.4(&|$)/.test(location.hash));
  const shape = await positions(page);
  const other = await studio.open({ hash: new URL(page.url()).hash });
  assert.ok(farthest(shape, await positions(other)) < 1e-3, 'the same moment');
});

test('the command line names character, settings and clip', async () => {
  const page = await studio.open({ hash: '#sample=arm&clip=twist&method=dqs&t=0.4' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.click('#save');
  await page.click('#copy-command');
  await page.locator('.note', { hasText: 'clipboard' }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'pliant bake sample:arm --config arm.toml --clip twist -o arm-soft.glb');
});
