// The payment page in a browser: a sender pays in each of the three ways and in none, with and
// without JavaScript.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Bank } from './lib/bank.js';
import { launch, visit } from './lib/browser.js';
import { Account } from './lib/chain.js';
import { everywhere, fits, inside } from './lib/checks.js';
import { Sandbox } from './lib/sandbox.js';
import { finds, introduced, introduces, payable, sees } from './lib/sender.js';
import { Wallet } from './lib/wallet.js';

// Tests of a part at a time: they wait for blocks most of the time.
const AT_ONCE = 3;
const GONE = [/status of 404/];
const HOUR_S = 3601;
// Within the last ten minutes.
const SOON_S = 300;

let sandbox, bank, account, browser, secrets;

before(async () => {
  // Logs every response, so that the last test can check the log.
  const env = { RUST_LOG: 'info,service::around=debug', CORRIDOR_CHAIN__SPONSOR__ENABLED: 'true' };
  sandbox = await Sandbox.start({ env });
  bank = new Bank(sandbox);
  [account, secrets, browser] = [await Account.funded(bank), await bank.secrets(), await launch()];
});

after(async () => {
  await browser?.close();
  await sandbox?.stop();
});

// A sender's page under watch, which must never show confidential data.
async function open(url, options = {}) {
  const { page, context, close } = await visit(browser, new URL(sandbox.url).origin, options);
  const wallet = options.wallet && await Wallet.injected(page, options.account ?? account, options.wallet);
  await page.goto(url);
  const end = async () => {
    const shown = (await page.content()).toLowerCase();
    for (const secret of secrets) assert.ok(!shown.includes(secret.toLowerCase()), `${secret} is shown`);
    await close();
  };
  return { page, context, wallet, close: end };
}

const isOpen = (page, id) => page.locator(`details#${id}`).evaluate((details) => details.open);

describe('the first page', { concurrency: AT_ONCE }, () => {
  it('says about how much it is in the currency of the browser\'s region, until a country is named', async () => {
    const request = await bank.request('25.00');
    for (const [locale, about] of [['en-AE', /^About [\d.,]+ AED$/], ['ar-SA', /SAR$/], ['ur-PK', null], ['en-US', null]]) {
      const { page, close } = await open(request.payment_link, { locale });
      const shown = page.locator('.asked .purpose');
      if (about) assert.match((await shown.first().innerText()).replace(/[\u2066-\u2069]/g, ''), about, locale);
      else assert.doesNotMatch((await shown.allInnerTexts()).join(' '), /PKR|USD$/, locale);
      await close();
    }
  });
});

