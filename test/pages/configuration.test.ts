import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  browserPath,
  expectReadable,
  noBrowser,
  overhang,
  seriousFindings,
  startBrowser,
} from '../support/browser.ts';
import type { TestBrowser } from '../support/browser.ts';
import { startDraftsNode } from '../support/drafts-node.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';
import { succeededWith } from '../support/task-records.ts';
import { snap } from '../support/shots.ts';
import { workerReport } from '../support/worker-report.ts';

const world = useHttpWorld('page_configuration');
let browser: TestBrowser;

describe.skipIf(browserPath === undefined)(`the configuration page${noBrowser}`, () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  const openPage = async (url: string) => {
    const isExpected = (text: string) => text.includes('status of 4');
    const watched = await browser.open({ viewport: { width: 1280, height: 900 }, isExpected });
    await watched.page.addInitScript(
      `sessionStorage.setItem('mediary.operator', ${JSON.stringify(adminToken)})`,
    );
    await watched.page.goto(`${url}/console#/configuration`);
    await watched.page.getByRole('heading', { name: 'Configuration', exact: true }).waitFor();
    return watched;
  };

  async function edit(page: Page, path: readonly string[], [label, value]: readonly [string, string]) {
    await page.getByRole('button', { name: 'Edit an entry' }).click();
    const dialog = page.getByRole('dialog');
    for (const pointer of path) await dialog.getByLabel('Entry').selectOption(pointer);
    await dialog.getByLabel(label, { exact: true }).fill(value);
    await dialog.getByRole('button', { name: 'Save in the draft' }).click();
    await dialog.getByText('Saved in the draft').waitFor();
    return dialog;
  }

  async function close(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }

  async function publish(page: Page, reason: string): Promise<void> {
    await page.getByRole('button', { name: 'Publish', exact: true }).first().click();
    await page.getByLabel('Reason').fill(reason);
    await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }

  it('tests a key, publishes a price and rolls it back', async () => {
    const node = await startDraftsNode(world, {
      tryCredential: () => Promise.resolve({ verdict: 'accepted', words: 'The upstream accepts the key.' }),
    });
    const { page, faults } = await openPage(node.url);
    const key = ['api_key', 'sk-of-a-vendor-9876'] as const;
    await edit(page, ['/channels/one', '/channels/one/credentials/a'], key);
    await close(page);
    await page.getByText('…9876').waitFor();
    expect(await page.content()).not.toContain('sk-of-a-vendor');
    await page.getByRole('button', { name: 'Test a key' }).click();
    expect(await page.getByLabel('Channel').inputValue()).toBe('one');
    expect(await page.getByLabel('Credential').inputValue()).toBe('a');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'The upstream accepts the key.' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await snap(page, 'configuration-test-key');
    await close(page);

    const line = ['/models/clip', '/models/clip/price/lines/0'];
    const dialog = await edit(page, line, ['price', 'cheap']);
    await dialog.getByText('must be a decimal string').waitFor();
    const price0 = dialog.getByLabel('price', { exact: true });
    expect(await price0.getAttribute('aria-invalid')).toBe('true');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await overhang(page)).toBe(0);
    expect(await dialog.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    await snap(page, 'configuration-entry-narrow');
    await page.setViewportSize({ width: 1280, height: 900 });
    await snap(page, 'configuration-entry');
    expect(await seriousFindings(page)).toEqual([]);
    await price0.fill('0.20');
    await dialog.getByRole('button', { name: 'Save in the draft' }).click();
    await dialog.getByText('must be a decimal string').waitFor({ state: 'detached' });
    await close(page);
    await page.getByRole('button', { name: 'Try the last 7 days' }).click();
    await page.getByText('Difference').waitFor();
    await page.getByRole('button', { name: 'Edit the text' }).click();
    await expectReadable(page, 'configuration');
    await publish(page, 'spring prices');
    const price = () => node.running.current().models[0]?.price.lines[0];
    expect([node.running.state().version, price()]).toEqual([2, { measure: 'second', price: '0.20' }]);
    await page.getByText('Version 2 is active.').waitFor();

    await page.getByText('spring prices').waitFor();
    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    await page.getByRole('dialog').getByText('models.clip.price.lines[0].price').waitFor();
    await page.getByRole('row', { name: 'models.clip.price.lines[0].price "0.20" "0.10"' }).waitFor();
    await page.getByRole('button', { name: 'Roll back', exact: true }).click();
    await page.getByText('Version 3 is active.').waitFor();
    expect(price()).toEqual({ measure: 'second', price: '0.10' });
    expect(faults).toEqual([]);
  });

  it('says what the draft would have charged, with an upper limit of the margin if a cost is unknown', async () => {
    const account = await world.newAccount();
    for (const [seconds, unknown] of [
      [4, 1],
      [8, 0],
    ] as const) {
      const { id } = (await account.create()).body;
      await world.drive.accept(id);
      await world.drive.polled(id, {
        ...succeededWith('https://u.example/1.mp4'),
        facts: { durationSeconds: seconds },
      });
      const cost = unknown > 0 ? 0n : 350_000n;
      await world.drive.step(id, {
        kind: 'ended',
        status: 'succeeded',
        charge: BigInt(seconds) * 100_000n,
        chargeEstimated: false,
        upstream: { model: 'clip', channel: 'one', cost, unknown },
      });
    }
    const node = await startDraftsNode(world);
    await node.set({ '/models/clip/price/lines/0/price': '0.25' });
    const { page, faults } = await openPage(node.url);
    await page.getByRole('button', { name: 'Try the last 7 days' }).click();
    await page.getByText('Charged', { exact: true }).waitFor();
    const facts = await page.locator('dl.facts').innerText();
    expect(facts.split(/\n+/)).toEqual([
      'Tasks',
      '2',
      'Charged',
      '1.20 USD; with the draft 3.00 USD',
      'Difference',
      '+1.80 USD',
      'Upstream cost',
      'at least 0.35 USD, unknown for 1 attempt',
      'Margin',
      'at most 0.85 USD; with the draft at most 2.65 USD',
    ]);
    const rowOf = (table: string) =>
      page.getByRole('region', { name: table }).locator('tbody tr').innerText();
    expect(await rowOf('Models')).toMatch(/^clip\s+2\s+1\.20\s+3\.00\s+\+1\.80\s+1\s+2\.65$/);
    expect(await rowOf('Accounts')).toContain(account.id);
    await expectReadable(page, 'configuration-what-if');
    expect(faults).toEqual([]);
  });

  it('adds and removes what a list of the configuration has, and lines of a price', async () => {
    const node = await startDraftsNode(world);
    const { page, faults } = await openPage(node.url);
    await page.getByRole('button', { name: 'Edit an entry' }).click();
    const dialog = page.getByRole('dialog');
    const entry = dialog.getByLabel('Entry', { exact: true });
    await entry.selectOption('/channels/one');
    await dialog.getByLabel('To', { exact: true }).selectOption('/channels/one/credentials');
    await dialog.getByLabel('Its id').fill('second');
    await snap(page, 'configuration-new-element');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByLabel('api_key').fill('sk-of-the-second-5555');
    expect(await entry.inputValue()).toBe('/channels/one/credentials/second');
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save in the draft' }).click();
    await dialog.getByText('Saved in the draft.').waitFor();
    await entry.selectOption('/channels/one');
    await dialog.getByLabel('To', { exact: true }).selectOption('/channels/one/credentials');
    await dialog.getByLabel('Its id').fill('second');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('/channels/one/credentials/second exists already').waitFor();
    await entry.selectOption('/channels/one/credentials/a');
    await dialog.getByRole('button', { name: 'Remove from the draft' }).click();
    await dialog.getByLabel('base_url').waitFor();
    await close(page);
    await page.getByText('channels.one.credentials.a', { exact: true }).waitFor();
    expect((await node.draft()).channels).toEqual([{ id: 'one', provider: 'test', credentials: ['second'] }]);

    await page.getByRole('button', { name: 'Change a price' }).click();
    await dialog.getByLabel('USD for a second', { exact: true }).fill('0.15');
    await dialog.getByRole('button', { name: 'Add a line' }).click();
    await dialog.getByLabel('measure', { exact: true }).selectOption('call');
    await dialog.getByLabel('price', { exact: true }).fill('0.01');
    await dialog.getByRole('button', { name: 'Save in the draft' }).click();
    await dialog.getByText('Saved in the draft.').waitFor();
    await close(page);
    const lines = async () => (await node.draft()).models[0].lines;
    expect(await lines()).toEqual([
      { measure: 'second', price: '0.15', when: {}, beyond: 0 },
      { measure: 'call', price: '0.01', when: {}, beyond: 0 },
    ]);
    await page.getByRole('button', { name: 'Change a price' }).click();
    await page.getByRole('button', { name: 'Remove: USD for a second' }).click();
    await dialog.getByLabel('USD for a call', { exact: true }).fill('0.02');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await dialog.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await snap(page, 'configuration-price-lines-narrow');
    await dialog.getByRole('button', { name: 'Change', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await lines()).toEqual([{ measure: 'call', price: '0.02', when: {}, beyond: 0 }]);
    expect((await node.draft()).violations).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('closes a dialog when the page shows what was saved', async () => {
    const node = await startDraftsNode(world);
    const { page, faults } = await openPage(node.url);
    const dialog = page.getByRole('dialog');
    const held: (() => Promise<void>)[] = [];
    let isHeld = false;
    await page.route('**/admin/v1/config/draft', (route) => {
      if (!isHeld || route.request().method() !== 'GET') return route.continue();
      held.push(() => route.continue());
      return undefined;
    });
    const press = async (opener: string, final: string) => {
      await page.getByRole('button', { name: opener, exact: true }).click();
      if (opener === 'Change a price')
        await dialog.getByLabel('USD for a second', { exact: true }).fill('0.15');
      if (opener === 'Publish') await dialog.getByLabel('Reason').fill('ours');
      isHeld = true;
      await dialog.getByRole('button', { name: final, exact: true }).click();
      await expect.poll(() => held.length).toBe(1);
      expect([opener, await dialog.isVisible()]).toEqual([opener, true]);
      isHeld = false;
      await held.pop()?.();
      await dialog.waitFor({ state: 'detached' });
    };
    const discard = page.getByRole('button', { name: 'Discard', exact: true });
    await press('Change a price', 'Change');
    expect(await discard.count()).toBe(1);
    await press('Discard', 'Discard');
    expect(await discard.count()).toBe(0);
    await press('Change a price', 'Change');
    await press('Publish', 'Publish');
    expect(await page.getByText('Version 2 is active.').count()).toBe(1);
    await press('Roll back to version 1', 'Roll back');
    expect(await page.getByText('Version 3 is active.').count()).toBe(1);
    expect(faults).toEqual([]);
  });

  it('shows which processes run a version that was published', async () => {
    const node = await startDraftsNode(world);
    const { page, faults } = await openPage(node.url);
    const report = async (version: number) =>
      world.stores.nodes.report(workerReport(['one'], { config: { version, hash: 'abc' } }));
    onTestFinished(async () => void (await world.db.collection('nodes').deleteMany({})));
    await report(1);
    await node.set({ '/models/clip/owned_by': 'us' });
    await page.reload();
    await publish(page, 'ours');
    await page.getByText('0 of 1 process runs version 2.').waitFor();
    await report(2);
    await page.getByText('1 of 1 process runs version 2.').waitFor();
    expect(faults).toEqual([]);
  });

  it('shows a second editor what the first one has changed', async () => {
    const node = await startDraftsNode(world);
    const { page, faults } = await openPage(node.url);
    await page.getByRole('button', { name: 'Edit the text' }).click();
    const text = page.getByLabel('The draft as YAML');
    await text.fill((await text.inputValue()).replace('"0.10"', '"0.30"'));
    await node.set({ '/models/clip/owned_by': 'us' });
    await page.getByRole('button', { name: 'Save the draft' }).click();
    await page.getByText('models.clip.owned_by added').waitFor();
    expect((await node.draft()).text).not.toContain('0.30');
    expect(faults).toEqual([]);
  });
});
