// Users of the operator console in separate browsers, with their actions on its pages.
import { visit } from './browser.js';

export const TENANT = '/console/t/demobank';

// A signed-in user. `choosing`: the new password at the first sign-in. The other options are those
// of `visit`.
export async function officer(browser, sandbox, person, { choosing, ...options } = {}) {
  const visited = await visit(browser, new URL(sandbox.url).origin, { viewport: { width: 1280, height: 900 }, ...options });
  const user = new Officer({ ...visited, url: sandbox.url, login: person.login });
  await user.go('/console');
  await user.signIn(person);
  if (choosing) await user.choose(choosing);
  await user.page.locator('#account-menu').waitFor();
  return user;
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

  // Presses a button and waits for the next page.
  async press(name, within = this.page.locator('main')) {
    const button = within.getByRole('button', { name, exact: true });
    await Promise.all([this.page.waitForEvent('load'), button.click()]);
  }

  async signOut() {
    await this.page.locator('#account-menu summary').click();
    await this.press('Sign out', this.page.locator('#account-menu'));
  }

  // Types into the search box at the top of every page; returns the path of the result.
  async find(text) {
    await this.page.fill('#find', text);
    await this.press('Find', this.page.locator('header'));
    return this.path;
  }

  // The text of a fact on the page.
  fact(name) {
    return this.page.locator('.facts > div', { has: this.page.locator('dt', { hasText: new RegExp(`^${name}$`) }) }).locator('dd').first();
  }

  // The page's message about the last action.
  done() {
    return this.page.locator('.done').textContent();
  }

  // The page's error message.
  fault() {
    return this.page.locator('.fault').textContent();
  }

  main() {
    return this.page.locator('main').innerText();
  }

  // Opens everything that is folded, such as the technical steps of a timeline.
  unfold() {
    return this.page.locator('main details').evaluateAll((all) => all.forEach((fold) => { fold.open = true; }));
  }

  // The link on the page whose address matches.
  async link(pattern) {
    const all = await this.page.locator('main a').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    const found = all.find((href) => pattern.test(href));
    if (!found) throw new Error(`${this.page.url()} has no link like ${pattern}: ${all.join(' ')}`);
    return found;
  }

  // Submits a form with changed fields and the page's own token.
  async forge(path, fields) {
    const csrf = await this.page.locator('input[name=csrf]').first().inputValue();
    const answer = await this.context.request.post(new URL(path, this.url).href, {
      form: { csrf, ...fields },
      headers: { origin: new URL(this.url).origin },
      maxRedirects: 0,
    });
    return { status: answer.status(), text: await answer.text() };
  }

  // Reloads the page until it contains the words.
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
