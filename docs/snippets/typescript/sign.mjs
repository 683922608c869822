// @ts-check
// Signs one call to each service and sends it using only Node's built-in modules. The keys come from the environment.
// Types are in comments, so that Node runs this file unchanged and TypeScript checks it (checkJs).
import { createHmac } from "node:crypto";

/** @param {string} name */
function env(name) {
  const value = process.env["CORRIDOR_" + name];
  if (!value) throw new Error(`CORRIDOR_${name} is not set`);
  return value;
}

/** @param {unknown} value */
const b64url = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/**
 * @param {string} accessKey
 * @param {string} secretKey the key is its text, not its base64-decoded bytes
 * @param {string} apiUrl
 * @param {Record<string, unknown>} more
 */
function token(accessKey, secretKey, apiUrl, more) {
  const now = Math.floor(Date.now() / 1000);
  const header = { alg: "HS256", typ: "JWT", kid: accessKey };
  const claims = { sub: accessKey, aud: apiUrl, iss: apiUrl, iat: now, exp: now + 60, ...more };
  const signed = `${b64url(header)}.${b64url(claims)}`;
  return `${signed}.${createHmac("sha256", secretKey).update(signed).digest("base64url")}`;
}

/**
 * @param {string} url
 * @param {string} bearer
 * @param {string} [body]
 */
async function send(url, bearer, body) {
  const answer = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
    body,
    signal: AbortSignal.timeout(30_000),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${text}`);
  return text;
}

// POST: the claim `hmac` covers exactly the bytes that are sent.
const body = JSON.stringify({ country: "PAK", currency: "AED", amount: 500 });
const hmac = createHmac("sha256", env("SECRET_KEY")).update(body).digest("hex");
const forPayments = token(env("ACCESS_KEY"), env("SECRET_KEY"), env("BASE_URL"), { hmac });
console.log(await send(`${env("BASE_URL")}/v2/quote`, forPayments, body));

// GET: no body, no hmac. Wallet tokens carry roles.
const wallets = env("WALLET_BASE_URL");
const forWallets = token(env("WALLET_ACCESS_KEY"), env("WALLET_SECRET_KEY"), wallets, { roles: ["wallet_manager"] });
console.log(await send(`${wallets}/v1/sdk/wallets/${env("WALLET_ID")}`, forWallets));
