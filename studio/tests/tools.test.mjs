// Tools: paint, curves, muscles, pose and reading a vertex, by the pointer as a hand would.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { farthest, onScreen, positions, seek, seenVertex, settled, state, Studio } from './helper.mjs';

let studio;
before(async () => (studio = await Studio.start()));
after(() => studio.stop());

async function stroke(page, from, to) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
}

const painted = (page, kind) => page.evaluate((name) => window.pliant.state().settings.paint?.find((one) => one.name === name) ?? null, kind);

test('softness is painted, undone and redone, and the motion changes by it', async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=shake&method=position&t=0.6' });
  const firm = await positions(page);
  await page.keyboard.press('b');
  const at = await seenVertex(page, 0.7);
  await stroke(page, at, { x: at.x, y: at.y + 40 });
  const paint = await painted(page, '_SOFTNESS');
  assert.ok(paint.vertices.includes(at.vertex), 'where the brush was');
  assert.ok(paint.values.every((value) => value > 0 && value <= 1));
  // Mirrored: each painted place has one across.
  const across = await page.evaluate((vertices) => {
    const { positions, about } = window.pliant.state().character.opened;
    const middle = 0.5 * (about.bounds[0][0] + about.bounds[1][0]);
    const sides = vertices.map((i) => Math.sign(positions[3 * i] - middle));
    return [sides.filter((side) => side > 0).length, sides.filter((side) => side < 0).length];
  }, paint.vertices);
  assert.ok(Math.min(...across) > 0.5 * Math.max(...across), `both sides: ${across}`);
  assert.ok(await page.locator('#legend').isVisible());
  await settled(page);
  await seek(page, 'shake', 0.6);
  const soft = await positions(page);
  assert.ok(farthest(firm, soft) > 1e-4, 'painted flesh swings');
  await page.keyboard.press('Control+z');
  assert.equal(await painted(page, '_SOFTNESS'), null);
  await settled(page);
  await seek(page, 'shake', 0.6);
  assert.equal(farthest(firm, await positions(page)), 0, 'undone to the bit');
  await page.keyboard.press('Control+Shift+z');
  assert.deepEqual(await painted(page, '_SOFTNESS'), paint);
  await settled(page);
  await seek(page, 'shake', 0.6);
  assert.equal(farthest(soft, await positions(page)), 0, 'redone to the bit');
  // What is erased is gone.
  await page.click('#brush-erase');
  await page.locator('#brush-strength').fill('1');
  await page.locator('#brush-radius').fill('0.4');
  await stroke(page, await seenVertex(page, 0.7), await seenVertex(page, 0.4));
  assert.ok(((await painted(page, '_SOFTNESS'))?.vertices.length ?? 0) < paint.vertices.length);
  assert.deepEqual(page.complaints, []);
});

for (const [kind, method, clip] of [['_FAT', 'smooth', 'bend'], ['_CORRECTION', 'volume', 'bend']]) {
  test(`${kind} is painted for ${method}`, async () => {
    const page = await studio.open({ hash: `#sample=cylinder&clip=${clip}&method=${method}&t=0.9` });
    const plain = await positions(page);
    await page.keyboard.press('b');
    await page.click(`#paint-kind >> text=${kind === '_FAT' ? 'Fat' : 'Correction'}`);
    const at = await seenVertex(page, 0.5);
    await stroke(page, at, { x: at.x + 10, y: at.y + 10 });
    assert.ok((await painted(page, kind)).vertices.length > 0);
      await settled(page);
    await seek(page, clip, 0.9);
    assert.ok(farthest(plain, await positions(page)) > 0, 'it counts');
    assert.deepEqual(page.complaints, []);
  });
}

test('a fibre is drawn, dragged and deleted, and the flesh follows it', async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=bend&method=strain&t=0.9' });
  await page.click('#tab-method');
  await page.click('#method-numbers >> text=Fibrous');
  await settled(page);
  await seek(page, 'bend', 0.9);
  const along = await positions(page);
  await page.keyboard.press('c');
  const around = await Promise.all([0.35, 0.45, 0.55, 0.65].map((height) => seenVertex(page, height)));
  for (const [i, at] of around.entries()) {
    // A fibre that runs askew, not along the bone.
    await page.mouse.click(at.x + (i % 2 ? 18 : -18), at.y);
    await page.waitForTimeout(150);
  }
  const fibre = await page.evaluate(() => window.pliant.state().settings.fibre);
  assert.equal(fibre.length, 1);
  assert.equal(fibre[0].points.length, 4);
  await settled(page);
  await seek(page, 'bend', 0.9);
  assert.ok(farthest(along, await positions(page)) > 1e-5, 'the motion changes');
  // Drag the last point.
  const from = { x: around[3].x + 18, y: around[3].y };
  await stroke(page, from, { x: from.x - 30, y: from.y });
  const dragged = await page.evaluate(() => window.pliant.state().settings.fibre[0].points);
  assert.notDeepEqual(dragged, fibre[0].points);
  await page.keyboard.press('Delete');
  assert.equal((await page.evaluate(() => window.pliant.state().settings.fibre[0].points)).length, 3);
  await page.click('.curve-row [aria-label^=Delete]');
  assert.equal(await page.evaluate(() => window.pliant.state().settings.fibre), undefined);
  assert.deepEqual(page.complaints, []);
});

