// The documentation in a browser, in a sandbox: every kind of page in both themes and widths, with and without scripts; and a
// quote that is made by "Try it".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { launch, visit } from './lib/browser.js';
import { axe, everywhere, fits } from './lib/checks.js';
import { Sandbox } from './lib/sandbox.js';

// One page of each kind: the others differ in their text alone.
const KINDS = [
  '/', '/docs', '/docs/guides/senders', '/docs/signing', '/docs/search?q=how+do+i+sign', '/docs/payment', '/docs/payment/createQuote',
  '/docs/payment/createPayment', '/docs/payment/webhooks', '/docs/wallet/listOrders', '/docs/wallet/objects', '/docs/reference/errors',
];
// Tests of a part at a time.
const AT_ONCE = 2;
const LANGUAGES = ['shell', 'python', 'typescript', 'java', 'csharp', 'go', 'php'];

let sandbox, browser;

before(async () => {
  sandbox = await Sandbox.start();
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await sandbox?.stop();
});

// A page of the sandbox, closed afterwards; fails if the browser reported anything.
async function on(path, act, options) {
  const { page, close } = await visit(browser, new URL(sandbox.url).origin, options);
  const answer = await page.goto(sandbox.url + path);
  assert.equal(answer.status(), 200, path);
  await act(page);
  await close();
}

describe('pages', { concurrency: AT_ONCE }, () => {
  for (const path of KINDS) {
    it(`${path} is accessible in every width and theme`, async () => {
      await on(path, (page) => everywhere(page, path));
    });
  }

  it('no page of the documentation has a violation or scrolls sideways on a small phone', async () => {
    await on('/docs', async (page) => {
      const paths = await page.$$eval('.pages a', (links) => links.map((link) => link.getAttribute('href')));
      assert.ok(paths.length > 40, `${paths.length} pages`);
      for (const path of paths) {
        await page.goto(sandbox.url + path);
        await fits(page, path);
        await axe(page, path);
      }
    }, { viewport: { width: 320, height: 640 } });
  });

  it('the navigation opens on a phone and marks the current page', async () => {
    await on('/docs/payment/createPayment', async (page) => {
      const current = page.locator('.side [aria-current=page]');
      assert.equal(await current.isVisible(), false);
      await page.getByRole('button', { name: 'Contents' }).click();
      assert.match(await current.innerText(), /Execute a payment/);
      await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: /Read a payment/ }).click();
      await page.getByRole('heading', { level: 1, name: 'Read a payment' }).waitFor();
    });
  });
});

describe('the checks', () => {
  it('find what is wrong', async () => {
    await on('/docs/payment/createQuote', async (page) => {
      for (const [how, harm] of Object.entries({
        'a pale text': () => { document.querySelector('main h1').style.color = '#aaa'; },
        'a pale token': () => { [...document.querySelectorAll('pre code *')].find((token) => token.checkVisibility()).style.color = '#777'; },
        'a field without a label': () => { document.querySelector('main').append(document.createElement('input')); },
      })) {
        await page.reload();
        await axe(page, how);
        await page.evaluate(harm);
        await assert.rejects(axe(page, how), { name: 'AssertionError' }, how);
      }
    }, { bypassCSP: true, viewport: { width: 1280, height: 900 } });
  });
});

describe('samples', () => {
  it('one of seven languages is shown, and the choice is kept from page to page', async () => {
    await on('/docs/payment/createQuote', async (page) => {
      const shown = () => page.$$eval('.many [data-l]', (all) => all.filter((one) => one.checkVisibility()).map((one) => one.dataset.l));
      for (const language of LANGUAGES) {
        await page.locator(`.tabs [value=${language}]`).check();
        assert.deepEqual(await shown(), [language]);
      }
      await page.goto(`${sandbox.url}/docs/wallet/createOrder`);
      assert.deepEqual(await shown(), ['php']);
    });
  });

  it('the sample in view is copied with the keys of the sandbox', async () => {
    await on('/docs/payment/createQuote', async (page) => {
      await page.locator('.tabs [value=python]').check();
      await page.locator('.many .copy').click();
      await page.getByText('Copied', { exact: true }).waitFor({ state: 'attached' });
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      assert.ok(copied.includes(`"${sandbox.keys.payment_access_key}"`) && copied.includes('/v2/quote'), copied);
    }, { permissions: ['clipboard-read', 'clipboard-write'] });
  });

  it('languages can be chosen, and the search asked, without scripts', async () => {
    await on('/docs/payment/createQuote', async (page) => {
      await page.locator('.tabs [value=go]').check();
      assert.ok(await page.getByText('http.MethodPost').isVisible());
      assert.equal(await page.locator('#try').isVisible(), false);
      assert.equal(await page.locator('.copy').first().isVisible(), false);
      await page.getByRole('searchbox').fill('how do I sign');
      await page.getByRole('searchbox').press('Enter');
      await page.locator('.results a').first().click();
      await page.getByRole('heading', { level: 1, name: 'Signing' }).waitFor();
    }, { javaScriptEnabled: false });
  });

  it('the search is found by its key', async () => {
    await on('/docs', async (page) => {
      await page.keyboard.press('/');
      await page.keyboard.type('quote expired');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor();
      assert.match(await page.locator('.results').innerText(), /quote\.expired/);
    });
  });
});

describe('Try it', () => {
  // Sends the form and returns its answer.
  async function tried(page, status) {
    await page.getByRole('button', { name: 'Try it in the sandbox' }).click();
    await page.locator('#try-status', { hasText: new RegExp(`^${status} in`) }).waitFor();
    return JSON.parse(await page.locator('#try-answer').innerText());
  }

  it('makes a quote, reads it and pays another', async () => {
    await on('/docs/payment/createQuote', async (page) => {
      const quote = await tried(page, 200);
      assert.deepEqual([quote.country, quote.amount], ['PAK', 500]);
      await page.goto(`${sandbox.url}/docs/payment/getQuote`);
      assert.equal((await tried(page, 200)).id, quote.id);
      await page.goto(`${sandbox.url}/docs/payment/createPayment`);
      const payment = await tried(page, 200);
      await page.goto(`${sandbox.url}/docs/payment/getPayment`);
      assert.equal((await tried(page, 200)).id, payment.id);
    });
  });

  it('makes a payment request for the wallet with demo funds', async () => {
    await on('/docs/wallet/createPaymentRequest', async (page) => {
      const made = await tried(page, 200);
      await page.goto(`${sandbox.url}/docs/wallet/getPaymentRequest`);
      assert.equal((await tried(page, 200)).wallet_id, sandbox.keys.wallet_id);
      assert.match(made.payment_link, /\/pay\//);
    });
  });

  it('shows a refusal as it is', async () => {
    await on('/docs/payment/createQuote', async (page) => {
      await page.locator('#try-body').fill('{"country": "XXX"}');
      const refused = await tried(page, 422);
      assert.ok(JSON.stringify(refused).includes('country'), JSON.stringify(refused));
    }, { expected: [/422/] });
  });
});

describe('the signing helper', () => {
  it('has the keys of the sandbox and signs', async () => {
    await on('/docs/signing', async (page) => {
      assert.equal(await page.getByLabel('Access key').inputValue(), sandbox.keys.payment_access_key);
      await page.getByRole('button', { name: 'Sign', exact: true }).click();
      await page.getByText('Signed.', { exact: true }).waitFor();
    });
  });
});
