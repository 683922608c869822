// The program under test (CORRIDOR_BIN) as a process with its own data directory, which is deleted
// afterwards.
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const READY_WITHIN_MS = 60_000;
const STOPPED_WITHIN_MS = 20_000;
const COMMAND_WITHIN_MS = 60_000;
const LOG_TAIL_CHARS = 4_000;
// The address of a client is the one that it reports.
const BEHIND_A_PROXY = { CORRIDOR_HTTP__TRUSTED_PROXIES: '["127.0.0.0/8"]' };

export class Program {
  #child;
  #log = '';

  constructor() {
    const binary = process.env.CORRIDOR_BIN;
    if (!binary) throw new Error('CORRIDOR_BIN must name the program that is tested');
    this.binary = resolve(binary);
  }

  // Starts it with a new data directory.
  async begin(args, env = {}) {
    this.dir = await mkdtemp(join(tmpdir(), 'corridor-e2e-'));
    this.#child = spawn(this.binary, [...args, '--data-dir', this.dir], {
      env: { ...process.env, ...BEHIND_A_PROXY, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stderr.on('data', (data) => { this.#log += data; });
  }

  get log() { return this.#log; }

  logTail() { return this.#log.slice(-LOG_TAIL_CHARS); }

  // Runs a command of the same program beside it; returns its output, one value per line.
  async corridor(...args) {
    const given = [...args, '--data-dir', this.dir, '--output', 'json'];
    const { stdout } = await promisify(execFile)(this.binary, given, { timeout: COMMAND_WITHIN_MS });
    return stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  }

  // The first lines of its output or log, up to one that matches.
  lines(until, stream = 'stdout') {
    return new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error('not ready in time')), READY_WITHIN_MS);
      const lines = [];
      createInterface({ input: this.#child[stream] }).on('line', (line) => {
        lines.push(line);
        if (!until.test(line)) return;
        clearTimeout(timer);
        done(lines);
      });
      this.#child.once('error', fail);
      this.#child.once('exit', (code) => fail(new Error(`ended with ${code}`)));
    });
  }

  async stop() {
    const child = this.#child;
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((done) => { child.once('exit', done); });
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOPPED_WITHIN_MS);
      await ended;
      clearTimeout(timer);
    }
    await rm(this.dir, { recursive: true, force: true });
  }
}
