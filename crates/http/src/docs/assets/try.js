// Tries an operation against the sandbox that serves the page, with its own keys. Ids of one answer are filled into the
// next request, for as long as the tab is open.
"use strict";

const IDS = "corridor.docs.ids";
const form = byId("try");

const ids = {
  all() { try { return JSON.parse(sessionStorage.getItem(IDS)) ?? {}; } catch { return {}; } },
  add(found) { try { sessionStorage.setItem(IDS, JSON.stringify({ ...ids.all(), ...found })); } catch { /* not kept */ } },
};

// The ids of an answer by name: `wallet_id`, `order_id` …; of a list, those of its first entry.
function idsOf(value, found = {}) {
  if (value === null || typeof value !== "object") return found;
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === "string" && name.endsWith("_id") && !(name in found)) found[name] = member;
    else idsOf(member, found);
  }
  return found;
}

// Path and body with the ids that are known.
function fillIn() {
  const known = { wallet_id: form.dataset.wallet, ...ids.all() };
  const path = byId("try-path");
  const body = byId("try-body");
  for (const [name, id] of [["quote", known.quote], ["payments", known.payment]]) {
    if (id) path.value = path.value.replace(new RegExp(`^(/v2/${name}/)[^?]+`), `$1${id}`);
  }
  const places = { wallets: "wallet_id", "payment-requests": "payment_request_id", transactions: "transaction_id",
    reviews: "transaction_id", orders: "order_id", deliveries: "delivery_id" };
  for (const [place, name] of Object.entries(places)) {
    const uuid = new RegExp(`(/${place}/)[0-9a-f]{8}-[0-9a-f-]{27}`);
    if (known[name]) path.value = path.value.replace(uuid, `$1${known[name]}`);
  }
  path.value = path.value.replace(/(wallet_id=)[0-9a-f-]{36}/, `$1${known.wallet_id}`);
  if (body) body.value = body.value.replace(/("wallet_id":\s*")[^"]+/, `$1${known.wallet_id}`);
}

async function call(method, path, body) {
  const { url, access, secret, roles } = form.dataset;
  const { token } = await signedRequest({ url, access, secret, roles: roles.split(" ").filter(Boolean), body });
  const headers = { authorization: `Bearer ${token}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  const answer = await fetch(path, { method, headers, body });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  return { status: answer.status, ok: answer.ok, text: isJson ? indented(text) : text, json: isJson ? JSON.parse(text) : null };
}

// JSON on several lines, with its numbers as they are: parsing would round them.
function indented(text) {
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  return text.replace(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|\s+/g, (token) => {
    switch (token) {
      case "{": case "[": depth += 1; return token + line();
      case "}": case "]": depth -= 1; return line() + token;
      case ",": return token + line();
      case ":": return ": ";
      default: return token.trim();
    }
  });
}

// An order needs a quote of its own: one is requested, and its id and amount are filled in.
async function quoteFor(body) {
  const { country, currency } = JSON.parse(body.value);
  const quote = await call("POST", "/v2/quote", JSON.stringify({ country, currency, amount: 500 }));
  if (!quote.ok) return;
  const amount = quote.text.match(/"amount_destination": ([^,\n]+)/)[1];
  const values = { quote: `"${quote.json.id}"`, amount, external_id: `"try-${quote.json.id.slice(0, 8)}"` };
  for (const [name, value] of Object.entries(values)) {
    body.value = body.value.replace(new RegExp(`("${name}":\\s*)("[^"]*"|[^,}\\s]+)`), `$1${value}`);
  }
}

async function send() {
  const { operation, method } = form.dataset;
  const body = byId("try-body");
  const shown = byId("try-answer");
  const began = performance.now();
  if (operation === "createPayment") await quoteFor(body);
  const answer = await call(method, byId("try-path").value.trim(), body?.value);
  shown.textContent = answer.text;
  shown.hidden = false;
  byId("try-status").textContent = `${answer.status} in ${Math.round(performance.now() - began)} ms`;
  form.classList.toggle("failed", !answer.ok);
  if (!answer.ok) return;
  const found = idsOf(answer.json);
  if (operation === "createQuote") found.quote = answer.json.id;
  if (operation === "createPayment") found.payment = answer.json.id;
  ids.add(found);
}

if (form && globalThis.crypto?.subtle) {
  form.hidden = false;
  fillIn();
  const button = byId("try-send");
  button.addEventListener("click", async () => {
    button.disabled = true;
    byId("try-status").textContent = "Sending…";
    try { await send(); } catch (error) { byId("try-status").textContent = String(error); }
    button.disabled = false;
  });
}
