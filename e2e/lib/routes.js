// The console's pages: its own access tables (console/access.rs and those of its parts).
import { readdir, readFile } from 'node:fs/promises';

const CONSOLE = new URL('../../crates/console/src/', import.meta.url);
const ROW = /\bget\("(\/console[^"]*)"/g;

export async function pages() {
  const files = await readdir(CONSOLE, { recursive: true });
  const tables = files.filter((file) => file.endsWith('access.rs'));
  const texts = await Promise.all(tables.map((file) => readFile(new URL(file, CONSOLE), 'utf8')));
  return texts.flatMap((text) => [...text.matchAll(ROW)].map(([, path]) => path));
}

// The row that a path matches: {id} and {tenant} stand for one segment.
export function rowOf(path, rows) {
  const fits = (row) => new RegExp(`^${row.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
  return rows.find((row) => row === path) ?? rows.find(fits);
}