describe('a sender pays', { concurrency: AT_ONCE }, () => {
  it('in parts, an hour apart: the countdown goes on from the time of the update', async () => {
    const request = await bank.request('25.00');
    const { page, close } = await open(request.payment_link);
    await page.clock.install();
    await introduces(page, 'Binance');
    const address = await payable(page);
    await page.clock.fastForward('01:00:00');
    await account.pay('USDC', address, 10_000_000);
    await sees(page, 'Please send the rest');
    // The server's clock did not move.
    assert.match(await page.locator('[data-left]').textContent(), /^23:5\d:\d\d$/);
    await close();
  });

  it('from an exchange: copies the values for the app and sees Done without further action', async () => {
    const request = await bank.request('25.00');
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page, close } = await open(request.payment_link, { permissions });
    await introduces(page, 'Binance');
    assert.ok(await isOpen(page, 'exchange') && !await isOpen(page, 'phone') && !await isOpen(page, 'browser'));
    const copied = {};
    for (const label of ['Network', 'Address', 'Amount that must arrive']) {
      await page.click(`#pay button[aria-label="Copy: ${label}"]`);
      copied[label] = await page.evaluate(() => navigator.clipboard.readText());
    }
    const address = await payable(page);
    assert.notEqual(address, request.escrow_address, 'each sender has an address of their own');
    assert.deepEqual(copied, { Network: 'Ethereum', Address: address, 'Amount that must arrive': '25.00' });
    assert.match(await page.locator('[data-left]').textContent(), /^23:5\d:\d\d$/);
    await account.pay('USDC', address, 25_000_000);
    await sees(page, 'Thank you, your payment is complete');
    const receipt = await page.locator('.receipt').textContent();
    const reference = request.payment_request_id.slice(0, 8);
    for (const part of ['25.00 USDC', 'Rent', 'Ethereum', reference]) assert.ok(receipt.includes(part), receipt);
    assert.equal(await page.locator('#steps [aria-current]').textContent(), 'Done');
    // A phone's share sheet gets the receipt's own link; closing it is no error.
    await page.evaluate(() => {
      const share = (data) => {
        window.shared = data;
        return Promise.reject(new DOMException('closed', 'AbortError'));
      };
      Object.defineProperty(navigator, 'share', { value: share, configurable: true });
    });
    const permanent = await page.locator('.share').getAttribute('data-link');
    await page.click('.share');
    const shared = await page.evaluate(() => window.shared);
    assert.equal(shared.url, permanent);
    assert.ok(permanent.startsWith(new URL(sandbox.url).origin) && !permanent.includes(request.payment_link), permanent);
    for (const part of ['25.00 USDC', reference]) assert.ok(shared.text.includes(part), shared.text);
    const visited = await open(permanent);
    assert.ok((await visited.page.locator('.receipt').textContent()).includes(reference));
    await visited.close();
    await close();
  });

  it('from a phone: a QR code of the plain address, and a link for the wallet app', async () => {
    const request = await bank.request('7.50');
    const { page, close } = await open(request.payment_link);
    await introduces(page, 'Trust Wallet', 'phone');
    assert.ok(await isOpen(page, 'phone') && !await isOpen(page, 'exchange'));
    await page.locator('#pay svg[role=img]').waitFor();
    const link = await page.locator('#phone a.second').getAttribute('href');
    const { tokens } = bank.keys;
    const address = await payable(page);
    const chain = Number(await account.rpc('eth_chainId'));
    assert.equal(link.toLowerCase(), `ethereum:${tokens.USDC}@${chain}/transfer?address=${address}&uint256=7500000`.toLowerCase());
    await account.pay('USDC', address, 7_500_000);
    await sees(page, 'Thank you, your payment is complete');
    await close();
  });

  it('from a wallet in the browser, which learns the chain and signs exactly the transfer', async () => {
    const request = await bank.request('12.34');
    const { page, wallet, close } = await open(request.payment_link, { wallet: {} });
    await introduces(page, 'MetaMask', 'phone');
    const pay = page.getByRole('button', { name: 'Pay with Test <Wallet>', exact: true });
    await pay.waitFor();
    assert.ok(await isOpen(page, 'browser') && !await isOpen(page, 'phone'), 'who has a wallet here is led to it');
    const address = await payable(page);
    await pay.click();
    await sees(page, 'Thank you, your payment is complete');
    const [added] = wallet.called('wallet_addEthereumChain');
    assert.equal(BigInt(added.chainId), account.chainId);
    assert.deepEqual(added.rpcUrls, [bank.keys.chain_rpc_url]);
    const [sent, ...more] = wallet.called('eth_sendTransaction');
    assert.deepEqual(more, []);
    assert.equal(sent.to.toLowerCase(), bank.keys.tokens.USDC.toLowerCase());
    const words = [address.slice(2).toLowerCase(), (12_340_000).toString(16)];
    assert.equal(sent.data, `0xa9059cbb${words.map((word) => word.padStart(64, '0')).join('')}`);
    await close();
  });

  it('by a signature alone, from a wallet without gas', async () => {
    const request = await bank.request('12.50');
    const penniless = await Account.penniless(bank, account, 'USDC', 12_500_000);
    const { page, wallet, close } = await open(request.payment_link, { wallet: { refusals: 1 }, account: penniless });
    await introduces(page, 'MetaMask', 'phone');
    const pay = page.getByRole('button', { name: 'Pay with Test <Wallet>, no network fee' });
    await pay.click();
    await page.getByText('You did not confirm. Nothing was sent.').waitFor();
    await everywhere(page, 'without a network fee');
    await pay.click();
    await sees(page, 'Thank you, your payment is complete');
    assert.deepEqual(wallet.called('eth_sendTransaction'), []);
    assert.equal(await penniless.balance('USDC'), 0n);
    assert.equal(BigInt(await penniless.rpc('eth_getBalance', [penniless.address, 'latest'])), 0n);
    await close();
  });

  it('by a signature that cannot be sent: the page names the other ways', async () => {
    const request = await bank.request('12.75');
    const penniless = await Account.penniless(bank, account, 'USDC', 1);
    const options = { wallet: { knows: true }, account: penniless, expected: [/status of 409/] };
    const { page, wallet, close } = await open(await introduced(request, 'Rabby'), options);
    await page.getByRole('button', { name: /no network fee$/ }).click();
    await page.getByText('This payment cannot be sent without ETH right now. Nothing was sent.').waitFor();
    assert.equal(wallet.called('eth_signTypedData_v4').length, 1);
    assert.ok(await page.getByRole('button', { name: 'Pay with Test <Wallet>', exact: true }).isVisible());
    await close();
  });

  it('from an older wallet, after one rejection, in any amount, to the last digit', async () => {
    const request = await bank.request('0', { amount: { type: 'flexible' } });
    const options = { wallet: { announced: false, refusals: 1, knows: true } };
    const { page, wallet, close } = await open(await introduced(request, 'Rabby'), options);
    const pay = page.getByRole('button', { name: /^Pay with/ });
    await pay.click();
    await page.getByText('Please enter an amount such as').waitFor();
    for (const wrong of ['1.2345678', '0', '-1', '1e3', 'ten']) {
      await page.fill('#much', wrong);
      await pay.click();
      await page.getByText('Please enter an amount such as').waitFor();
    }
    assert.deepEqual(wallet.called('eth_sendTransaction'), []);
    await page.fill('#much', '3.000001');
    await pay.click();
    await page.getByText('You did not confirm. Nothing was sent.').waitFor();
    await pay.click();
    await sees(page, '3.000001 USDC');
    await sees(page, 'Thank you, your payment is complete');
    const value = wallet.called('eth_sendTransaction').at(-1).data.slice(-64);
    assert.equal(BigInt(`0x${value}`), 3_000_001n);
    await close();
  });

  it('in two parts: the page requests the rest until it arrives', async () => {
    const request = await bank.request('20.00');
    const { page, close } = await open(await introduced(request));
    const address = await payable(page);
    await account.pay('USDC', address, 5_000_000);
    await page.getByText('Remaining amount: 15.00 USDC').waitFor();
    await sees(page, '5.00 USDC of 20.00 USDC has arrived.');
    const bar = page.locator('#live .notice progress');
    assert.equal(Number(await bar.getAttribute('value')) / Number(await bar.getAttribute('max')), 0.25);
    assert.ok(!(await page.locator('#live').innerText()).includes('Done'), 'a part is not the whole');
    await account.pay('USDC', address, 15_000_000);
    await sees(page, 'Thank you, your payment is complete');
    assert.equal(await page.locator('.arrived li').count(), 2);
    await close();
  });

  it('while streams are blocked: the page polls', async () => {
    const request = await bank.request('4.00');
    const { page, context, close } = await open('about:blank', { expected: [/ERR_FAILED/, /EventSource/] });
    let asked = 0;
    await context.route('**/stream*', (route) => route.fulfill({ status: 503 }));
    await context.route('**/status*', (route) => { asked += 1; return route.continue(); });
    page.removeAllListeners('console');
    await page.goto(await introduced(request));
    await account.pay('USDC', await payable(page), 4_000_000);
    await sees(page, 'Thank you, your payment is complete');
    assert.ok(asked > 0);
    await close();
  });

  it('while the script does not load: the page promises nothing that only the script does', async () => {
    const request = await bank.request('3.00');
    const { page, context, close } = await open('about:blank', { expected: [/ERR_FAILED/] });
    await context.route('**/pay/assets/*.js', (route) => route.abort());
    await page.goto(await introduced(request));
    await page.getByText('Waiting for your payment.').waitFor();
    assert.equal(await page.getByText('This page updates automatically.').isVisible(), false);
    await account.pay('USDC', await payable(page), 3_000_000);
    await finds(page, 'Thank you, your payment is complete');
    await context.unroute('**/pay/assets/*.js');
    await page.goto(await introduced(await bank.request('3.00')));
    await page.getByText('This page updates automatically.').waitFor();
    await close();
  });

  it('without JavaScript, from the form to the receipt', async () => {
    const request = await bank.request('9.00');
    const { page, close } = await open(`${request.payment_link}?lang=en`, { javaScriptEnabled: false, expected: [/status of 422/] });
    await page.click('.choice');
    await page.click('form[method=post] button');
    await page.getByText('Please enter your first name.').waitFor();
    await introduces(page, 'OKX');
    assert.ok(!await page.locator('.copy').first().isVisible(), 'nothing is offered that needs a script');
    assert.match(await page.locator('.waiting').innerText(), /This page updates automatically\.$/);
    assert.ok(await page.locator('#pay .address').isVisible());
    await page.click('#browser summary');
    await page.getByText('This option needs JavaScript.').waitFor();
    await page.click('#help summary');
    await page.fill('#tx', 'nothing');
    await page.click('#help button');
    await page.getByText('This is not a valid transaction hash.').waitFor();
    const hash = await account.pay('USDC', await payable(page), 9_000_000);
    await finds(page, 'Thank you, your payment is complete');
    assert.ok((await page.locator('.receipt').textContent()).includes(hash));
    await close();
  });
});

