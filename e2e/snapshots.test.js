// The layout of twelve key views, compared with the snapshots in snapshots/.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Bank } from './lib/bank.js';
import { launch, visit } from './lib/browser.js';
import { Account } from './lib/chain.js';
import { officer } from './lib/office.js';
import { Sandbox } from './lib/sandbox.js';
import { introduces, payable, sees } from './lib/sender.js';
import { snapshot } from './lib/snapshot.js';

const DESK = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 } };
const SMALL = { viewport: { width: 360, height: 640 } };

let sandbox, browser;

before(async () => {
  sandbox = await Sandbox.start({ people: true, history: true });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await sandbox?.stop();
});

describe('the payment page', () => {
  it('from the request to the receipt', async () => {
    const bank = new Bank(sandbox);
    const [account, request] = [await Account.funded(bank), await bank.request('25.50')];
    const { page, close } = await visit(browser, new URL(sandbox.url).origin, PHONE);
    await page.goto(request.payment_link);
    await snapshot(page, 'pay-ask', PHONE);
    await page.click('.choice[href*="from=exchange"]');
    await page.locator('#details').waitFor();
    await snapshot(page, 'pay-details', PHONE);
    await introduces(page, 'Binance');
    const sent = page.url();
    await page.goto(`${sent}?lang=ur`);
    await snapshot(page, 'pay-send-ur', SMALL);
    await page.goto(`${sent}?lang=en`);
    await account.pay('USDC', await payable(page), 25_500_000);
    await sees(page, 'Thank you, your payment is complete');
    await page.locator('.receipt').waitFor();
    await snapshot(page, 'pay-receipt', PHONE);
    await close();
  });
});

describe('the console', () => {
  it('from what needs a user to the overview in the dark', async () => {
    const [ayesha, omar] = sandbox.people;
    const made = async (scenario) => Object.fromEntries((await sandbox.corridor('trigger', scenario, '--no-wait')).map(({ what, id }) => [what, id]));
    const [{ payment: held }, { payment: paid }] = [await made('payment.updated'), await made('payment.succeeded')];
    const maker = await officer(browser, sandbox, omar);
    await maker.at('/rates');
    await maker.page.getByLabel('Margin to PAK').fill('15');
    await maker.page.getByLabel('Reason').fill('fees of the new agreement');
    await maker.press('Propose');
    await maker.close();
    const person = await officer(browser, sandbox, ayesha);
    const { page } = person;
    await person.at(`/payments/${paid}`);
    await person.finds(/reported it as paid/);
    for (const [path, name, more] of [
      [`/payments/${paid}`, 'console-payment'],
      ['/inbox', 'console-inbox'],
      ['/payments', 'console-payments'],
      [`/review/payments/${held}`, 'console-review'],
      ['/overview?window=30d', 'console-overview-dark', { colorScheme: 'dark' }],
    ]) {
      await person.at(path);
      await snapshot(page, name, { ...DESK, ...more });
    }
    await person.go('/console/approvals');
    await snapshot(page, 'console-approvals', DESK);
    await person.close();
  });
});

describe('the documentation', () => {
  for (const [path, name] of [['/docs', 'docs-home'], ['/docs/payment/createPayment', 'docs-operation']]) {
    it(name, async () => {
      const { page, close } = await visit(browser, new URL(sandbox.url).origin, DESK);
      await page.goto(sandbox.url + path);
      await snapshot(page, name, DESK);
      await close();
    });
  }
});

describe('a broken layout', () => {
  it('differs from its snapshot', async () => {
    const { page, close } = await visit(browser, new URL(sandbox.url).origin, { ...DESK, bypassCSP: true });
    const breaks = {
      'without its style': (element) => element.querySelectorAll('link[rel=stylesheet]').forEach((link) => link.remove()),
      'with a moved column': (element) => { element.querySelector('main').style.marginInlineStart = '60px'; },
      'with smaller headings': (element) => { element.querySelector('h1').style.fontSize = '12px'; },
    };
    for (const [how, breakIt] of Object.entries(breaks)) {
      await page.goto(`${sandbox.url}/docs/payment/createPayment`);
      await page.locator('html').evaluate(breakIt);
      await assert.rejects(snapshot(page, 'docs-operation', { ...DESK, update: false }), { name: 'AssertionError' }, how);
    }
    await close();
  });
});
