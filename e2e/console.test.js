// The operator console in browsers: search, decisions, the four-eyes rule, all of it without
// JavaScript too.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { Bank } from './lib/bank.js';
import { launch, visit } from './lib/browser.js';
import { Account } from './lib/chain.js';
import { axe, everywhere } from './lib/checks.js';
import { officer, TENANT } from './lib/office.js';
import { Sandbox } from './lib/sandbox.js';
import { introduced, payable, sees } from './lib/sender.js';

// Messages in the browser's log for rejected requests, which are expected.
const REFUSED = { expected: [/status of 4(03|09|22)/] };
// Tests of a part at a time: they wait for outcomes most of the time.
const AT_ONCE = 3;
const OWN_PASSWORD = 'seven paper lanterns';

let sandbox, browser, ayesha, omar;

before(async () => {
  sandbox = await Sandbox.start({ people: true });
  browser = await launch();
  [ayesha, omar] = sandbox.people;
});

after(async () => {
  await browser?.close();
  await sandbox?.stop();
});

const open = (person, options) => officer(browser, sandbox, person, options);

// Pays to an account with this ending; returns the payment's id.
async function pay(ending, externalId) {
  const lines = await sandbox.corridor('pay', '500', 'AED', '--to', 'PAK', '--account-ending', ending, '--external-id', externalId);
  return lines.at(-1).id;
}

// The ids that a scenario created, by kind.
async function made(scenario, ...args) {
  const lines = await sandbox.corridor('trigger', scenario, '--no-wait', ...args);
  return Object.fromEntries(lines.map(({ what, id }) => [what, id]));
}

// A new user, who has signed in with the first password and chosen another one.
async function newcomer(login, roles) {
  const [person] = await sandbox.corridor('users', 'create', login, ...roles.flatMap((role) => ['--role', role]), '--all-tenants');
  const user = await open(person, { choosing: OWN_PASSWORD });
  await user.close();
  return { login, password: OWN_PASSWORD };
}

// Proposes an outcome for an unresolved payment; returns the path of the proposal.
async function proposed(maker, payment) {
  await maker.at(`/payments/${payment}`);
  await maker.finds(/Record the outcome/);
  await maker.page.getByRole('link', { name: 'Record the outcome' }).click();
  await maker.page.getByLabel('Outcome').selectOption({ label: 'it was paid' });
  await maker.page.getByLabel('Reason').fill('on the statement of the 22nd');
  await maker.press('Propose');
  assert.match(await maker.done(), /Another user/);
  return maker.path;
}

const times = (text, words) => text.split(words).length - 1;

describe('signing in', { concurrency: AT_ONCE }, () => {
  it('leads to the requested page, and signing out clears everything', async () => {
    const person = await open(ayesha, REFUSED);
    const { page } = person;
    await person.signOut();
    await person.go('/console/approvals?x=1');
    await person.signIn({ login: 'ayesha', password: 'not this one' });
    assert.equal(await person.fault(), 'The name or password is incorrect.');
    await person.signIn(ayesha);
    assert.equal(page.url(), `${sandbox.url}/console/approvals?x=1`);
    await person.signOut();
    await page.goBack();
    await page.getByLabel('Password').waitFor();
    assert.equal(await page.locator('nav').count(), 0, 'an earlier page is not shown again');
    await person.close();
  });

  it('admits a new user after a second approval and with an initial password', async () => {
    const [maker, checker] = [await open(ayesha), await open(omar)];
    await maker.go('/console/users');
    await maker.page.getByLabel('Login name').fill('noor');
    await maker.press('Add');
    await maker.page.getByText('noor was added and has no access until roles are approved.').waitFor();
    await maker.page.getByRole('link', { name: 'noor' }).click();
    await maker.page.getByLabel('compliance').check();
    await maker.page.getByLabel('Reason').fill('joins on the 1st');
    await maker.press('Propose');
    await checker.go(maker.path);
    assert.match(await checker.main(), /compliance/);
    await checker.press('Approve');
    assert.equal(await checker.done(), 'Approved and executed.');
    const [first] = await sandbox.corridor('users', 'reset', 'noor');
    const noor = await open(first, { choosing: OWN_PASSWORD });
    const links = await noor.page.locator('nav a').allTextContents();
    assert.ok(links.includes('Review queue') && !links.includes('Users') && !links.includes('Keys'), links.join());
    for (const user of [maker, checker, noor]) await user.close();
  });
});

