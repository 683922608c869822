// Runs the documentation's script as the running service serves it, in a page that is as small as it allows, and does with
// what it makes what a reader would do. Prints one JSON value.
import { createHmac } from "node:crypto";
import vm from "node:vm";

const env = (name) => process.env["CORRIDOR_" + name];
const url = env("BASE_URL");
const scripts = ["tokens", "signing"].map(async (name) => (await fetch(`${url}/docs/${name}.js`)).text());
const source = (await Promise.all(scripts)).join("\n");
const page = await (await fetch(`${url}/docs/signing`)).text();

const elements = new Map();
const make = () => ({
  value: "", hidden: true, textContent: "", children: [], listeners: {},
  addEventListener(name, listener) { this.listeners[name] = listener; },
  replaceChildren(...children) { this.children = children; },
  append(...children) { this.children.push(...children); },
});
const document = {
  getElementById(id) {
    if (!page.includes(` id="${id}"`)) return null;
    if (!elements.has(id)) elements.set(id, make());
    return elements.get(id);
  },
  createElement: make,
  querySelectorAll: () => [],
};
// No fetch, no XMLHttpRequest: an attempt to send data fails here.
vm.runInNewContext(source, {
  document, crypto, TextEncoder, btoa, atob, Uint8Array, location: { origin: url },
});

const field = (id, value) => { document.getElementById(id).value = value; };
async function click(button, status) {
  document.getElementById(status).textContent = "";
  document.getElementById(button).listeners.click();
  while (!document.getElementById(status).textContent) await new Promise(setImmediate);
  return document.getElementById(status).textContent;
}

const body = '{"country":"PAK","currency":"AED","amount":500}';
field("sign-access", env("ACCESS_KEY"));
field("sign-secret", env("SECRET_KEY"));
field("sign-method", "POST");
field("sign-path", "/v2/quote");
field("sign-body", body);
const signed = await click("sign-go", "sign-status");
const steps = document.getElementById("sign-steps").children.map((step) => step.children.map((part) => part.textContent));
const token = steps.find(([title]) => title.startsWith("Token"))[1];
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
const answer = await fetch(`${url}/v2/quote`, { method: "POST", headers, body });

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const at = Math.floor(Date.now() / 1000);
const mac = (sent) => createHmac("sha256", Buffer.from(secret.slice(6), "base64")).update(`id-1.${sent}.{"a":1}`).digest("base64");
async function verified(sent, given) {
  field("verify-secret", secret);
  field("verify-id", "id-1");
  field("verify-timestamp", String(sent));
  field("verify-signature", `v1,${mac(sent)}`);
  field("verify-body", given);
  return click("verify-go", "verify-status");
}

console.log(JSON.stringify({
  signed, status: answer.status, quote: await answer.json(), steps,
  genuine: await verified(at, '{"a":1}'),
  tampered: await verified(at, '{"a":2}'),
  old: await verified(at - 4000, '{"a":1}'),
}));
