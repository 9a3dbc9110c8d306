import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startTemporal, type TestTemporal } from '../support/servers.ts';
import { snap } from '../support/shots.ts';

/**
 * Takes the screenshots for docs/images: every page of a gateway with data, in light and dark mode, and the Temporal
 * UI's view of a task that needs an operator.
 *
 *     SCREENSHOTS=docs/images npx vitest run test/pages/record-pictures.ts
 */

const local = readFileSync(new URL('../../src/local/gateway.local.yaml', import.meta.url), 'utf8');
const yaml = local.replaceAll('${SIMULATOR_API_KEY}', 'simulated');

let directory: string;
let temporal: TestTemporal;
let gateway: TestGateway;
let browser: TestBrowser;
let acme: TestAccount;
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>;
let parked = '';
let done = '';

const small = { resolution: undefined, ratio: undefined };
const prompts = ['A paper boat on a rainy street', 'A lighthouse in a storm', 'A red fox in the snow'];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-pictures-'));
  temporal = await startTemporal({ dir: directory, hasPages: true });
  const environment = { TEMPORAL_ADDRESS: temporal.address, PAYLOAD_ENCRYPTION: 'off' };
  gateway = await startGateway({ yaml, environment, renderSeconds: 1 });
  browser = await startBrowser();
  acme = await gateway.account({ credit: '250' });
  const birch = await gateway.account({ credit: '40' });
  const create = async (account: TestAccount, body: object) =>
    String((await account.create({ model: 'seedance-2.5', ...small, ...body })).body.id);
  const made: string[] = [];
  receiver = await startCallbackReceiver();
  const metadata = { callback_url: receiver.url };
  for (const [n, prompt] of prompts.entries())
    made.push(
      await create(n === 1 ? birch : acme, { prompt, duration: 4 + n, ...(n === 2 ? { metadata } : {}) }),
    );
  for (const marks of ['[sim:failed]', '[sim:moderation-in-task]'])
    made.push(await create(acme, { prompt: `A cat ${marks}` }));
  await create(acme, { prompt: 'A long tracking shot [sim:never-finishes]' });
  const lost: string[] = [];
  for (const account of [acme, acme, birch])
    lost.push(await create(account, { model: 'wan-2.6', prompt: 'A whale [sim:create:accepted-500]' }));
  [parked = ''] = lost;
  [done = ''] = made;
  await acme.finished(done);
  await vi.waitUntil(async () => (await waiting()) >= lost.length, { timeout: 90_000, interval: 500 });
  await gateway.admin('POST', '/channels/simulated-luma', {
    enabled: false,
    reason: 'Renders are late since noon',
  });
  const agreed = {
    factor: '0.9',
    models: [{ model: 'wan-2.6', factor: '0.8' }],
    reason: 'Agreed for a year',
  };
  await gateway.admin('POST', `/accounts/${acme.id}/price-factors`, agreed);
  await gateway.admin('POST', `/accounts/${acme.id}/overdraft`, {
    overdraft_limit: '50',
    reason: 'Pays by invoice',
  });
});
afterAll(async () => {
  await Promise.all([gateway.stop(), browser.close()]);
  await receiver.close();
  await temporal.stop();
  await rm(directory, { recursive: true });
});

async function waiting(): Promise<number> {
  return (await gateway.admin('GET', '/tasks?needs_attention=true')).body.data.length;
}

async function show(
  { app, name, dark }: { app: string; name: string; dark: boolean },
  place: string,
  prepare?: (page: Page) => Promise<void>,
): Promise<void> {
  const { page } = await browser.open({
    viewport: { width: 1280, height: 800 },
    colorScheme: dark ? 'dark' : 'light',
  });
  const [key, token] =
    app === 'console' ? ['mediary.operator', gateway.adminToken] : ['mediary.key', acme.key];
  if (place !== 'sign-in')
    await page.addInitScript(`sessionStorage.setItem('${key}', ${JSON.stringify(token)})`);
  await page.goto(`${gateway.url}/${app}${place === 'sign-in' || place === '' ? '' : `#/${place}`}`);
  await page.locator('main').waitFor();
  await prepare?.(page);
  await page.waitForLoadState('networkidle');
  await page.evaluate('scrollTo(0, 0)');
  await snap(page, `${name}-${dark ? 'dark' : 'light'}`);
  await page.context().close();
}

async function preview(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Fail/ }).click();
  await page.getByLabel(/^Reason/).fill('Not in the upstream’s console');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('Nothing has been done yet').waitFor();
}

