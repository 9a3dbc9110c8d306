import { Buffer } from 'node:buffer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, noBrowser, startBrowser, type TestBrowser } from '../support/browser.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('console_money');

let browser: TestBrowser;

describe.skipIf(browserPath === undefined)(`an upstream’s bill on the console${noBrowser}`, () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  it('is uploaded and compared, and leads to the task that may own an unclaimed job', async () => {
    world.clock.stoppedAt = Date.parse('2026-03-02T12:00:00Z');
    const account = await world.newAccount();
    const lost = String((await account.create()).body.id);
    await world.drive.ask(lost);
    const { page, faults } = await browser.open({ viewport: { width: 360, height: 800 } });
    await page.addInitScript(`sessionStorage.setItem('mediary.operator', ${JSON.stringify(adminToken)})`);
    await page.goto(`${world.url}/console#/money`);
    await page.getByText('Compare an upstream’s bill').click();
    await page.getByLabel('Channel', { exact: true }).selectOption('one');
    const text = 'id,cost,time\nvendor-9,0.70,2026-03-02T12:00:05Z\n';
    await page
      .getByLabel('Bill, CSV in UTF-8')
      .setInputFiles({ name: 'march.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'bills is not known' }).waitFor();
    for (const [name, column] of Object.entries({ job: 'id', amount: 'cost', time: 'time' }))
      await page.getByLabel(`Column of ${name}`).fill(column);
    await page.getByLabel('Unit', { exact: true }).fill('USD');
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: 'vendor-9' });
    await row.getByText('only theirs').waitFor();
    await row.getByText('May belong to').waitFor();
    await row.getByRole('link', { name: lost }).click();
    await page.getByRole('button', { name: /^Adopt/ }).waitFor();
    await page.getByText('Compare with a task that succeeded').click();
    await page.getByText('No task of this model has succeeded.').waitFor();
    expect(faults.filter((fault) => !fault.includes('400'))).toEqual([]);
  });
});
