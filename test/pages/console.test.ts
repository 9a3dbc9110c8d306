import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  browserPath,
  contrast,
  noBrowser,
  overhang,
  pressSearchKey,
  seriousFindings,
  startBrowser,
  withoutPolls,
} from '../support/browser.ts';
import type { Locator } from 'playwright-core';
import type { TestBrowser, WatchedPage } from '../support/browser.ts';
import { actOn, type TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { snap } from '../support/shots.ts';
import { attendedYaml } from '../support/test-yaml.ts';

const yaml = attendedYaml.replace(
  '\nmodels:',
  `
  - id: main
    provider: dashscope
    base_url: \${SIMULATOR_URL}/dashscope/api/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models: { wan: { upstream: wan2.6-t2v } }
models:`,
);
const lost = { model: 'wan', prompt: 'a boat [sim:create:accepted-500]' };

const hostile = `<img src=x onerror=fault()>"'\`</script><script>fault()</script>{{7*7}}\${7*7}javascript:fault()`;

let gateway: TestGateway;
let browser: TestBrowser;
let account: TestAccount;
const parked: string[] = [];

describe.skipIf(browserPath === undefined)(`the console${noBrowser}`, () => {
  beforeAll(async () => {
    [gateway, browser] = await Promise.all([
      startGateway({ yaml, environment: { TEMPORAL_UI_URL: 'https://ui.example/t/' } }),
      startBrowser(),
    ]);
    account = await gateway.account({ key: { name: hostile } });
    await gateway.admin('POST', '/accounts', { id: 'hostile', name: hostile });
    for (let n = 0; n < 7; n += 1) {
      const { body } = await account.create({ ...lost, prompt: `${hostile} ${lost.prompt}` });
      parked.push(body.id);
    }
    await vi.waitUntil(async () => (await waiting()) === parked.length, { timeout: 180_000, interval: 200 });
  });
  afterAll(() => Promise.all([gateway.stop(), browser.close()]));

  async function waiting(): Promise<number> {
    const { body } = await gateway.admin('GET', '/tasks?needs_attention=true&limit=100');
    return body.data.length;
  }

  async function signedIn(hash: string, width = 1280): Promise<WatchedPage> {
    const isExpected = (text: string) => text.includes('status of 409');
    const watched = await browser.open({ viewport: { width, height: 900 }, isExpected });
    await watched.page.addInitScript(
      `sessionStorage.setItem('mediary.operator', ${JSON.stringify(gateway.adminToken)})`,
    );
    await watched.page.goto(`${gateway.url}/console${hash}`);
    return watched;
  }

  it('refuses a wrong token with a sentence, and keeps a right one in this tab only', async () => {
    const { page, faults } = await browser.open({ isExpected: (text) => text.includes('401') });
    await page.goto(`${gateway.url}/console`);
    const token = page.getByLabel('Operator’s token');
    await token.fill('op-wrong');
    await page.keyboard.press('Enter');
    await page.getByText('missing, not valid or revoked').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await overhang(page)).toBe(0);
    await token.fill(gateway.adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor();
    expect(page.url()).not.toContain(gateway.adminToken);
    expect(await page.context().cookies()).toEqual([]);
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).toBe('{}');
    expect(faults).toEqual([]);
  });

  it('by the keyboard alone: finds a parked task, says what an act would do, does it, and the money has moved', async () => {
    const { page, faults } = await browser.open({ viewport: { width: 1280, height: 900 } });
    const [id = ''] = parked;
    await page.goto(`${gateway.url}/console#/now`);
    await page.getByLabel('Operator’s token').waitFor();
    await page.keyboard.type(gateway.adminToken);
    await page.keyboard.press('Enter');
    await page.getByText('7 tasks need an operator').waitFor();
    await expect.poll(() => page.title()).toBe('(7) Mediary console');
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/icon-7\.svg$/);
    const { held } = await account.balance();
    await pressSearchKey(page);
    await page.keyboard.type(id.slice(-8));
    await page.keyboard.press('Enter');
    await page.getByText('The response of main to the submission was lost').first().waitFor();
    await page.keyboard.press('a');
    const fail = page.getByRole('button', { name: /^Fail/ });
    for (let n = 0; n < 9 && !(await hasFocus(fail)); n += 1) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type(`no job in their console ${hostile}`);
    await page.keyboard.press('Enter');
    await page.getByText('released in full').waitFor();
    expect(await account.balance()).toMatchObject({ held });
    await snap(page, 'act');
    await page.keyboard.press('Enter');
    expect(await account.balance()).toMatchObject({ held });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('h1 .badge', { hasText: 'failed' }).waitFor();
    expect(Number((await account.balance()).held)).toBeCloseTo(Number(held) - 0.5, 6);
    await page.locator('.timeline').getByText(hostile).waitFor();
    expect(await page.getByRole('link', { name: 'in the Temporal UI' }).getAttribute('href')).toBe(
      `https://ui.example/t/namespaces/default/workflows/${id}`,
    );
    expect(await seriousFindings(page)).toEqual([]);
    const { body } = await gateway.admin('GET', '/audit');
    expect(body.data[0]).toMatchObject({ action: 'fail', task: id, via: 'console', outcome: 'done' });
    expect(faults).toEqual([]);
    parked.shift();
  });

  it('acts on exactly the tasks that were selected and shown', async () => {
    const { page, faults } = await signedIn('#/tasks?state=attention');
    const chosen = parked.slice(0, 3);
    for (const id of chosen) await page.getByLabel(`Select ${id}`).check();
    const [gone = ''] = chosen;
    await page.getByRole('button', { name: 'Act on 3 selected' }).click();
    await page.getByRole('region', { name: 'Selected' }).getByText(gone).waitFor();
    await actOn(gateway.admin, gone, { action: 'fail', reason: 'somebody else' });
    await page.getByLabel('Act', { exact: true }).selectOption('fail');
    await page.getByRole('textbox', { name: /^Reason/ }).fill('outage');
    await page.getByRole('button', { name: 'Preview for 3' }).click();
    await page.getByText('2 tasks of 3 would be affected: 1.00 USD released').waitFor();
    expect(
      await page.getByRole('region', { name: 'Would be affected' }).locator('.mono').allTextContents(),
    ).toEqual(expect.arrayContaining(chosen.slice(1)));
    await page.getByRole('region', { name: 'Not possible' }).getByText(gone).waitFor();
    await snap(page, 'bulk');
    const before = await waiting();
    await page.getByRole('button', { name: 'Fail: 2 tasks' }).click();
    await page.getByText('Done for 2 tasks.').waitFor();
    await expect.poll(waiting).toBe(before - 2);
    expect(faults).toEqual([]);
  });

  it('sums what a refund of many would give back, before it does', async () => {
    const customer = await gateway.account();
    const ids = [await customer.create(), await customer.create()].map(({ body }) => String(body.id));
    for (const id of ids) await customer.finished(id);
    const { available } = await customer.balance();
    const { page, faults } = await signedIn(`#/tasks?account=${customer.id}`);
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Act on 2 selected' }).click();
    await page.getByLabel('Act', { exact: true }).selectOption('refund');
    await page.getByLabel(/^Amount/).fill('0.1');
    await page.getByRole('textbox', { name: /^Reason/ }).fill('an outage');
    await page.getByRole('button', { name: 'Preview for 2' }).click();
    await page.getByText('2 tasks of 2 would be affected: 0.20 USD refunded').waitFor();
    expect(await customer.balance()).toMatchObject({ available });
    await page.getByRole('button', { name: 'Refund: 2 tasks' }).click();
    await page.getByText('Done for 2 tasks.').waitFor();
    expect(Number((await customer.balance()).available)).toBeCloseTo(Number(available) + 0.2, 6);
    expect(faults).toEqual([]);
  });

  it('asks nothing while the tab is hidden, and once for a list when it is seen', async () => {
    const { page, calls } = await browser.open();
    await page.addInitScript(
      `sessionStorage.setItem('mediary.operator', ${JSON.stringify(gateway.adminToken)});
       Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' });
       ${withoutPolls(1000)}`,
    );
    await page.goto(`${gateway.url}/console#/tasks`);
    // Use `poll`, because `waitFor` would wait until nothing is loading any more.
    await expect.poll(() => page.getByText('Loading').count()).toBe(1);
    expect(calls).toEqual([]);
    await page.evaluate(
      `delete document.visibilityState; document.dispatchEvent(new Event('visibilitychange'));`,
    );
    await page.getByRole('row').nth(1).waitFor();
    expect(calls.filter((call) => call.startsWith('GET /admin/v1/tasks'))).toHaveLength(1);
  });

  it('keeps what it shows when the gateway does not answer, and says since when', async () => {
    const { page } = await signedIn('#/tasks');
    await page.getByRole('row').nth(1).waitFor();
    await page.route('**/admin/v1/**', (route) => route.abort());
    await page
      .getByText(/does not respond since \d\d:\d\d:\d\d/)
      .first()
      .waitFor();
    expect(await page.getByRole('row').count()).toBeGreaterThan(1);
    await page.unroute('**/admin/v1/**');
    await page.getByText(/does not respond/).waitFor({ state: 'detached' });
  });

  it('offers no act to the read role, and asks for a token when it is revoked', async () => {
    const { body } = await gateway.admin('POST', '/operators', { name: 'looker', roles: ['read'] });
    const { page, faults } = await browser.open({ isExpected: (text) => text.includes('status of 401') });
    await page.addInitScript(
      `if (!sessionStorage.getItem('seen')) sessionStorage.setItem('mediary.operator', ${JSON.stringify(body.token)});
       sessionStorage.setItem('seen', 'yes');`,
    );
    await page.goto(`${gateway.url}/console#/tasks/${parked.at(-1)}`);
    await page.getByText('was lost').first().waitFor();
    await expect
      .poll(() => page.getByRole('button').allTextContents())
      .toEqual(['Shortcuts', 'Sign out', 'Copy', 'Copy']);
    await gateway.admin('DELETE', '/operators/looker');
    await page.getByText('Your session has ended').waitFor();
    expect(await page.evaluate(`sessionStorage.getItem('mediary.operator')`)).toBeNull();
    expect(faults).toEqual([]);
  });

  it('pauses a channel and credits an account, each with a reason', async () => {
    const { page, faults } = await signedIn('#/channels/main');
    await page.getByRole('button', { name: 'Pause' }).last().click();
    await page.getByLabel(/^Reason/).fill(hostile);
    await page.getByRole('button', { name: 'Pause main' }).click();
    await page.getByText('paused').waitFor();
    const { body: channels } = await gateway.admin('GET', '/channels');
    expect(channels.data.at(-1).switch).toMatchObject({ enabled: false, by: 'admin', reason: hostile });
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByLabel(/^Reason/).fill('all is well again');
    await page.getByRole('button', { name: 'Resume main' }).click();
    await page.getByRole('button', { name: 'Resume' }).first().waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Channels' }).last().click();
    await page.getByRole('region', { name: 'Where would a request go?' }).getByLabel('Model').fill('wan');
    await page.keyboard.press('Enter');
    await page
      .getByText(/circuit open|(?:tried|waited for) as number 1/)
      .last()
      .waitFor();

    await page.goto(`${gateway.url}/console#/accounts/${account.id}`);
    const { available } = await account.balance();
    await page.getByRole('button', { name: 'Credit' }).click();
    await page.getByLabel(/^Amount/).fill('12.5');
    await page.getByLabel(/^Reference/).fill(hostile);
    await page.getByLabel(/^Reason/).fill(hostile);
    await page.getByText('12.50 USD is added').waitFor();
    await page.getByRole('button', { name: 'Credit' }).last().click();
    await page.getByRole('cell', { name: `by admin: ${hostile}` }).waitFor();
    expect(Number((await account.balance()).available)).toBeCloseTo(Number(available) + 12.5, 6);
    expect(faults).toEqual([]);
  });

  it.each([
    '#/channels',
    '#/channels/main',
    '#/money?by=account',
    '#/accounts',
    '#/accounts/ACCOUNT',
    '#/configuration',
    '#/nodes',
    '#/audit',
    '#/now',
    '#/tasks',
    '#/tasks/TASK',
    '#/tasks?find=%3Cimg%20src%3Dx%20onerror%3Dfault()%3E',
  ])('shows strings as text, fits a small window and a reader of any kind: %s', async (hash) => {
    const place = hash.replace('TASK', parked.at(-1) ?? '').replace('ACCOUNT', account.id);
    const { page, faults } = await signedIn(place, 360);
    await page.getByRole('heading').first().waitFor();
    await page.getByText('Loading').first().waitFor({ state: 'detached' });
    expect(await overhang(page)).toBe(0);
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      // The two colour schemes differ only in contrast, so check nothing else in dark mode.
      expect(await seriousFindings(page, scheme === 'dark' ? contrast : undefined)).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 900 });
      expect(await overhang(page)).toBe(0);
      await snap(page, `${hash.replace(/\W+/g, '-').slice(1, 14)}-${scheme}`);
      await page.setViewportSize({ width: 360, height: 740 });
      await snap(page, `${hash.replace(/\W+/g, '-').slice(1, 14)}-${scheme}-narrow`);
    }
    expect(faults).toEqual([]);
  });
});

const hasFocus = (element: Locator) => element.evaluate((node) => node.matches(':focus'));