async function bulk(page: Page): Promise<void> {
  await page.getByLabel('Select all shown').check();
  await page.getByRole('button', { name: /^Act on \d/ }).click();
  await page.getByLabel('Act', { exact: true }).selectOption('fail');
  await page.getByRole('textbox', { name: /^Reason/ }).fill('An outage of the upstream');
  await page.getByRole('button', { name: /^Preview/ }).click();
  await page.getByText('Nothing has been done yet').waitFor();
}

async function play(page: Page): Promise<void> {
  await page.getByLabel('Model').selectOption('seedance-2.5');
  await page.getByLabel('Prompt').fill(prompts[0] ?? '');
  await page.getByLabel('Resolution').selectOption('480p');
  await page.getByText(/Expected charge: .* held until/).waitFor();
  await page.getByRole('button', { name: 'Make the video' }).click();
  await page.locator('video').waitFor();
}

const rows = async (page: Page) => page.getByRole('row').nth(1).waitFor();
const heading = (name: string) => (page: Page) => page.getByRole('heading', { name }).first().waitFor();

it.each([false, true])('every page, dark: %s', { timeout: 300_000 }, async (dark) => {
  const pages: [app: string, name: string, place: () => string, prepare?: (page: Page) => Promise<void>][] = [
    ['console', 'console-sign-in', () => 'sign-in'],
    ['console', 'console-now', () => 'now', rows],
    ['console', 'console-tasks', () => 'tasks', rows],
    ['console', 'console-bulk', () => 'tasks?state=attention', bulk],
    ['console', 'console-task', () => `tasks/${parked}`, heading('Attempts')],
    ['console', 'console-act', () => `tasks/${parked}`, preview],
    ['console', 'console-result', () => `tasks/${done}`, heading('Attempts')],
    ['console', 'console-channels', () => 'channels', heading('Where would')],
    ['console', 'console-models', () => 'models', rows],
    ['console', 'console-accounts', () => 'accounts', rows],
    ['console', 'console-account', () => `accounts/${acme.id}`, rows],
    ['console', 'console-configuration', () => 'configuration', heading('Configuration')],
    ['console', 'console-nodes', () => 'nodes', heading('Nodes')],
    ['console', 'console-audit', () => 'audit', rows],
    ['account', 'account-tasks', () => '', heading('Tasks')],
    ['account', 'account-task', () => `tasks/video/${done}`, heading('Task')],
    ['account', 'account-playground', () => 'playground', play],
    ['account', 'account-usage', () => 'usage', rows],
    ['account', 'account-webhooks', () => 'webhooks', rows],
    ['account', 'account-key', () => 'key', rows],
    ['', 'welcome', () => ''],
    ['docs', 'docs', () => '', heading('Videos')],
  ];
  expect(new Set(pages.map(([, name]) => name)).size).toBe(pages.length);
  for (const [app, name, place, prepare] of pages) await show({ app, name, dark }, place(), prepare);
});

it('the Temporal UI', { timeout: 300_000 }, async () => {
  const { page } = await browser.open({ viewport: { width: 1440, height: 1000 } });
  await page.goto(`${temporal.uiUrl}/namespaces/default/workflows/${parked}`);
  await page.getByText(/^Waits: needs attention/).waitFor();
  await page.getByRole('heading', { name: /^Timeline/ }).scrollIntoViewIfNeeded();
  await snap(page, 'temporal-timeline');
  await page.getByText('User Metadata').first().click();
  await page.frameLocator('iframe >> nth=-1').getByText('Needs attention: submit_ambiguous').waitFor();
  await snap(page, 'temporal-details');
  expect(page.url()).toContain(parked);
});
