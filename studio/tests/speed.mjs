// How fast the page is: the engine's steps on one thread, the first paint, and how long the page's own thread is blocked
// while a method is prepared. Prints, and asserts nothing: machines differ.
import { Studio, settled } from './helper.mjs';

/** Ticks of 10 ms that are timed. */
const TICKS = 200;

/** Milliseconds of each tick of the walking human, in the browser's own engine, on one thread. */
async function ticks({ method, tets, count }) {
  const wasm = await (await fetch('pliant.wasm')).arrayBuffer();
  const sample = new Uint8Array(await (await fetch('samples/human.glb')).arrayBuffer());
  const imports = { pliant: { milliseconds: () => performance.now(), progress: () => {} } };
  const engine = (await WebAssembly.instantiate(wasm, imports)).instance.exports;
  const write = (bytes) => {
    const at = engine.pliant_reserve(bytes.length);
    new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
  };
  const encoder = new TextEncoder();
  const ask = (command) => {
    write(encoder.encode(JSON.stringify(command)));
    const failed = engine.pliant_call();
    const text = new TextDecoder().decode(new Uint8Array(engine.memory.buffer, engine.pliant_answer(), engine.pliant_answer_bytes()));
    if (failed) throw new Error(text);
    return JSON.parse(text).value;
  };
  const name = encoder.encode('human.glb');
  const file = new Uint8Array(sample.length + name.length);
  file.set(sample);
  file.set(name, sample.length);
  write(file);
  engine.pliant_put(name.length);
  const settings = { method, body: { tets } };
  const { clips } = ask({ do: 'open', source: { main: 'human.glb' }, settings });
  const prepared = ask({ do: 'prepare', settings });
  const clip = clips.findIndex((c) => c.name === 'walk');
  ask({ do: 'seek', clip, seconds: 0 });
  const times = [];
  for (let tick = 1; tick <= count; tick++) {
    times.push(ask({ do: 'play', clip, seconds: tick / 100, loop: true }).numbers.milliseconds.total);
  }
  return { tets: prepared.tets, times };
}

const studio = await Studio.start();
const paints = [];
for (let i = 0; i < 3; i++) {
  const page = await studio.open({ wait: false });
  const paint = () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime;
  paints.push(await (await page.waitForFunction(paint)).jsonValue());
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
await page.evaluate(() => window.pliant.app.session.player.use([]));
for (const [method, tets] of [['position', 5000], ['strain', 15000]]) {
  const timed = await page.evaluate(ticks, { method, tets, count: TICKS });
  const times = timed.times.sort((a, b) => a - b);
  const [best, middle] = [times[0], times[TICKS / 2]].map((ms) => ms.toFixed(2));
  console.log(`${method}, ${timed.tets} tets: a tick takes ${best} ms at best, ${middle} ms in the middle`);
}
await studio.stop();
