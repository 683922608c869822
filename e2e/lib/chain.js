// An account with tokens on the sandbox's chain, which pays like any wallet or exchange: signed
// bytes to its JSON-RPC.
import { addr, signTyped, Transaction } from 'micro-eth-signer';

const TRANSFER = 'a9059cbb';
const BALANCE_OF = '70a08231';
const GAS_LIMIT = 200_000n;
const MAX_FEE_WEI = 100_000_000_000n;
const MINED_WITHIN_MS = 30_000;
const LOOK_MS = 100;

export class Account {
  #before = Promise.resolve();

  static async funded(bank, coins = { USDC: '1000.00', USDT: '1000.00' }) {
    const account = new Account();
    account.keys = bank.keys;
    const { privateKey, address } = addr.random();
    Object.assign(account, { privateKey, address });
    for (const [currency, amount] of Object.entries(coins)) {
      await bank.sandbox(`/sandbox/faucet?address=${address}&amount=${amount}&currency=${currency}`);
    }
    account.chainId = BigInt(await account.rpc('eth_chainId'));
    return account;
  }

  async rpc(method, params = []) {
    const answer = await fetch(this.keys.chain_rpc_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = await answer.json();
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  // Without gas: the faucet funds every account that it gives tokens to.
  static async penniless(bank, richer, coin, minor) {
    const { privateKey, address } = addr.random();
    const account = Object.assign(new Account(), { keys: bank.keys, privateKey, address, chainId: richer.chainId });
    await richer.pay(coin, address, minor);
    return account;
  }

  // Signs typed data (EIP-712) as browser wallets do.
  sign(typed) {
    const message = Object.entries(typed.message).map(([name, value]) => {
      const { type } = typed.types[typed.primaryType].find((field) => field.name === name);
      return [name, type.startsWith('uint') ? BigInt(value) : value];
    });
    const domain = { ...typed.domain, chainId: BigInt(typed.domain.chainId) };
    return signTyped({ ...typed, domain, message: Object.fromEntries(message) }, this.privateKey);
  }

  // Signs and sends a call of a contract, after those before it; returns the transaction hash.
  send(to, data) {
    const sent = this.#before.then(() => this.#send(to, data));
    this.#before = sent.catch(() => {});
    return sent;
  }

  async #send(to, data) {
    const nonce = BigInt(await this.rpc('eth_getTransactionCount', [this.address, 'pending']));
    const prepared = Transaction.prepare({
      to: addr.addChecksum(to.toLowerCase()),
      data,
      value: 0n,
      nonce,
      chainId: this.chainId,
      gasLimit: GAS_LIMIT,
      maxFeePerGas: MAX_FEE_WEI,
    });
    return this.rpc('eth_sendRawTransaction', [prepared.signBy(this.privateKey).toHex()]);
  }

  // Pays minor units of a token; returns the hash of the transaction, which is already mined.
  async pay(coin, to, minor) {
    const word = (hex) => hex.padStart(64, '0');
    const data = `0x${TRANSFER}${word(to.slice(2).toLowerCase())}${word(BigInt(minor).toString(16))}`;
    const hash = await this.send(this.keys.tokens[coin], data);
    await this.mined(hash);
    return hash;
  }

  // The balance in minor units of a token.
  async balance(coin) {
    const data = `0x${BALANCE_OF}${this.address.slice(2).toLowerCase().padStart(64, '0')}`;
    return BigInt(await this.rpc('eth_call', [{ to: this.keys.tokens[coin], data }, 'latest']));
  }

  async mined(hash) {
    const until = Date.now() + MINED_WITHIN_MS;
    for (;;) {
      const receipt = await this.rpc('eth_getTransactionReceipt', [hash]);
      if (receipt?.status === '0x1') return receipt;
      if (receipt) throw new Error(`${hash} was reverted`);
      if (Date.now() > until) throw new Error(`${hash} is not mined`);
      await new Promise((done) => { setTimeout(done, LOOK_MS); });
    }
  }
}
