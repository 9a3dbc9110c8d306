import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerCollection } from '../../src/ledger/collection.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import type { Page } from 'playwright-core';
import {
  browserPath,
  expectReadable,
  noBrowser,
  overhang,
  startBrowser,
  withoutPolls,
} from '../support/browser.ts';
import type { TestBrowser, WatchedPage } from '../support/browser.ts';
import type { TestAccount } from '../support/client.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';
import { testLedgerKey } from '../support/sealing.ts';
import { workerReport } from '../support/worker-report.ts';

const world = useHttpWorld('console_past');
const dayMs = 24 * 3_600_000;

let browser: TestBrowser;
let account: TestAccount;

describe.skipIf(browserPath === undefined)(`past periods in the console${noBrowser}`, () => {
  beforeAll(async () => {
    browser = await startBrowser();
    account = await world.newAccount();
  });
  afterAll(() => browser.close());

  async function signedIn(hash: string): Promise<WatchedPage> {
    const watched = await browser.open({ viewport: { width: 1440, height: 900 } });
    await watched.page.addInitScript(
      `sessionStorage.setItem('mediary.operator', ${JSON.stringify(adminToken)}); ${withoutPolls(60_000)}`,
    );
    await watched.page.goto(`${world.url}/console${hash}`);
    return watched;
  }

  async function look(page: Page, name: string): Promise<void> {
    expect([name, await overhang(page)]).toEqual([name, 0]);
    await expectReadable(page, name);
  }

  async function end(
    task: string,
    daysAgo: number,
    { model = 'clip', channel = 'one', charge = 0n, cost = 0n, unknown = 0 },
  ) {
    const now = () => Date.now() - daysAgo * dayMs;
    const ledger = createLedger({ collection: ledgerCollection(world.db), key: testLedgerKey, now });
    const of = { account: 'past', task };
    const by = { key: 'key_past', model, endUser: 'mia' };
    await ledger.hold({ ...of, by, amount: 9_000_000n, basis: '{}', overdraftLimit: 10n ** 12n });
    await ledger.settle({
      ...of,
      held: 9_000_000n,
      amount: charge,
      upstream: { model, channel, cost, unknown },
    });
  }

  it('shows the earnings by each group, sorts them, and saves them as CSV', async () => {
    await end('t0', 4, { charge: 1_000_000n, unknown: 1 });
    await end('t1', 3, { charge: 4_000_000n, cost: 1_000_000n });
    await end('t2', 2, { charge: 1_000_000n, cost: 2_500_000n, channel: 'two' });
    await end('t3', 1, { charge: 2_000_000n, cost: 500_000n, model: 'plain' });
    const { page, faults, calls } = await signedIn('#/money?period=Last 7 days');
    await page.getByRole('img', { name: /^Cost below margin/ }).waitFor();
    await page.getByText('8.00', { exact: true }).waitFor();
    const heights = page
      .locator('.chart rect:not(.area)')
      .evaluateAll((bars) => bars.map((bar) => `${bar.getAttribute('class')} ${bar.getAttribute('height')}`));
    const known = ['rest 25', 'main 75', 'rest 25', 'bad 37.5', 'rest 12.5', 'main 37.5'];
    expect(await heights).toEqual(['unknown 25', ...known]);
    expect(await page.locator('.chart title').allTextContents()).toContainEqual(
      expect.stringMatching(/: charged 1\.00 USD, cost and margin not known$/),
    );
    await look(page, 'money-day');
    await page.getByRole('button', { name: 'Channel', exact: true }).click();
    const names = () =>
      page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-key')));
    await expect.poll(names).toEqual(['two', 'one']);
    await page.getByRole('button', { name: 'Charged USD' }).click();
    await expect.poll(names).toEqual(['one', 'two']);
    await look(page, 'money-channel');
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    expect(readFileSync(await saved.path(), 'utf8')).toMatch(/^channel,tasks,.*\r\ntwo,1,1\.000000/);
    for (const [group, name] of [
      ['Key', 'key_past'],
      ['End user', /^mia/],
      ['Account', 'past'],
      ['Model', 'plain'],
    ] as const) {
      await page.getByRole('button', { name: group, exact: true }).first().click();
      await page.getByRole('cell', { name, exact: true }).waitFor();
    }
    const [statement] = await (async () => {
      await page.getByLabel('Account', { exact: true }).last().fill(account.id);
      return Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Save', exact: true }).click(),
      ]);
    })();
    expect(readFileSync(await statement.path(), 'utf8')).toContain('credit');
    expect(calls.filter((call) => call.includes('/margin?by=day'))).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  it('draws what came and ended, for all, one channel or one model, with the numbers and as CSV', async () => {
    const items = [{ url: 'https://x.test/v.mp4' }];
    for (let n = 0; n < 12; n += 1) {
      const { id } = (await account.create({ model: n % 3 === 0 ? 'plain' : 'clip' })).body;
      if (n % 4 === 3) continue;
      await world.drive.accept(id);
      if (n % 4 === 2) await world.drive.fail(id, { code: 'provider_error', message: 'm', class: 'quota' });
      else
        await world.drive.succeed(id, {
          kind: 'succeeded',
          items,
          facts: {},
          renderedAt: Date.now() - 3_000,
        });
    }
    const { page, faults, calls } = await signedIn('#/now');
    const chart = (label: string) => page.getByRole('img', { name: new RegExp(`^${label}: `) });
    await chart('Created').waitFor();
    expect(await chart('Created').getAttribute('aria-label')).toContain('Created: 12.');
    await page.getByRole('cell', { name: '3 our upstream account' }).first().waitFor();
    await look(page, 'now-past');
    await page.getByText('The numbers behind the charts').click();
    await page
      .getByRole('region', { name: 'The numbers behind the charts' })
      .getByRole('row')
      .nth(24)
      .waitFor();
    await page.getByRole('button', { name: 'By model' }).click();
    const row = page
      .getByRole('region', { name: 'Ended tasks by model' })
      .getByRole('row')
      .filter({ hasText: 'plain' });
    await row.getByText('4', { exact: true }).first().waitFor();
    await page.getByLabel('Model of the charts').selectOption('plain');
    await page.getByRole('img', { name: /^Created: 4\./ }).waitFor();
    expect(await chart('Unfinished').count()).toBe(0);
    await page.getByRole('button', { name: 'Last hour' }).click();
    const numbers = page.getByRole('region', { name: 'The numbers behind the charts' }).getByRole('row');
    await expect.poll(() => numbers.count()).toBe(13);
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    expect(readFileSync(await saved.path(), 'utf8')).toMatch(
      /^at,channel,model,created,.*\r\n[^,]*,[^,]*,plain,/,
    );
    expect(calls.filter((call) => call.includes('/trends?span=day&by=channel'))).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  it('lists the ill channels first, sorts them as asked, and has a page for each', async () => {
    await world.stores.nodes.report(workerReport(['one', 'two', 'three']));
    await world.admin('POST', '/channels/two/circuits', { credential: 'b', state: 'open', reason: 'late' });
    const { page, faults } = await signedIn('#/channels');
    const names = () =>
      page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-key')));
    await expect.poll(names).toEqual(['two', 'one', 'three']);
    await look(page, 'channels');
    await page.getByRole('button', { name: 'Channel', exact: true }).click();
    await expect.poll(names).toEqual(['one', 'three', 'two']);
    await page.getByRole('link', { name: 'two', exact: true }).click();
    await page.getByRole('region', { name: 'Circuits of two' }).getByRole('row').nth(1).waitFor();
    await page.getByRole('img', { name: /^Created: / }).waitFor();
    expect(await page.getByLabel('Channel of the charts').count()).toBe(0);
    const waiting = page.getByRole('link', { name: /tasks? to be submitted here$/ });
    expect(await waiting.getAttribute('href')).toBe('#/tasks?waiting_for=two');
    await look(page, 'channel');
    await page.goto(`${world.url}/console#/channels/none`);
    await page.getByText('has no channel with this name').waitFor();
    expect(faults).toEqual([]);
  });
});
