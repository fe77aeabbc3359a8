// What the tests share: the built page on a port of its own, a browser, and hands that do as a user would.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const DIST = process.env.STUDIO_DIST ?? fileURLToPath(new URL('../dist', import.meta.url));
const TYPES = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.webp': 'image/webp',
};
const BROWSERS = [process.env.CHROME, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
// Pictures without a graphics card.
const ARGS = ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'];

/** Characters, recordings and bad files to try, where there are any. Browsers take no drops from paths with `..` in them. */
export const DATA = process.env.PLIANT_DATA && resolve(process.env.PLIANT_DATA);

async function serve() {
  const server = createServer(async (request, response) => {
    const asked = normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname));
    const path = asked === '/' ? '/index.html' : asked;
    try {
      const bytes = await readFile(join(DIST, path));
      response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' });
      response.end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** One browser and one server for all tests of a file. */
export class Studio {
  static async start() {
    const studio = new Studio();
    const executablePath = BROWSERS.find((path) => path && existsSync(path));
    if (!executablePath) throw new Error('no Chromium: apt-get install chromium, or set CHROME');
    if (!existsSync(join(DIST, 'index.html'))) throw new Error('no studio/dist: npm run build');
    studio.server = await serve();
    studio.url = `http://127.0.0.1:${studio.server.address().port}/`;
    studio.browser = await chromium.launch({ executablePath, args: ARGS });
    return studio;
  }

  async stop() {
    await this.browser.close();
    this.server.close();
  }

  /**
   * Opens the page and waits until its character moves by the method asked for. Pages before it are closed, since they
   * would play on and take its time, unless it is to be `beside` them.
   */
  async open({ hash = '', width = 1280, height = 720, colorScheme = 'dark', wait = true, beside = false } = {}) {
    if (!beside) for (const context of this.browser.contexts()) await context.close();
    const context = await this.browser.newContext({ viewport: { width, height }, colorScheme, acceptDownloads: true });
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    page.complaints = [];
    page.strangers = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !fromTheDriver(message.text())) page.complaints.push(message.text());
    });
    page.on('pageerror', (error) => page.complaints.push(String(error.stack)));
    page.on('request', (request) => {
      const url = request.url();
      if (!/^(blob|data):/.test(url) && !url.startsWith(this.url)) page.strangers.push(url);
    });
    await page.goto(this.url + hash);
    await page.waitForFunction(() => window.pliant !== undefined);
    if (wait) await page.evaluate(() => window.pliant.ready);
    return page;
  }
}

/** Software rendering complains of itself. */
function fromTheDriver(text) {
  return /GPU stall|GL Driver Message|swiftshader|SwiftShader/.test(text);
}

/** Drops files or folders of the disk on the view, as a hand would. */
export async function drop(page, ...paths) {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop']) {
    await session.send('Input.dispatchDragEvent', { type, x: 500, y: 300, data });
  }
  await session.detach();
}

/** What the page knows, without the large arrays. */
export function state(page) {
  return page.evaluate(() => {
    const { character, prepared, samples, ...rest } = window.pliant.state();
    const { about } = character?.opened ?? {};
    return { ...rest, name: about?.name, source: character && ('sample' in character.source ? character.source.sample : character.source.main), about, method: prepared?.method, prepared, samples };
  });
}

/** Waits until all that was asked for is prepared and shown. */
export function settled(page) {
  return page.evaluate(() => window.pliant.idle());
}

/** The positions that are shown, of one half. */
export function positions(page, half = 0) {
  return page.evaluate((i) => Array.from(window.pliant.app.stage.figures[i].skin.positions), half);
}

/** Waits until the skin has moved by more than a length; fails where it does not. */
export async function moves(page, length) {
  await page.evaluate(() => (window.shape = window.pliant.app.stage.figures[0].skin.positions.slice()));
  await page.waitForFunction((far) => {
    const { positions } = window.pliant.app.stage.figures[0].skin;
    return positions.some((x, i) => Math.abs(x - window.shape[i]) > far);
  }, length, { timeout: 30_000 });
}

/** The largest distance of a vertex between two sets of positions. */
export function farthest(a, b) {
  let most = 0;
  for (let i = 0; i < a.length; i += 3) most = Math.max(most, Math.hypot(a[i] - b[i], a[i + 1] - b[i + 1], a[i + 2] - b[i + 2]));
  return most;
}

export function seek(page, clip, seconds) {
  return page.evaluate(([c, t]) => window.pliant.seek(c, t), [clip, seconds]);
}

/** Where a place of the scene is in the window, in pixels. */
export function onScreen(page, place) {
  return page.evaluate(([x, y, z]) => {
    const { stage } = window.pliant.app;
    const at = stage.camera.position.clone().set(x, y, z).project(stage.camera);
    const box = stage.canvas.getBoundingClientRect();
    return { x: box.left + (0.5 + 0.5 * at.x) * (box.width / stage.figures.length), y: box.top + (0.5 - 0.5 * at.y) * box.height };
  }, place);
}

/** A vertex that the eye sees, near a share of the character's height, and where it is in the window. */
export async function seenVertex(page, height = 0.5) {
  return page.evaluate((share) => {
    const { stage } = window.pliant.app;
    const figure = stage.figures[0];
    const { positions } = figure.skin;
    const box = figure.bounds();
    const y = box.min.y + share * (box.max.y - box.min.y);
    const canvas = stage.canvas.getBoundingClientRect();
    let best = null;
    for (let i = 0; i < positions.length; i += 3) {
      if (Math.abs(positions[i + 1] - y) > 0.04 * (box.max.y - box.min.y)) continue;
      const away = stage.camera.position.distanceTo(stage.camera.position.clone().fromArray(positions, i));
      if (best && best.away <= away) continue;
      const at = stage.camera.position.clone().fromArray(positions, i).project(stage.camera);
      best = { away, vertex: i / 3, x: canvas.left + (0.5 + 0.5 * at.x) * (canvas.width / stage.figures.length), y: canvas.top + (0.5 - 0.5 * at.y) * canvas.height };
    }
    return best;
  }, height);
}

/** The download that a click starts: its name and bytes. */
export async function downloaded(page, act) {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}