describe('a link that is shared', { concurrency: AT_ONCE }, () => {
  it('shows each sender a separate address, and the same one again in the same browser', async () => {
    const request = await bank.request('25.00');
    const first = await open(request.payment_link);
    await introduces(first.page, 'Binance');
    const address = await payable(first.page);
    await first.page.goto(request.payment_link);
    await introduces(first.page, 'Binance');
    assert.equal(await payable(first.page), address, 'the same details, the same browser');
    const phone = await open(request.payment_link);
    await introduces(phone.page, 'Binance');
    const another = await payable(phone.page);
    assert.equal(new Set([address, another, request.escrow_address]).size, 3);
    // A payment by one sender leaves the other's page unchanged until nothing is left to pay.
    await account.pay('USDC', another, 5_000_000);
    await sees(phone.page, '5.00 USDC');
    assert.equal(await payable(first.page), address);
    await account.pay('USDC', address, 20_000_000);
    await sees(first.page, 'Thank you, your payment is complete');
    await phone.close();
    await first.close();
  });

  it('shows dust to its sender only', async () => {
    const request = await bank.request('25.00');
    const [payer, other] = [await open(await introduced(request)), await open(await introduced(request))];
    await account.pay('USDC', await payable(payer.page), 1);
    await sees(payer.page, 'The amount is too small to forward');
    await everywhere(payer.page, 'dust');
    await other.page.reload();
    assert.ok(!(await other.page.content()).includes('0.000001'));
    await account.pay('USDC', await payable(payer.page), 25_000_000);
    await sees(payer.page, 'Thank you, your payment is complete');
    await other.close();
    await payer.close();
  });
});

