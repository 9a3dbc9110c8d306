import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, noBrowser, startBrowser } from '../support/browser.ts';
import type { TestBrowser, WatchedPage } from '../support/browser.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';
import { startForwarder, type Forwarder } from '../support/forwarder.ts';

const badLink = 'https://user:secret@media.example/video.mp4';

function channelYaml(id: string, more: { base?: string; limits?: string; cost?: string }): string {
  return `
  - id: ${id}
    provider: ark
    base_url: ${more.base ?? '${SIMULATOR_URL}'}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { submits_per_second: 500, polls_per_second: 500${more.limits ?? ''} }
    timeouts: { submit_ms: 10000, poll_ms: 10000 }${more.cost ?? ''}
    models: { ${id}: { upstream: dreamina-seedance-2-0-260128 } }`;
}

const modelYaml = testYaml.slice(testYaml.indexOf('\n  - id: seedance'));

let gateway: TestGateway;
let browser: TestBrowser;
let account: TestAccount;
let broken: Forwarder;

describe.skipIf(browserPath === undefined)(`facts on the console${noBrowser}`, () => {
  beforeAll(async () => {
    [broken, browser] = await Promise.all([
      startForwarder(() => gateway.simulatorUrl, {
        rewrite: (text) =>
          text.replaceAll(/"video_url":\s*"[^"]*"/g, `"video_url":${JSON.stringify(badLink)}`),
      }),
      startBrowser(),
    ]);
    const channels = [
      channelYaml('broken', { base: broken.url }),
      channelYaml('narrow', { limits: ', concurrent_tasks: 2' }),
      channelYaml('costly', {
        cost: `\n    cost: { lines: [{ measure: million_tokens, price: "5.00" }] }`,
      }),
    ];
    const models = ['broken', 'narrow', 'costly'].map((id) => modelYaml.replace('id: seedance', `id: ${id}`));
    const yaml = testYaml.replace('\nmodels:', `${channels.join('')}\nmodels:`) + models.join('');
    gateway = await startGateway({ yaml: `results: { storage: directory }${yaml}` });
    account = await gateway.account();
  });
  afterAll(async () => {
    await Promise.all([gateway.stop(), browser.close()]);
    await broken.close();
  });

  async function signedIn(hash: string): Promise<WatchedPage> {
    const watched = await browser.open({ viewport: { width: 1280, height: 900 } });
    await watched.page.addInitScript(
      `sessionStorage.setItem('mediary.operator', ${JSON.stringify(gateway.adminToken)})`,
    );
    await watched.page.goto(`${gateway.url}/console${hash}`);
    return watched;
  }

  const created = async (body: object): Promise<string> => (await account.create({ ...body })).body.id;

  const fact = (page: Page, name: string) =>
    page
      .locator('dl.facts dt', { hasText: new RegExp(`^${name}$`) })
      .locator('xpath=following-sibling::dd[1]');

  it('how many slots of a channel are in use, and that a task waits for one', async () => {
    const prompt = 'a boat [sim:never-finishes]';
    await created({ model: 'narrow', prompt });
    const { page, faults } = await signedIn('#/channels/narrow');
    const channel = page.locator('section.channel');
    await channel.getByText('1 of 2 in use').waitFor();
    expect(await channel.getByText('all in use').count()).toBe(0);
    await created({ model: 'narrow', prompt });
    await channel.getByText('2 of 2 in use').waitFor();
    await channel.getByText('all in use').waitFor();
    await created({ model: 'narrow', prompt });
    await page.goto(`${gateway.url}/console#/tasks?model=narrow`);
    await page.getByRole('cell', { name: 'waits for a free slot' }).waitFor();
    await page.goto(`${gateway.url}/console#/channels/costly`);
    await page.locator('section.channel', { hasText: 'costly' }).getByText('no limit').waitFor();
    expect(faults).toEqual([]);
  });

  it('what a task cost and what it earned, and its last frame', async () => {
    const id = await created({ model: 'costly', metadata: { return_last_frame: true } });
    await account.finished(id);
    const { page, faults } = await signedIn(`#/tasks/${id}`);
    await expect.poll(() => fact(page, 'Charged').textContent()).toBe('−0.7623 USD');
    expect(await fact(page, 'Cost').textContent()).toBe('0.5445 USD');
    expect(await fact(page, 'Margin').textContent()).toBe('+0.2178 USD');
    await page.locator('video').waitFor();
    const frame = page.getByRole('img', { name: 'The last frame' });
    await frame.waitFor();
    await expect
      .poll(() => frame.evaluate((node) => 'naturalWidth' in node && node.naturalWidth))
      .toBeGreaterThan(1);
    const link = await page.getByRole('link', { name: 'Open the last frame' }).getAttribute('href');
    expect((await fetch(new URL(link ?? '', gateway.url))).headers.get('content-type')).toMatch(/^image\//);
    expect(faults).toEqual([]);
  });

  it('a link that the caller does not get, and why the task failed', async () => {
    const id = await created({ model: 'broken' });
    expect(await account.finished(id)).toMatchObject({ status: 'failed' });
    const { page, faults } = await signedIn(`#/tasks/${id}`);
    await page.getByText('The upstream delivered this, but it is withheld from the caller').waitFor();
    expect(await page.getByRole('link', { name: 'Open the withheld result' }).getAttribute('href')).toBe(
      badLink,
    );
    expect(await page.locator('video').count()).toBe(0);
    expect(await fact(page, 'Error').textContent()).toContain('provider_error');
    expect(await fact(page, 'Charged').textContent()).toBe('0.00 USD');
    expect(faults).toEqual([]);
  });
});
