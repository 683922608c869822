// People of the operator console in browsers of their own, and what they do on its pages.
import { visit } from './browser.js';

export const TENANT = '/console/t/demobank';

// Somebody who has signed in. `choosing`: the password that somebody chooses who signs in for the first time. The other
// options are those of `visit`.
export async function officer(browser, sandbox, person, { choosing, ...options } = {}) {
  const visited = await visit(browser, new URL(sandbox.url).origin, { viewport: { width: 1280, height: 900 }, ...options });
  const somebody = new Officer({ ...visited, url: sandbox.url, login: person.login });
  await somebody.go('/console');
  await somebody.signIn(person);
  if (choosing) await somebody.choose(choosing);
  await somebody.page.getByRole('link', { name: person.login, exact: true }).waitFor();
  return somebody;
}

export class Officer {
  constructor(parts) {
    Object.assign(this, parts);
  }

  go(path) {
    return this.page.goto(new URL(path, this.url).href);
  }

  // A page of the tenant.
  at(path) {
    return this.go(TENANT + path);
  }

  get path() {
    return new URL(this.page.url()).pathname;
  }

  async signIn({ login, password }) {
    await this.page.fill('#login', login);
    await this.page.fill('#password', password);
    await this.press('Sign in');
  }

  async choose(password) {
    for (const label of ['New password', 'Repeat password']) await this.page.getByLabel(label).fill(password);
    await this.press('Continue');
  }

  // Presses a button and waits for the page that comes of it.
  async press(name, within = this.page.locator('main')) {
    const button = within.getByRole('button', { name, exact: true });
    await Promise.all([this.page.waitForEvent('load'), button.click()]);
  }

  // Types into the one box above every page; the path that it leads to.
  async find(text) {
    await this.page.fill('#find', text);
    await this.press('Find', this.page.locator('header'));
    return this.path;
  }

  // The words of a fact of the page.
  fact(name) {
    return this.page.locator('.facts > div', { has: this.page.locator('dt', { hasText: new RegExp(`^${name}$`) }) }).locator('dd').first();
  }

  // What the page says of what was just done.
  done() {
    return this.page.locator('.done').textContent();
  }

  // What the page says where it refuses.
  fault() {
    return this.page.locator('.fault').textContent();
  }

  main() {
    return this.page.locator('main').innerText();
  }

  // The link of the page whose address looks like this.
  async link(pattern) {
    const all = await this.page.locator('main a').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    const found = all.find((href) => pattern.test(href));
    if (!found) throw new Error(`${this.page.url()} has no link like ${pattern}: ${all.join(' ')}`);
    return found;
  }

  // Sends a form as somebody would who writes the page anew: the token is the page's own.
  async forge(path, fields) {
    const csrf = await this.page.locator('input[name=csrf]').first().inputValue();
    const answer = await this.context.request.post(new URL(path, this.url).href, {
      form: { csrf, ...fields },
      headers: { origin: new URL(this.url).origin },
      maxRedirects: 0,
    });
    return { status: answer.status(), text: await answer.text() };
  }

  // Reads the page again until it has the words.
  async finds(words, within = 30_000) {
    const until = Date.now() + within;
    for (;;) {
      const text = await this.main();
      if (words.test(text)) return text;
      if (Date.now() > until) throw new Error(`${words} never stands on ${this.page.url()}: ${text}`);
      await this.page.reload();
    }
  }
}
