import type { Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerCollection } from '../../src/ledger/collection.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { testLedgerKey } from '../support/sealing.ts';
import {
  browserPath,
  expectReadable,
  noBrowser,
  offered,
  startBrowser,
  withoutPolls,
} from '../support/browser.ts';
import type { TestBrowser, WatchedPage } from '../support/browser.ts';
import { send } from '../support/client.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('console_views');

const hostile = `<img src=x onerror=fault()>"'\`</script><script>fault()</script>{{7*7}}javascript:fault()`;

let browser: TestBrowser;

describe.skipIf(browserPath === undefined)(`views of the console${noBrowser}`, () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  async function signedIn(
    hash: string,
    { token = adminToken, url = world.url, script = '' } = {},
  ): Promise<WatchedPage> {
    const watched = await browser.open({
      viewport: { width: 1280, height: 900 },
      isExpected: (text) => text.includes('status of 4'),
    });
    await watched.page.addInitScript(
      `sessionStorage.setItem('mediary.operator', ${JSON.stringify(token)}); ${script}`,
    );
    await watched.page.goto(`${url}/console${hash}`);
    return watched;
  }

  it('creates a key that is shown once, limits, replaces and revokes it', async () => {
    const { id } = await world.newAccount();
    const watched = await signedIn(`#/accounts/${id}`);
    const { page, faults, calls } = watched;
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name', { exact: true }).fill(hostile);
    for (const model of ['clip', 'plain']) await page.getByLabel(model, { exact: true }).check();
    await page.getByText('More limits').click();
    await page.getByLabel(/^Requests per minute/).fill('600');
    await page
      .getByRole('group', { name: /^Only through these channels/ })
      .getByLabel('two')
      .check();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const first = await page.locator('.secret').innerText();
    expect((await send(world.url, 'GET', '/v1/key', { key: first })).status).toBe(200);
    await expectReadable(watched.page, 'key-created');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    expect(await page.locator('.secret').innerText()).toBe(first);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    expect(await page.content()).not.toContain(first);
    const row = page.getByRole('row').filter({ hasText: first.slice(0, 8) });
    await row.getByText('clip, plain; by two; 600 requests a minute').waitFor();

    await row.getByRole('button', { name: /^caps/ }).click();
    await page.getByLabel('All models together, a day').fill('5');
    await page.getByRole('button', { name: 'Add caps for one model' }).click();
    expect(await offered(page.getByLabel('Model', { exact: true }))).toEqual(['clip', 'plain']);
    await page.getByLabel('Model', { exact: true }).fill('clip');
    await page.getByLabel('clip, in all').fill('50.5');
    await page.getByLabel(/^Reason/).fill(hostile);
    await expectReadable(watched.page, 'caps');
    await page.getByRole('button', { name: 'Set the caps' }).click();
    await row.getByText('5.00 a day; clip: 50.50 in all').waitFor();

    await row.getByRole('button', { name: /^rotate/ }).click();
    await page.getByLabel('The old key expires').selectOption('3600');
    await page.getByLabel(/^Reason/).fill('leaked');
    await page.getByRole('button', { name: 'Rotate', exact: true }).last().click();
    await page.locator('.secret').waitFor();
    const second = await page.locator('.secret').innerText();
    expect(second).not.toBe(first);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await row.getByText(/replaced, ends\s+in (?:\d+ min|1 h)/).waitFor();
    await expectReadable(watched.page, 'account');

    const newest = page.getByRole('row').filter({ hasText: second.slice(0, 8) });
    await newest.getByRole('button', { name: /^revoke/ }).click();
    await page.getByLabel(/^Reason/).fill('gone');
    await page.getByRole('button', { name: 'Revoke', exact: true }).last().click();
    await newest.getByText('revoked').waitFor();
    expect((await send(world.url, 'GET', '/v1/balance', { key: second })).status).toBe(401);
    const { body } = await world.admin('GET', '/audit');
    expect(body.data.slice(0, 4)).toMatchObject([
      { action: 'revokeKey', reason: 'gone', via: 'console' },
      { action: 'rotateKey', reason: 'leaked' },
      { action: 'setKeyCaps', reason: hostile },
      { action: 'createKey', target: id },
    ]);
    expect(calls.join()).not.toContain('sk-');
    expect(page.url()).not.toContain('sk-');
    expect(faults).toEqual([]);
  });

  it('changes what an account and its end users may spend, and closes it', async () => {
    const { id } = await world.newAccount();
    const { page, faults } = await signedIn(`#/accounts/${id}`);
    await page.getByRole('button', { name: 'End users’ caps' }).click();
    await page.getByLabel('Each end user, a month').fill('9');
    await page.getByRole('button', { name: 'Add caps for one end user' }).click();
    await page.getByLabel('End user', { exact: true }).fill(hostile);
    await page.getByLabel(/^Reason/).fill('fair use');
    await page.getByRole('button', { name: 'Set the caps' }).click();
    await page.getByText('9.00 a month; 1 end user with their own caps').waitFor();
    await page.getByRole('button', { name: 'End users’ caps' }).click();
    expect(await page.getByLabel('End user', { exact: true }).inputValue()).toBe(hostile);
    await page.getByLabel('Each end user, a month').fill('');
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByLabel(/^Reason/).fill('no more');
    await page.getByRole('button', { name: 'Set the caps' }).click();
    await page.getByText('9.00 a month').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Overdraft' }).click();
    await page.getByLabel(/^How far/).fill('25');
    await page.getByLabel(/^Reason/).fill('a good customer');
    await page.getByText('The balance may go 25.00 USD below zero').waitFor();
    await page.getByRole('button', { name: 'Overdraft' }).last().click();
    await page.getByText('25.00 USD', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Close the account' }).click();
    await page.getByLabel(/^Reason/).fill('left');
    await page.getByRole('button', { name: 'Close the account' }).last().click();
    await page.getByRole('button', { name: 'Reopen' }).waitFor();
    expect(await page.getByRole('button', { name: 'Create a key' }).count()).toBe(0);
    const { body } = await world.admin('GET', `/accounts/${id}`);
    expect(body).toMatchObject({ overdraft_limit: '25.000000', closed_at: expect.any(Number) });
    expect(faults).toEqual([]);
  });

  it('shows the prices of models, who renders them, and what a request would cost', async () => {
    await world.admin('POST', '/channels/two', { enabled: false, reason: 'slow' });
    const watched = await signedIn('#/models', { script: withoutPolls(1000) });
    const { page, faults, calls } = watched;
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'clip' }) });
    await row.getByText('two u').waitFor();
    expect(await row.innerText()).toMatch(/0\.20\s+a second, resolution 1080p\s+0\.10\s+a second/);
    await row.getByText('paused').waitFor();
    const request = page.getByRole('region', { name: 'What would a request cost?' });
    expect(await offered(request.getByLabel('Model'))).toContain('clip');
    for (const [label, value] of Object.entries({ Model: 'clip', Seconds: '4', Resolution: '1080p' }))
      await request.getByLabel(label).fill(value);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Held: 0.80 USD' }).waitFor();
    await page
      .getByText(/0\.20* USD × 4/)
      .first()
      .waitFor();
    await expectReadable(watched.page, 'models');
    await request.getByText('More fields').click();
    await request.getByRole('textbox', { name: 'More fields' }).fill('[');
    await request.getByRole('button', { name: 'Explain' }).click();
    await request.getByText('not a JSON object').waitFor();
    await request.getByRole('textbox', { name: 'More fields' }).fill('{"ratio": "1:1"}');
    await request.getByRole('button', { name: 'Explain' }).click();
    await page.getByRole('heading', { name: 'Held: 0.80 USD' }).waitFor();
    await request.getByLabel('Model').fill(hostile);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await world.admin('POST', '/channels/two', { enabled: true, reason: 'well' });
    expect(calls.filter((call) => call.startsWith('GET /admin/v1/models'))).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  it('shows what a caller wrote only when asked, to whoever may act, and how the amounts came about', async () => {
    const account = await world.newAccount();
    const { id } = (await account.create({ prompt: hostile })).body;
    await world.drive.lose(id);
    const watched = await signedIn(`#/tasks/${id}`);
    const { page, faults } = watched;
    await page.getByText('sealed').waitFor();
    expect(await page.textContent('main')).not.toContain('fault()');
    await page.getByRole('button', { name: 'Show the request' }).click();
    await page.locator('.request').getByText('onerror=fault()').waitFor();
    await page.getByText('How the amounts were calculated').click();
    await page.getByRole('heading', { name: 'Held: 0.50 USD' }).waitFor();
    await expectReadable(watched.page, 'task');
    const [entry] = (await world.admin('GET', `/audit?task=${id}`)).body.data;
    expect(entry).toMatchObject({ action: 'getTaskRequest', via: 'console' });
    expect(faults).toEqual([]);

    const { token } = (await world.admin('POST', '/operators', { name: 'looker', roles: ['read'] })).body;
    const other = await signedIn(`#/tasks/${id}`, { token });
    await other.page.getByRole('heading', { name: 'Facts' }).waitFor();
    expect(await other.page.getByText('sealed').count()).toBe(0);
    expect(other.faults).toEqual([]);
  });

  it('moves through rows by j and k, and leaves Enter to what has the focus', async () => {
    const account = await world.newAccount();
    const ids: string[] = [];
    for (let n = 0; n < 30; n += 1) ids.unshift((await account.create()).body.id);
    const { page, faults } = await signedIn(`#/tasks?account=${account.id}`);
    await page.getByRole('link', { name: ids[0] ?? '' }).waitFor();
    for (let n = 0; n < 28; n += 1) await page.keyboard.press('j');
    await page.keyboard.press('k');
    const focused = () => page.evaluate('document.activeElement.textContent');
    expect(await focused()).toBe(ids[26]);
    const isInSight = `(() => {
      const { top, bottom } = document.activeElement.getBoundingClientRect();
      return top > 0 && bottom < innerHeight;
    })()`;
    expect(await page.evaluate(isInSight)).toBe(true);
    await page.keyboard.press('x');
    await page.getByRole('button', { name: 'Act on 1 selected' }).waitFor();
    await page.keyboard.press('x');
    await page.getByRole('button', { name: 'Act on selected' }).waitFor();
    // Move the focus from a row to a button. Enter must press that button.
    await page.keyboard.press('/');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('[aria-pressed=true]', { hasText: 'Needs an operator' }).waitFor();
    await page.getByText('No task matches').waitFor();
    await page.keyboard.press('Backspace');
    expect(page.url()).toContain(`account=${account.id}&state=attention`);
    await page.keyboard.press('/');
    await page.keyboard.type('jk');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');

    await page.goto(`${world.url}/console#/accounts`);
    await page.getByRole('cell', { name: account.id }).first().waitFor();
    await page.keyboard.press('j');
    const id = await focused();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain(`#/accounts/${String(id)}`);
    expect(faults).toEqual([]);
  });

  it('names a job that the upstream accepted after its task had continued without it', async () => {
    const account = await world.newAccount();
    const { id } = (await account.create()).body;
    const n = await world.drive.accept(id);
    await world.drive.step(id, { kind: 'accepted', n, operation: { id: 'up-late' } });
    const { page, faults } = await signedIn(`#/tasks/${id}`);
    const row = page.getByRole('region', { name: 'Attempts' }).getByRole('row').nth(1);
    await row.getByText(`up-${id} stray up-late may be billed`).waitFor();
    expect(faults).toEqual([]);
  });

  it('asks once for a page, and once more for what else it shows', async () => {
    const account = await world.newAccount();
    const { id } = (await account.create()).body;
    const task = `/admin/v1/tasks/${id}`;
    // Leaves out the requests that all pages make: the list of actions, and the overview, which supplies the title and
    // icon.
    for (const [hash, heading, ...expected] of [
      ['now', 'Now', '/admin/v1/trends?span=day&by=channel'],
      ['tasks', 'Tasks', '/admin/v1/tasks?limit=50'],
      // The record is large and each read is audited, so the page must read it only once per change of the task.
      [`tasks/${id}`, 'Attempts', task, `${task}/record`],
      [
        'money?period=days&from=2026-01-01&to=2026-02-01',
        'Money',
        '/admin/v1/margin?by=day&from=2026-01-01&to=2026-02-01',
      ],
      ['channels', 'Channels', '/admin/v1/channels'],
      ['models', 'Models and prices', '/admin/v1/models'],
      ['accounts', 'Accounts', '/admin/v1/accounts?limit=50'],
      [
        `accounts/${account.id}`,
        'Ledger, newest first',
        `/admin/v1/accounts/${account.id}`,
        `/admin/v1/accounts/${account.id}/ledger?limit=50&order=newest`,
        `/admin/v1/keys?account=${account.id}&limit=50`,
      ],
      ['configuration', 'Configuration', '/admin/v1/config/draft'],
      ['nodes', 'Nodes', '/admin/v1/config'],
      ['audit', 'Audit', '/admin/v1/audit?limit=50'],
    ] as const) {
      const { page, calls, faults } = await signedIn(`#/${hash}`, { script: withoutPolls(1000) });
      await page.getByRole('heading', { name: heading, exact: true }).waitFor();
      const asked = [...new Set(['/admin/v1/overview', '/admin/v1/acts', ...expected])].map(
        (path) => `GET ${path}`,
      );
      await expect.poll(() => [...new Set(calls)].toSorted()).toEqual(asked.toSorted());
      await page.getByText('Loading').first().waitFor({ state: 'detached' });
      expect([hash, calls.toSorted()]).toEqual([hash, asked.toSorted()]);
      expect(faults.filter((fault) => !/\/admin\/v1\/config(?:\/draft)?$/.test(fault))).toEqual([]);
      await page.close();
    }
  });

  it('keeps a timeline visible and opened parts open while the task changes', async () => {
    const account = await world.newAccount();
    const { id } = (await account.create()).body;
    const { page, calls, faults } = await signedIn(`#/tasks/${id}`);
    await page.locator('.timeline').getByText('admission').waitFor();
    await page.getByText('Redacted request and exchanges').click();
    await page.getByText('How the amounts were calculated').click();
    await page.getByRole('heading', { name: 'Held: 0.50 USD' }).waitFor();
    await page.evaluate(`document.querySelector('.timeline').dataset.same = 'yes'`);
    const records = () => calls.filter((call) => call.endsWith('/record')).length;
    expect(records()).toBe(1);
    await world.drive.accept(id);
    await page.locator('.timeline').getByText('accepted').first().waitFor();
    expect(await page.evaluate(`document.querySelector('.timeline').dataset.same`)).toBe('yes');
    expect(await page.locator('details[open]').count()).toBe(2);
    await page.getByRole('heading', { name: 'Held: 0.50 USD' }).waitFor();
    expect(records()).toBeGreaterThan(1);
    expect(faults).toEqual([]);
  });

  it('finds images that were answered at once by what the ledger has of them', async () => {
    const account = await world.newAccount();
    const task = 'img_abcdefgh';
    const ledger = createLedger({
      collection: ledgerCollection(world.db),
      key: testLedgerKey,
      now: Date.now,
    });
    await ledger.hold({
      account: account.id,
      task,
      by: { key: account.keyId, model: 'picture' },
      amount: 120_000n,
      basis: '{}',
      overdraftLimit: 0n,
    });
    const { page, faults } = await signedIn(`#/tasks?find=${task}`);
    await page.getByText('These images were returned synchronously').waitFor();
    await page.getByRole('link', { name: account.id }).waitFor();
    await page.getByRole('cell', { name: 'hold' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('calls a connection that is lost within a response no answer', async () => {
    const { page } = await signedIn('#/accounts');
    await page.getByRole('row').nth(1).waitFor();
    await page.addInitScript(`{
      const text = Response.prototype.text;
      Response.prototype.text = function () {
        return this.url.includes('/admin/') ? Promise.reject(new TypeError('network error')) : text.call(this);
      };
    }`);
    await page.reload();
    const said = page.getByText(/does not respond since/).first();
    await said.waitFor();
    expect(await said.textContent()).toMatch(/since \d\d:\d\d:\d\d/);
  });

  it('finds the tasks of a key', async () => {
    const [one, other] = [await world.newAccount(), await world.newAccount()];
    const { id } = (await one.create()).body;
    await other.create();
    const { page, faults } = await signedIn(`#/tasks?key=${one.keyId}`);
    await page.getByRole('link', { name: id }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    expect(await page.getByLabel('Key').inputValue()).toBe(one.keyId);
    expect(faults).toEqual([]);
  });

  it('opens the circuit of one model for an hour, with a reason, and closes it', async () => {
    const account = await world.newAccount();
    const { id } = (await account.create()).body;
    await world.drive.accept(id);
    await world.drive.fail(
      id,
      { code: 'provider_error', message: 'm', class: 'capacity' },
      { kind: 'failed', code: 'busy', message: 'm', failure: { class: 'capacity' } },
    );
    world.clock.aheadMs += 30_000;
    const watched = await signedIn('#/channels');
    const { page, faults } = watched;
    await page.getByRole('link', { name: 'one', exact: true }).click();
    await page.getByText(/^\d+ tasks?, 0 succeeded, 1 failed: upstream overloaded$/).waitFor();
    await page.getByRole('button', { name: 'Open a circuit' }).first().click();
    await page.getByRole('dialog').getByLabel('Model').selectOption('clip');
    await page.getByLabel(/^Minutes/).fill('60');
    await page.getByLabel(/^Reason/).fill(hostile);
    await page.getByRole('button', { name: 'Open a circuit of one' }).click();
    const row = page.getByRole('row').filter({ hasText: 'a/clip' });
    await row.getByText('paused', { exact: true }).waitFor();
    await row.getByText('onerror=fault()').waitFor();
    await row.getByText(/in (?:\d+ min|1 h)/).waitFor();
    await expectReadable(watched.page, 'channel');
    await row.getByRole('button', { name: 'Close' }).click();
    await page.getByLabel(/^Reason/).fill('all is well');
    await page.getByRole('button', { name: 'Close the circuit a/clip' }).click();
    await row.getByText('paused', { exact: true }).waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  it('shows what the file would change before it is published', async () => {
    const head = await world.stores.configurations.publish({
      text: 'x',
      hash: 'abc',
      currency: 'USD',
      by: hostile,
      node: 'n',
      at: 0,
    });
    const published: string[] = [];
    const node = await world.startNode({
      previewConfig: () =>
        Promise.resolve({
          ok: true,
          changes: [
            { path: `models.${hostile}.n`, kind: 'changed', before: '1', after: '2' },
            { path: 'channels.one.base_url', kind: 'changed' },
            { path: 'channels.two', kind: 'removed' },
          ],
        }),
      publishConfig(by) {
        published.push(by);
        return Promise.resolve({ ok: true, head, changes: [] });
      },
    });
    const watched = await signedIn('#/nodes', { url: node.url });
    const { page, faults } = watched;
    await page.getByRole('button', { name: 'Reload the configuration' }).click();
    await page.getByText('3 changes').waitFor();
    await page.getByRole('row').filter({ hasText: 'base_url' }).getByText('not shown').first().waitFor();
    await expectReadable(watched.page, 'reload');
    expect(published).toEqual([]);
    await page.getByRole('button', { name: 'Publish the file' }).click();
    await expect.poll(() => published).toEqual(['admin']);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  it('keeps no hidden selection, and offers no act if none is possible', async () => {
    const account = await world.newAccount();
    const { id } = (await account.create()).body;
    await account.call('POST', `/v1/videos/generations/${id}/cancel`);
    const { page, faults } = await signedIn(`#/tasks?account=${account.id}`);
    await page.getByLabel(`Select ${id}`).check();
    await page.getByRole('button', { name: 'Failed', exact: true }).click();
    await page.getByRole('button', { name: 'Act on selected' }).waitFor();
    expect(await page.getByLabel(`Select ${id}`).isChecked()).toBe(false);
    await page.getByLabel(`Select ${id}`).check();
    await page.getByRole('button', { name: 'Act on 1 selected' }).click();
    await page.getByText('No action is possible for all of these tasks').waitFor();
    expect(await page.getByRole('button', { name: /Preview/ }).count()).toBe(0);
    expect(world.port.acts.filter(({ task }) => task === id)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('begins no further act once it is stopped, and reports what was done', async () => {
    const account = await world.newAccount();
    for (let n = 0; n < 12; n += 1) await world.drive.ask((await account.create()).body.id);
    const { page, faults } = await signedIn(`#/tasks?account=${account.id}`);
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Act on 12 selected' }).click();
    await page.getByLabel('Act', { exact: true }).selectOption('fail');
    await page.getByRole('textbox', { name: /^Reason/ }).fill('stopped');
    await page.getByRole('button', { name: 'Preview for 12' }).click();
    await page.getByText('12 tasks of 12').waitFor();
    const held: (() => Promise<void>)[] = [];
    await page.route('**/actions', (route) => void held.push(() => route.continue()));
    await page.getByRole('button', { name: 'Fail: 12 tasks' }).click();
    await expect.poll(() => held.length).toBe(4);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    for (const release of held) await release();
    await page.getByText('Done for 4 tasks.').waitFor();
    await page.getByText('You stopped the action before it reached 8 tasks.').waitFor();
    const left = page.getByRole('region', { name: 'Tasks' }).getByText('not touched');
    expect([held.length, await left.count()]).toEqual([4, 8]);
    const acts = world.port.acts.filter(({ input }) => input.reason === 'stopped' && input.dry_run !== true);
    expect(acts).toHaveLength(4);
    expect(faults).toEqual([]);
  });

  it('lists acts whose answer was lost as not confirmed, not as refused', async () => {
    const account = await world.newAccount();
    for (let n = 0; n < 3; n += 1) await world.drive.ask((await account.create()).body.id);
    const { page } = await signedIn(`#/tasks?account=${account.id}`);
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Act on 3 selected' }).click();
    await page.getByLabel('Act', { exact: true }).selectOption('fail');
    await page.getByRole('textbox', { name: /^Reason/ }).fill('lost answers');
    await page.getByRole('button', { name: 'Preview for 3' }).click();
    await page.getByText('3 tasks of 3').waitFor();
    const losses = [
      (route: Route) => route.fetch().then(() => route.abort()),
      (route: Route) => route.fulfill({ status: 502, body: 'Bad gateway' }),
    ];
    await page.route('**/actions', (route) => (losses.shift() ?? (() => route.continue()))(route));
    await page.getByRole('button', { name: 'Fail: 3 tasks' }).click();
    await page.getByText('Done for 1 task.').waitFor();
    const lost = page.getByRole('alert').filter({ hasText: 'Not confirmed for 2 tasks' });
    expect(await lost.getByRole('listitem').count()).toBe(2);
    expect(await page.getByText('Not possible').count()).toBe(0);
  });

  it('acts on 104 tasks of 128: on those that were previewed, and on no other', async () => {
    // Needs more than one page of the list. On a busy machine, that many actions take minutes.
    const patiently = { timeout: 200_000 };
    const account = await world.newAccount();
    const { id } = (await account.create()).body;
    await world.drive.ask(id);
    const tasks = world.db.collection<{ _id: string; sort: string; channel: string }>('tasks');
    const first = await tasks.findOne({ _id: id });
    if (first === null) throw new Error('not created');
    const copyOf = (n: number, channel: string) => {
      const _id = `task_${String(n).padStart(22, '0')}`;
      return { ...first, _id, sort: first.sort.replace(id, _id), channel };
    };
    const [matching, others] = [
      Array.from({ length: 104 }, (_, n) => copyOf(n, 'bulk')),
      Array.from({ length: 24 }, (_, n) => copyOf(n + 104, 'other')),
    ];
    await tasks.insertMany([...matching, ...others]);

    const { page, faults } = await signedIn('#/tasks?state=attention&channel=bulk');
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Select all that match' }).click();
    await page.getByRole('button', { name: 'Act on 104 selected' }).click();
    const selected = page.getByRole('region', { name: 'Selected' }).locator('li');
    await expect.poll(() => selected.count()).toBe(104);
    await page.getByLabel('Act', { exact: true }).selectOption('fail');
    await page.getByRole('textbox', { name: /^Reason/ }).fill('outage');
    await page.getByRole('button', { name: 'Preview for 104' }).click();
    await page.getByText('104 tasks of 104 would be affected: 52.00 USD released').waitFor(patiently);
    const really = () =>
      world.port.acts.filter(({ input }) => input.reason === 'outage' && input.dry_run !== true);
    expect(really()).toEqual([]);
    await tasks.insertOne(copyOf(500, 'bulk'));
    await page.getByRole('button', { name: 'Fail: 104 tasks' }).click();
    await page.getByText('Done for 104 tasks.').waitFor(patiently);
    expect(
      really()
        .map(({ task }) => task)
        .toSorted(),
    ).toEqual(matching.map(({ _id }) => _id));
    expect(really().every(({ action }) => action === 'fail')).toBe(true);
    expect(faults).toEqual([]);
  });
});
