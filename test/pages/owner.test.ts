import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { picture } from '../../workshop/acceptance/picture.ts';
import { browserPath, noBrowser, overhang, seriousFindings, startBrowser } from '../support/browser.ts';
import type { TestBrowser } from '../support/browser.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { startPathProxy } from '../support/path-proxy.ts';
import { snap } from '../support/shots.ts';

/** Local mode's own configuration: the examples of the document must work with it as they stand. */
const yaml = readFileSync(new URL('../../src/local/gateway.local.yaml', import.meta.url), 'utf8').replaceAll(
  '${SIMULATOR_API_KEY}',
  'simulated',
);

let gateway: TestGateway;
let browser: TestBrowser;

const wide = { viewport: { width: 1280, height: 900 } };
const small = { model: 'seedance-2.5', resolution: undefined, ratio: undefined };
const narrow = { viewport: { width: 360, height: 740 } };

describe.skipIf(browserPath === undefined)(`pages for owners of keys${noBrowser}`, () => {
  beforeAll(async () => {
    [gateway, browser] = await Promise.all([startGateway({ yaml }), startBrowser()]);
  });
  afterAll(() => Promise.all([gateway.stop(), browser.close()]));

  const signIn = async (page: Page, account: TestAccount) => {
    await page.goto(`${gateway.url}/account`);
    await page.getByLabel('API key').fill(account.key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
  };

  it('leads from / to the document, which can be tried with a key', async () => {
    const account = await gateway.account();
    const { page, faults } = await browser.open(wide);
    await page.goto(gateway.url);
    await snap(page, 'welcome');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Documentation' }).click();
    const operation = page.locator('#createVideo');
    await operation.getByRole('button', { name: 'Try it' }).click();
    await operation.getByLabel('Your API key').fill(account.key);
    await page.keyboard.press('Enter');
    await operation.locator('.answer').getByText('"video.generation.task"').waitFor();
    expect(page.url()).not.toContain(account.key);
    await snap(page, 'docs');
    // From now on the browser knows the key, on this page and on the owner's page.
    const balance = page.locator('#getBalance');
    await balance.getByRole('button', { name: 'Try it' }).click();
    await balance.getByRole('button', { name: 'Send the request' }).click();
    await balance.locator('.answer').getByText('"available"').waitFor();
    expect(await page.getByText('http://127.0.0.1:8080').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('finds operations, fields, errors and guides in the document by the keyboard alone', async () => {
    const { page, faults } = await browser.open(wide);
    await page.goto(`${gateway.url}/docs`);
    const find = async (text: string) => {
      await page.getByRole('button', { name: 'Search' }).waitFor();
      await page.keyboard.press('/');
      await page.getByRole('combobox').waitFor();
      await page.keyboard.type(text);
      await page.getByRole('option').first().waitFor();
      await snap(page, 'docs-search');
      if (text === 'negative_prompt') expect(await seriousFindings(page)).toEqual([]);
      await page.keyboard.press('Enter');
    };
    await find('cancel a video');
    await page.waitForURL(/#cancelVideo$/);
    await page.locator('#contents [aria-current]', { hasText: 'Cancel a video' }).waitFor();
    await find('negative_prompt');
    await page.waitForURL(/#VideoRequest\.metadata\.negative_prompt$/);
    await page.locator('[id="VideoRequest.metadata.negative_prompt"]').waitFor({ state: 'visible' });
    const answer = page.locator('#getVideo details.object').first();
    await answer.locator('summary').first().click();
    await answer.getByText('SucceededVideo').first().waitFor();
    await find('model_not_found');
    await page.waitForURL(/\/docs\/errors#model_not_found$/);
    expect(faults).toEqual([]);
  });

  it('has examples that work as they stand', async () => {
    const { call } = await gateway.account();
    const { paths, components } = (await call('GET', '/openapi.json')).body;
    const tried: [path: string, status: number][] = [];
    for (const [path, { post }] of Object.entries<{ post?: any }>(paths)) {
      const { schema } = post?.requestBody?.content['application/json'] ?? {};
      const named = components.schemas[String(schema?.$ref).split('/').at(-1) ?? ''];
      const { examples = [] } = named ?? schema ?? {};
      // Of an address with a name in it, the document says what the name may be, and has no example of it.
      if (path.includes('{')) continue;
      // The example names a file on another host.
      if (path === '/v1/files') continue;
      for (const body of examples) tried.push([path, (await call('POST', path, { body })).status]);
    }
    const posts = ['/v1/videos/generations', '/v1/images/generations', '/v1/images/edits', '/v1/alert'];
    expect(tried).toEqual(expect.arrayContaining(posts.map((path) => [path, 200])));
    expect(tried.filter(([, status]) => status < 200 || status > 299)).toEqual([]);
  });

  it('makes an image from a file, and shows it', async () => {
    const account = await gateway.account();
    const { page, faults } = await browser.open(wide);
    await signIn(page, account);
    await page.goto(`${gateway.url}/account#/playground`);
    await page.getByLabel('Model').selectOption('gpt-image-2.5-flare');
    await page.getByLabel('Prompt').fill('A red cube');
    await page.getByLabel('Size').selectOption('1024x1024');
    const file = { name: 'red.png', mimeType: 'image/png', buffer: picture(200, 0, 0) };
    await page.getByLabel('File of images').setInputFiles(file);
    await page.locator('.media img').waitFor();
    await page.getByText(/\d USD, \d+\.\d+ held/).waitFor();
    expect(await page.locator('.code').textContent()).toContain('/v1/images/edits');
    await page.getByRole('button', { name: 'Make the image' }).click();
    await page.getByRole('img', { name: 'Result' }).waitFor();
    await page.waitForFunction('document.querySelector(".result img").naturalWidth > 1');
    await snap(page, 'playground-image');
    expect(await page.evaluate('document.querySelector("form").scrollWidth')).toBe(
      await page.evaluate('document.querySelector("form").clientWidth'),
    );
    expect(faults).toEqual([]);
  });

  it('shows each guide', async () => {
    const { page, faults } = await browser.open(narrow);
    await page.goto(`${gateway.url}/docs/money`);
    for (const name of ['Errors', 'Callbacks', 'Money', 'Idempotency']) {
      await page.getByRole('navigation').getByRole('link', { name }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      expect([name, await overhang(page), await seriousFindings(page)]).toEqual([name, 0, []]);
      await snap(page, `guide-${name}`);
    }
    expect(faults).toEqual([]);
  });

  it('leads from the form of the playground to a video that plays', async () => {
    const account = await gateway.account();
    const { page, faults } = await browser.open(wide);
    await signIn(page, account);
    await page.getByRole('link', { name: 'playground', exact: false }).first().click();
    await page.getByLabel('Model').selectOption('seedance-2.5');
    await page.getByLabel('Prompt').fill('A paper boat on a rainy street');
    await page.getByLabel('Resolution').selectOption('480p');
    await page.getByLabel('Seconds').fill('4');
    await page.getByText(/\d USD, \d+\.\d+ held/).waitFor();
    expect(await page.locator('.code').textContent()).toContain('"resolution": "480p"');
    await page.getByRole('button', { name: 'Make the video' }).click();
    const video = page.locator('video');
    await video.waitFor();
    const movedTo = await page.evaluate(`(async () => {
      const video = document.querySelector('video');
      video.muted = true;
      await video.play();
      const from = video.currentTime;
      while (video.currentTime <= from) await new Promise((resolve) => setTimeout(resolve, 20));
      return video.currentTime - from;
    })()`);
    expect(movedTo).toBeGreaterThan(0);
    await snap(page, 'playground');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Tasks' }).click();
    await page.locator('.gallery').getByText('succeeded').waitFor();
    await snap(page, 'gallery');
    await page.getByRole('button', { name: 'List' }).click();
    await snap(page, 'list');
    expect(await seriousFindings(page)).toEqual([]);
    await page.locator('tbody a').first().click();
    await page.locator('video').waitFor();
    await snap(page, 'task');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.locator('.chart rect.main').waitFor();
    await snap(page, 'usage');
    expect(await seriousFindings(page)).toEqual([]);
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    expect(readFileSync(await saved.path(), 'utf8')).toMatch(/^day,.*charged.*\r\n\d{4}-\d\d-\d\d,/);
    await page.getByRole('button', { name: 'Model' }).click();
    await page.getByRole('cell', { name: 'seedance-2.5' }).waitFor();
    await page.getByLabel('Period').selectOption('Last month');
    await page.getByText('Nothing was used in this time').waitFor();
    await page.getByLabel('Until before').fill(new Date(Date.now() + 86_400_000).toISOString().slice(0, 10));
    await page.getByRole('cell', { name: 'seedance-2.5' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('pays once for a request whose answer was lost, and keeps what it made for whoever comes back', async () => {
    const account = await gateway.account();
    const isExpected = (text: string) => text.includes('net::ERR_FAILED');
    const { page, faults } = await browser.open({ ...wide, isExpected });
    await signIn(page, account);
    await page.goto(`${gateway.url}/account#/playground`);
    await page.getByLabel('Model').selectOption('gpt-image-2.5-flare');
    await page.getByLabel('Prompt').fill('A red cube');
    let carriedOut = 0;
    await page.route('**/v1/images/generations', async (route) => {
      carriedOut += 1;
      const response = await route.fetch();
      await (carriedOut === 1 ? route.abort() : route.fulfill({ response }));
    });
    await page.getByRole('button', { name: 'Make the image' }).click();
    await page.getByText('The gateway does not answer').waitFor();
    await page.getByRole('button', { name: 'Make the image' }).click();
    await page.getByRole('img', { name: 'Result' }).waitFor();
    expect(carriedOut).toBe(2);
    const { body } = await account.call('GET', '/v1/images/generations');
    expect(body.data).toHaveLength(1);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('img', { name: 'Result' }).waitFor();
    await page.getByText(/^\d+\.\d+ USD$/).waitFor();
    expect(faults).toEqual([]);
  });

  it('stores the files of a video, however large they are', async () => {
    const account = await gateway.account();
    const { page, faults } = await browser.open(wide);
    await signIn(page, account);
    await page.goto(`${gateway.url}/account#/playground`);
    await page.getByLabel('Model').selectOption('seedance-2.5');
    const large = Buffer.concat([picture(200, 0, 0), Buffer.alloc(3_000_000)]);
    const file = { name: '<img src=x onerror=fault()>.png', mimeType: 'image/png', buffer: large };
    await page.getByLabel('File of images').setInputFiles(file);
    await page.locator('.media').getByText(file.name).waitFor();
    const [, id = ''] = /asset:\/\/(file_\w+)/.exec((await page.textContent('.code pre')) ?? '') ?? [];
    expect((await account.call('GET', `/v1/files/${id}`)).body).toMatchObject({ bytes: large.length });
    expect(faults).toEqual([]);
  });

  it('adds up what a key has used of its month', async () => {
    const account = await gateway.account();
    await account.finished((await account.create(small)).body.id);
    await account.create({ ...small, prompt: 'a ship [sim:never-finishes]' });
    const { page, faults } = await browser.open(wide);
    await signIn(page, account);
    await page.goto(`${gateway.url}/account#/key`);
    const shown = page.getByText(/charged \+ .* held for unfinished tasks/);
    await shown.waitFor();
    const figures = ((await shown.textContent()) ?? '').match(/\d+\.\d+/g) ?? [];
    const [used = 0, charged = 0, held = 0] = figures.map(Number);
    expect(Math.min(charged, held)).toBeGreaterThan(0);
    expect(used).toBeCloseTo(charged + held, 6);
    await page.getByText('Not known before three complete days').waitFor();
    expect([await overhang(page), await seriousFindings(page)]).toEqual([0, []]);
    await snap(page, 'key');
    expect(faults).toEqual([]);
  });

  it('asks once for a page, beside the balance', async () => {
    const account = await gateway.account();
    const { id } = (await account.create(small)).body;
    await account.finished(id);
    for (const [hash, heading, ...expected] of [
      ['', 'Tasks', '/v1/videos/generations?limit=24'],
      ['playground', 'Playground', '/v1/models'],
      ['key', 'Key', '/v1/key'],
      // Whether a callback is owed is known once the task has ended.
      [`tasks/video/${id}`, 'Task', `/v1/videos/generations/${id}`, `/v1/callbacks/${id}`],
    ] as const) {
      const { page, calls, faults } = await browser.open(wide);
      await page.addInitScript(`sessionStorage.setItem('mediary.key', ${JSON.stringify(account.key)})`);
      await page.goto(`${gateway.url}/account#/${hash}`);
      await page.getByRole('heading', { name: heading, exact: true }).waitFor();
      await page.waitForLoadState('networkidle');
      expect([hash, [...new Set(calls)].toSorted()]).toEqual([
        hash,
        ['/v1/balance', ...expected].map((path) => `GET ${path}`).toSorted(),
      ]);
      expect([hash, calls.length]).toEqual([hash, expected.length + 1]);
      expect(faults).toEqual([]);
      await page.close();
    }
  });

  it('shows what became of a callback, sends it again, and replaces the secret that signs it', async () => {
    const [receiver, account] = await Promise.all([startCallbackReceiver(), gateway.account()]);
    const metadata = { callback_url: receiver.url };
    const { id } = (await account.create({ ...small, metadata })).body;
    await account.finished(id);
    const { page, faults } = await browser.open(narrow);
    await signIn(page, account);
    await page.goto(`${gateway.url}/account#/tasks/video/${id}`);
    await page.getByRole('heading', { name: 'Callback: delivered' }).waitFor();
    await page.getByRole('cell', { name: '204' }).waitFor();
    await look(page, 'task-callback');
    await page.getByRole('button', { name: 'Send the callback again' }).click();
    await receiver.waitFor(2);
    await page.getByRole('link', { name: 'Key' }).click();
    await page.getByRole('button', { name: 'Replace the secret' }).click();
    await look(page, 'secret-before');
    await page.getByRole('button', { name: 'Replace it' }).click();
    const secret = await page.getByText(/^whsec_/).textContent();
    await look(page, 'secret');
    // What is stated once is not lost by a key that is pressed.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'It is stored' }).click();
    expect(await page.textContent('body')).not.toContain('whsec_');
    await account.call('POST', `/v1/callbacks/${id}/redeliver`);
    await receiver.waitFor(3);
    const { text = '', headers = {} } = receiver.received.at(-1) ?? {};
    for (const known of [secret ?? '', account.webhookSecret])
      expect(() => new Webhook(known).verify(text, headers as Record<string, string>)).not.toThrow();
    expect(faults).toEqual([]);
    receiver.close();
  });

  it('works below a path of a proxy', async () => {
    const account = await gateway.account();
    const proxy = await startPathProxy(gateway.url, '/below');
    const { page, faults } = await browser.open({ ...wide, colorScheme: 'dark' });
    await page.goto(`${proxy.url}/below/`);
    await page.getByRole('link', { name: 'Documentation' }).click();
    const operation = page.locator('#getBalance');
    await operation.getByText(`${proxy.url}/below/v1/balance`).first().waitFor();
    await operation.getByRole('button', { name: 'Python' }).click();
    await operation.getByText('urllib.request.urlopen').waitFor();
    await operation.getByRole('button', { name: 'Try it' }).click();
    await operation.getByLabel('Your API key').fill(account.key);
    await operation.getByRole('button', { name: 'Send the request' }).click();
    await operation.locator('.answer').getByText('"available"').waitFor();
    await snap(page, 'docs-dark');
    await page.setViewportSize(narrow.viewport);
    expect([await overhang(page), await seriousFindings(page)]).toEqual([0, []]);
    await page.getByRole('button', { name: 'Contents' }).click();
    await page.locator('#contents').getByText('Create a video generation task').first().click();
    await page.locator('#contents').waitFor({ state: 'hidden' });
    await page.getByRole('banner').getByRole('link', { name: 'Money' }).click();
    await page.getByRole('link', { name: 'Your account' }).click();
    await page.getByText('No video tasks yet').waitFor();
    expect(new URL(page.url()).pathname).toBe('/below/account');
    expect(faults).toEqual([]);
    proxy.close();
  });

  it('shows an owner nothing of another', async () => {
    const [one, other] = await Promise.all([gateway.account(), gateway.account()]);
    const { id } = (await one.create(small)).body;
    const { page, faults } = await browser.open({ ...narrow, isExpected: (text) => text.includes('404') });
    await signIn(page, other);
    await page.getByText('No video tasks yet').waitFor();
    await page.goto(`${gateway.url}/account#/tasks/video/${id}`);
    await page.getByText('task_not_found').waitFor();
    expect(await page.textContent('main')).not.toContain('seedance');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').fill(one.key);
    await page.keyboard.press('Enter');
    await page.locator('.gallery').getByText('seedance-2.5').waitFor();
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).toBe('{}');
    expect(await page.context().cookies()).toEqual([]);
    expect(page.url()).not.toContain(one.key);
    expect(faults).toEqual([]);
  });

  it('refuses a wrong key with a sentence, and shows every page in 360 pixels, light and dark', async () => {
    const account = await gateway.account();
    for (const colorScheme of ['light', 'dark'] as const) {
      const isExpected = (text: string) => /40[14]/.test(text);
      const { page, faults } = await browser.open({ ...narrow, colorScheme, isExpected });
      await page.goto(`${gateway.url}/account`);
      await page.getByLabel('API key').fill('sk-wrong');
      await page.keyboard.press('Enter');
      await page.getByText('missing or not valid').waitFor();
      await look(page, `sign-in-${colorScheme}`);
      await signIn(page, account);
      for (const place of ['', 'playground', 'usage', 'key', 'tasks/video/task_0000000000000000000000']) {
        await page.goto(`${gateway.url}/account#/${place}`);
        await page
          .locator('main')
          .getByText(/No video tasks yet|Prompt|task_not_found|Nothing was used|no limit/)
          .first()
          .waitFor();
        await look(page, `${place.split('/')[0] || 'tasks'}-${colorScheme}`);
      }
      expect(faults).toEqual([]);
    }
  });

  it('shows hostile words as words', async () => {
    const account = await gateway.account();
    const { page, faults } = await browser.open({ ...wide, isExpected: (text) => text.includes('40') });
    await signIn(page, account);
    for (const hash of [
      'tasks/<img src=x onerror=alert(1)>/"><script>',
      '%',
      '%2e%2e/%2e%2e',
      'tasks/video/../x',
    ]) {
      await page.goto(`${gateway.url}/account#/${hash}`);
      await page.locator('main').waitFor();
    }
    await page.goto(`${gateway.url}/account#/playground`);
    const prompt = page.getByLabel('Prompt');
    for (const words of hostileWords) {
      await prompt.fill(words);
      expect(
        JSON.parse(
          /-d '([^]*)'$/.exec((await page.textContent('.code pre')) ?? '')?.[1]?.replaceAll(`'\\''`, "'") ??
            '',
        ),
      ).toMatchObject({ prompt: words });
    }
    expect(await page.evaluate('document.querySelectorAll("script:not([src]), img, iframe").length')).toBe(0);
    expect(faults).toEqual([]);
  });

  async function look(page: Page, name: string): Promise<void> {
    await snap(page, name);
    expect([name, await overhang(page), await seriousFindings(page)]).toEqual([name, 0, []]);
  }
});

const hostileWords = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'; DROP TABLE tasks; --",
  '${alert(1)} {{base}} </code></pre><svg onload=alert(1)>',
  '\u202e\u0007\u001b[31mred',
];
