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

  it('asks for each operation what its page is about, after a payment, and harms no wallet with demo funds', async () => {
    await on('/docs/payment/createPayment', async (page) => {
      await tried(page, 200);
      await page.goto(`${sandbox.url}/docs`);
      const paths = await page.$$eval('.pages a', (links) => links.map((link) => link.getAttribute('href')));
      const operations = [...new Set(paths)].filter((path) => /^\/docs\/(payment|wallet)\/[a-z]+[A-Z]/.test(path));
      assert.ok(operations.length > 25, `${operations.length} operations`);
      for (const path of operations) {
        await page.goto(sandbox.url + path);
        if (!await page.locator('#try').count()) continue;
        const template = await page.locator('p.path code').innerText();
        const asked = new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`);
        const [request] = await Promise.all([
          page.waitForRequest((request) => asked.test(new URL(request.url()).pathname)),
          page.getByRole('button', { name: 'Try it in the sandbox' }).click(),
        ]);
        assert.equal(request.method(), (await page.locator('p.path .verb').innerText()).toUpperCase(), path);
        await page.locator('#try-status', { hasText: /^[24]\d\d in/ }).waitFor();
      }
      await page.goto(`${sandbox.url}/docs/wallet/getWallet`);
      await page.locator('#try-path').fill(`/v1/sdk/wallets/${sandbox.keys.wallet_id}`);
      assert.ok(!JSON.stringify(await tried(page, 200)).includes('BLACKLISTED'));
    }, { expected: [/status of 4\d\d/] });
  });

  it('blacklists a wallet that it makes for it, each time, and goes on with the others', async () => {
    await on('/docs/wallet/getWallet', async (page) => {
      await tried(page, 200);
      await page.goto(`${sandbox.url}/docs/wallet/blacklistWallet`);
      const first = (await tried(page, 200)).wallet_id;
      const second = (await tried(page, 200)).wallet_id;
      assert.equal(new Set([first, second, sandbox.keys.wallet_id]).size, 3);
      await page.goto(`${sandbox.url}/docs/wallet/getWallet`);
      assert.equal((await tried(page, 200)).wallet_id, sandbox.keys.wallet_id);
    });
  });

  it('takes the wallet that a customer has already', async () => {
    await on('/docs/wallet/provisionWallet', async (page) => {
      const send = () => page.getByRole('button', { name: 'Try it in the sandbox' }).click();
      const answer = async () => JSON.parse(await page.locator('#try-answer').innerText());
      await send();
      await page.locator('#try-status', { hasText: /^(200|409) in/ }).waitFor();
      const { wallet_id: made, existing_wallet_id: known } = await answer();
      await page.evaluate(() => sessionStorage.clear());
      await page.reload();
      assert.equal((await tried(page, 409)).existing_wallet_id, made ?? known);
      await page.goto(`${sandbox.url}/docs/wallet/getWallet`);
      assert.equal((await tried(page, 200)).wallet_id, made ?? known);
    }, { expected: [/status of 409/] });
  });

  it('keeps what was typed into a payment', async () => {
    await on('/docs/payment/createPayment', async (page) => {
      const body = page.locator('#try-body');
      const sample = await body.inputValue();
      // The server says what is wrong with it.
      await body.fill('{"country": ');
      assert.ok(JSON.stringify(await tried(page, '4\\d\\d')).includes('json'));
      await body.fill(sample);
      const typed = async (change) => {
        await body.fill(JSON.stringify({ ...JSON.parse(await body.inputValue()), ...change }));
        return JSON.parse(await body.inputValue());
      };
      await typed({ external_id: 'mine "1"' });
      const first = await tried(page, 200);
      assert.equal(JSON.parse(await body.inputValue()).external_id, 'mine "1"');
      // What it filled in itself is new each time.
      await typed({ external_id: 'mine 2' });
      assert.notEqual((await tried(page, 200)).id, first.id);
      const before = await typed({ quote: '00000000-0000-4000-8000-000000000000', amount: 7, external_id: 'mine 3' });
      await tried(page, '4\\d\\d');
      assert.deepEqual(JSON.parse(await body.inputValue()), before);
    }, { expected: [/status of 4\d\d/] });
  });

  it('shows no old answer under a new error', async () => {
    await on('/docs/payment/createQuote', async (page) => {
      await tried(page, 200);
      await page.route('**/v2/quote', (route) => route.abort());
      await page.getByRole('button', { name: 'Try it in the sandbox' }).click();
      await page.locator('#try-status', { hasText: 'TypeError' }).waitFor();
      assert.equal(await page.locator('#try-answer').isVisible(), false);
    }, { expected: [/ERR_FAILED/] });
  });

  it('shows a stream as it comes, until it is stopped', async () => {
    await on('/docs/payment/createPayment', async (page) => {
      await tried(page, 200);
      await page.goto(`${sandbox.url}/docs/payment/followEvents`);
      await page.locator('#try-path').fill('/v2/events?after=0');
      await page.getByRole('button', { name: 'Try it in the sandbox' }).click();
      await page.locator('#try-status', { hasText: 'the stream is open' }).waitFor();
      await page.locator('#try-answer', { hasText: 'payment' }).waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.locator('#try-status', { hasText: 'Stopped' }).waitFor();
      await page.locator('#try-path').fill('/v2/events?mode=poll&after=0');
      await tried(page, 200);
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
