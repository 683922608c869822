// One-time codes: outside a sandbox the console requires one at every sign-in with a password.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { launch, visit } from './lib/browser.js';
import { everywhere } from './lib/checks.js';
import { Officer } from './lib/office.js';
import { Service } from './lib/service.js';
import { code, step } from './lib/totp.js';

const OWN_PASSWORD = 'seven paper lanterns';

let service, browser;

before(async () => {
  service = await Service.start();
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

// A user with the right password who has not entered a code yet.
async function arrives(person) {
  const visited = await visit(browser, service.url, { expected: [/status of 422/] });
  const user = new Officer({ ...visited, url: service.url });
  await user.go('/console/account');
  await user.signIn(person);
  return user;
}

async function says(user, digits) {
  await user.page.getByRole('textbox', { name: /code/i }).fill(digits);
  await user.press('Continue');
}

describe('one-time codes', () => {
  it('are set up at the first sign-in and required from then on, each valid once', async () => {
    const [first] = await service.corridor('users', 'create', 'ayesha', '--role', 'viewer', '--all-tenants');
    const person = await arrives(first);
    const { page } = person;
    await page.getByRole('heading', { name: 'Set up one-time codes' }).waitFor();
    await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
    const key = await person.fact('Key').innerText();
    assert.match(await page.getByRole('link', { name: 'Open in an app on this device' }).getAttribute('href'), new RegExp(`^otpauth://totp/.*secret=${key.replace(/\s/g, '')}`));
    await everywhere(page, 'enrolment');
    await says(person, '000');
    assert.match(await person.fault(), /The code is incorrect/);
    const used = step();
    await says(person, code(key, used));
    // The first password was known to the administrator as well.
    await page.getByRole('heading', { name: 'Choose a password' }).waitFor();
    await everywhere(page, 'first password');
    await person.go('/console/account');
    await page.getByRole('heading', { name: 'Choose a password' }).waitFor();
    await person.choose(OWN_PASSWORD);
    assert.equal(person.path, '/console/account');
    await person.close();

    const again = await arrives({ login: 'ayesha', password: OWN_PASSWORD });
    await again.page.getByRole('heading', { name: 'One-time code' }).waitFor();
    await everywhere(again.page, 'code');
    await says(again, code(key, used));
    assert.match(await again.fault(), /was already used/);
    // The next step's code if the current one is used up: an app's clock may be ahead by one step.
    await says(again, code(key, Math.max(used + 1, step())));
    assert.equal(again.path, '/console/account');
    await again.close();
  });
});
