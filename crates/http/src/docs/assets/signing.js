// The signing helper. It sends no data; the page's policy (connect-src 'none') would prevent it.
"use strict";

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
  const body = byId("sign-method").value === "POST" ? byId("sign-body").value : undefined;
  const roles = byId("sign-roles").value.split(/\s+/).filter(Boolean);
  const { header, claims, signed, signature, token } = await signedRequest({ url, access, secret, roles, body });
  const steps = [];
  if (body !== undefined) {
    steps.push(["hmac: HMAC-SHA256 of the body with the secret key's text, in lower-case hex", claims.hmac]);
  }
  steps.push(["Header", JSON.stringify(header, null, 2)], ["Claims", JSON.stringify(claims, null, 2)]);
  steps.push(["What is signed: both as base64url without padding, with a dot between", signed]);
  steps.push(["Signature: HMAC-SHA256 of that with the same key, as base64url", signature]);
  steps.push(["Token: valid for 60 seconds", token]);
  const lines = [`curl -sS ${quoted(url + byId("sign-path").value.trim())}`, `-H ${quoted(`authorization: Bearer ${token}`)}`];
  if (body !== undefined) lines.push("-H 'content-type: application/json'", `--data-binary ${quoted(body)}`);
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
  status.textContent = right ? (timely ? "Genuine." : "The signature is valid, but too old or too new: refuse it.") : "Forged: refuse it.";
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

helper();
