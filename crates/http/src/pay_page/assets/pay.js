// The script's part of a payment page: copying, local time, browser wallets and live updates. Everything else works without it.
(() => {
  'use strict';

  const LOOK_MS = 5000;
  const WALLET_MS = 600;
  const COPIED_MS = 2000;
  const SENT_MS = 600000;
  const DECIMALS = 6;
  const TRANSFER = '0xa9059cbb';
  const UNKNOWN_CHAIN = 4902;
  const REFUSED = 4001;
  const SOON_S = 600;
  const LOCAL = { year: 'numeric', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', timeZoneName: 'short' };
  const id = (name) => document.getElementById(name);
  const latin = document.documentElement.lang + '-u-nu-latn';

  // --- times ---------------------------------------------------------------------------------------------------------

  // The server sends the remaining seconds, because a phone's clock may be wrong.
  let ends;
  let began = performance.now();

  function clock() {
    for (const left of document.querySelectorAll('[data-left]')) {
      ends ??= began + Number(left.dataset.left) * 1000;
      const s = Math.max(0, Math.floor((ends - performance.now()) / 1000));
      const two = (n) => String(n).padStart(2, '0');
      left.textContent = two(Math.floor(s / 3600)) + ':' + two(Math.floor(s / 60) % 60) + ':' + two(s % 60);
      left.closest('.left').hidden = false;
      for (const warning of document.querySelectorAll('.soon')) warning.hidden = s >= SOON_S;
    }
  }

  // The format of the page's language; null if the browser lacks its names of months. It would then
  // write them in its own language, or as numbers with a letter.
  function named() {
    if (!Intl.DateTimeFormat.supportedLocalesOf(latin).length) return null;
    const format = new Intl.DateTimeFormat(latin, LOCAL);
    const month = format.formatToParts(0).find(({ type }) => type === 'month')?.value ?? '';
    return /^M?\d+$/.test(month) ? null : format;
  }

  // In figures alone, as the server writes it, in local time.
  function figures(at) {
    const two = (n) => String(n).padStart(2, '0');
    const ahead = -at.getTimezoneOffset();
    const [hours, minutes] = [Math.floor(Math.abs(ahead) / 60), Math.abs(ahead) % 60];
    const zone = (ahead < 0 ? '-' : '+') + hours + (minutes ? ':' + two(minutes) : '');
    return at.getFullYear() + '-' + two(at.getMonth() + 1) + '-' + two(at.getDate()) + ' '
      + two(at.getHours()) + ':' + two(at.getMinutes()) + ' UTC' + (ahead ? zone : '');
  }

  function localTimes(root) {
    try {
      const format = named();
      for (const time of root.querySelectorAll('time')) {
        const at = new Date(time.dateTime);
        time.textContent = format ? format.format(at) : figures(at);
      }
    } catch { /* an old browser keeps the server's text */ }
  }

  // --- copying -------------------------------------------------------------------------------------------------------

  async function copy(button, text = button.dataset.copy) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const value = button.parentNode.querySelector('.value');
      if (!value) return;
      const range = document.createRange();
      range.selectNodeContents(value);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      // Without clipboard permission the text stays selected, so the user can copy it.
      if (!document.execCommand('copy')) return;
    }
    const before = button.textContent;
    if (button.classList.contains('copied')) return;
    const label = button.getAttribute('aria-label') ?? before;
    button.textContent = button.dataset.copied;
    button.setAttribute('aria-label', button.dataset.copied);
    button.classList.add('copied');
    setTimeout(() => {
      button.textContent = before;
      button.setAttribute('aria-label', label);
      button.classList.remove('copied');
    }, COPIED_MS);
  }

  // The receipt's own link: it reveals neither the payment link nor the transaction.
  function share(button) {
    const url = button.dataset.link;
    const text = button.dataset.share;
    if (!navigator.share) return copy(button, text + '\n' + url);
    // Closing the share sheet is no error.
    return navigator.share({ text, url }).catch(() => {});
  }

  // --- a wallet in this browser (EIP-1193, found by EIP-6963) -----------------------------------------------------------

  const wallets = new Map();
  const sentKey = 'sent ' + location.pathname;
  let asking = false;

  // Prevents a second payment, also after a reload; only for a while, since a wallet may still drop the first one.
  function isSent() {
    const [shape, at] = (sessionStorage.getItem(sentKey) ?? '').split(' ');
    return shape === id('main').dataset.shape && Date.now() - at < SENT_MS;
  }

  addEventListener('eip6963:announceProvider', (event) => {
    const { info, provider } = event.detail ?? {};
    if (info && provider && !wallets.has(info.uuid)) {
      wallets.set(info.uuid, { name: String(info.name).slice(0, 40), provider });
      offer();
    }
  });

  function lookForWallets() {
    if (!id('wallet')) return;
    id('wallet').hidden = false;
    document.querySelector('.scriptless').hidden = true;
    dispatchEvent(new Event('eip6963:requestProvider'));
    setTimeout(() => {
      // Buttons that are on the page stay: one may be under a finger.
      if (wallets.size) return;
      if (window.ethereum) wallets.set('', { name: 'Wallet', provider: window.ethereum });
      offer();
    }, WALLET_MS);
    offer();
  }

  function say(what) {
    for (const line of document.querySelectorAll('#wallet-status [data-say]')) line.hidden = line.dataset.say !== what;
  }

  // Buttons for the installed wallets. If there is one, a sender who entered a wallet sees this way first.
  function offer() {
    const place = id('wallet');
    if (!place || asking) return;
    const buttons = place.querySelector('.buttons');
    const sent = isSent();
    for (const part of place.querySelectorAll('.with, .buttons')) part.hidden = sent || !wallets.size;
    if (sent) return say('sent');
    if (!wallets.size) return say('none');
    say('');
    // Without a network fee comes first.
    const made = [...wallets.values()].flatMap((wallet) => [['free', payFree], ['usual', pay]].flatMap(([kind, run]) => {
      const button = place.querySelector('template.' + kind)?.content.firstElementChild.cloneNode(true);
      if (!button) return [];
      button.querySelector('bdi').textContent = wallet.name;
      button.onclick = () => run(wallet.provider);
      return [button];
    }));
    buttons.replaceChildren(...made);
    if (id('phone').open && !id('phone').dataset.seen) {
      id('phone').open = false;
      id('browser').open = true;
      id('pay').before(id('browser'));
    }
  }

  // Exact, in integers: 25.5 is 25500000.
  function minor(text) {
    const parts = /^(\d{1,12})(?:[.,](\d{1,6}))?$/.exec(text.trim());
    const value = parts && BigInt(parts[1] + (parts[2] ?? '').padEnd(DECIMALS, '0'));
    return value > 0n ? value : null;
  }

  function call(place) {
    if (place.dataset.call) return place.dataset.call;
    const value = minor(id('much').value);
    const word = (hex) => hex.padStart(64, '0');
    return value && TRANSFER + word(place.dataset.to.slice(2).toLowerCase()) + word(value.toString(16));
  }

  async function onChain(provider, place) {
    const { chain, network, rpc, gas } = place.dataset;
    const ask = (method, params) => provider.request({ method, params });
    const is = async () => BigInt(await ask('eth_chainId')) === BigInt(chain);
    if (await is()) return true;
    try {
      await ask('wallet_switchEthereumChain', [{ chainId: chain }]);
    } catch (fault) {
      const unknown = fault?.code === UNKNOWN_CHAIN || fault?.data?.originalError?.code === UNKNOWN_CHAIN;
      if (!unknown || !rpc) return false;
      const nativeCurrency = { name: gas, symbol: gas, decimals: 18 };
      await ask('wallet_addEthereumChain', [{ chainId: chain, chainName: network, nativeCurrency, rpcUrls: [rpc] }]);
      if (!await is()) await ask('wallet_switchEthereumChain', [{ chainId: chain }]);
    }
    return is();
  }

  // Has the wallet's account do something on the right chain, and reports the outcome.
  async function withAccount(provider, failed, act) {
    const place = id('wallet');
    let outcome;
    asking = true;
    for (const button of place.querySelectorAll('button')) button.disabled = true;
    say('wait');
    try {
      const [from] = await provider.request({ method: 'eth_requestAccounts' });
      outcome = await onChain(provider, place) ? await act(from, place) : 'network';
    } catch (fault) {
      outcome = fault?.code === REFUSED ? 'refused' : failed;
    }
    asking = false;
    offer();
    say(outcome);
  }

  function pay(provider) {
    const place = id('wallet');
    const data = call(place);
    if (!data) {
      say('amount');
      return id('much').focus();
    }
    const shape = id('main').dataset.shape;
    return withAccount(provider, 'failed', async (from) => {
      const transaction = { from, to: place.dataset.token, data, value: '0x0' };
      await provider.request({ method: 'eth_sendTransaction', params: [transaction] });
      sessionStorage.setItem(sentKey, shape + ' ' + Date.now());
      return 'sent';
    });
  }

  // The wallet only signs (EIP-712); the bank sends the transfer and pays its gas (EIP-3009).
  function payFree(provider) {
    return withAccount(provider, 'unsent', async (from, { dataset: { authorization, to, token } }) => {
      const asked = await fetch(authorization + '&account=' + from, { cache: 'no-store' });
      if (!asked.ok) return 'unsent';
      const typed = await asked.json();
      if (typed.message.to !== to || typed.domain.verifyingContract !== token) return 'unsent';
      const signature = await provider.request({ method: 'eth_signTypedData_v4', params: [from, JSON.stringify(typed)] });
      const body = JSON.stringify({ ...typed.message, signature });
      const headers = { 'content-type': 'application/json' };
      const taken = await fetch(authorization, { method: 'POST', headers, body });
      if (!taken.ok) return 'unsent';
      // The page then shows it as being sent.
      look(id('main').dataset.status);
      return 'signed';
    });
  }

  // --- following the payment --------------------------------------------------------------------------------------------

  let following;
  let polling;

  function follow() {
    stop();
    const { stream, status } = id('main')?.dataset ?? {};
    if (!stream || document.hidden) return;
    const poll = () => { polling ??= setInterval(() => look(status), LOOK_MS); };
    if (!window.EventSource) return poll();
    following = new EventSource(stream);
    following.onmessage = (event) => take(JSON.parse(event.data));
    following.onopen = () => { clearInterval(polling); polling = undefined; };
    following.onerror = () => {
      if (following?.readyState === EventSource.CLOSED) poll();
    };
  }

  function stop() {
    following?.close();
    clearInterval(polling);
    following = polling = undefined;
  }

  async function look(status) {
    try {
      const answer = await fetch(status, { cache: 'no-store' });
      if (answer.ok || answer.status === 404) take(await answer.json());
    } catch { /* the network is down: the next poll may succeed */ }
  }

  const parse = (html) => new DOMParser().parseFromString(html, 'text/html');

  // The same HTML as in the page. Only changed parts are replaced, so that screen readers announce only those.
  function renew(html) {
    const live = id('live');
    const [now, next] = [[...live.children], [...parse(html).body.children]];
    if (now.length !== next.length) return live.replaceChildren(...next);
    now.forEach((child, at) => {
      if (child.outerHTML !== next[at].outerHTML) child.replaceWith(next[at]);
    });
  }

  async function take(update) {
    if (update.shape === id('main').dataset.shape) return renew(update.live);
    stop();
    const asked = performance.now();
    const answer = await fetch(location.href, { cache: 'no-store' }).catch(() => null);
    if (!answer?.ok) return answer ? location.reload() : follow();
    const next = parse(await answer.text());
    if (!next.getElementById('live')) return location.reload();
    const focused = id('rest').contains(document.activeElement);
    renew(next.getElementById('live').innerHTML);
    for (const part of ['steps', 'rest']) id(part).replaceWith(next.getElementById(part));
    const main = id('main');
    for (const name of ['shape', 'status', 'stream']) {
      const value = next.getElementById('main').dataset[name];
      if (value) main.dataset[name] = value; else delete main.dataset[name];
    }
    if (focused) main.focus();
    // The new page's seconds count from its own time.
    [began, ends] = [asked, undefined];
    enhance(main);
    follow();
  }

  // --- all together -----------------------------------------------------------------------------------------------------

  function enhance(root) {
    localTimes(root);
    // What only the script can do, and the promise that it keeps.
    for (const part of root.querySelectorAll('.copy, .print, .share, .updates')) part.hidden = false;
    clock();
    lookForWallets();
  }

  document.addEventListener('click', (event) => {
    const button = event.target.closest('.copy, .print, .share, .panel summary');
    if (button?.matches('.copy')) copy(button);
    if (button?.matches('.print')) print();
    if (button?.matches('.share')) share(button);
    // Once the sender has chosen a way, no other one is opened.
    if (button?.matches('summary') && id('phone')) id('phone').dataset.seen = '1';
    const languages = document.querySelector('.languages');
    if (!languages.contains(event.target)) languages.open = false;
  });
  document.addEventListener('keydown', (event) => {
    const languages = document.querySelector('.languages');
    if (event.key !== 'Escape' || !languages.open) return;
    languages.open = false;
    languages.querySelector('summary').focus();
  });
  document.addEventListener('visibilitychange', follow);
  addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });
  enhance(document);
  follow();
  // What a form answered is read first.
  document.querySelector('.answer')?.focus();
  setInterval(clock, 1000);
})();
