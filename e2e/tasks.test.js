// What a new user of the console has to manage, in so many presses: a press of the mouse or of
// Enter is one.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { Bank } from './lib/bank.js';
import { launch } from './lib/browser.js';
import { Account } from './lib/chain.js';
import { officer, TENANT } from './lib/office.js';
import { Sandbox } from './lib/sandbox.js';
import { introduced } from './lib/sender.js';

const WITHIN_MS = 60_000;

let sandbox, browser, bank, ayesha, received, endpoint;

before(async () => {
  received = [];
  endpoint = createServer((request, response) => {
    received.push(request.url);
    request.resume().on('end', () => response.end());
  });
  await new Promise((done) => { endpoint.listen(0, '127.0.0.1', done); });
  sandbox = await Sandbox.start({ people: true, history: true });
  [browser, bank, [ayesha]] = [await launch(), new Bank(sandbox), sandbox.people];
});

after(async () => {
  await browser?.close();
  await sandbox?.stop();
  endpoint?.closeAllConnections();
  endpoint?.close();
});

// A user at "Needs you", and the number of presses since then.
async function begins() {
  const user = await officer(browser, sandbox, ayesha);
  let presses = 0;
  await user.context.exposeBinding('pressed', () => { presses += 1; });
  const watch = () => {
    document.addEventListener('pointerdown', () => window.pressed(), true);
    document.addEventListener('keydown', ({ key }) => { if (key === 'Enter') window.pressed(); }, true);
  };
  await user.context.addInitScript(watch);
  await user.at('/inbox');
  return { user, page: user.page, presses: () => presses };
}

async function reaches(value, wanted) {
  const until = Date.now() + WITHIN_MS;
  for (let now = await value(); now < wanted; now = await value()) {
    if (Date.now() > until) throw new Error(`${now} of ${wanted}`);
    await new Promise((done) => { setTimeout(done, 100); });
  }
}

describe('in so many presses', () => {
  it('two find the payment of “Bilal, account ending 6702, about 37,910 rupees”', async () => {
    const wanted = (await sandbox.corridor('pay', '500', 'AED', '--to', 'PAK', '--account-ending', '6702')).at(-1);
    const { user, page, presses } = await begins();
    await page.keyboard.press('/');
    await page.keyboard.type('Bilal, account ending 6702, about 37,910 rupees');
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
    if (!user.path.startsWith(`${TENANT}/payments/`)) await Promise.all([page.waitForEvent('load'), page.click(`main a[href*="/payments/${wanted.id}"]`)]);
    assert.equal(user.path, `${TENANT}/payments/${wanted.id}`);
    assert.match(await user.main(), /37,9\d\d\.\d\d PKR/);
    assert.ok(presses() >= 1 && presses() <= 2, `${presses()} presses`);
    await user.close();
  });

  it('three decide on a deposit in review, with the evidence in view and nothing preselected', async () => {
    const account = await Account.funded(bank);
    const request = await bank.request('25.02');
    const sent = await fetch(await introduced(request)).then((answer) => answer.text());
    await account.pay('USDC', /data-to="(0x[0-9a-fA-F]{40})"/.exec(sent)[1], 25_020_000);
    const { user, page, presses } = await begins();
    const review = page.getByRole('link', { name: /^Review 25\.02 USDC/ });
    await reaches(async () => { await page.reload(); return review.count(); }, 1);
    await Promise.all([page.waitForEvent('load'), review.click()]);
    const evidence = await user.main();
    for (const part of ['Score', 'Omar Khan', 'Binance', '25.02 USDC']) assert.ok(evidence.includes(part), `${part}: ${evidence}`);
    const decision = page.locator('form:has(.verdicts)');
    assert.equal(await decision.count(), 1);
    assert.equal(await decision.locator('select, :checked').count(), 0, 'nothing is preselected');
    await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: /^Accept/ }).click()]);
    assert.match(await user.main(), /25\.02 USDC/, 'what is decided on is repeated');
    await page.getByLabel('Reason').fill('known to the branch');
    await user.press('Accept');
    assert.match(await user.done(), /approve/);
    assert.ok(presses() >= 2 && presses() <= 3, `${presses()} presses`);
    await user.close();
  });

  it('three resend what an endpoint missed, and it arrives', async () => {
    await sandbox.corridor('trigger', 'wallet.blocked', '--no-wait');
    const owner = await officer(browser, sandbox, ayesha);
    await owner.at('/webhooks');
    await owner.page.getByLabel('Base URL').fill(`http://127.0.0.1:${endpoint.address().port}`);
    const form = owner.page.locator('form', { has: owner.page.getByLabel('Base URL') });
    await form.getByLabel('Reason').fill('the endpoint is ready');
    await owner.press('Save endpoint', form);
    await owner.close();
    const before = received.length;
    const { user, page, presses } = await begins();
    await Promise.all([page.waitForEvent('load'), page.locator('main a[href$="/webhooks"]').first().click()]);
    const missed = Number(/Not delivered: .*?(\d+) disabled/.exec(await user.main())[1]);
    assert.ok(missed > 0);
    const replay = page.locator('form', { has: page.getByRole('heading', { name: 'Replay missed events' }) });
    await replay.getByLabel('Since').fill(new Date(Date.now() - 86_400_000).toISOString().slice(0, 10));
    await replay.getByLabel('Reason').fill('the endpoint was not ready');
    await user.press('Resend', replay);
    const queued = Number(/queued again: (\d+)/.exec(await user.done())[1]);
    assert.ok(queued > 0 && queued <= missed, `${queued} of ${missed}`);
    assert.ok(presses() >= 1 && presses() <= 3, `${presses()} presses`);
    await reaches(() => received.length - before, queued);
    assert.ok(received.some((path) => path.includes('wallet-blocked')), received.join());
    await user.close();
  });
});
