// The first screen: it moves at once, says what to do, and asks nobody else for anything.
import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { moves, state, Studio } from './helper.mjs';

let studio;
before(async () => (studio = await Studio.start()));
after(() => studio.stop());

test('a soft character moves on the first screen', async () => {
  const page = await studio.open();
  const { method, playing, samples, about } = await state(page);
  assert.equal(playing, true);
  assert.equal(method, 'position');
  assert.equal(await page.locator('#gallery .card').count(), samples.length);
  assert.ok(samples.length >= 13);
  assert.match(await page.locator('#hint').innerText(), /Drop a glTF, VRM, OBJ or BVH anywhere/);
  await moves(page, 0.005 * about.diagonal);
  assert.deepEqual(page.strangers, []);
  assert.deepEqual(page.complaints, []);
});

test('the page is light: under 2 MB gzipped, engine and thumbnails included, characters not', async () => {
  const dist = fileURLToPath(new URL('../dist', import.meta.url));
  let bytes = 0;
  for (const name of await readdir(dist, { recursive: true })) {
    const path = `${dist}/${name}`;
    if (name.startsWith('samples')) continue;
    if ((await stat(path)).isFile()) bytes += gzipSync(await readFile(path)).length;
  }
  assert.ok(bytes < 2e6, `${bytes} bytes`);
});

test('everything that can be pressed has a name', async () => {
  const page = await studio.open();
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll('button, input, select, [role=radio], [role=tab]')]
      .filter((control) => !(control.getAttribute('aria-label') || control.textContent.trim() || control.title || control.closest('label')))
      .map((control) => control.outerHTML),
  );
  assert.deepEqual(nameless, []);
  const repeated = await page.evaluate(() => {
    const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
    return ids.filter((id, i) => ids.indexOf(id) !== i);
  });
  assert.deepEqual(repeated, []);
});

for (const [width, height] of [[1280, 720], [820, 1180]]) {
  test(`nothing lies outside the window at ${width} by ${height}`, async () => {
    const page = await studio.open({ width, height, colorScheme: 'light' });
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
    const outside = await page.evaluate(() =>
      [...document.querySelectorAll('.topbar > *, .timeline > *, #viewport')]
        .map((element) => ({ box: element.getBoundingClientRect(), what: element.id || element.className }))
        .filter(({ box }) => box.left < 0 || box.right > innerWidth + 0.5 || box.bottom > innerHeight + 0.5)
        .map(({ what }) => what),
    );
    assert.deepEqual(outside, []);
    // The panel is there at a desk's width, and one press away on a tablet.
    if (width < 1000) await page.click('#panel-toggle');
    assert.ok(await page.locator('#panel').isVisible());
    await page.click('#theme');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    assert.deepEqual(page.complaints, []);
  });
}

test('keys: play, panel, help and overlays', async () => {
  const page = await studio.open();
  await page.keyboard.press(' ');
  assert.equal((await state(page)).playing, false);
  const { seconds } = await state(page);
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction((t) => window.pliant.state().seconds > t, seconds);
  await page.keyboard.press('Home');
  await page.waitForFunction(() => window.pliant.state().seconds === 0);
  for (const [key, what] of [['w', 'wire'], ['k', 'skeleton']]) {
    await page.keyboard.press(key);
    assert.equal((await state(page))[what], true);
  }
  await page.keyboard.press('?');
  assert.ok(await page.locator('dialog#help').isVisible());
  await page.keyboard.press('Escape');
  await page.locator('dialog#help').waitFor({ state: 'detached' });
  await page.keyboard.press('t');
  assert.equal(await page.locator('#panel').isVisible(), false);
});
