// A whole payment on a small phone: from an exchange app, a phone wallet and a browser wallet, with
// and without JavaScript, left to right and right to left. The first screen of each step holds what
// to do.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Bank } from './lib/bank.js';
import { launch, visit } from './lib/browser.js';
import { Account } from './lib/chain.js';
import { fits, inside } from './lib/checks.js';
import { Sandbox } from './lib/sandbox.js';
import { finds, introduces, payable, sees } from './lib/sender.js';
import { Wallet } from './lib/wallet.js';

const SMALL = { width: 360, height: 640 };
const WITHIN_MS = 120_000;
// Flows at a time: most of each is waiting for blocks.
const AT_ONCE = 4;
const WAYS = { exchange: 'Binance', phone: 'Trust Wallet', browser: 'MetaMask' };
const DONE = { en: 'Thank you, your payment is complete', ur: 'شکریہ، آپ کی ادائیگی مکمل ہو گئی' };

let sandbox, bank, account, browser;

before(async () => {
  sandbox = await Sandbox.start();
  bank = new Bank(sandbox);
  [account, browser] = [await Account.funded(bank), await launch()];
});

after(async () => {
  await browser?.close();
  await sandbox?.stop();
});

// The parts are on the screen without scrolling.
async function first(page, where, ...parts) {
  assert.equal(await page.evaluate(() => scrollY), 0, where);
  for (const part of parts) assert.ok(await inside(page, part), `${where}: ${part}`);
  await fits(page, where);
}

describe('a whole payment at 360×640', { concurrency: AT_ONCE }, () => {
  for (const [way, app] of Object.entries(WAYS)) {
    for (const javaScriptEnabled of [true, false]) {
      for (const [language, done] of Object.entries(DONE)) {
        const name = `${way}, ${javaScriptEnabled ? 'with' : 'without'} JavaScript, ${language}`;
        it(name, { timeout: WITHIN_MS }, async () => {
          const request = await bank.request('25.50');
          const { page, close } = await visit(browser, new URL(sandbox.url).origin, { viewport: SMALL, javaScriptEnabled });
          const wallet = way === 'browser' && javaScriptEnabled ? await Wallet.injected(page, account) : null;
          await page.goto(`${request.payment_link}?lang=${language}`);
          assert.equal(await page.locator('html').getAttribute('dir'), language === 'ur' ? 'rtl' : 'ltr');
          await first(page, `${name}, ask`, '.payee', '.amount', '.question', '.choices li:last-child');
          await page.click(`.choice[href*="from=${way}"]`);
          await page.locator('#details').waitFor();
          await first(page, `${name}, details`, '.amount', '#steps', '#details h2', '#first_name');
          await introduces(page, app, way);
          if (wallet) await page.locator('#wallet .buttons button').waitFor();
          const copy = javaScriptEnabled ? ['#pay .copy'] : [];
          const act = wallet ? ['#wallet .buttons button'] : ['.code svg', '.address', '.rows div:last-child', ...copy];
          await first(page, `${name}, send`, '.amount', '#steps', ...act);
          if (way === 'browser' && !wallet) assert.ok(await page.locator('.scriptless').isVisible(), 'it states what is missing');
          if (wallet) {
            await page.click('#wallet .buttons button');
          } else {
            await account.pay('USDC', await payable(page), 25_500_000);
          }
          await (javaScriptEnabled ? sees : finds)(page, done);
          await first(page, `${name}, done`, '.headline', '#receipt');
          assert.equal(await page.locator('.headline').innerText(), done);
          assert.equal(await page.locator('html').getAttribute('lang'), language);
          await close();
        });
      }
    }
  }
});
