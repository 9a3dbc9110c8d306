import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, noBrowser, startBrowser } from '../support/browser.ts';
import type { TestBrowser, WatchedPage } from '../support/browser.ts';
import type { TestAccount } from '../support/client.ts';
import { hostileControls, hostileStrings } from '../support/hostile-strings.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('hostile_strings');
const all = [...hostileStrings, ...hostileControls];

let browser: TestBrowser;
let owner: TestAccount;
const ids: string[] = [];

describe.skipIf(browserPath === undefined)(`hostile strings${noBrowser}`, () => {
  beforeAll(async () => {
    browser = await startBrowser();
    owner = await world.newAccount();
    for (const [n, text] of hostileStrings.entries()) await name(n, text);
    for (const [n, text] of all.entries()) ids.push(await taskOf(n, text));
  });
  afterAll(() => browser.close());

  async function name(n: number, text: string): Promise<void> {
    const put = async (path: string, body: object) => {
      const { status } = await world.admin('POST', path, body);
      expect([path, text, status]).toEqual([path, text, 200]);
    };
    await put('/accounts', { id: `hostile-${n}`, name: text });
    await put('/keys', { account: owner.id, name: text });
    await put(`/accounts/${owner.id}/credits`, { amount: '1', reference: `${n} ${text}`, note: text });
    await put('/channels/three', { enabled: false, reason: text });
  }

  async function taskOf(n: number, text: string): Promise<string> {
    const { body } = await owner.create({ prompt: text, metadata: { end_user: `user-${n}` } });
    const id = String(body.id);
    if (n % 3 === 0) {
      await world.drive.accept(id, `${n} ${text}`);
      const said = { code: text, message: text };
      await world.drive.fail(
        id,
        { code: 'provider_error', message: text, class: 'internal' },
        { kind: 'failed', ...said, failure: { class: 'internal' }, withheld: [text] },
      );
    } else if (n % 3 === 1) await world.drive.ask(id);
    else {
      const items = [{ url: text, lastFrameUrl: text }];
      await world.drive.succeed(id, { kind: 'succeeded', items, facts: { resolution: text } });
    }
    return id;
  }

  async function open(key: string, token: string): Promise<WatchedPage> {
    const watched = await browser.open({ isExpected: (text) => /status of (?:4|503)/.test(text) });
    await watched.page.addInitScript(
      `globalThis.fault = () => reportViolation('a script ran');
       sessionStorage.setItem(${JSON.stringify(key)}, ${JSON.stringify(token)})`,
    );
    return watched;
  }

  const injected = `[...document.querySelectorAll(
    'body script, iframe, object, embed, base, body style, body link, body meta, form[action], math, [srcdoc], a[href*="script:"], a[href^="data:"]')]
    .concat([...document.querySelectorAll('body *')].filter((node) =>
      [...node.attributes].some(({ name }) => name.startsWith('on'))))
    .map((node) => node.outerHTML)`;

  async function walk({ page, faults }: WatchedPage, { app, places }: { app: string; places: string[] }) {
    for (const place of places) {
      await page.goto(`${world.url}/${app}#/${place}`);
      await page.locator('main').first().waitFor();
      await page.getByText('Loading').first().waitFor({ state: 'detached' });
      for (const summary of await page.locator('summary').all()) await summary.click();
      const seal = page.getByRole('button', { name: 'Show the request' });
      if ((await seal.count()) > 0) await seal.click();
      expect([place, await page.evaluate(injected)]).toEqual([place, []]);
      expect([place, faults]).toEqual([place, []]);
    }
  }

  it('are text everywhere in the console', async () => {
    const watched = await open('mediary.operator', adminToken);
    await walk(watched, {
      app: 'console',
      places: [
        'now',
        'money?by=account',
        'money?by=end_user',
        'tasks',
        `tasks?account=${owner.id}`,
        ...ids.map((id) => `tasks/${id}`),
        ...all.map((text) => `tasks?find=${encodeURIComponent(Buffer.from(text).toString())}`),
        ...hostileStrings.map((text) => `accounts/${encodeURIComponent(text)}`),
        ...hostileStrings.map((text) => encodeURIComponent(text)),
        'channels',
        'channels/three',
        ...hostileStrings.map((text) => `channels/${encodeURIComponent(text)}`),
        'models',
        'accounts',
        `accounts/${owner.id}`,
        'configuration',
        'nodes',
        'audit',
      ],
    });
    const { page, faults } = watched;
    await page.goto(`${world.url}/console#/tasks/${ids[0]}`);
    await page.getByText(`${hostileStrings[0]}`).first().waitFor();
    expect(faults).toEqual([]);
  });

  it('are text everywhere in the pages of an owner', async () => {
    const watched = await open('mediary.key', owner.key);
    await walk(watched, {
      app: 'account',
      places: [
        '',
        'usage',
        'key',
        'playground',
        ...ids.map((id) => `tasks/video/${id}`),
        ...hostileStrings.map((text) => `tasks/video/${encodeURIComponent(text)}`),
      ],
    });
    const { page, faults } = watched;
    await page.goto(`${world.url}/account#/tasks/video/${ids[0]}`);
    await page.getByText(`${hostileStrings[0]}`).first().waitFor();
    await page.goto(`${world.url}/account#/usage`);
    await page.getByRole('button', { name: 'End user' }).click();
    await page.getByRole('button', { name: 'Key' }).click();
    expect(await page.evaluate(injected)).toEqual([]);
    await page.goto(`${world.url}/account#/playground`);
    const prompt = page.getByLabel('Prompt');
    for (const text of all.map((one) => one.replaceAll('\u0000', ''))) {
      await prompt.fill(text);
      const shown = /-d '([^]*)'$/.exec((await page.textContent('.code pre')) ?? '')?.[1];
      expect(JSON.parse(shown?.replaceAll(`'\\''`, "'") ?? '').prompt.length).toBe(text.length);
      expect([text, await page.evaluate(injected), faults]).toEqual([text, [], []]);
    }
  });
});
