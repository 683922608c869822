// A browser wallet as a page sees one (EIP-1193, announced by EIP-6963): it holds no key. Its
// requests are answered outside the browser, by an account on the sandbox's chain.
const UNKNOWN_CHAIN = 4902;
const REFUSED = 4001;

export class Wallet {
  // `announced`: by EIP-6963, otherwise only as window.ethereum. `refusals`: number of transactions
  // rejected first.
  static async injected(page, account, { announced = true, refusals = 0, knows = false } = {}) {
    const wallet = new Wallet();
    Object.assign(wallet, { account, refusals, calls: [], chain: 1n, known: new Set([1n]) });
    if (knows) wallet.known.add(account.chainId);
    await page.exposeFunction('askWallet', async (method, params) => {
      try {
        wallet.calls.push({ method, params });
        return { result: await wallet.answer(method, ...params ?? []) };
      } catch (fault) {
        return { code: fault.code ?? -32603, message: fault.message };
      }
    });
    await page.addInitScript((isAnnounced) => {
      const provider = {
        async request({ method, params }) {
          const { result, code, message } = await window.askWallet(method, params);
          if (code) throw Object.assign(new Error(message), { code });
          return result;
        },
      };
      if (!isAnnounced) {
        window.ethereum = provider;
        return;
      }
      const info = { uuid: '350670db-19fa-4704-a166-e52e178b59d2', name: 'Test <Wallet>', rdns: 'test.wallet', icon: '' };
      const detail = Object.freeze({ info, provider });
      const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
      window.addEventListener('eip6963:requestProvider', announce);
      announce();
    }, announced);
    return wallet;
  }

  called(method) {
    return this.calls.filter((call) => call.method === method).map((call) => call.params?.[0]);
  }

  async answer(method, asked, typed) {
    const fail = (code, message) => { throw Object.assign(new Error(message), { code }); };
    switch (method) {
      case 'eth_requestAccounts':
        return [this.account.address];
      case 'eth_chainId':
        return `0x${this.chain.toString(16)}`;
      case 'wallet_switchEthereumChain':
        if (!this.known.has(BigInt(asked.chainId))) fail(UNKNOWN_CHAIN, 'unknown chain');
        this.chain = BigInt(asked.chainId);
        return null;
      case 'wallet_addEthereumChain':
        this.known.add(BigInt(asked.chainId));
        return null;
      case 'eth_sendTransaction':
        if (this.refusals-- > 0) fail(REFUSED, 'refused');
        if (asked.from !== this.account.address || BigInt(asked.value) !== 0n) fail(-32602, 'another transaction');
        if (this.chain !== this.account.chainId) fail(-32603, 'another chain');
        return this.account.send(asked.to, asked.data);
      case 'eth_signTypedData_v4':
        if (this.refusals-- > 0) fail(REFUSED, 'refused');
        if (asked !== this.account.address) fail(-32602, 'another account');
        return this.account.sign(JSON.parse(typed));
      default:
        return fail(-32601, `${method} is not there`);
    }
  }
}