test('an action line makes a muscle grow', async () => {
  const page = await studio.open({ hash: '#sample=arm&clip=bend&method=metaballs&t=0' });
  await settled(page);
  const { about } = await state(page);
  const seconds = 0.5 * about.clips[0].seconds;
  await seek(page, 'bend', seconds);
  const plain = await positions(page);
  await page.keyboard.press('m');
  await seek(page, 'bend', 0);
  const bones = about.bones.slice(0, 2);
  for (const bone of bones) {
    const middle = bone.start.map((x, i) => 0.5 * (x + bone.end[i]));
    const at = await onScreen(page, middle);
    await page.mouse.click(at.x, at.y);
    await page.waitForTimeout(300);
  }
  const muscle = await page.evaluate(() => window.pliant.state().settings.metaballs?.muscle);
  assert.equal(muscle.length, 1);
  assert.notEqual(muscle[0].from.joint, muscle[0].to.joint);
  await settled(page);
  await seek(page, 'bend', seconds);
  assert.ok(farthest(plain, await positions(page)) > 1e-4, 'it swells');
  assert.deepEqual(page.complaints, []);
});

test('a bone is turned by the rings, and the flesh answers', async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=bend&method=position&t=0' });
  const before = await positions(page);
  await page.keyboard.press('p');
  await page.waitForTimeout(300);
  const joint = await page.evaluate(() => {
    const { skeleton } = window.pliant.app.stage.figures[0];
    const { joints } = window.pliant.state().character.opened.about;
    // One that no other covers.
    const child = joints.findIndex((one, i) => one.deforms && one.parent >= 0 && joints.every((_, j) => j === i || skeleton.place(j).distanceTo(skeleton.place(i)) > 0.05));
    return { child, place: skeleton.place(child).toArray() };
  });
  const at = await onScreen(page, joint.place);
  await page.mouse.click(at.x, at.y);
  await page.waitForFunction((bone) => window.pliant.state().bone === bone, joint.child);
  await page.waitForTimeout(500);
  // The outer ring turns about the line of sight.
  let grabbed = null;
  for (let radius = 20; radius < 160 && !grabbed; radius += 2) {
    await page.mouse.move(at.x + radius, at.y - 4);
    if (await page.evaluate(() => window.pliant.app.tools.pose.ring() === 'E')) grabbed = radius;
  }
  assert.ok(grabbed, 'the outer ring is there');
  await page.mouse.down();
  await page.mouse.move(at.x + 0.7 * grabbed, at.y - 0.7 * grabbed, { steps: 5 });
  await page.mouse.up();
  await page.waitForTimeout(1500);
  const posed = await positions(page);
  const { about } = await state(page);
  assert.ok(farthest(before, posed) > 0.05 * about.diagonal, 'turned');
  await page.click('#reset-pose');
  await page.waitForTimeout(2500);
  assert.ok(farthest(before, await positions(page)) < 0.02 * about.diagonal, 'and back');
  assert.deepEqual(page.complaints, []);
});

test('a click on the skin reads the vertex', async () => {
  const page = await studio.open({ hash: '#sample=cylinder&clip=bend&method=position&t=0.5' });
  const at = await seenVertex(page, 0.5);
  await page.mouse.click(at.x, at.y);
  await page.locator('#vertex-card').waitFor();
  const text = await page.locator('#vertex-card').innerText();
  assert.match(text, /Vertex \d+/);
  assert.match(text, /Stretch/);
  const weights = await page.locator('#vertex-card .weight span:last-child').allInnerTexts();
  assert.ok(Math.abs(weights.map(Number).reduce((a, b) => a + b, 0) - 1) < 0.01);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#vertex-card').isVisible(), false);
});
