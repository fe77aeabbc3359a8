// Every character of the zoo opens from the gallery and moves.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { farthest, moves, positions, settled, state, Studio } from './helper.mjs';

let studio;
before(async () => (studio = await Studio.start()));
after(() => studio.stop());

test('each sample opens and moves', async (t) => {
  const page = await studio.open();
  const { samples } = await state(page);
  for (const { name, clips } of samples) {
    await t.test(name, async () => {
      await page.click(`[data-sample="${name}"]`);
      await page.waitForFunction((wanted) => window.pliant.state().character.source.sample === wanted, name);
      await settled(page);
      const { about, method } = await state(page);
      assert.equal(method, 'position');
      assert.deepEqual(about.clips.map((clip) => clip.name), clips);
      const rest = await page.evaluate(() => Array.from(window.pliant.state().character.opened.positions));
      const one = await positions(page);
      assert.ok(one.every(Number.isFinite));
      await moves(page, 0.001 * about.diagonal);
      assert.ok(farthest(rest, one) < 2 * about.diagonal, 'it stays together');
    });
  }
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(page.strangers, []);
});
