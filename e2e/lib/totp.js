// An authenticator app: one-time codes by time (RFC 6238, SHA-1, six digits, 30 seconds).
import { createHmac } from 'node:crypto';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const STEP_MS = 30_000;

function bytes(base32) {
  const bits = [...base32.replace(/[^A-Z2-7]/g, '')].map((letter) => LETTERS.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
}

export const step = () => Math.floor(Date.now() / STEP_MS);

// The code of a step, for the key as a page shows it.
export function code(key, atStep) {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(atStep));
  const mac = createHmac('sha1', bytes(key)).update(counter).digest();
  const number = mac.readUInt32BE(mac.at(-1) & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}
