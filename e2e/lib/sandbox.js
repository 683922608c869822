// A separate sandbox for each test file, on a free port.
import { Program } from './program.js';

// Only the tests pay links.
const SIMULATED_SENDER_AFTER_S = '86400';

export class Sandbox extends Program {
  // `args` and `env` are added to the defaults. `history`: with the sample history. `people`: the
  // two console users, whose passwords are only printed in the text output, so the sandbox is
  // started without JSON output.
  static async start({ args = [], env = {}, history = false, people = false } = {}) {
    const sandbox = new Sandbox();
    const given = ['sandbox', '--port', '0', ...args];
    if (!history) given.push('--no-demo-data');
    if (!people) given.push('--output', 'json');
    await sandbox.begin(given, { CORRIDOR_WALLETS__SIMULATED_SENDER_AFTER_S: SIMULATED_SENDER_AFTER_S, ...env });
    try {
      if (people) await sandbox.#meet();
      else sandbox.keys = JSON.parse((await sandbox.lines(/^/))[0]);
    } catch (fault) {
      await sandbox.stop();
      throw new Error(`the sandbox did not start: ${fault.message}\n${sandbox.logTail()}`);
    }
    return sandbox;
  }

  get url() { return this.keys.base_url; }

  // Reads the text output for users; the values for programs come from `corridor env`.
  async #meet() {
    const card = await this.lines(/^ *Next, /);
    const person = (line) => line.match(/ (?<login>[a-z]+) +(?<password>\w{5}-\w{5}-\w{5})$/)?.groups;
    this.people = card.map(person).filter(Boolean);
    const [env] = await this.corridor('env');
    const key = ([name, value]) => [name.slice('CORRIDOR_'.length).toLowerCase(), value];
    this.keys = Object.fromEntries(Object.entries(env).map(key));
    this.keys.tokens = { USDC: this.keys.tokens_usdc, USDT: this.keys.tokens_usdt };
  }
}
