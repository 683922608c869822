// Every page of the console in a browser: in both themes, on a phone and on a desktop.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { launch, visit } from './lib/browser.js';
import { everywhere } from './lib/checks.js';
import { officer, TENANT } from './lib/office.js';
import { pages, rowOf } from './lib/routes.js';
import { Sandbox } from './lib/sandbox.js';

// A list of 50 rows takes as long to check as all other pages together, without covering more than
// one of 5.
const FEW = '?country=PAK&status=succeeded';
const UUID = '[0-9a-f]{8}-[0-9a-f-]{27}$';

let sandbox, browser, ayesha, omar;

before(async () => {
  sandbox = await Sandbox.start({ people: true, history: true });
  browser = await launch();
  [ayesha, omar] = sandbox.people;
  await played();
});

after(async () => {
  await browser?.close();
  await sandbox?.stop();
});

// Sample data of every kind.
async function played() {
  const scenarios = [
    'payment.succeeded', 'payment.updated', 'payment.unknown', 'payment.contradicted', 'wallet.blocked', 'transfer.complete',
    'risk_check.manual_review', 'exchange.complete',
  ];
  const made = {};
  for (const scenario of scenarios) {
    const wallet = scenario.startsWith('exchange') ? ['--wallet-id', sandbox.keys.wallet_id] : [];
    const lines = await sandbox.corridor('trigger', scenario, '--no-wait', ...wallet);
    made[scenario] = Object.fromEntries(lines.map(({ what, id }) => [what, id]));
  }
  for (const scenario of ['transfer.complete', 'risk_check.manual_review']) {
    await sandbox.corridor('requests', 'pay', made[scenario]['payment request']);
  }
  Object.assign(sandbox, { made });
}

// Waits until the scenario has completed.
async function settled(person) {
  const { made } = sandbox;
  for (const [path, words] of [
    [`/payments/${made['payment.succeeded'].payment}`, /reported it as paid/],
    [`/payments/${made['payment.unknown'].payment}`, /Record the outcome/],
    ['/alerts', /discrepancy/],
    ['/review', /Deposits: 1/],
    [`/orders/${made['exchange.complete'].order}`, /Paid out/],
  ]) {
    await person.at(path);
    await person.finds(words);
  }
}

// A pending proposal; its path.
async function proposed() {
  const maker = await officer(browser, sandbox, omar);
  await maker.at('/rates');
  await maker.page.getByLabel('Service fee on payments').fill('30');
  await maker.page.getByLabel('Margin to PAK').fill('15');
  await maker.page.getByLabel('Reason').fill('fees of the new agreement');
  await maker.press('Propose');
  const { path } = maker;
  await maker.close();
  return path;
}

// Every page of a signed-in user; for a page about one object, the first of its list. The slowest
// pages come first, so that two users finish together.
async function addresses(person, proposal) {
  const { made } = sandbox;
  const at = (path) => TENANT + path;
  const first = async (list, pattern) => {
    await person.go(list);
    return person.link(new RegExp(pattern));
  };
  return [
    at(`/payments${FEW}`), at('/ledger'), at('/sandbox'), at('/overview?window=30d'), at('/rates'), at('/policy'), at('/corridors'), '/console/system',
    '/console/system/rescans', '/console/tenants', at('/setup'), at('/setup/keys'), at('/brand?colour=%230b6b3a'),
    '/console/account', '/console/approvals', proposal, '/console/audit', '/console/audit/verify',
    await first('/console/audit', '/audit/entries/[^/]+/[0-9]+$'), '/console/users', await first('/console/users', `/users/${UUID}`),
    at('/search?q=nothing'), at(`/payments/${made['payment.succeeded'].payment}`),
    at('/corridors/switch?what=corridor:PAK&verdict=off'),
    at(`/payments/${made['payment.succeeded'].payment}/recall`), at(`/payments/${made['payment.updated'].payment}/cancel`),
    at(`/payments/${made['payment.succeeded'].payment}/receipt`), at('/statements'), at('/quotes'),
    await first(at('/quotes'), `/quotes/${UUID}`), at('/ledger/account?code=prefund%3AUSDC'),
    await first(at('/ledger/account?code=prefund%3AUSDC'), `/transfers/${UUID}`), at('/reconciliation'),
    at('/wallets'), at(`/wallets/${made['wallet.blocked'].wallet}`), at('/requests'),
    at(`/requests/${made['transfer.complete']['payment request']}`), at('/orders'), at(`/orders/${made['exchange.complete'].order}`),
    at('/inbox'), `${await first(at('/review'), `/deposits/${UUID}`)}/decide?verdict=approve`,
    at(`/review/payments/${made['payment.updated'].payment}/decide?verdict=approve`), at('/review'), at(`/review/payments/${made['payment.updated'].payment}`), at(`/cases/payment/${made['payment.updated'].payment}`), at('/deposits'), await first(at('/review'), `/deposits/${UUID}`),
    at('/alerts'), at('/webhooks'), await first(at('/webhooks'), `/deliveries/${UUID}`), at('/keys'),
  ];
}