describe('an irregular payment', { concurrency: AT_ONCE }, () => {
  it('is not accepted: with a neutral text, and the sender names a refund address', async () => {
    const request = await bank.request('25.01');
    const { page, close } = await open(await introduced(request), { expected: [/status of 422/, ...GONE] });
    await account.pay('USDC', await payable(page), 25_010_000);
    await sees(page, 'This payment could not be completed.');
    assert.equal(await page.locator('.receipt').count(), 0);
    await everywhere(page, 'not accepted');
    const address = page.locator('#back input[name=address]');
    await address.fill('0x12');
    await page.click('#back button');
    await page.locator('#address-fault').waitFor();
    await everywhere(page, 'not accepted, a wrong address');
    await address.fill(account.address.toLowerCase());
    await page.click('#back button');
    await page.locator('#back bdi.address', { hasText: account.address }).waitFor();
    await page.goto(`${page.url()}?lang=ar`);
    await everywhere(page, 'not accepted, an address is kept, ar');
    // The bare link leads visitors who have paid to the page of their own.
    await page.goto(request.payment_link);
    await page.getByRole('heading', { name: 'This request cannot be paid now' }).waitFor();
    await page.getByText('open the page where you saw the payment address').waitFor();
    assert.ok(!(await page.content()).includes(account.address));
    await everywhere(page, 'not accepted, elsewhere');
    await close();
  });

  it('is checked for longer, and the page can be closed', async () => {
    const request = await bank.request('25.02');
    const { page, close } = await open(await introduced(request));
    await account.pay('USDC', await payable(page), 25_020_000);
    await sees(page, 'The check is taking longer than usual.');
    await everywhere(page, 'checking');
    await page.goto(`${page.url()}?lang=ar`);
    await everywhere(page, 'checking, ar');
    await close();
  });

  it('exceeds the requested amount, or is another token', async () => {
    const [more, other] = [await bank.request('25.00'), await bank.request('26.00')];
    const first = await open(await introduced(more));
    await account.pay('USDC', await payable(first.page), 26_000_000);
    await sees(first.page, 'You sent more than the requested amount.');
    await everywhere(first.page, 'overpaid');
    await first.close();
    const second = await open(await introduced(other));
    const address = await payable(second.page);
    await account.pay('USDT', address, 26_000_000);
    await sees(second.page, 'You sent 26.00 USDT');
    await second.page.getByRole('heading', { name: 'Please do not send again' }).waitFor();
    assert.ok(!(await second.page.content()).includes(address), 'nothing is asked for again');
    await everywhere(second.page, 'a different token');
    await second.close();
  });

  it('is found by its hash', async () => {
    const [request, another] = [await bank.request('6.00'), await bank.request('5.00')];
    const hash = await account.pay('USDC', another.escrow_address, 5_000_000);
    const { page, close } = await open(await introduced(request));
    await page.click('#help summary');
    for (const [typed, answer] of [
      [hash, 'this transaction is not for this payment request'],
      [`0x${'12'.repeat(32)}`, 'Not found yet'],
      ['12', 'This is not a valid transaction hash'],
    ]) {
      await page.fill('#tx', typed);
      await page.click('#help button');
      await page.locator('#answer:focus', { hasText: answer }).waitFor();
      assert.ok(await inside(page, '#answer'), 'the answer is where the sender looks');
    }
    await everywhere(page, 'help');
    await close();
  });

  it('is cancelled while the page is open: the address disappears', async () => {
    const request = await bank.request('3.00');
    const { page, close } = await open(await introduced(request), { expected: GONE });
    const address = await payable(page);
    await bank.cancel(request);
    await page.getByRole('heading', { name: 'This link is not available' }).waitFor();
    assert.ok(!(await page.content()).includes(address));
    await everywhere(page, 'closed');
    await page.goto(`${request.payment_link}?lang=ar`);
    await everywhere(page, 'closed, ar');
    await close();
  });
});

