// A view as text: place, size and colours of what it consists of, compared with a tolerance. Texts
// are not part of it, so that ids, amounts and times may differ.
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';

const KEPT = new URL('../snapshots/', import.meta.url);
const UPDATE = process.argv.includes('--update');
// What a view consists of: its landmarks and controls, blocks and heads of columns.
const PARTS = 'header, nav, main, aside, section, article, form, fieldset, footer, h1, h2, table, th, dl, ol, ul, pre, '
  + 'svg, button, input, select, textarea, summary, details, [class*=card], [class*=list], [class*=amount]';
// Of a kind that repeats, such as rows, the first ones stand for all.
const OF_A_KIND_MAX = 3;
// Drawings below this size are icons.
const DRAWING_MIN_PX = 48;
// Text of another length, or in another typeface, moves what is beside it by less, and what is below
// it by a line or a few.
const BESIDE_PX = 28;
// The width of a column follows its texts.
const COLUMN_PX = 56;
const BELOW_PX = 40;
const BELOW_SHARE = 0.06;
const NUMBERS = ['x', 'y', 'width', 'height'];

// The parts that are visible on the page, by kind and number.
function parts([selector, most, drawing]) {
  const found = {};
  const counts = {};
  for (const element of document.querySelectorAll(selector)) {
    const box = element.getBoundingClientRect();
    const inside = element.closest('tbody, svg svg, .scroll pre');
    const isIcon = element.matches('svg') && box.width < drawing;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || box.width < 2 || inside || isIcon) continue;
    const region = element.parentElement?.closest('header, nav, main, aside, section, form, footer');
    const classes = [...element.classList].filter((name) => /^[a-z-]+$/.test(name)).sort();
    const name = [element.localName, ...classes].join('.');
    const kind = region ? `${region.localName} ${name}` : name;
    counts[kind] = (counts[kind] ?? 0) + 1;
    if (counts[kind] > most) continue;
    const style = getComputedStyle(element);
    const numbers = [box.x + scrollX, box.y + scrollY, box.width, box.height].map(Math.round);
    found[`${kind} ${counts[kind]}`] = [...numbers, style.fontSize, style.color, style.backgroundColor];
  }
  return found;
}

// How the part differs from the one that was kept; empty if it does not.
function differences(part, kept, now) {
  const beside = / th\b/.test(part) ? COLUMN_PX : BESIDE_PX;
  const numbers = NUMBERS.flatMap((name, at) => {
    const tolerance = at % 2 ? BELOW_PX + BELOW_SHARE * Math.abs(kept[at]) : beside;
    return Math.abs(kept[at] - now[at]) > tolerance ? [`${name} ${kept[at]} is ${now[at]}`] : [];
  });
  const styles = ['font size', 'colour', 'background'].flatMap((name, at) => {
    const [before, after] = [kept[at + 4], now[at + 4]];
    return before === after ? [] : [`${name} ${before} is ${after}`];
  });
  return [...numbers, ...styles];
}

// Compares the page with its snapshot, or writes it if the run was started with --update.
export async function snapshot(page, name, { viewport, colorScheme = 'light', update = UPDATE }) {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.evaluate(() => document.fonts.ready.then(() => scrollTo(0, 0)));
  const now = await page.evaluate(parts, [PARTS, OF_A_KIND_MAX, DRAWING_MIN_PX]);
  const file = new URL(`${name}.json`, KEPT);
  if (update) {
    const lines = Object.entries(now).map(([part, values]) => `${JSON.stringify(part)}: ${JSON.stringify(values)}`);
    await mkdir(KEPT, { recursive: true });
    await writeFile(file, `{\n${lines.join(',\n')}\n}\n`);
    return;
  }
  const kept = JSON.parse(await readFile(file, 'utf8'));
  const missing = Object.keys(kept).filter((part) => !(part in now)).map((part) => `${part} is missing`);
  const added = Object.keys(now).filter((part) => !(part in kept)).map((part) => `${part} is new`);
  const changed = Object.keys(kept).filter((part) => part in now).flatMap((part) => {
    const found = differences(part, kept[part], now[part]);
    return found.length ? [`${part}: ${found.join(', ')}`] : [];
  });
  assert.deepEqual([...missing, ...added, ...changed], [], `${name} (meant? npm run snapshots -- --update)`);
}
