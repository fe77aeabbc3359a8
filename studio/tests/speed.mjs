// How fast the page is: the engine's steps on one thread, the first paint, and how long the page's own thread is blocked
// while a method is prepared. Prints, and asserts nothing: machines differ.
import { readFileSync } from 'node:fs';
import { start } from './engine.mjs';
import { Studio, settled } from './helper.mjs';

/** Ticks of 10 ms that are timed. */
const TICKS = 200;

function steps(method, tets) {
  const engine = start();
  engine.put('human.glb', readFileSync(new URL('../public/samples/human.glb', import.meta.url)));
  const settings = { method, body: { tets } };
  const { clips } = engine.ask({ do: 'open', source: { main: 'human.glb' }, settings });
  const prepared = engine.ask({ do: 'prepare', settings });
  const clip = clips.findIndex(({ name }) => name === 'walk');
  engine.ask({ do: 'seek', clip, seconds: 0 });
  const times = [];
  for (let tick = 1; tick <= TICKS; tick++) {
    const { numbers } = engine.ask({ do: 'play', clip, seconds: tick / 100, loop: true });
    times.push(numbers.milliseconds.total);
  }
  times.sort((a, b) => a - b);
  const [best, middle] = [times[0], times[TICKS / 2]].map((ms) => ms.toFixed(2));
  console.log(`${method}, ${prepared.tets} tets: a tick takes ${best} ms at best, ${middle} ms in the middle`);
}

steps('position', 5000);
steps('strain', 15000);

const studio = await Studio.start();
const paints = [];
for (let i = 0; i < 3; i++) {
  const page = await studio.open({ wait: false });
  paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime));
  await page.context().close();
}
console.log(`first paint: ${Math.min(...paints).toFixed(0)} ms, best of ${paints.length}`);
const page = await studio.open({ hash: '#sample=human&clip=walk&method=lbs&t=0.4' });
await page.waitForTimeout(1000);
await page.evaluate(() => {
  window.blocked = [];
  const note = (list) => window.blocked.push(...list.getEntries().map((entry) => entry.duration));
  new PerformanceObserver(note).observe({ type: 'longtask' });
});
await page.keyboard.press('6');
await settled(page);
const longest = Math.max(0, ...(await page.evaluate(() => window.blocked)));
console.log(`while strain is prepared the page is blocked for ${longest} ms at most (0: under 50)`);
await studio.stop();
