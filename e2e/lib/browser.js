// A browser with every page under watch: requests to other origins, console messages, policy
// violations, bytes over the wire.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const CHROMIUM = process.env.CHROMIUM_BIN ?? '/usr/bin/chromium';
// Timeout for a page to appear; nothing waits for a fixed time.
export const WITHIN_MS = 30_000;

// Maximum bytes over the wire of a page with all that it loads, by the start of its path.
const WEIGHT_MAX = { '/pay/': 40_000, '/console': 60_000 };

let clients = 0;
// A client's own address, as a proxy reports it: limits per address count each client for itself.
export const asClient = () => {
  clients += 1;
  return { 'x-forwarded-for': `198.18.${clients >> 8}.${clients & 255}` };
};

export const launch = () => chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });

// A page with its watch. `options` are playwright's; `visit.close()` fails if the watch has
// reported anything.
export async function visit(browser, origin, options = {}) {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 390, height: 844 }, extraHTTPHeaders: asClient(), ...options });
  context.setDefaultTimeout(WITHIN_MS);
  const seen = [];
  const expected = options.expected ?? [];
  const note = (what) => { if (!expected.some((pattern) => pattern.test(what))) seen.push(what); };
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  const weighed = [];
  await context.exposeBinding('weigh', (_, path, bytes) => {
    weighed.push(bytes);
    const max = Object.entries(WEIGHT_MAX).find(([start]) => path.startsWith(start))?.[1];
    if (bytes > max) note(`${path}: ${bytes} bytes`);
  });
  await context.addInitScript(() => {
    addEventListener('load', () => {
      const loaded = ['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind));
      window.weigh(location.pathname, loaded.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0));
    });
  });
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin) note(`request to ${url.origin}`);
  });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) note(`console: ${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (fault) => note(`page: ${fault.message}`));
  const close = async () => {
    const hasScripts = options.javaScriptEnabled !== false;
    // What the page has reported arrives before this answer.
    if (hasScripts) await page.evaluate(() => {});
    await context.close();
    assert.deepEqual(seen, []);
    if (hasScripts) assert.ok(weighed.some((bytes) => bytes > 0), 'no page was weighed');
  };
  return { page, context, close };
}