describe('every page of the console', () => {
  let proposal, all;

  before(async () => {
    const person = await officer(browser, sandbox, ayesha);
    await settled(person);
    proposal = await proposed();
    all = await addresses(person, proposal);
    await person.close();
  });

  it('is among the checked pages', async () => {
    const rows = (await pages()).filter((row) => !/(\.csv|\.css|\/file|\/\{file\}|\/logo)$/.test(row));
    assert.ok(rows.length >= 30, rows.join());
    const looked = new Set(all.map((address) => rowOf(address.split('?')[0], rows)));
    // Signing in has its own tests below and in console-provider.test.js; /console redirects to what
    // needs the user. No scenario withholds an order, whose confirmation is that of a payment.
    const apart = ['/console', '/console/t/{tenant}/orders/{id}/decide', '/console/login', '/console/login/oidc', '/console/login/oidc/callback'];
    assert.deepEqual(rows.filter((row) => !looked.has(row) && !apart.includes(row)), []);
  });

  it('is valid in both themes, on a phone and on a desktop', async () => {
    const left = [...all];
    const look = async (login) => {
      const person = await officer(browser, sandbox, login);
      for (let address = left.shift(); address; address = left.shift()) {
        const answer = await person.go(address);
        assert.equal(answer.status(), 200, address);
        await everywhere(person.page, address);
      }
      await person.close();
    };
    await Promise.all([look(ayesha), look(omar)]);
  });

  it('is valid before sign-in, when access is denied, and with an open menu', async () => {
    const { page, close } = await visit(browser, new URL(sandbox.url).origin, { expected: [/status of 4(03|04|22)/] });
    await page.goto(`${sandbox.url}/console`);
    await everywhere(page, 'login');
    await page.fill('#login', 'stranger');
    await page.fill('#password', 'nothing');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('.fault').waitFor();
    await everywhere(page, 'login, wrong');
    await close();
    const person = await officer(browser, sandbox, ayesha, { expected: [/status of 404/] });
    await person.at('/payments/6f0c0000-0000-4000-8000-000000000000');
    await everywhere(person.page, 'nothing there');
    await person.page.setViewportSize({ width: 320, height: 700 });
    await person.go('/console/approvals');
    assert.ok(!await person.page.locator('nav.side').isVisible());
    await person.page.getByRole('button', { name: 'Menu', exact: true }).click();
    await person.page.locator('nav.side').waitFor();
    await everywhere(person.page, 'menu');
    await person.close();
  });

  it('opens a row, copies an id, and follows the keys', async () => {
    const options = { permissions: ['clipboard-read', 'clipboard-write'] };
    const person = await officer(browser, sandbox, ayesha, options);
    const { page } = person;
    await person.at(`/payments${FEW}`);
    const row = page.locator('tbody tr').first();
    const id = await row.locator('.id.long').last().evaluate((element) => element.textContent);
    assert.match(id, /^[0-9a-f-]{36}$/, 'the whole id is in the page');
    await row.getByRole('button', { name: `Copy ${id.slice(0, 8)}` }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), id);
    await page.getByRole('status').getByText('Copied').waitFor();
    // A press anywhere on the row.
    const cell = await row.locator('td').nth(2).boundingBox();
    await Promise.all([page.waitForURL(`**/payments/${id}`), page.mouse.click(cell.x + 5, cell.y + cell.height / 2)]);
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'find');
    await person.at(`/payments${FEW}`);
    for (const key of ['j', 'j', 'k', 'j']) await page.keyboard.press(key);
    assert.equal(await page.locator('tbody tr').nth(1).evaluate((row) => row.contains(document.activeElement)), true, 'the second row');
    const second = await page.locator('tbody tr').nth(1).locator('.id.long').last().textContent();
    await Promise.all([page.waitForURL(`**/payments/${second}`), page.keyboard.press('Enter')]);
    await page.locator('#main').focus();
    await page.keyboard.press('?');
    await page.getByRole('link', { name: 'Guide to this page' }).first().waitFor();
    await everywhere(page, 'the help menu');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#help-menu').getAttribute('open'), null);
    assert.equal(await page.evaluate(() => document.activeElement.closest('details')?.id), 'help-menu');
    await person.close();
  });

  it('shows a refused form again, with the focus on the message', async () => {
    const person = await officer(browser, sandbox, ayesha, { expected: [/status of 422/] });
    const { page } = person;
    await person.at('/webhooks');
    await page.getByLabel('Base URL').fill('nonsense');
    const form = page.locator('form', { has: page.getByLabel('Base URL') });
    await form.getByLabel('Reason').fill('moved');
    await Promise.all([page.waitForEvent('load'), form.getByRole('button').click()]);
    await page.locator('#fault:focus').waitFor();
    assert.equal(await page.getByLabel('Base URL').inputValue(), 'nonsense');
    assert.equal(await form.getByLabel('Reason').inputValue(), 'moved');
    await everywhere(page, 'a refused form');
    await page.locator('#fault a').click();
    assert.equal(await page.evaluate(() => document.activeElement.name), 'url', 'the link leads to the field');
    await person.close();
  });

  it('can be used on a phone', async () => {
    const person = await officer(browser, sandbox, ayesha, { viewport: { width: 390, height: 844 } });
    assert.equal(await person.find(sandbox.made['payment.updated'].payment), `${TENANT}/payments/${sandbox.made['payment.updated'].payment}`);
    await person.signOut();
    await person.close();
  });
});