describe('a link that ends', () => {
  it('arrives after the link has expired', async () => {
    const request = await bank.request('25.00', { expires_in_hours: 1 });
    const { page, close } = await open(await introduced(request), { expected: GONE });
    const address = await payable(page);
    assert.equal(await page.locator('.soon').isVisible(), false);
    await bank.letPass(HOUR_S - SOON_S);
    await page.reload();
    assert.equal(await page.locator('.soon').isVisible(), true, 'the end is announced');
    await bank.letPass(SOON_S);
    await page.getByRole('heading', { name: 'This link is not available' }).waitFor();
    assert.ok(!(await page.content()).includes(address));
    const unknown = await fetch(`${sandbox.url}/pay/AAAAAAAAAAAAAAAAAAAAAA`).then((answer) => answer.text());
    const expired = await fetch(request.payment_link).then((answer) => answer.text());
    const token = new URL(request.payment_link).pathname.split('/').at(-1);
    assert.equal(expired.replaceAll(token, ''), unknown.replaceAll('AAAAAAAAAAAAAAAAAAAAAA', ''), 'the two are indistinguishable');
    await account.pay('USDC', address, 25_000_000);
    await assert.doesNotReject(async () => {
      const until = Date.now() + 30_000;
      while (!(await page.content()).includes('Your payment arrived after this link expired.')) {
        if (Date.now() > until) throw new Error(await page.content());
        await page.reload();
      }
    });
    await everywhere(page, 'late');
    await close();
  });
});

