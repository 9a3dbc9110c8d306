import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, expectReadable, noBrowser, offered, startBrowser } from '../support/browser.ts';
import type { TestBrowser, WatchedPage } from '../support/browser.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('console_account');

let browser: TestBrowser;

describe.skipIf(browserPath === undefined)(`the page of an account${noBrowser}`, () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  async function signedIn(hash: string): Promise<WatchedPage> {
    const watched = await browser.open({ viewport: { width: 1280, height: 900 } });
    await watched.page.addInitScript(
      `sessionStorage.setItem('mediary.operator', ${JSON.stringify(adminToken)})`,
    );
    await watched.page.goto(`${world.url}/console${hash}`);
    return watched;
  }

  it('sets its alert, and replaces its webhook secret', async () => {
    const { id, webhookSecret } = await world.newAccount();
    const { page, faults } = await signedIn(`#/accounts/${id}`);
    await page.getByRole('button', { name: 'Alert' }).click();
    await page.getByText('No more events are posted').waitFor();
    await page.getByLabel(/^When less than this/).fill('12.5');
    await page.getByLabel('When a cap is nearly used up').selectOption('true');
    await page.getByLabel(/^Address/).fill('https://owner.example/alerts?token=1');
    await page.getByLabel(/^Reason/).fill('asked for it');
    await page.getByRole('button', { name: 'Set the alert' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await world.admin('GET', `/accounts/${id}/alert`)).body).toMatchObject({
      threshold: '12.500000',
      caps: true,
      url: 'https://owner.example/alerts',
    });
    await page.getByRole('button', { name: 'Alert' }).click();
    expect(await page.getByLabel(/^When less than this/).inputValue()).toBe('12.50');
    await page.getByText('currently https://owner.example/alerts').waitFor();
    await expectReadable(page, 'account-alert');
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Webhook secret' }).click();
    await page.getByLabel(/^Reason/).fill('leaked');
    await page.getByRole('button', { name: 'Replace it' }).click();
    const secret = await page.locator('.secret').innerText();
    expect([secret.slice(0, 6), secret === webhookSecret]).toEqual(['whsec_', false]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'I have stored it' }).click();
    expect(await page.content()).not.toContain(secret);
    expect(faults).toEqual([]);
  });

  it('shows its usage, and exports everything', async () => {
    const account = await world.newAccount();
    const { id } = account;
    const task = (await account.create()).body.id;
    const { page, faults } = await signedIn(`#/accounts/${id}`);
    await page.getByText('Usage this month').click();
    await page.getByRole('region', { name: 'Usage' }).getByRole('link', { name: 'clip' }).waitFor();
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).last().click(),
    ]);
    expect(download.suggestedFilename()).toBe(`account-${id}.jsonl`);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).object)).toEqual(
      expect.arrayContaining(['export.account', 'export.key', 'export.task', 'export.entry', 'export.end']),
    );
    expect(lines.join()).toContain(task);
    expect(faults).toEqual([]);
  });

  it('deletes a closed account only after a preview and its id', async () => {
    const { id } = await world.newAccount();
    const { page, faults } = await signedIn(`#/accounts/${id}`);
    await page.getByRole('button', { name: 'Close the account' }).waitFor();
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    await world.admin('POST', `/accounts/${id}/close`, { reason: 'left' });
    await page.reload();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel(/^Reason/).fill('asked to be forgotten');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('1 key, 0 tasks').waitFor();
    await expectReadable(page, 'account-delete');
    const final = page.getByRole('button', { name: 'Delete the account' });
    expect(await final.isDisabled()).toBe(true);
    expect((await world.admin('GET', `/accounts/${id}`)).body.deletion).toBeNull();
    await page.getByLabel(/^Type the account/).fill(id);
    await final.click();
    await page.getByText('asked to be forgotten').waitFor();
    expect((await world.admin('GET', `/accounts/${id}`)).body.deletion).toMatchObject({
      reason: 'asked to be forgotten',
    });
    expect(await page.getByRole('button', { name: 'Reopen' }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('sets price factors for models that are picked', async () => {
    const { id } = await world.newAccount();
    const { page, faults } = await signedIn(`#/accounts/${id}`);
    await page.getByRole('button', { name: 'Prices' }).click();
    await page.getByLabel(/^Factor for all prices/).fill('0.9');
    await page.getByRole('button', { name: 'Add a factor for one model' }).click();
    const model = page.getByLabel('Model', { exact: true });
    await expect.poll(() => offered(model)).toContain('plain');
    await model.fill('plain');
    await page.getByLabel('Factor for plain').fill('101');
    await page.getByLabel(/^Reason/).fill('a good customer');
    await page.getByRole('button', { name: 'Set the prices' }).click();
    await page.getByLabel('Factor for plain').fill('0.75');
    await expectReadable(page, 'account-prices');
    await page.getByRole('button', { name: 'Set the prices' }).click();
    await page.getByText('0.9 times the list prices; 0.75 times for plain').waitFor();
    expect(faults).toEqual([]);
  });

  it('is suggested where its id is asked for', async () => {
    const { id } = await world.newAccount();
    const { page, faults } = await signedIn('#/money');
    const account = page.locator('.statements').getByLabel('Account');
    await account.focus();
    await expect.poll(() => offered(account)).toContain(id);
    expect(faults).toEqual([]);
  });
});
