// Signatures of requests and webhooks, in the browser. Classic script: its functions are there for the scripts after it.
"use strict";

const byId = (id) => document.getElementById(id);
const utf8 = (text) => new TextEncoder().encode(text);
const latin1 = (bytes) => String.fromCharCode(...new Uint8Array(bytes));
const base64 = (bytes) => btoa(latin1(bytes));
const base64url = (bytes) => base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const hex = (bytes) => [...new Uint8Array(bytes)].map((one) => one.toString(16).padStart(2, "0")).join("");

async function hmac(key, data) {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return crypto.subtle.sign("HMAC", imported, data);
}

// Signs a request: the token and what it is made of. Without a body there is no `hmac`.
async function signedRequest({ url, access, secret, roles, body }) {
  const key = utf8(secret);
  const now = Math.floor(Date.now() / 1000);
  const header = { alg: "HS256", typ: "JWT", kid: access };
  const claims = { sub: access, aud: url, iss: url, iat: now, exp: now + 60 };
  if (roles.length) claims.roles = roles;
  if (body !== undefined) claims.hmac = hex(await hmac(key, utf8(body)));
  const signed = `${base64url(utf8(JSON.stringify(header)))}.${base64url(utf8(JSON.stringify(claims)))}`;
  const signature = base64url(await hmac(key, utf8(signed)));
  return { header, claims, signed, signature, token: `${signed}.${signature}` };
}
