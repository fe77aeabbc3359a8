// Methods: each can be had, numbers take effect, waiting can be cancelled, two are compared in step.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { farthest, moves, positions, seek, settled, state, Studio } from './helper.mjs';

const METHODS = ['lbs', 'dqs', 'smooth', 'volume', 'position', 'strain', 'metaballs'];

let studio;
before(async () => (studio = await Studio.start()));
after(() => studio.stop());

test('keys 1 to 7 are the methods, and each moves the skin its own way', async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=bend&method=lbs&t=0.9' });
  const shapes = [];
  for (const [i, method] of METHODS.entries()) {
    await page.keyboard.press(String(i + 1));
    await settled(page);
    assert.equal((await state(page)).method, method);
    assert.equal(await page.locator(`[data-method=${method}]`).getAttribute('aria-checked'), 'true');
    await seek(page, 'bend', 0.9);
    shapes.push(await positions(page));
  }
  const { about } = await state(page);
  for (let i = 0; i < shapes.length; i++) {
    for (let j = 0; j < i; j++) {
      assert.ok(farthest(shapes[i], shapes[j]) > 1e-4 * about.diagonal, `${METHODS[i]} and ${METHODS[j]} differ`);
    }
  }
  assert.deepEqual(page.complaints, []);
});

test('a slider changes the next frame without another preparation, and undo brings it back', async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=bend&method=position&t=0.9' });
  const before = await positions(page);
  const { prepared } = await state(page);
  await page.locator('#method-numbers input[aria-label="Stretch stiffness"]').fill('0.1');
  await page.waitForFunction(() => window.pliant.state().settings.position?.stretch === 0.1);
  await settled(page);
  const after = await positions(page);
  assert.ok(farthest(before, after) > 0);
  assert.equal((await state(page)).prepared.milliseconds, prepared.milliseconds, 'tuned, not prepared');
  await page.keyboard.press('Control+z');
  await page.waitForFunction(() => window.pliant.state().settings.position === undefined);
  await settled(page);
  assert.equal(farthest(before, await positions(page)), 0, 'the same bits again');
});

test('a preparation shows its progress and can be cancelled; what played plays on', async () => {
  const page = await studio.open({ hash: '#sample=human&clip=walk&method=lbs' });
  await page.click('[data-method=strain]');
  await page.locator('#work').waitFor({ state: 'visible' });
  await page.click('#cancel-work');
  await page.locator('#work').waitFor({ state: 'hidden' });
  const { method, settings } = await state(page);
  assert.equal(method, 'lbs');
  assert.equal(settings.method, 'lbs');
  assert.equal(await page.locator('.error').count(), 0);
  await moves(page, 0.001);
});

test('the page goes on drawing while a method is prepared', async () => {
  const page = await studio.open({ hash: '#sample=human&clip=walk&method=lbs&t=0.4' });
  await page.evaluate(() => {
    window.drawn = 0;
    const count = () => {
      window.drawn++;
      requestAnimationFrame(count);
    };
    count();
  });
  await page.keyboard.press('6');
  await settled(page);
  assert.equal((await state(page)).method, 'strain');
  const drawn = await page.evaluate(() => window.drawn);
  assert.ok(drawn > 5, `${drawn} frames were drawn in the meantime`);
});

test('A | B: two methods side by side, in step', async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=bend&method=position&t=0' });
  await page.keyboard.press('s');
  await page.waitForFunction(() => window.pliant.app.stage.figures.length === 2);
  await settled(page);
  await page.click('#play');
  await page.waitForTimeout(800);
  await page.click('#play');
  await page.waitForTimeout(300);
  const { seconds, split, about } = await state(page);
  assert.equal(split, 'lbs');
  const frames = await page.evaluate(() => window.pliant.app.stage.figures.map((figure) => figure.frame.seconds));
  assert.deepEqual(frames, [seconds, seconds]);
  assert.ok(farthest(await positions(page, 0), await positions(page, 1)) > 1e-3 * about.diagonal, 'two shapes');
  await page.selectOption('#split-method', 'dqs');
  await page.waitForFunction(() => window.pliant.app.session.b.side?.prepared.method === 'dqs');
  await page.keyboard.press('s');
  await page.waitForFunction(() => window.pliant.app.stage.figures.length === 1);
  assert.deepEqual(page.complaints, []);
});

test('heat maps have a legend, and what lies under the skin is drawn', async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=bend&method=position&t=0.9' });
  await page.click('#tab-show');
  for (const heat of (await state(page)).prepared.heats) {
    await page.click(`#heats >> text=${heat[0].toUpperCase() + heat.slice(1)}`);
    await page.waitForFunction(() => window.pliant.app.stage.figures[0].frame.heat !== null);
    assert.ok(await page.locator('#legend').isVisible());
    const marks = await page.locator('#legend .marks span').allInnerTexts();
    assert.ok(marks.length >= 2);
    if (heat === 'stretch') assert.deepEqual(marks, ['-50%', '0%', '50%']);
  }
  await page.click('#heats >> text=Off');
  assert.equal(await page.locator('#legend').isVisible(), false);
  for (const drawing of (await state(page)).prepared.drawings) {
    await page.click(`#drawings >> text=${drawing[0].toUpperCase() + drawing.slice(1)}`);
    await page.waitForFunction(() => window.pliant.app.stage.figures[0].frame.drawing !== null);
    const drawn = await page.evaluate(() => {
      const { lines, dots, facets, balls } = window.pliant.app.stage.figures[0].frame.drawing;
      return lines.length + dots.length + facets.length + balls.length;
    });
    assert.ok(drawn > 0, drawing);
    if (drawing === 'tets') {
      await page.locator('#cut').fill('0.9');
      await page.waitForFunction((n) => window.pliant.app.stage.figures[0].frame.drawing.facets.length < n, drawn);
    }
  }
  assert.deepEqual(page.complaints, []);
});
