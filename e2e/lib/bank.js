// The bank's side: payment requests of its demo customer through the wallet API, and the sandbox's
// control calls.

export class Bank {
  constructor(sandbox) {
    this.keys = sandbox.keys;
  }

  async call(method, path, body) {
    const answer = await fetch(this.keys.wallet_base_url + path, {
      method,
      headers: { authorization: `Bearer ${this.keys.wallet_token}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  // A request for an amount of a token; `more` changes the body.
  request(value, more = {}) {
    const amount = { type: 'crypto', value, currency: 'USDC' };
    return this.call('POST', '/v1/sdk/payment-requests', { wallet_id: this.keys.wallet_id, amount, purpose: 'Rent', ...more });
  }

  cancel(request) {
    return this.call('POST', `/v1/sdk/payment-requests/${request.payment_request_id}/cancel`, {});
  }

  // Values that a page must never show.
  async secrets() {
    const wallet = await this.call('GET', `/v1/sdk/wallets/${this.keys.wallet_id}`);
    return [wallet.wallet_id, wallet.wallet_address, wallet.customer_id];
  }

  async sandbox(path) {
    const answer = await fetch(this.keys.base_url + path, { method: 'POST' });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  letPass(seconds) {
    return this.sandbox(`/sandbox/clock?seconds=${seconds}`);
  }
}
