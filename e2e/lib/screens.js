// Screenshots for docs/screens/: small PNGs, taken if CORRIDOR_SCREENS names a directory.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { small } from './png.js';

const SCREEN_MAX_BYTES = 80 * 1024;
// A page full of text needs fewer colours to be small enough; its letters are drawn in shades.
const COLOURS = [256, 64];
const PHONE = { width: 360, height: 640 };

export async function screen(page, name, options = {}) {
  const directory = process.env.CORRIDOR_SCREENS;
  if (!directory) return;
  await mkdir(directory, { recursive: true });
  const path = join(directory, `${name}.png`);
  const before = page.viewportSize();
  await page.setViewportSize(options.viewport ?? PHONE);
  const taken = await page.screenshot({ animations: 'disabled', caret: 'hide', ...options });
  await page.setViewportSize(before);
  let picture;
  for (const colours of COLOURS) {
    picture = small(taken, colours);
    if (picture.length <= SCREEN_MAX_BYTES) break;
  }
  await writeFile(path, picture);
  assert.ok(picture.length <= SCREEN_MAX_BYTES, `${path}: ${picture.length} bytes`);
}
