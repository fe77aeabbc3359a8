// node tests/thumbnails.mjs: renders the gallery's pictures of the samples with the built page, for public/gallery.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Studio } from './helper.mjs';

const FOLDER = fileURLToPath(new URL('../public/gallery', import.meta.url));
const PIXELS = 128;
// Where they look best, in seconds of the first clip.
const SECONDS = 0.3;

const studio = await Studio.start();
const page = await studio.open({ hash: '#sample=cylinder&method=lbs&t=0', width: 900, height: 620 });
for (const { name } of await page.evaluate(() => window.pliant.state().samples)) {
  const data = await page.evaluate(
    async ([sample, seconds, pixels]) => {
      const { app } = window.pliant;
      await app.session.open({ sample }, null, { seconds, settings: { method: 'lbs' } });
      const { stage } = app;
      stage.polish();
      stage.ground.group.visible = false;
      // Looks at the pose that is shown, as by the key F.
      app.frame();
      const picture = await createImageBitmap(await stage.picture());
      const canvas = document.createElement('canvas');
      const context = canvas.getContext('2d');
      [canvas.width, canvas.height] = [picture.width, picture.height];
      context.drawImage(picture, 0, 0);
      const { data: seen } = context.getImageData(0, 0, picture.width, picture.height);
      // Only what is drawn, with a narrow border.
      let [left, top, right, bottom] = [Infinity, Infinity, 0, 0];
      for (let i = 0; i < seen.length / 4; i++) {
        if (seen[4 * i + 3] === 0) continue;
        const [x, y] = [i % picture.width, Math.floor(i / picture.width)];
        [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
      }
      const side = 1.08 * Math.max(right - left, bottom - top);
      canvas.width = canvas.height = pixels;
      context.imageSmoothingQuality = 'high';
      context.drawImage(picture, (left + right - side) / 2, (top + bottom - side) / 2, side, side, 0, 0, pixels, pixels);
      return canvas.toDataURL('image/webp', 0.9);
    },
    [name, SECONDS, PIXELS],
  );
  await writeFile(`${FOLDER}/${name}.webp`, Buffer.from(data.split(',')[1], 'base64'));
}
await studio.stop();
