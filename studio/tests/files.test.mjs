// Files of the user's own: dropped, they move or are refused in words, and the last character stays.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DATA, drop, farthest, positions, seek, settled, state, Studio } from './helper.mjs';

let studio;
before(async () => (studio = await Studio.start()));
after(() => studio.stop());

/** Drops a file or folder and waits until it plays or is refused; gives the words of a refusal. */
async function dropAndSee(page, path) {
  await page.keyboard.press('Escape');
  await page.evaluate(() => (window.before = window.pliant.state().character));
  await drop(page, path);
  await page.waitForFunction(() => document.querySelector('.error') || window.pliant.state().character !== window.before);
  await settled(page);
  const isOpen = await page.evaluate(() => window.pliant.state().character !== window.before);
  return isOpen ? null : page.locator('.error').innerText();
}

test('each glTF is dropped and moves, or is refused readably', { skip: !DATA && 'PLIANT_DATA is not set' }, async (t) => {
  const page = await studio.open();
  let moving = 0;
  for (const name of (await readdir(`${DATA}/gltf`)).sort()) {
    await t.test(name, async () => {
      const last = (await state(page)).name;
      const refusal = await dropAndSee(page, `${DATA}/gltf/${name}`);
      if (refusal) {
        t.diagnostic(`${name}: ${refusal.replaceAll('\n', ' ')}`);
        assert.ok(refusal.length > 40, refusal);
        assert.equal((await state(page)).name, last, 'the last character stays');
        return;
      }
      const { about, clip, method } = await state(page);
      t.diagnostic(`${name}: ${method}, ${about.vertices} vertices`);
      const shown = await positions(page);
      assert.ok(shown.length > 0 && shown.every(Number.isFinite));
      if (clip === null || about.clips[clip].seconds === 0) return;
      moving += 1;
      const shapes = [];
      for (const share of [0, 0.37, 0.81]) {
        await seek(page, about.clips[clip].name, share * about.clips[clip].seconds);
        shapes.push(await positions(page));
      }
      assert.ok(Math.max(farthest(shapes[0], shapes[1]), farthest(shapes[1], shapes[2])) > 1e-4 * about.diagonal, 'it moves');
      await page.keyboard.press(' ');
    });
  }
  assert.ok(moving >= 15, `${moving} files move`);
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(page.strangers, []);
});

test('a folder is opened by the button', { skip: !DATA && 'PLIANT_DATA is not set' }, async () => {
  const page = await studio.open();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.click('#open-folder')]);
  await chooser.setFiles(`${DATA}/gltf/Fox`);
  await page.waitForFunction(() => window.pliant.state().character.source.main?.endsWith('Fox.gltf'));
  await settled(page);
  const textured = await page.evaluate(() => {
    let map = null;
    window.pliant.app.stage.figures[0].group.traverse((object) => (map ??= object.material?.map?.image ?? null));
    return map && { width: map.width, height: map.height };
  });
  assert.ok(textured.width > 16, 'with its texture');
  assert.deepEqual(page.complaints, []);
});

test('a recording moves the character that is open, and says how', { skip: !DATA && 'PLIANT_DATA is not set' }, async () => {
  const page = await studio.open({ hash: '#sample=human&clip=walk&method=lbs' });
  await drop(page, `${DATA}/bvh/cmu_02_01.bvh`);
  await page.locator('dialog#mapping').waitFor();
  const { about, clip, name } = await state(page);
  assert.equal(name, 'human');
  assert.equal(clip, about.recorded);
  assert.ok(about.mapping.joints.length > 10);
  assert.equal(await page.locator('dialog#mapping .mapping span').count(), 3 * about.mapping.joints.length);
  await page.click('dialog#mapping >> text=Good');
  const one = await positions(page);
  await page.keyboard.press(' ');
  await page.evaluate(([c]) => window.pliant.seek(c, 1), [about.clips[clip].name]);
  assert.ok(farthest(one, await positions(page)) > 0.01 * about.diagonal);
  assert.deepEqual(page.complaints, []);
});

test('what is no character is refused, and the last one stays', async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=bend&method=lbs' });
  const folder = await mkdtemp(join(tmpdir(), 'pliant-'));
  const cases = {
    'notes.txt': ['hello', /None of these is a character/],
    'broken.glb': ['glTF but not really', /broken\.glb|GLB|glTF/],
    'empty.gltf': ['{}', /./],
    'wrong.toml': ['method = "wobble"\n', /wobble/],
    'lone.obj': ['v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n', /skeleton/i],
  };
  for (const [name, [text, words]] of Object.entries(cases)) {
    const path = join(folder, name);
    await writeFile(path, text);
    await page.keyboard.press('Escape');
    await drop(page, path);
    await page.locator('.error').waitFor();
    assert.match(await page.locator('.error').innerText(), words);
    const { source, playing } = await state(page);
    assert.equal(source, 'cylinder');
    assert.equal(playing, true);
  }
  await page.click('.error [aria-label=Dismiss]');
  assert.equal(await page.locator('.error').count(), 0);
  assert.deepEqual(page.complaints, []);
});