describe('one search', { concurrency: AT_ONCE }, () => {
  it('finds a payment by any of its ids, and its page explains its status', async () => {
    const id = await pay('1234', 'invoice 2026/17');
    const person = await open(ayesha);
    await person.at(`/payments/${id}`);
    await person.finds(/reported it as paid on/);
    await person.unfold();
    const text = await person.main();
    for (const part of ['Quote created', 'Order accepted', 'Attempt 1 settled', 'Event payment.succeeded', 'payment.reserve']) {
      assert.ok(text.includes(part), `${part}: ${text}`);
    }
    const names = [id.toUpperCase(), 'invoice 2026/17'];
    for (const name of ['Payment', 'EndToEndId', 'Bank reference']) names.push(await person.fact(name).innerText());
    // All ids on the page (attempts, transfers, events), except those of the quote.
    const rows = await person.page.locator('tbody tr, .log li').evaluateAll((all) => all.map((row) => row.innerText));
    const quote = await person.fact('Quote').innerText();
    const own = rows.filter((row) => !/Quote created|Event quote\./.test(row));
    names.push(...own.flatMap((row) => row.match(/\b[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\b/g) ?? []));
    const known = new Set(names);
    assert.ok(known.size >= 10, names.join());
    for (const name of known) assert.equal(await person.find(name), `${TENANT}/payments/${id}`, name);
    assert.equal(await person.find(quote), `${TENANT}/quotes/${quote}`);
    assert.equal(await person.link(/\/payments\//), `${TENANT}/payments/${id}`);
    await person.close();
  });

  it('finds a failed, an unresolved and a held payment, each with its reason', async () => {
    const [failed, unknown] = [await pay('0001', 'refused-1'), await pay('0004', 'unknown-1')];
    const { payment: held } = await made('payment.updated');
    const person = await open(omar);
    for (const [name, id, why] of [
      ['refused-1', failed, /The rail accepted it and then did not pay it/],
      ['unknown-1', unknown, /has not reported its outcome/],
      [held, held, /A reviewer has to decide: screening scored \d+/],
    ]) {
      assert.equal(await person.find(name), `${TENANT}/payments/${id}`);
      await person.finds(why);
    }
    await person.find('nothing to find');
    assert.match(await person.main(), /No results for “nothing to find”/);
    await person.close();
  });

  it('finds wallets, requests, deposits and orders by their ids, addresses and hashes', async () => {
    const { wallet, 'payment request': request } = await made('transfer.complete');
    const { order } = await made('exchange.complete', '--wallet-id', sandbox.keys.wallet_id);
    await sandbox.corridor('requests', 'pay', request);
    const person = await open(ayesha);
    await person.at(`/requests/${request}`);
    await person.finds(/Accepted/);
    const deposit = (await person.link(/\/deposits\//)).split('/').at(-1);
    await person.at(`/deposits/${deposit}`);
    const hash = await person.fact('Transaction').innerText();
    const escrow = await person.fact('To').innerText();
    await person.at(`/wallets/${wallet}`);
    const [address, customer] = [await person.fact('Address').innerText(), await person.fact('Customer').innerText()];
    for (const [name, path] of [
      [wallet, `/wallets/${wallet}`],
      [address, `/wallets/${wallet}`],
      [customer, `/wallets/${wallet}`],
      [request, `/requests/${request}`],
      [escrow, `/requests/${request}`],
      [deposit, `/deposits/${deposit}`],
      [hash, `/deposits/${deposit}`],
      [order, `/orders/${order}`],
    ]) {
      assert.equal(await person.find(name), TENANT + path, name);
    }
    await person.close();
  });
});

describe('four eyes', { concurrency: AT_ONCE }, () => {
  it('the maker has no approval button, and a forged request is rejected', async () => {
    const payment = await pay('0004', 'forged');
    const maker = await open(ayesha, REFUSED);
    const proposal = await proposed(maker, payment);
    assert.equal(await maker.page.getByRole('button', { name: 'Approve' }).count(), 0);
    await maker.page.getByText('You proposed this. Another user has to decide.').waitFor();
    const forged = await maker.forge(`${proposal}/approve`, { note: '' });
    assert.equal(forged.status, 409);
    assert.match(forged.text, /Another user has to decide\./);
    await maker.go(proposal);
    assert.equal(await maker.fact('State').innerText(), 'waiting');
    await maker.at(`/payments/${payment}`);
    assert.equal(await maker.fact('Status in the API').innerText(), 'unknown');
    // A token of another session does not help either.
    const checker = await open(omar, REFUSED);
    await checker.go(proposal);
    const stolen = await maker.page.locator('input[name=csrf]').first().inputValue();
    assert.equal((await checker.forge(`${proposal}/approve`, { csrf: stolen, note: '' })).status, 409);
    await checker.go(proposal);
    assert.equal(await checker.fact('State').innerText(), 'waiting');
    for (const user of [maker, checker]) await user.close();
  });

  it('two approvals at the same moment have one effect', async () => {
    const payment = await pay('0004', 'raced');
    const third = await newcomer('zara', ['approver']);
    const maker = await open(ayesha);
    const proposal = await proposed(maker, payment);
    const checkers = [await open(omar, REFUSED), await open(third, REFUSED)];
    // Neither request continues before both users have clicked.
    let clicked = 0;
    let bothHave;
    const both = new Promise((done) => { bothHave = done; });
    for (const checker of checkers) {
      await checker.go(proposal);
      await checker.page.route('**/approve', async (route) => {
        clicked += 1;
        if (clicked === checkers.length) bothHave();
        await both;
        await route.continue();
      });
    }
    await Promise.all(checkers.map((checker) => checker.press('Approve')));
    const texts = await Promise.all(checkers.map((checker) => checker.main()));
    assert.equal(texts.filter((text) => text.includes('Approved and executed.')).length, 1, texts.join());
    assert.equal(texts.filter((text) => /was already decided|decided this at/.test(text)).length, 1, texts.join());
    await maker.at(`/payments/${payment}`);
    await maker.finds(/succeeded/);
    await maker.unfold();
    const story = await maker.main();
    assert.equal(times(story, 'Event payment.succeeded'), 1, story);
    assert.equal(times(story, 'payment.post '), 1, story);
    await maker.go(`/console/audit?action=approval.approve&subject=${proposal.split('/').at(-1)}`);
    assert.equal(await maker.page.locator('.sentences > li').count(), 1);
    for (const user of [maker, ...checkers]) await user.close();
  });

  it('two users refund a rejected deposit, and the page of the sender shows it', async () => {
    const bank = new Bank(sandbox);
    const account = await Account.funded(bank);
    const request = await bank.request('25.01');
    const sender = await visit(browser, sandbox.url);
    await sender.page.goto(await introduced(request));
    const hash = await account.pay('USDC', await payable(sender.page), 25_010_000);
    await sees(sender.page, 'This payment could not be completed.');
    await sender.page.fill('#back input[name=address]', account.address);
    await sender.page.click('#back button');
    await sender.page.locator('#back bdi.address').waitFor();
    const before = await account.balance('USDC');
    const [maker, checker] = [await open(ayesha), await open(omar)];
    const deposit = await maker.find(hash);
    const give = maker.page.locator('form', { has: maker.page.getByRole('heading', { name: 'Refund' }) });
    assert.equal(await give.getByLabel('Address').inputValue(), account.address, 'as the sender asks');
    await give.getByLabel('Reason').fill('the sender named this address');
    await maker.press('Propose the refund', give);
    await checker.go(deposit);
    await checker.finds(/Approve the refund/);
    await checker.page.locator('form', { has: checker.page.getByRole('heading', { name: 'Approve the refund' }) }).getByLabel('Reason').fill('called the sender');
    await checker.press('Approve the refund');
    await checker.go(deposit);
    await checker.finds(/Refunded/);
    assert.equal(await account.balance('USDC') - before, 25_010_000n);
    // The page stopped polling at the final status; opening it again shows the refund.
    await sender.page.reload();
    await sees(sender.page, 'It was refunded.');
    await everywhere(sender.page, 'given back');
    for (const user of [maker, checker, sender]) await user.close();
  });

  it('is decided with the keyboard alone', async () => {
    const { wallet } = await made('wallet.blocked');
    const maker = await open(omar);
    await maker.at(`/wallets/${wallet}`);
    await maker.page.getByLabel('Reason').first().fill('the investigation is over');
    await maker.press('Propose to unblock');
    const checker = await open(ayesha);
    const { page } = checker;
    await checker.go(maker.path);
    const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Skip to content');
    await page.keyboard.press('Enter');
    for (let pressed = 0; await focused() !== 'Approve'; pressed += 1) {
      assert.ok(pressed < 10, `ten steps from the content on ${await focused()} has the focus`);
      await page.keyboard.press('Tab');
    }
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
    assert.equal(await checker.done(), 'Approved and executed.');
    await checker.at(`/wallets/${wallet}`);
    assert.equal(await checker.fact('Status').innerText(), 'ACTIVE');
    for (const user of [maker, checker]) await user.close();
  });
});

describe('what needs a user', () => {
  it('appears on an open page, in the navigation and in the tab, and is decided in three clicks', async () => {
    const person = await open(ayesha);
    const { page } = person;
    assert.equal(person.path, `${TENANT}/inbox`, 'the landing page');
    const count = async () => Number(/^\((\d+)\) /.exec(await page.title())?.[1] ?? 0);
    const before = await count();
    await page.evaluate(() => { window.sameDocument = true; });
    const { 'payment request': request } = await made('risk_check.manual_review');
    await sandbox.corridor('requests', 'pay', request);
    await page.waitForFunction((known) => Number(/^\((\d+)\) /.exec(document.title)?.[1] ?? 0) > known, before, { timeout: 60_000 });
    assert.equal(await page.evaluate(() => window.sameDocument), true, 'without a reload');
    assert.equal(await page.locator('nav .badge').first().innerText().then((text) => parseInt(text, 10)), await count());
    await axe(page, 'the inbox');
    await page.getByRole('link', { name: /^Review [\d.]+ USDC/ }).last().click();
    assert.equal(await page.locator('.verdicts > button').count(), 2, 'nothing is preselected');
    await page.getByRole('button', { name: /^Accept/ }).click();
    await axe(page, 'the confirmation');
    await page.getByLabel('Reason').fill('known to the branch');
    await person.press('Accept');
    assert.match(await person.done(), /approve/);
    await person.close();
  });
});

describe('without a script', () => {
  it('users sign in, search, decide a review and approve', async () => {
    const { payment: held } = await made('payment.updated');
    const unknown = await pay('0004', 'no script');
    const plain = { javaScriptEnabled: false, viewport: { width: 320, height: 700 } };
    const [maker, checker] = [await open(ayesha, plain), await open(omar, plain)];
    assert.equal(await maker.find(held), `${TENANT}/payments/${held}`);
    await maker.page.getByRole('link', { name: 'Approve or reject the payment' }).click();
    assert.match(await maker.main(), /Zorb Quib/);
    await maker.page.getByRole('button', { name: 'Approve' }).click();
    assert.match(await maker.main(), /Approve [\d.,]+ PKR\?[^]*Zorb Quib/);
    await maker.page.getByLabel('Reason').fill('born in another year');
    await maker.press('Approve');
    assert.equal(await maker.done(), 'Approved. The payment continues.');
    await maker.at(`/payments/${held}`);
    await maker.finds(/approved by a user/);
    const proposal = await proposed(maker, unknown);
    // The navigation on a narrow screen.
    await checker.page.getByRole('button', { name: 'Menu', exact: true }).click();
    await checker.page.getByRole('link', { name: 'Approvals' }).click();
    await checker.page.locator(`a[href="${proposal}"]`).click();
    await checker.press('Approve');
    assert.equal(await checker.done(), 'Approved and executed.');
    for (const user of [maker, checker]) await user.close();
  });
});

describe('a file for a spreadsheet', () => {
  it('contains the filtered rows, and nothing that a spreadsheet would execute', async () => {
    const formula = '=HYPERLINK("x")';
    const [bad] = [await pay('0001', formula), await pay('1234', 'not in it')];
    const person = await open(ayesha);
    const { page } = person;
    await person.at(`/payments/${bad}`);
    await person.finds(/did not pay it/);
    await person.at('/payments?status=failed');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download as CSV' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'payments.csv');
    const text = await readFile(await download.path(), 'utf8');
    assert.ok(text.startsWith('id,external_id,status,'), text);
    assert.ok(text.includes(`${bad},"'=HYPERLINK(""x"")",failed,`), text);
    assert.ok(!text.includes('not in it'), text);
    for (const line of text.trim().split('\r\n')) assert.doesNotMatch(line, /(^|,)"?[=+@-]/);
    await axe(page, 'after a download');
    await person.close();
  });
});