describe('the first screen of a small phone', { concurrency: AT_ONCE }, () => {
  it('holds what to do at each step', async () => {
    const request = await bank.request('25.50');
    const { page, close } = await open(request.payment_link, { viewport: { width: 360, height: 640 } });
    for (const language of ['en', 'ur']) {
      await page.goto(`${request.payment_link}?lang=${language}`);
      for (const part of ['.amount', '.choices li:last-child']) assert.ok(await inside(page, part), `${language} ${part}`);
      await introduces(page, 'Binance');
      for (const part of ['.amount', '.code svg', '.address', '#pay .copy', '#pay .rows div:last-child']) {
        assert.ok(await inside(page, part), `${language} ${part}`);
      }
      assert.match(await page.locator('.strip').textContent(), /[0-9]+\.[0-9]{2} AED/, 'about how much it is at home');
    }
    await close();
  });

  it('writes times in the language of the page, or in figures alone', async () => {
    const request = await bank.request('25.50');
    for (const locale of ['en-US', 'ar-EG', 'hi-IN', 'ne-NP', 'vi-VN']) {
      const { page, close } = await open(request.payment_link, { locale, timezoneId: 'Asia/Kathmandu' });
      for (const language of ['en', 'ur', 'ar', 'hi', 'bn', 'ne', 'vi', 'fil']) {
        await page.goto(`${request.payment_link}?lang=${language}`);
        const time = await page.locator('time').first().textContent();
        const about = `${language} in ${locale}: ${time}`;
        assert.match(time, /20\d\d/, about);
        // Every digit is Latin, and no month is a number with a letter.
        assert.doesNotMatch(time, /(?![0-9])\p{Nd}|\bM\d/u, about);
        const figures = /^20\d\d-\d\d-\d\d \d\d:\d\d UTC\+5:45$/;
        const letters = { en: /[A-Z][a-z]{2}/, ur: /\p{sc=Arabic}/u, ar: /\p{sc=Arabic}/u, hi: /\p{sc=Devanagari}/u,
          bn: /\p{sc=Bengali}/u, ne: /\p{sc=Devanagari}/u, vi: /thg|tháng/, fil: /[A-Z][a-z]{2}/ };
        const known = await page.evaluate((code) => Intl.DateTimeFormat.supportedLocalesOf(code).length > 0, language);
        if (!known) assert.match(time, figures, about);
        else assert.ok(figures.test(time) || letters[language].test(time), about);
      }
      await close();
    }
  });

  it('keeps words whole at twice the text size', async () => {
    const request = await bank.request('25.50');
    const { page, close } = await open(request.payment_link, { viewport: { width: 320, height: 640 } });
    const { before, after } = await page.evaluate(() => {
      const widest = () => {
        const [text] = document.querySelector('.payee bdi').childNodes;
        return text.data.split(' ').map((word) => {
          const range = document.createRange();
          range.setStart(text, text.data.indexOf(word));
          range.setEnd(text, text.data.indexOf(word) + word.length);
          return range.getClientRects().length;
        });
      };
      const before = widest();
      document.documentElement.style.fontSize = '200%';
      return { before, after: widest() };
    });
    assert.deepEqual(after, before, 'no word of the name is broken');
    await fits(page, 'twice the text size');
    await close();
  });

  it('fits a narrow screen at twice the text size, with every number whole', async () => {
    const request = await bank.request('25.097727');
    const url = await introduced(request);
    const { page, close } = await open(request.payment_link, { viewport: { width: 360, height: 640 } });
    const lines = (selector) => page.locator(selector).first().evaluate((element) => {
      const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode();
      const range = document.createRange();
      range.setStart(text, 0);
      range.setEnd(text, text.data.search(/ |$/));
      return range.getClientRects().length;
    });
    for (const language of ['en', 'ar', 'ne', 'vi', 'fil']) {
      for (const address of [request.payment_link, `${request.payment_link}?from=exchange`, url]) {
        await page.goto(`${address}${address.includes('?') ? '&' : '?'}lang=${language}`);
        await page.evaluate(() => { document.documentElement.style.fontSize = '200%'; });
        await fits(page, `twice the text size, ${language}`);
        assert.equal(await lines('.amount bdi'), 1, language);
        if (address === url) assert.equal(await lines('#pay .value:not(.address)'), 1, language);
        if (!address.includes('from=')) continue;
        const { width } = await page.locator('#phone_number').boundingBox();
        assert.ok(width > 200, `${language}: the number has ${width} px`);
      }
    }
    await close();
  });

  it('sets digits in the Latin face', async () => {
    const request = await bank.request('25.50');
    const { page, close } = await open(`${request.payment_link}?lang=ur`);
    const family = await page.locator('.amount bdi').evaluate((element) => getComputedStyle(element).fontFamily);
    assert.doesNotMatch(family, /Nastaliq|Naskh/);
    assert.match(await page.locator('.question').evaluate((element) => getComputedStyle(element).fontFamily), /Nastaliq/);
    await close();
  });

  it('leaves every language to be chosen', async () => {
    const request = await bank.request('25.50');
    const { page, close } = await open(request.payment_link);
    await introduces(page, 'Binance');
    await page.click('.languages summary');
    for (const link of await page.locator('.languages li a').all()) {
      const hit = await link.evaluate((element) => {
        const box = element.getBoundingClientRect();
        return element.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
      });
      assert.ok(hit, await link.textContent());
    }
    await close();
  });
});

