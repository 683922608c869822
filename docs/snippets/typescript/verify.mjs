// @ts-check
// Verifies a webhook: node verify.mjs <webhook-id> <webhook-timestamp> <webhook-signature> [now] < raw body
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";

const TOLERANCE_S = 300;

/**
 * @param {string[]} secrets
 * @param {string} id
 * @param {string} sent
 * @param {string} signatures
 * @param {Buffer} body the raw bytes, before any parsing
 * @param {number} now UNIX seconds
 */
export function genuine(secrets, id, sent, signatures, body, now) {
  if (!/^[0-9]{1,15}$/.test(sent) || Math.abs(now - Number(sent)) > TOLERANCE_S) return false;
  let found = false;
  for (const secret of secrets) {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    const expected = Buffer.from("v1," + createHmac("sha256", key).update(`${id}.${sent}.`).update(body).digest("base64"));
    for (const one of signatures.split(" ")) {
      const given = Buffer.from(one);
      if (given.length === expected.length && timingSafeEqual(given, expected)) found = true;
    }
  }
  return found;
}

const [id, sent, signatures, now] = process.argv.slice(2);
// One secret, or two separated by a space during a rotation.
const secrets = (process.env.CORRIDOR_WEBHOOK_SECRET ?? "").split(" ").filter(Boolean);
const at = now === undefined ? Math.floor(Date.now() / 1000) : Number(now);
const verdict = genuine(secrets, id, sent, signatures, readFileSync(0), at);
console.log(verdict ? "genuine" : "forged");
process.exitCode = verdict ? 0 : 1;
