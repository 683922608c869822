// Converts a screenshot to a small PNG: at most 256 colours, one byte per pixel (PNG specification,
// "Indexed-colour"). A browser writes three or four bytes per pixel, while a page of text needs few
// colours.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = 8;
const CHANNELS = { 2: 3, 6: 4 };

function chunks(png) {
  const found = [];
  for (let at = SIGNATURE; at < png.length;) {
    const length = png.readUInt32BE(at);
    found.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return found;
}

// The pixels after reversing each line's filter (RFC 2083, 6): all channels of all lines.
function pixels(raw, width, height, channels) {
  const stride = width * channels;
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const left = x < channels ? 0 : out[y * stride + x - channels];
      const up = y === 0 ? 0 : out[(y - 1) * stride + x];
      const corner = x < channels || y === 0 ? 0 : out[(y - 1) * stride + x - channels];
      const guess = left + up - corner;
      const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
      const paeth = a <= b && a <= c ? left : b <= c ? up : corner;
      const added = [0, left, up, (left + up) >> 1, paeth][filter];
      out[y * stride + x] = raw[y * (stride + 1) + 1 + x] + added;
    }
  }
  return out;
}

const distance = (one, other) => [16, 8, 0].reduce((sum, bit) => sum + ((one >> bit & 255) - (other >> bit & 255)) ** 2, 0);

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

// The same picture in its most frequent colours; rare ones become the nearest of them.
export function small(png, colours) {
  const all = chunks(png);
  const head = Buffer.from(all.find(({ type }) => type === 'IHDR').data);
  const [width, height, channels] = [head.readUInt32BE(0), head.readUInt32BE(4), CHANNELS[head[9]]];
  if (head[8] !== 8 || !channels || head[12] !== 0) throw new Error('a browser writes 8 bits of RGB or RGBA, not interlaced');
  const raw = inflateSync(Buffer.concat(all.filter(({ type }) => type === 'IDAT').map(({ data }) => data)));
  const from = pixels(raw, width, height, channels);
  const colour = (at) => from.readUIntBE(at * channels, 3);
  const counts = new Map();
  for (let at = 0; at < width * height; at += 1) counts.set(colour(at), (counts.get(colour(at)) ?? 0) + 1);
  const palette = [...counts].sort((one, other) => other[1] - one[1]).slice(0, colours).map(([value]) => value);
  const places = new Map(palette.map((value, place) => [value, place]));
  const nearest = (value) => palette.reduce((best, other, place) => (distance(value, other) < distance(value, palette[best]) ? place : best), 0);
  const lines = Buffer.alloc((width + 1) * height);
  for (let at = 0; at < width * height; at += 1) {
    const value = colour(at);
    if (!places.has(value)) places.set(value, nearest(value));
    lines[Math.floor(at / width) * (width + 1) + 1 + at % width] = places.get(value);
  }
  head[9] = 3;
  const table = Buffer.from(palette.flatMap((value) => [value >> 16, value >> 8 & 255, value & 255]));
  const parts = [chunk('IHDR', head), chunk('PLTE', table), chunk('IDAT', deflateSync(lines, { level: 9 })), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([png.subarray(0, SIGNATURE), ...parts]);
}
