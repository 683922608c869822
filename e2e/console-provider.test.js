// Signing in to the console through an identity provider, which is another site to the browser:
// cookies, redirects, policies.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { launch, visit } from './lib/browser.js';
import { everywhere } from './lib/checks.js';
import { officer } from './lib/office.js';
import { Provider } from './lib/provider.js';
import { Sandbox } from './lib/sandbox.js';

const LABEL = 'Sign in with Example Bank';

let provider, sandbox, browser, ayesha;

before(async () => {
  provider = await Provider.start();
  sandbox = await Sandbox.start({ people: true, env: provider.env });
  browser = await launch();
  [ayesha] = sandbox.people;
});

after(async () => {
  await browser?.close();
  await sandbox?.stop();
  await provider?.stop();
});

// A user on the sign-in page, on the way to another page.
async function arrives(expected = []) {
  const visited = await visit(browser, new URL(sandbox.url).origin, { expected: [/request to http:\/\/localhost/, ...expected] });
  await visited.page.goto(new URL('/console/account', sandbox.url).href);
  return visited;
}

const signIn = (page) => page.getByRole('link', { name: LABEL, exact: true }).click();

describe('signing in at an identity provider', () => {
  it('admits a user named by an administrator, and leads to the requested page', async () => {
    const person = await officer(browser, sandbox, ayesha);
    await person.go('/console/users');
    await everywhere(person.page, 'users');
    await person.page.getByLabel('Login name').fill('nadia');
    await person.page.getByLabel('Name at the identity provider').fill('Nadia@Bank.Example');
    await person.press('Add');
    await everywhere(person.page, 'users, one added');
    provider.account = { sub: '00u1', email: 'nadia@bank.example' };
    const { page, close } = await arrives();
    await everywhere(page, 'login');
    await signIn(page);
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/console/account');
    assert.equal(new URL(page.url()).search, '');
    await page.getByText('through the identity provider as nadia@bank.example').waitFor();
    await everywhere(page, 'account');
    await page.locator('#account-menu summary').click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('link', { name: LABEL, exact: true }).waitFor();
    await close();
    await person.page.getByRole('link', { name: 'nadia', exact: true }).click();
    await person.page.getByText('00u1').waitFor();
    await everywhere(person.page, 'user, bound');
    await person.close();
  });

  it('rejects an unknown account with a message', async () => {
    provider.account = { sub: '00u2', email: 'stranger@bank.example' };
    const { page, close } = await arrives([/status of 403/]);
    await signIn(page);
    await page.getByRole('alert').getByText('This account has no access to the console.').waitFor();
    await everywhere(page, 'login, a stranger');
    await close();
  });

  it('admits users with passwords while the provider is down', async () => {
    await provider.stop();
    const { page, close } = await arrives([/status of (422|503)/, /ERR_CONNECTION_REFUSED/]);
    // The discovery document is cached for a while: the browser finds a closed port.
    await signIn(page).catch(() => {});
    await page.goto(new URL('/console/login/oidc/callback?code=x&state=y', sandbox.url).href);
    await page.getByRole('alert').getByText('This sign-in started in another browser or has expired.').waitFor();
    await everywhere(page, 'login, stale');
    await page.fill('#login', ayesha.login);
    await page.fill('#password', ayesha.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.locator('#account-menu').waitFor();
    await close();
  });
});
