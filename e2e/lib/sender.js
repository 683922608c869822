// A sender's actions on a payment page.
import { asClient, WITHIN_MS } from './browser.js';

const FORM = { first_name: 'Omar', last_name: 'Khan', email: '', phone_number: '+971 50 123 4567' };

// Chooses a way to pay if the page asks for one, fills in and submits the form, and waits for the
// address.
export async function introduces(page, provider, way = 'exchange') {
  if (await page.locator('.choice').count()) await page.click(`.choice[href*="from=${way}"]`);
  for (const [name, value] of Object.entries(FORM)) await page.fill(`#${name}`, value);
  const offered = page.locator(`.chips label:has(input[value="${provider}"])`);
  if (await offered.count()) await offered.click();
  else if (way !== 'browser') await page.fill('#custodial_other', provider);
  await Promise.all([page.waitForURL(/\/pay\/[^/]+\/[^/]+/), page.click('form[method=post] button')]);
}

// The same without a browser; returns the URL of the sender's own page.
export async function introduced(request, provider = 'Binance') {
  const body = new URLSearchParams({ ...FORM, custodial_provider: provider });
  const answer = await fetch(request.payment_link, { method: 'POST', body, redirect: 'manual', headers: asClient() });
  if (answer.status !== 303) throw new Error(`the form was not taken: ${answer.status}`);
  return new URL(answer.headers.get('location'), request.payment_link).href;
}

// The payment address that a page shows its sender.
export const payable = (page) => page.locator('#wallet').getAttribute('data-to');

// Waits for words in the part of the page that updates.
export const sees = (page, words) => page.locator('#live', { hasText: words }).waitFor({ timeout: WITHIN_MS });

// Reloads a page until it contains the words, like a user without JavaScript.
export async function finds(page, words) {
  const until = Date.now() + WITHIN_MS;
  while (!(await page.locator('main').textContent()).includes(words)) {
    if (Date.now() > until) throw new Error(`${words} never stands on ${await page.locator('main').textContent()}`);
    await page.click('.again a');
  }
}
