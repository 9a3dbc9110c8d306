import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, noBrowser, overhang, seriousFindings, startBrowser } from '../support/browser.ts';
import type { TestBrowser } from '../support/browser.ts';
import { startDraftsNode } from '../support/drafts-node.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';
import { snap } from '../support/shots.ts';

/** Operators can change the configuration in the console, without a file. */

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

  async function set(page: Page, pointer: string, value: string): Promise<void> {
    await page.getByRole('button', { name: 'Set a value' }).click();
    await page.getByLabel(/^Where/).fill(pointer);
    await page.getByLabel(/^Value/).fill(value);
    await page.getByRole('button', { name: 'Set', exact: true }).click();
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
    await set(page, '/channels/one/credentials/a/api_key', 'sk-of-a-vendor-9876');
    await page.getByText('…9876').waitFor();
    expect(await page.content()).not.toContain('sk-of-a-vendor');
    await page.getByRole('button', { name: 'Test a key' }).click();
    await page.getByLabel('Channel').fill('one');
    await page.getByLabel('Credential').fill('a');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('accepted: The upstream accepts the key.').waitFor();
    await page.getByRole('button', { name: 'Back' }).click();

    await set(page, '/models/clip/price/lines/0/price', '"cheap"');
    await page.getByText('models[0].price.lines[0].price').waitFor();
    await set(page, '/models/clip/price/lines/0/price', '"0.20"');
    await page.getByRole('button', { name: 'Try the last 7 days' }).click();
    await page.getByText('Difference').waitFor();
    await page.getByRole('button', { name: 'Edit the text' }).click();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await seriousFindings(page)).toEqual([]);
      await snap(page, `configuration-${colorScheme}`);
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await overhang(page)).toBe(0);
      await snap(page, `configuration-${colorScheme}-narrow`);
      await page.setViewportSize({ width: 1280, height: 900 });
    }
    await publish(page, 'spring prices');
    const price = () => node.running.current().models[0]?.price.lines[0];
    expect([node.running.state().version, price()]).toEqual([2, { measure: 'second', price: '0.20' }]);
    await page.getByText('Version 2 is in force.').waitFor();

    await page.getByRole('button', { name: 'Earlier versions' }).click();
    await page.getByText('spring prices').waitFor();
    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    await page.getByRole('dialog').getByText('models.clip.price.lines').waitFor();
    await page.getByRole('button', { name: 'Roll back', exact: true }).click();
    await page.getByText('Version 3 is in force.').waitFor();
    expect(price()).toEqual({ measure: 'second', price: '0.10' });
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
