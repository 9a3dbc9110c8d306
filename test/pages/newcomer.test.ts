import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, expectReadable, noBrowser, startBrowser } from '../support/browser.ts';
import type { TestBrowser } from '../support/browser.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const vendorKey = 'no-real-key-of-anybody-4321';

let gateway: TestGateway;
let browser: TestBrowser;

describe.skipIf(browserPath === undefined)(`a newcomer${noBrowser}`, () => {
  beforeAll(async () => {
    [gateway, browser] = await Promise.all([
      startGateway({ yaml: 'currency: USD\nchannels: []\nmodels: []\n' }),
      startBrowser(),
    ]);
  });
  afterAll(() => Promise.all([gateway.stop(), browser.close()]));

  it('adds a vendor and its key, publishes a model, and creates an account with a key', async () => {
    const { page, faults } = await browser.open({
      viewport: { width: 1280, height: 900 },
      isExpected: (text) => text.includes('status of 400'),
    });
    await page.goto(`${gateway.url}/console`);
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    const confirm = (name: string) =>
      page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
    await page.getByLabel('Operator’s token').fill(gateway.adminToken);
    await press('Sign in');
    await page.getByText('No upstream is configured yet. The simulator').waitFor();
    await press('Skip');
    await page.getByRole('link', { name: 'Configuration', exact: true }).first().click();
    await page.getByRole('link', { name: 'first steps' }).click();
    await page.getByText('No upstream is configured yet. The simulator').waitFor();
    await page.getByLabel('Who renders it').selectOption('kling');
    await page.getByLabel(/^The vendor’s key/).fill('a-mistyped-key-of-nobody-1234');
    // This does not call a vendor, because the gateway connects to private addresses only if a channel permits it.
    await page.getByLabel(/^Address/).fill('http://127.0.0.1:9');
    await expectReadable(page, 'start-upstream');
    await press('Continue');
    await page.getByLabel('Model').selectOption('kling-3.0-omni');
    await page.getByText(/Prices in USD/).waitFor();
    const markup = page.getByLabel(/^Your markup/);
    await markup.fill('cheap');
    await press('Add to the draft');
    await page.locator('input[name=markup_percent][aria-invalid=true]').waitFor();
    await markup.fill('25');
    await expectReadable(page, 'start-model');
    await press('Add to the draft');
    await page.getByText('no errors').waitFor();
    await page.getByText('The upstream cannot be reached').waitFor();
    const listed = (await gateway.admin('GET', '/config/catalogue')).body.data.find(
      ({ id }: { id: string }) => id === 'kling-3.0-omni',
    );
    const raised = (Number(listed.lines[0].price) * 1.25).toFixed(6).replace(/0{1,4}$/, '');
    await page.getByText('You sell kling-3.0-omni at these prices, in USD:').waitFor();
    expect((await page.locator('.prices .number').first().innerText()).replace(/0+$/, '')).toBe(
      raised.replace(/0+$/, ''),
    );
    await expectReadable(page, 'start-publish');

    await page.reload();
    await page.getByText('1 upstream is configured already.').waitFor();
    await page.getByLabel('Who renders it').selectOption('kling');
    await page.getByLabel(/^The vendor’s key/).fill(vendorKey);
    await press('Continue');
    await page.getByLabel('Model').selectOption('kling-3.0-omni');
    await press('Add to the draft');
    await page.getByText('The upstream cannot be reached').waitFor();
    const { body: draft } = await gateway.admin('GET', '/config/draft');
    const used = draft.secrets.filter((one: { used: boolean }) => one.used);
    expect(used).toMatchObject([{ ending: vendorKey.slice(-4) }]);
    await press('Publish');
    await confirm('Publish');

    await page.getByRole('heading', { name: 'Who buys from you?' }).waitFor();
    const models = await gateway.admin('GET', '/models');
    expect(models.body.data.map(({ id }: { id: string }) => id)).toEqual(['kling-3.0-omni']);
    await press('Create an account');
    await page.getByLabel(/^Id \(cannot be changed/).fill('shop');
    await page.getByLabel(/^First credit/).fill('20');
    await confirm('Create');
    await press('I have stored it');
    await page.getByLabel('Name', { exact: true }).fill('first');
    await page.getByLabel('kling-3.0-omni', { exact: true }).check();
    await page.getByLabel(/^The most the key may spend a month/).fill('10');
    await confirm('Create');
    const key = await page.locator('.secret').innerText();
    await press('I have stored it');
    await page.getByText('The gateway is set up.').waitFor();
    await expectReadable(page, 'start-done');
    expect(await page.content()).not.toContain(vendorKey);

    const own = await gateway.call('GET', '/v1/key', { key });
    expect(own.body).toMatchObject({ account: 'shop', spent: { month: { limit: '10.000000' } } });
    expect((await gateway.admin('GET', '/accounts/shop')).body).toMatchObject({ available: '20.000000' });
    expect(faults).toEqual([]);
  });
});