describe('every state, in both directions', { concurrency: AT_ONCE }, () => {
  it('the form, empty and with errors', async () => {
    const request = await bank.request('25.00');
    const { page, close } = await open(request.payment_link, { expected: [/status of 422/] });
    for (const language of ['en', 'ar']) {
      await page.goto(`${request.payment_link}?lang=${language}`);
      await everywhere(page, `ways, ${language}`);
      await page.locator('.choice').first().click();
      await everywhere(page, `details, ${language}`);
      await page.click('.languages summary');
      await everywhere(page, `languages, ${language}`);
      await page.keyboard.press('Escape');
      assert.ok(!await page.locator('.languages').evaluate((menu) => menu.open));
      await page.click('form[method=post] button');
      await page.locator('#faults:focus').waitFor();
      await everywhere(page, `faults, ${language}`);
    }
    await close();
  });

  it('the address, with each payment method, partly paid, and done', async () => {
    const request = await bank.request('25.00');
    const url = await introduced(request);
    const { page, close } = await open(url, { wallet: { knows: true } });
    const address = await payable(page);
    for (const language of ['en', 'ar']) {
      await page.goto(`${url}?lang=${language}`);
      for (const way of ['exchange', 'phone', 'browser']) {
        if (!await isOpen(page, way)) await page.click(`#${way} summary`);
        await everywhere(page, `${way}, ${language}`);
      }
    }
    await account.pay('USDC', address, 5_000_000);
    await page.getByText('15.00 USDC').or(page.getByText('20.00 USDC')).first().waitFor();
    for (const language of ['en', 'ar']) {
      await page.goto(`${url}?lang=${language}`);
      await everywhere(page, `partial, ${language}`);
      // A sum begins where its words begin.
      const [sum, words] = await page.locator('.arrived li').first().evaluate((line) => [...line.querySelectorAll(':scope > span')].slice(0, 2).map((part) => {
        const range = document.createRange();
        range.selectNodeContents(part);
        const { left, right } = range.getBoundingClientRect();
        return document.dir === 'rtl' ? right : left;
      }));
      assert.ok(Math.abs(sum - words) < 4, `${language}: the sum begins at ${sum}, its words at ${words}`);
    }
    await account.pay('USDC', address, 20_000_000);
    await page.locator('.receipt').waitFor();
    for (const language of ['en', 'ar']) {
      await page.goto(`${url}?lang=${language}`);
      await everywhere(page, `done, ${language}`);
    }
    await close();
  });

  it('in every language', async () => {
    const request = await bank.request('25.50');
    const url = await introduced(request);
    const { page, close } = await open(request.payment_link);
    for (const language of ['en', 'ur', 'ar', 'hi', 'bn', 'ne', 'vi', 'fil']) {
      for (const [address, step] of [[request.payment_link, 'ways'], [url, 'send']]) {
        await page.goto(`${address}?lang=${language}`);
        assert.equal(await page.locator('html').getAttribute('lang'), language);
        await everywhere(page, `pay, ${step}, ${language}`);
      }
    }
    await account.pay('USDC', await payable(page), 25_500_000);
    await page.locator('.receipt').waitFor();
    await page.emulateMedia({ media: 'print' });
    assert.ok(!await page.locator('.print').isVisible() && await page.locator('.receipt').isVisible());
    await close();
  });

});

describe('the log', () => {
  it('reveals nothing about the recipient', async () => {
    const visited = sandbox.log.split('\n').filter((line) => line.includes('/pay/'));
    assert.ok(visited.length > 0, sandbox.logTail());
    for (const line of visited) {
      for (const secret of secrets) assert.ok(!line.toLowerCase().includes(secret.toLowerCase()), line);
    }
  });
});
