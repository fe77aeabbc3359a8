// What leaves the page: settings, baked files, a picture, a command and a link; and what comes back.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
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
  const other = await studio.open({ beside: true, hash: '#sample=cylinder&clip=shake&method=lbs&t=0' });
  await drop(other, path);
  await other.waitForFunction(() => window.pliant.state().settings.paint !== undefined);
  await settled(other);
  assert.deepEqual((await state(other)).settings, settings);
  assert.equal(await seek(other, 'shake', 0.7), hash);
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(other.complaints, []);
});

/** The skin of a GLB at a time of its first animation, by morph targets alone, as any player shows it. */
function played(glb, seconds) {
  const jsonBytes = glb.readUInt32LE(12);
  const json = JSON.parse(glb.subarray(20, 20 + jsonBytes));
  const bin = glb.subarray(28 + jsonBytes);
  const floats = (index) => {
    const { bufferView, count, type, byteOffset = 0 } = json.accessors[index];
    const start = (json.bufferViews[bufferView].byteOffset ?? 0) + byteOffset;
    const length = count * { SCALAR: 1, VEC3: 3 }[type];
    return Float32Array.from({ length }, (_, i) => bin.readFloatLE(start + 4 * i));
  };
  const [primitive] = json.meshes[0].primitives;
  const [animation] = json.animations;
  const channel = animation.channels.find(({ target }) => target.path === 'weights');
  const { input, output } = animation.samplers[channel.sampler];
  const times = floats(input);
  const weights = floats(output);
  const key = times.findIndex((time) => Math.abs(time - seconds) < 1e-4);
  assert.ok(key >= 0, `a key at ${seconds}`);
  const shape = floats(primitive.attributes.POSITION);
  primitive.targets.forEach((target, t) => {
    const weight = weights[key * primitive.targets.length + t];
    if (weight !== 0) floats(target.POSITION).forEach((x, i) => (shape[i] += weight * x));
  });
  return Array.from(shape);
}

test('an exported GLB passes the validator, and plays what the page shows', async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=bend&method=position&t=0' });
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
    assert.ok(!process.env.PLIANT_VALIDATOR, 'the validator was asked for and is not there');
    console.log('tools/validator has no node_modules: the export is not validated');
  }
  for (const seconds of [0, 0.5, 1.5]) {
    await seek(page, 'bend', seconds);
    assert.ok(farthest(played(file.bytes, seconds), await positions(page)) < 1e-5, `the same skin at ${seconds} s`);
  }
  // It has no bones any more: that is said, and the character stays.
  await drop(page, path);
  await page.locator('.error').waitFor();
  assert.match(await page.locator('.error').innerText(), /skin/);
  assert.equal((await state(page)).source, 'cylinder');
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
  const other = await studio.open({ beside: true, hash: new URL(page.url()).hash });
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
