// Checks for every page: axe finds no violation, targets are large enough, nothing scrolls
// sideways.
import assert from 'node:assert/strict';
import { AxeBuilder } from '@axe-core/playwright';

const TARGET_MIN_PX = 24;
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
export const WIDTHS = [320, 1280];
export const THEMES = ['light', 'dark'];
// The rules that depend on colours. A theme changes nothing else, so the other rules need only one
// theme.
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

// Violations that axe finds, by all rules or by some.
export async function axe(page, where, rules) {
  // Only violations are collected, and in the page itself: there are no frames, and it takes a
  // third of the time.
  const builder = new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).setLegacyMode();
  const { violations } = await (rules ? builder.withRules(rules) : builder.withTags(TAGS)).analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('; ')}`);
  assert.deepEqual(found, [], where);
}

// All visible interactive elements. Links in running text are exempt (WCAG 2.5.8, "inline").
export async function targets(page, where) {
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

// The current page, in every theme and width.
export async function everywhere(page, name, alsoDo = async () => {}) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const where = `${name}, ${width} px, ${colorScheme}`;
      await axe(page, where, colorScheme === THEMES[0] ? undefined : OF_COLOURS);
      await targets(page, where);
      await fits(page, where);
      await alsoDo({ width, colorScheme });
    }
  }
}
