import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, expectReadable, noBrowser, startBrowser } from '../support/browser.ts';
import type { TestBrowser, WatchedPage } from '../support/browser.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/**
 * The simulator is on a private network, which only the configuration file can allow. There are no models for sale yet.
 */
const yaml = `
currency: USD
results: { storage: directory }
channels:
  - id: simulator
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: main, api_key: no-key-yet }]
    models: {}
models: []
`;

let gateway: TestGateway;
let browser: TestBrowser;
const presses: Record<string, number> = {};
let chapter = '';

function pressesOn(page: Page) {
  const count = () => (presses[chapter] = (presses[chapter] ?? 0) + 1);
  return {
    button(name: string | RegExp) {
      count();
      return page
        .getByRole('button', typeof name === 'string' ? { name, exact: true } : { name })
        .last()
        .click();
    },
    link(name: string) {
      count();
      return page.getByRole('link', { name, exact: true }).first().click();
    },
    choose(label: string, option: string) {
      count();
      return page.getByLabel(label, { exact: true }).selectOption(option);
    },
    check(label: string | RegExp) {
      count();
      return page.getByLabel(label).check();
    },
  };
}

describe.skipIf(browserPath === undefined)(`a newcomer’s film${noBrowser}`, () => {
  beforeAll(async () => {
    [gateway, browser] = await Promise.all([startGateway({ yaml }), startBrowser()]);
  });
  afterAll(() => Promise.all([gateway.stop(), browser.close()]));

  const open = async (path: string): Promise<WatchedPage> => {
    const watched = await browser.open({
      viewport: { width: 1280, height: 900 },
      isExpected: (text) => /status of 40[0134]/.test(text),
    });
    await watched.page.goto(`${gateway.url}/${path}`);
    return watched;
  };

  it('connects an upstream, sells a video, changes the price, and shares the work', async () => {
    const { page, faults } = await open('console');
    const press = pressesOn(page);

    chapter = 'first steps';
    await page.getByLabel('Operator’s token').fill(gateway.adminToken);
    await press.button('Sign in');
    await page.getByText('1 upstream is configured already.').waitFor();
    await press.choose('Who renders it', 'simulator');
    await page.getByLabel(/^The vendor’s key/).fill('simulated');
    await expectReadable(page, 'film-upstream');
    await press.button('Continue');
    await press.choose('Model', 'seedance-2.5');
    await expectReadable(page, 'film-model');
    await press.button('Add to the draft');
    await page.getByText('The upstream accepts the key.').waitFor();
    await press.button('Publish');
    await press.button('Publish');
    await press.button('Create an account');
    await page.getByLabel(/^Id \(cannot be changed/).fill('shop');
    await page.getByLabel(/^First credit/).fill('20');
    await press.button('Create');
    await press.button('I have stored it');
    await page.getByLabel('Name', { exact: true }).fill('first');
    await page.getByLabel(/^The most the key may spend a month/).fill('10');
    await press.button('Create');
    const key = await page.locator('.secret').innerText();
    await press.button('I have stored it');

    chapter = 'a video';
    await press.link('Make a video in the playground');
    await page.getByLabel('API key').fill(key);
    await press.button('Sign in');
    await press.button('Short draft');
    await page.getByText(/Expected charge: .* held until/).waitFor();
    await press.button('Make the video');
    await page.locator('video').waitFor();
    await expectReadable(page, 'film-video');

    chapter = 'its charge, cost and margin';
    await page.goto(`${gateway.url}/console#/tasks`);
    await page.locator('tbody tr a').first().waitFor();
    presses[chapter] = 1;
    await page.locator('tbody tr a').first().click();
    const fact = (name: string) =>
      page.locator('dl.facts dt', { hasText: new RegExp(`^${name}$`) }).locator('+ dd');
    for (const name of ['Charged', 'Cost', 'Margin']) {
      await fact(name).first().waitFor();
      expect(await fact(name).first().innerText()).toMatch(/\d\.\d\d\d* USD/);
    }
    await expectReadable(page, 'film-task');

    chapter = 'another price';
    await press.link('Configuration');
    await press.button('Change a price');
    await page.getByLabel('USD for a million tokens', { exact: true }).fill('14.00');
    await expectReadable(page, 'film-price');
    await press.button('Change');
    await page
      .getByRole('row', { name: 'models.seedance-2.5.price.lines[3].price "10.70" "14.00"', exact: true })
      .waitFor();
    expect(await page.getByRole('region', { name: 'Changes' }).locator('tbody tr').count()).toBe(1);
    await press.button(/^Try the last/);
    await page
      .getByText(/; with the draft/)
      .first()
      .waitFor();
    await expectReadable(page, 'film-what-if');
    await press.button('Publish');
    await page.getByLabel('Reason').fill('a margin');
    await press.button('Publish');
    await page.getByText('Version 3 is active.').waitFor();
    await page.getByText(/^(\d+) of \1 process(?:es run| runs) version 3\.$/).waitFor();
    expect((await gateway.admin('GET', '/models')).text).toContain('14.000000');

    chapter = 'roll back';
    await press.button('Roll back to version 2');
    await press.button('Roll back');
    await expect
      .poll(async () => (await gateway.admin('GET', '/models')).text.includes('14.000000'))
      .toBe(false);

    chapter = 'invite';
    await page.goto(`${gateway.url}/console#/people`);
    await press.button('Invite');
    await page.getByLabel(/^Name \(in lowercase/).fill('mia');
    await press.check(/^tasks – /);
    await press.button('Create the link');
    const link = await page.locator('.secret').innerText();
    await press.button('I have stored it');

    chapter = 'mia';
    const mia = await open(new URL(link).href.slice(gateway.url.length + 1));
    const hers = pressesOn(mia.page);
    await hers.button('Accept');
    await hers.button('I have stored it');
    await mia.page.getByRole('link', { name: 'Tasks' }).waitFor();
    expect(await mia.page.getByRole('link', { name: 'Money', exact: true }).count()).toBe(0);
    await hers.link('Tasks');
    await mia.page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor();
    await mia.page.locator('tbody tr a').first().click();
    await mia.page.getByRole('heading', { name: 'Facts' }).waitFor();
    await mia.page.getByText('seedance-2.5').first().waitFor();
    expect(await mia.page.locator('main').innerText()).not.toMatch(/\d\.\d\d\d* USD/);
    await expectReadable(mia.page, 'film-without-amounts');
    await hers.link('Accounts');
    await mia.page.getByRole('cell', { name: 'shop', exact: true }).waitFor();
    expect(await mia.page.locator('main').innerText()).not.toMatch(/\d\.\d\d/);
    expect(mia.faults).toEqual([]);

    chapter = 'suspend';
    await page.goto(`${gateway.url}/console#/accounts/shop`);
    await press.button('Close the account');
    await page.getByLabel(/^Reason/).fill('does not pay');
    await press.button('Close the account');
    await page.getByRole('button', { name: 'Reopen' }).waitFor();
    const refused = await gateway.call('POST', '/v1/videos/generations', {
      key,
      body: { model: 'seedance-2.5', prompt: 'a boat' },
    });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(faults).toEqual([]);
    expect(presses).toEqual({
      'first steps': 12,
      'a video': 4,
      'its charge, cost and margin': 1,
      'another price': 6,
      'roll back': 2,
      invite: 4,
      mia: 4,
      suspend: 2,
    });
  });
});
