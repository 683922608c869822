// The documentation's script: the search on the start page, and the signing helper. It sends no data; the pages' policy
// (connect-src 'none') would prevent it.
"use strict";

const byId = (id) => document.getElementById(id);

// ---- search: hides list items that do not match; without the script the full list is shown ----

function search() {
  const field = byId("search");
  if (!field) return;
  byId("search-box").hidden = false;
  const items = [...document.querySelectorAll("#everything li")];
  const sections = [...document.querySelectorAll("#everything section")];
  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (item) => words.every((word) => item.textContent.toLowerCase().includes(word));
    let found = 0;
    for (const item of items) {
      item.hidden = !matches(item);
      if (!item.hidden && !item.querySelector("li")) found += 1;
    }
    for (const folded of document.querySelectorAll("#everything details")) folded.open = words.length > 0;
    for (const section of sections) section.hidden = !section.querySelector("li:not([hidden])");
    byId("search-status").textContent = words.length ? `${found} found` : "";
  };
  field.addEventListener("input", apply);
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) field.value = asked;
  apply();
}

// ---- signing ----

const utf8 = (text) => new TextEncoder().encode(text);
const latin1 = (bytes) => String.fromCharCode(...new Uint8Array(bytes));
const base64 = (bytes) => btoa(latin1(bytes));
const base64url = (bytes) => base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const hex = (bytes) => [...new Uint8Array(bytes)].map((one) => one.toString(16).padStart(2, "0")).join("");

async function hmac(key, data) {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return crypto.subtle.sign("HMAC", imported, data);
}

// Quotes a text in single quotes for a POSIX shell.
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

function show(list, steps) {
  list.replaceChildren(
    ...steps.map(([title, text]) => {
      const item = document.createElement("li");
      const words = document.createElement("span");
      words.textContent = title;
      const block = document.createElement("pre");
      block.tabIndex = 0;
      block.textContent = text;
      item.append(words, block);
      return item;
    }),
  );
}

async function sign() {
  const url = byId("sign-url").value.trim().replace(/\/+$/, "");
  const access = byId("sign-access").value.trim();
  const secret = byId("sign-secret").value.trim();
  const status = byId("sign-status");
  if (!url || !access || !secret) {
    show(byId("sign-steps"), []);
    status.textContent = "API URL, access key and secret key are needed.";
    return;
  }
  const post = byId("sign-method").value === "POST";
  const body = byId("sign-body").value;
  const roles = byId("sign-roles").value.split(/\s+/).filter(Boolean);
  const key = utf8(secret);
  const now = Math.floor(Date.now() / 1000);
  const header = { alg: "HS256", typ: "JWT", kid: access };
  const claims = { sub: access, aud: url, iss: url, iat: now, exp: now + 60 };
  if (roles.length) claims.roles = roles;
  const steps = [];
  if (post) {
    claims.hmac = hex(await hmac(key, utf8(body)));
    steps.push(["hmac: HMAC-SHA256 of the body with the secret key's text, in lower-case hex", claims.hmac]);
  }
  steps.push(["Header", JSON.stringify(header, null, 2)], ["Claims", JSON.stringify(claims, null, 2)]);
  const signed = `${base64url(utf8(JSON.stringify(header)))}.${base64url(utf8(JSON.stringify(claims)))}`;
  steps.push(["What is signed: both as base64url without padding, with a dot between", signed]);
  const signature = base64url(await hmac(key, utf8(signed)));
  steps.push(["Signature: HMAC-SHA256 of that with the same key, as base64url", signature]);
  const token = `${signed}.${signature}`;
  steps.push(["Token: valid for 60 seconds", token]);
  const lines = [`curl -sS ${quoted(url + byId("sign-path").value.trim())}`, `-H ${quoted(`authorization: Bearer ${token}`)}`];
  if (post) lines.push("-H 'content-type: application/json'", `--data-binary ${quoted(body)}`);
  steps.push(["The request", lines.join(" \\\n  ")]);
  show(byId("sign-steps"), steps);
  status.textContent = "Signed.";
}

async function verify() {
  const status = byId("verify-status");
  let key;
  try {
    key = Uint8Array.from(atob(byId("verify-secret").value.trim().replace(/^whsec_/, "")), (c) => c.charCodeAt(0));
  } catch {
    key = new Uint8Array();
  }
  if (!key.length) {
    show(byId("verify-steps"), []);
    status.textContent = "The secret is whsec_ and base64.";
    return;
  }
  const [id, sent] = [byId("verify-id").value.trim(), byId("verify-timestamp").value.trim()];
  const signed = `${id}.${sent}.${byId("verify-body").value}`;
  const expected = `v1,${base64(await hmac(key, utf8(signed)))}`;
  const given = byId("verify-signature").value.trim().split(" ");
  const right = given.includes(expected);
  const age = Math.floor(Date.now() / 1000) - Number(sent);
  const timely = /^[0-9]+$/.test(sent) && Math.abs(age) <= 300;
  show(byId("verify-steps"), [
    ["What is signed: id, timestamp and body with dots between", signed],
    ["Expected: v1, and the base64 of HMAC-SHA256 with the secret's bytes", expected],
    ["Given", given.join("\n")],
    ["Age in seconds: a receiver refuses more than 300 either way", String(age)],
  ]);
  status.textContent = right ? (timely ? "Genuine." : "Signed rightly, but too old or too new: refuse it.") : "Forged: refuse it.";
}

function helper() {
  if (!byId("sign-go")) return;
  if (!globalThis.crypto?.subtle) {
    byId("insecure").hidden = false;
    return;
  }
  for (const section of document.querySelectorAll("[data-needs-script]")) section.hidden = false;
  byId("sign-url").value = location.origin;
  const guarded = (work, status) => () =>
    work().catch((error) => {
      byId(status).textContent = String(error);
    });
  byId("sign-go").addEventListener("click", guarded(sign, "sign-status"));
  byId("verify-go").addEventListener("click", guarded(verify, "verify-status"));
  const method = byId("sign-method");
  method.addEventListener("change", () => {
    byId("sign-body").disabled = method.value !== "POST";
  });
}

search();
helper();
