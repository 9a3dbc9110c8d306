import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, expectReadable, noBrowser, startBrowser } from '../support/browser.ts';
import type { TestBrowser, WatchedPage } from '../support/browser.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('console_people');

let browser: TestBrowser;

describe.skipIf(browserPath === undefined)(`people${noBrowser}`, () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  const isExpected = (text: string) => /status of 4/.test(text);

  async function open(path: string): Promise<WatchedPage> {
    const watched = await browser.open({ viewport: { width: 1280, height: 900 }, isExpected });
    await watched.page.goto(`${world.url}/${path}`);
    return watched;
  }

  async function signIn(page: Page, token: string): Promise<void> {
    await page.getByLabel('Operator’s token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'People' }).waitFor();
  }

  async function signedIn(hash: string, token = adminToken): Promise<WatchedPage> {
    const watched = await open(`console${hash}`);
    await signIn(watched.page, token);
    return watched;
  }

  async function findsItselfShutOut(page: Page): Promise<void> {
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.getByText('Your session has ended. Sign in again.').waitFor();
  }

  it('an operator is invited, gets a token that nobody else sees, works, and is signed out', async () => {
    const { page, faults, calls } = await signedIn('#/people');
    expect(await page.evaluate(`sessionStorage.getItem('mediary.operator')`)).toMatch(/^os-/);
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    const name = page.getByLabel(/^Name \(in lowercase/);
    await name.fill('Anna');
    await page.getByLabel(/^tasks – /).check();
    await page.getByLabel(/^access – /).check();
    await page.getByRole('button', { name: 'Create the link' }).click();
    await page.getByText('may contain only lowercase letters').waitFor();
    expect(await name.getAttribute('aria-invalid')).toBe('true');
    await expectReadable(page, 'invite');
    await name.fill('anna');
    await page.getByRole('button', { name: 'Create the link' }).click();
    const link = await page.locator('.secret').innerText();
    await expectReadable(page, 'invitation');
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('row').filter({ hasText: 'anna' }).getByText('invited').waitFor();

    const anna = await open(new URL(link).href.slice(world.url.length + 1));
    await anna.page.getByText('Invited by').waitFor();
    expect(anna.page.url()).not.toContain('iv-');
    await expectReadable(anna.page, 'invited');
    await anna.page.getByRole('button', { name: 'Accept' }).click();
    const token = await anna.page.locator('.secret').innerText();
    expect(token).toMatch(/^op-/);
    await anna.page.getByRole('button', { name: 'I have stored it' }).click();
    await anna.page.getByText('anna (read, tasks, access)').waitFor();
    expect(await anna.page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(token);
    const again = await open(new URL(link).href.slice(world.url.length + 1));
    await again.page.getByText('This link was used or withdrawn, or it has expired.').waitFor();
    await again.page.getByRole('button', { name: 'Sign in instead' }).click();
    await again.page.getByLabel('Operator’s token').waitFor();

    // An operator who may not grant rights over money does not see those rights in the list.
    await anna.page.getByRole('link', { name: 'People' }).click();
    await anna.page.getByRole('button', { name: 'Invite', exact: true }).click();
    await anna.page.getByLabel(/^tasks – /).waitFor();
    expect(await anna.page.getByLabel(/^money – /).count()).toBe(0);
    await anna.page.keyboard.press('Escape');

    await page.reload();
    await page.getByRole('button', { name: /^End: anna/ }).waitFor();
    await expectReadable(page, 'people');
    await page.getByRole('button', { name: /^End: anna/ }).click();
    await page.getByRole('button', { name: 'End', exact: true }).last().click();
    await page.getByRole('button', { name: /^End: anna/ }).waitFor({ state: 'detached' });
    await findsItselfShutOut(anna.page);
    await signIn(anna.page, token);
    await anna.page.getByRole('link', { name: 'People' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Roles: anna' }).click();
    await page.getByLabel(/^tasks – /).uncheck();
    await page.getByLabel(/^amounts – /).check();
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'read, amounts, access' }).waitFor();
    await anna.page.reload();
    await anna.page.getByText('anna (read, amounts, access)').waitFor();
    await page.getByRole('button', { name: 'Revoke: anna' }).click();
    await page.getByLabel(/^Reason/).fill('left us');
    await page.getByRole('button', { name: 'Revoke', exact: true }).last().click();
    await page.getByRole('row').filter({ hasText: 'revoked by admin' }).waitFor();
    await findsItselfShutOut(anna.page);

    expect([...calls, ...anna.calls].join()).not.toMatch(/iv-|op-|os-/);
    expect([...faults, ...anna.faults, ...again.faults]).toEqual([]);
    const { body } = await world.admin('GET', '/audit?limit=100');
    const acts = body.data.map(({ action, by, via }: Record<string, string>) => [action, by, via]);
    expect(acts).toEqual(
      expect.arrayContaining([
        ['inviteOperator', 'admin', 'console'],
        ['acceptOperatorInvitation', 'anna', 'console'],
        ['openSession', 'anna', 'console'],
        ['endSession', 'admin', 'console'],
        ['setOperatorRoles', 'admin', 'console'],
        ['revokeOperator', 'admin', 'console'],
      ]),
    );
  });

  it('signing out ends the session, and all others end at once', async () => {
    const [first, second] = [await signedIn('#/people'), await signedIn('#/people')];
    const kept = await first.page.evaluate<string>(`sessionStorage.getItem('mediary.operator')`);
    await second.page.getByRole('button', { name: 'End all others' }).click();
    await second.page.getByRole('button', { name: 'End', exact: true }).last().click();
    await second.page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' });
    await findsItselfShutOut(first.page);
    expect((await world.call('GET', '/admin/v1/keys', { key: kept })).status).toBe(401);
    const own = await second.page.evaluate<string>(`sessionStorage.getItem('mediary.operator')`);
    await second.page.getByRole('button', { name: 'Sign out' }).click();
    await second.page.getByLabel('Operator’s token').waitFor();
    await expect.poll(async () => (await world.call('GET', '/admin/v1/keys', { key: own })).status).toBe(401);
    expect([...first.faults, ...second.faults]).toEqual([]);
  });

  it('an account is created with a credit, and its owner comes in by a link', async () => {
    const { page, faults } = await signedIn('#/accounts');
    await page.getByRole('button', { name: 'Create an account' }).click();
    await page.getByLabel(/^Id \(cannot be changed/).fill('shop');
    await page.getByLabel(/^First credit/).fill('a lot');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('The credit must be a positive number').waitFor();
    expect((await world.admin('GET', '/accounts/shop')).status).toBe(404);
    await page.getByLabel(/^First credit/).fill('12.50');
    await expectReadable(page, 'account-create');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('heading', { name: '12.50 USD available' }).waitFor();

    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('owner');
    await page.getByLabel('Who gets it').selectOption({ index: 1 });
    await page.getByLabel('What it may do').selectOption({ index: 4 });
    await page.getByLabel('clip', { exact: true }).check();
    await page.getByLabel(/^The most the key may spend a month/).fill('9');
    await page.getByText('More limits').click();
    await page.getByLabel(/^Only from these IP addresses/).fill('nowhere');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('must be an IP address or a network').waitFor();
    await page.getByLabel(/^Only from these IP addresses/).fill('127.0.0.0/8, ::1');
    await expectReadable(page, 'key-create');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const link = await page.locator('.secret').innerText();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('row').filter({ hasText: 'owner' }).getByText('invited').waitFor();
    await expectReadable(page, 'account-invited');

    const owner = await open(link.slice(world.url.length + 1));
    await owner.page.getByText('nobody else has seen the key').waitFor();
    await expectReadable(owner.page, 'owner-invited');
    await owner.page.getByRole('button', { name: 'Accept' }).click();
    const key = await owner.page.locator('.secret').innerText();
    await owner.page.getByRole('button', { name: 'I have stored it' }).click();
    await owner.page.getByRole('link', { name: 'Playground', exact: true }).waitFor();
    const { body } = await world.call('GET', '/v1/key', { key });
    expect(body).toMatchObject({ account: 'shop', spent: { month: { limit: '9.000000' } } });
    expect((await world.call('GET', '/v1/models', { key })).body.data).toHaveLength(1);
    expect([...faults, ...owner.faults]).toEqual([]);
  });

  it('an account whose first credit fails shows its secret all the same, and why', async () => {
    const { page } = await signedIn('#/accounts');
    await page.route('**/credits', (route) => route.abort());
    await page.getByRole('button', { name: 'Create an account' }).click();
    await page.getByLabel(/^Id \(cannot be changed/).fill('unlucky');
    await page.getByLabel(/^First credit/).fill('12.50');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('its first credit failed').waitFor();
    expect(await page.locator('.secret').innerText()).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('heading', { name: '0.00 USD available' }).waitFor();
  });

  it('keeps each dialog until the list behind it shows what was saved', async () => {
    const { id, keyId } = await world.newAccount();
    const name = `dora-${id}`;
    await world.admin('POST', '/operators/invitations', { name });
    await world.admin('POST', '/sessions');
    const { page, faults } = await signedIn('#/people');
    const dialog = page.getByRole('dialog');
    const rows = [
      { hash: '#/people', list: 'operators', opener: `Withdraw: ${name}`, final: 'Withdraw' },
      { hash: '#/people', list: 'sessions', opener: 'End all others', final: 'End' },
      { hash: `#/accounts/${id}`, list: `accounts/${id}`, opener: 'Overdraft', final: 'Overdraft' },
      { hash: `#/accounts/${id}`, list: `accounts/${id}`, opener: 'End users’ caps', final: 'Set the caps' },
      { hash: `#/accounts/${id}`, list: 'keys', opener: /^caps: /i, final: 'Set the caps' },
      { hash: `#/accounts/${id}`, list: 'keys', opener: /^revoke: /i, final: 'Revoke' },
      { hash: '#/channels/one', list: 'channels', opener: 'Pause', final: 'Pause one' },
    ];
    let holds: string | undefined;
    const held = new Set<() => void>();
    await page.route('**/admin/v1/**', async (route) => {
      const { pathname } = new URL(route.request().url());
      if (route.request().method() === 'GET' && pathname === holds)
        await new Promise<void>((resolve) => held.add(resolve));
      return route.continue();
    });
    for (const { hash, list, opener, final } of rows) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page.getByRole('button', { name: opener, exact: true }).click();
      const reason = dialog.getByLabel(/^Reason/);
      if ((await reason.count()) > 0) await reason.fill('a test');
      holds = `/admin/v1/${list}`;
      await dialog.getByRole('button', { name: final, exact: true }).click();
      await expect.poll(() => held.size).toBeGreaterThan(0);
      expect([opener, await dialog.count()]).toEqual([opener, 1]);
      holds = undefined;
      for (const release of held) release();
      held.clear();
      await dialog.waitFor({ state: 'detached' });
    }
    expect((await world.stores.keys.find(keyId))?.revokedAt).toBeDefined();
    expect(faults).toEqual([]);
  });

  it('pressing Enter three times has no effect, wherever the focus is', async () => {
    await world.admin('POST', '/operators', { name: 'ben' });
    await world.admin('POST', '/operators/invitations', { name: 'carla' });
    await world.admin('POST', '/sessions');
    const { id } = await world.newAccount();
    const { page } = await signedIn('#/people');
    const state = async () => [
      (await world.stores.operators.list()).map(({ lastUsedAt: _used, ...rest }) => rest),
      (await world.stores.operatorSessions.list({})).length,
      (await world.stores.accounts.list({ limit: 50 })).length,
      (await world.stores.keys.list({}, { limit: 50 })).length,
    ];
    const before = await state();
    for (const [hash, opener] of [
      ['#/people', 'Invite'],
      ['#/people', 'Withdraw: carla'],
      ['#/people', 'Revoke: ben'],
      ['#/people', 'End all others'],
      ['#/accounts', 'Create an account'],
      [`#/accounts/${id}`, 'Create a key'],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page.getByRole('button', { name: opener, exact: true }).click();
      await page.getByRole('dialog').waitFor();
      if (opener === 'Create a key') await page.getByLabel('clip', { exact: true }).waitFor();
      const inputs = page.locator('dialog input, dialog select');
      const count = await inputs.count();
      expect(count).toBeGreaterThan(0);
      for (let at = 0; at < count; at += 1) {
        await inputs.nth(at).focus();
        for (let times = 0; times < 3; times += 1) await page.keyboard.press('Enter');
        if (await inputs.nth(at).evaluate((element) => element.tagName === 'SELECT')) {
          await page.keyboard.press('Tab');
        }
      }
      expect([opener, await page.getByRole('dialog').count()]).toEqual([opener, 1]);
      await page.getByRole('button', { name: 'Close', exact: true }).click();
    }
    expect(await state()).toEqual(before);
  });
});
