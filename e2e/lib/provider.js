// A small OpenID provider under another name of this machine: another site to a browser. It needs
// no user interaction.
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { createServer } from 'node:http';

const CLIENT_ID = 'corridor-console';
const CLIENT_SECRET = 'secret';
const LIFE_S = 300;

const base64url = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

export class Provider {
  #server;
  #grants = new Map();
  #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  static async start() {
    const provider = new Provider();
    provider.#server = createServer((request, response) => provider.#answer(request, response));
    await new Promise((done) => { provider.#server.listen(0, '127.0.0.1', done); });
    provider.issuer = `http://localhost:${provider.#server.address().port}`;
    return provider;
  }

  // Environment variables of the service.
  get env() {
    return {
      CORRIDOR_CONSOLE__OIDC__ISSUER: this.issuer,
      CORRIDOR_CONSOLE__OIDC__CLIENT_ID: CLIENT_ID,
      CORRIDOR_CONSOLE__OIDC__CLIENT_SECRET: CLIENT_SECRET,
      CORRIDOR_CONSOLE__OIDC__LABEL: 'Sign in with Example Bank',
    };
  }

  // The account that is signed in.
  account = { sub: 'stranger', email: 'stranger@bank.example' };

  async #answer(request, response) {
    const url = new URL(request.url, this.issuer);
    const json = (status, body) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const { issuer } = this;
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return json(200, {
          issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys`,
        });
      case '/keys':
        return json(200, { keys: [{ ...this.#keys.publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'ES256' }] });
      case '/authorize': {
        const asked = Object.fromEntries(url.searchParams);
        const code = randomUUID();
        this.#grants.set(code, { ...asked, ...this.account });
        const back = `${asked.redirect_uri}?code=${code}&state=${asked.state}`;
        return response.writeHead(302, { location: back }).end();
      }
      case '/token': {
        let text = '';
        for await (const chunk of request) text += chunk;
        const given = Object.fromEntries(new URLSearchParams(text));
        const grant = this.#grants.get(given.code);
        this.#grants.delete(given.code);
        const challenge = createHash('sha256').update(given.code_verifier ?? '').digest('base64url');
        const known = request.headers.authorization === `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}`;
        if (!known || grant?.code_challenge !== challenge || grant.redirect_uri !== given.redirect_uri) {
          return json(400, { error: 'invalid_grant' });
        }
        return json(200, { access_token: 'of no use', token_type: 'Bearer', id_token: this.#token(grant) });
      }
      default:
        return json(404, {});
    }
  }

  #token({ sub, email, nonce }) {
    const iat = Math.floor(Date.now() / 1000);
    const claims = { iss: this.issuer, aud: CLIENT_ID, sub, email, email_verified: true, nonce, iat, exp: iat + LIFE_S };
    const signed = `${base64url({ alg: 'ES256', kid: 'k' })}.${base64url(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.#keys.privateKey, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }

  stop() {
    this.#server.closeAllConnections();
    return new Promise((done) => { this.#server.close(done); });
  }
}
