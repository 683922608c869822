// Checks for every page: axe finds no violation, targets are large enough, nothing scrolls
// sideways.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axeCore from 'axe-core';

const TARGET_MIN_PX = 24;
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const WIDTHS = [320, 1280];
const THEMES = ['light', 'dark'];
// The rules that depend on colours. A theme changes nothing else, so that all other checks need only
// one theme.
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

// Violations that axe finds, by all rules or by some.
export async function axe(page, where, rules) {
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(axeCore.source);
  const found = await page.evaluate(async (options) => {
    const { violations } = await window.axe.run(document, options);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('; ')}`);
  }, {
    resultTypes: ['violations'],
    // For rules about media, which the pages do not have, and experimental ones.
    preload: false,
    runOnly: rules ? { type: 'rule', values: rules } : { type: 'tag', values: TAGS },
  });
  assert.deepEqual(found, [], where);
}

// All visible interactive elements. Links in running text are exempt (WCAG 2.5.8, "inline").
async function targets(page, where) {
  const small = await page.evaluate((min) => {
    const all = [...document.querySelectorAll('a, button, input:not([type=hidden]), summary, select, textarea')];
    const inline = (element) => element.matches('p a') && getComputedStyle(element).display === 'inline';
    const shown = all.filter((element) => element.checkVisibility() && !inline(element));
    const boxes = shown.map((element) => [element.outerHTML.slice(0, 120), element.getBoundingClientRect()]);
    return boxes.filter(([, box]) => box.width < min || box.height < min).map(([html]) => html);
  }, TARGET_MIN_PX);
  assert.deepEqual(small, [], where);
}

export async function fits(page, where) {
  const [wide, room, over] = await page.evaluate(() => {
    const [root, right] = [document.documentElement, window.innerWidth];
    const clipped = (element) => element.closest('.scroll, pre') && !element.matches('.scroll, pre');
    const beyond = (element) => !clipped(element) && element.getBoundingClientRect().right > right;
    const found = root.scrollWidth > right ? [...document.body.querySelectorAll('*')].filter(beyond) : [];
    return [root.scrollWidth, right, found.map((element) => element.outerHTML.slice(0, 120))];
  });
  assert.ok(wide <= room, `${where}: ${wide} px wide in ${room}: ${over.join('\n')}`);
}

// Whether an element is within the first screen.
export const inside = (page, selector) => page.locator(selector).first().evaluate((element) => {
  const { top, bottom, width } = element.getBoundingClientRect();
  return width > 0 && top >= 0 && bottom <= innerHeight;
});

// The current page, in every theme and width.
export async function everywhere(page, name) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const where = `${name}, ${width} px, ${colorScheme}`;
      if (colorScheme === THEMES[0]) {
        await axe(page, where);
        await targets(page, where);
        await fits(page, where);
      } else {
        await axe(page, where, OF_COLOURS);
      }
      await picture(page, where);
    }
  }
}

// A picture of the whole page to look at, if CORRIDOR_SCREENS names a directory.
async function picture(page, where) {
  const directory = process.env.CORRIDOR_SCREENS;
  if (!directory) return;
  await mkdir(directory, { recursive: true });
  const path = join(directory, `${where.replace(/[^\p{L}\d]+/gu, '-')}.png`);
  await page.screenshot({ path, fullPage: true, animations: 'disabled', caret: 'hide' });
}
