// A browser with every page under watch: requests to other origins, console messages, policy
// violations.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const CHROMIUM = process.env.CHROMIUM_BIN ?? '/usr/bin/chromium';
// Timeout for a page to appear; nothing waits for a fixed time.
export const WITHIN_MS = 30_000;

export const launch = () => chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });

// A page with its watch. `options` are playwright's; `visit.close()` fails if the watch has
// reported anything.
export async function visit(browser, origin, options = {}) {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 390, height: 844 }, ...options });
  context.setDefaultTimeout(WITHIN_MS);
  const seen = [];
  const expected = options.expected ?? [];
  const note = (what) => { if (!expected.some((pattern) => pattern.test(what))) seen.push(what); };
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`);
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
    await context.close();
    assert.deepEqual(seen, []);
  };
  return { page, context, close };
}
