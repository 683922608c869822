// Tries an operation against the sandbox that serves the page, with its own keys. Ids of one answer are filled into the
// next request, for as long as the tab is open.
"use strict";

const IDS = "corridor.docs.ids";
const SEND = "Try it in the sandbox";
// An answer that has not ended by then is shown as a stream.
const STREAM_AFTER_MS = 1_000;
// Characters of a stream that stay on the page.
const STREAM_MAX_CHARS = 100_000;
const form = byId("try");

const ids = {
  all() { try { return JSON.parse(sessionStorage.getItem(IDS)) ?? {}; } catch { return {}; } },
  set(all) { try { sessionStorage.setItem(IDS, JSON.stringify(all)); } catch { /* not kept */ } },
  add(found) { ids.set({ ...ids.all(), ...found }); },
  forget(id) { ids.set(Object.fromEntries(Object.entries(ids.all()).filter(([, known]) => known !== id))); },
};

// What the page filled in itself, beyond the sample: it may be replaced, unlike what was typed.
const filled = new Map();

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
  // A wallet that is blacklisted stays so: this page takes one of its own when it is sent.
  const known = { ...ids.all(), ...(form.dataset.operation === "blacklistWallet" ? { wallet_id: form.dataset.wallet } : {}) };
  known.wallet_id ??= form.dataset.wallet;
  const path = byId("try-path");
  const body = byId("try-body");
  for (const [name, id] of [["quote", known.quote], ["payments", known.payment]]) {
    if (id) path.value = path.value.replace(new RegExp(`^(/v2/${name}/)[^?/]+`), `$1${id}`);
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

// An answer. One that does not end is a stream: `arrived` gets its text as it comes, until it is stopped.
async function call(method, path, body, { signal, arrived } = {}) {
  const { url, access, secret, roles } = form.dataset;
  const { token } = await signedRequest({ url, access, secret, roles: roles.split(" ").filter(Boolean), body });
  const headers = { authorization: `Bearer ${token}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  const answer = await fetch(path, { method, headers, body, signal });
  const { status, ok } = answer;
  let text = "";
  let streams = false;
  const timer = arrived && setTimeout(() => { streams = true; arrived(text, status); }, STREAM_AFTER_MS);
  try {
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    while (reader) {
      const { value, done } = await reader.read();
      if (done) break;
      if (streams) arrived(value, status); else text += value;
    }
  } finally {
    clearTimeout(timer);
  }
  if (streams) return { status, ok, text: null, json: null };
  const json = answer.headers.get("content-type")?.startsWith("application/json") ? parsed(text) : null;
  return { status, ok, text: json === null ? text : indented(text), json };
}

function parsed(text) {
  try { return JSON.parse(text); } catch { return null; }
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

// Replaces a member's value in a text of JSON, if it is still the sample's or was filled in before.
function put(body, name, value) {
  const member = new RegExp(`("${name}":\\s*)("(?:[^"\\\\]|\\\\.)*"|[^,}\\s]+)`);
  const [sample, now] = [body.defaultValue, body.value].map((text) => text.match(member)?.[2]);
  if (now === undefined || (now !== sample && now !== filled.get(name))) return;
  body.value = body.value.replace(member, (_, before) => before + value);
  filled.set(name, value);
}

// A payment needs a quote of its own: one is requested, and its id and amount are filled in. What was typed stays, and
// text that is not JSON is sent as it is.
async function quoteFor(body) {
  const typed = parsed(body.value);
  const sample = JSON.parse(body.defaultValue);
  const known = [sample.quote, filled.has("quote") ? JSON.parse(filled.get("quote")) : undefined];
  if (typed?.quote === undefined || !known.includes(typed.quote)) return;
  const { country, currency } = typed;
  const quote = await call("POST", "/v2/quote", JSON.stringify({ country, currency, amount: 500 }));
  if (!quote.ok) return;
  put(body, "quote", `"${quote.json.id}"`);
  put(body, "amount", quote.text.match(/"amount_destination": ([^,\n]+)/)[1]);
  put(body, "external_id", `"try-${quote.json.id.slice(0, 8)}"`);
}

// A wallet to be blacklisted, in place of the sample's.
async function walletFor(path) {
  const known = [form.dataset.wallet, filled.get("wallet")].find((id) => id && path.value.includes(id));
  if (!known) return;
  const name = `try-${crypto.randomUUID().slice(0, 8)}`;
  const customer = { customer_id: name, customer_email: `${name}@example.com`, customer_phone: "+923001234567" };
  const wanted = { ...customer, blockchain: "ethereum", kyc_level: "ENHANCED" };
  const made = await call("POST", "/v1/sdk/wallets/provision", JSON.stringify(wanted));
  if (!made.ok) return;
  path.value = path.value.replace(known, made.json.wallet_id);
  filled.set("wallet", made.json.wallet_id);
}

function learn(operation, answer) {
  const { wallet_id, existing_wallet_id } = answer.json ?? {};
  // The customer of the sample has a wallet already.
  if (answer.status === 409 && existing_wallet_id) return ids.add({ wallet_id: existing_wallet_id });
  if (!answer.ok) return undefined;
  if (operation === "blacklistWallet" || answer.json?.status === "BLACKLISTED") return ids.forget(wallet_id);
  const found = idsOf(answer.json);
  if (operation === "createQuote") found.quote = answer.json.id;
  if (operation === "createPayment") found.payment = answer.json.id;
  return ids.add(found);
}

async function send(stop) {
  const { operation, method } = form.dataset;
  const [path, body, shown, status] = ["try-path", "try-body", "try-answer", "try-status"].map(byId);
  const began = performance.now();
  if (operation === "createPayment") await quoteFor(body);
  if (operation === "blacklistWallet") await walletFor(path);
  const show = (text) => { shown.textContent = text; shown.hidden = false; };
  const arrived = (text, code) => {
    if (!stop.streams) {
      stop.streams = true;
      show("");
      status.textContent = `${code}: the stream is open`;
      form.classList.remove("failed");
      Object.assign(byId("try-send"), { textContent: "Stop", disabled: false });
    }
    shown.textContent = (shown.textContent + text).slice(-STREAM_MAX_CHARS);
    shown.scrollTop = shown.scrollHeight;
  };
  const answer = await call(method, path.value.trim(), body?.value, { signal: stop.signal, arrived });
  if (answer.text !== null) show(answer.text);
  status.textContent = `${answer.status} in ${Math.round(performance.now() - began)} ms`;
  form.classList.toggle("failed", !answer.ok);
  learn(operation, answer);
}

function failed(error) {
  byId("try-status").textContent = String(error);
  byId("try-answer").hidden = true;
  form.classList.add("failed");
}

if (form && globalThis.crypto?.subtle) {
  form.hidden = false;
  fillIn();
  const button = byId("try-send");
  let stop;
  button.addEventListener("click", async () => {
    if (stop) return stop.abort();
    stop = new AbortController();
    button.disabled = true;
    byId("try-status").textContent = "Sending…";
    try {
      await send(stop);
    } catch (error) {
      if (stop.signal.aborted) byId("try-status").textContent = "Stopped";
      else failed(error);
    }
    stop = undefined;
    Object.assign(button, { textContent: SEND, disabled: false });
    return undefined;
  });
}
