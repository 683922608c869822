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

// What is of the same kind, by names, classes and states of an element and all around it, has the
// same colours, so that the first elements of a kind are enough. Their order may matter (stripes).
const OF_A_KIND = 3;
const STATES = ['class', 'type', 'role', 'lang', 'open', 'disabled', 'aria-current', 'aria-invalid', 'aria-pressed', 'aria-hidden'];

// Violations that axe finds: by all rules, or by those of colours.
export async function axe(page, where, { onlyColours = false } = {}) {
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(axeCore.source);
  const found = await page.evaluate(violations, { onlyColours, tags: TAGS, ofColours: OF_COLOURS, states: STATES, most: OF_A_KIND });
  assert.deepEqual(found, [], where);
}

// In the page.
async function violations({ onlyColours, tags, ofColours, states, most }) {
  const known = new Map([[document.documentElement, '']]);
  const kind = (element) => {
    if (!known.has(element)) {
      const own = states.map((name) => element.getAttribute(name) ?? '').join(' ');
      known.set(element, `${kind(element.parentElement)} > ${element.localName} ${own}`);
    }
    return known.get(element);
  };
  const counts = new Map();
  const isOneOfFew = (element) => {
    const count = (counts.get(kind(element)) ?? 0) + 1;
    counts.set(kind(element), count);
    return count <= most;
  };
  const hasText = (element) => element.matches('input, select, textarea')
    || [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const texts = [...document.body.querySelectorAll('*')].filter((element) => element.checkVisibility() && hasText(element) && isOneOfFew(element));
  // To preload is for rules about media, which the pages do not have, and experimental ones.
  const run = async (context, options) => (await window.axe.run(context, { resultTypes: ['violations'], preload: false, ...options })).violations;
  const found = await run({ include: texts }, { runOnly: ofColours });
  if (!onlyColours) {
    const rules = Object.fromEntries(ofColours.map((rule) => [rule, { enabled: false }]));
    found.push(...await run(document, { runOnly: tags, rules }));
  }
  return found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('; ')}`);
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
        await axe(page, where, { onlyColours: true });
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
