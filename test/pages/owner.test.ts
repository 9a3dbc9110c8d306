import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { money, shortAmounts } from '../../src/pages/shared/format.js';
import { png } from '../images/support.ts';
import {
  browserPath,
  contrast,
  noBrowser,
  overhang,
  seriousFindings,
  startBrowser,
  withoutPolls,
} from '../support/browser.ts';
import type { TestBrowser } from '../support/browser.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startForwarder } from '../support/forwarder.ts';
import { snap } from '../support/shots.ts';

/** The document's examples must work with the unchanged configuration of local mode. */
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

  /** The previous page also has a model field, so wait for the new page. */
  const openPlayground = async (page: Page) => {
    await page.goto(`${gateway.url}/account#/playground`);
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
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
    const answer = page.locator('#getVideo details[data-object]').first();
    await answer.locator('summary').first().click();
    await answer.getByText('SucceededVideo').first().waitFor();
    await find('model_not_found');
    await page.waitForURL(/\/docs\/errors#model_not_found$/);
    expect(faults).toEqual([]);
  });

  it('has examples that work unchanged', async () => {
    const { call } = await gateway.account();
    const { paths, components } = (await call('GET', '/openapi.json')).body;
    const tried: [path: string, status: number][] = [];
    for (const [path, { post }] of Object.entries<{ post?: any }>(paths)) {
      const { schema } = post?.requestBody?.content['application/json'] ?? {};
      const named = components.schemas[String(schema?.$ref).split('/').at(-1) ?? ''];
      const { examples = [] } = named ?? schema ?? {};
      // Skip paths with a parameter. The document describes them but has no example of the parameter.
      if (path.includes('{')) continue;
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
    await openPlayground(page);
    await page.getByLabel('Model').selectOption('gpt-image-2.5-flare');
    await page.getByLabel('Prompt').fill('A red cube');
    await page.getByLabel('Size').selectOption('1024x1024');
    const file = { name: 'red.png', mimeType: 'image/png', buffer: png(256, 256) };
    await page.getByLabel('File of images').setInputFiles(file);
    await page.locator('.media img').waitFor();
    await page.getByText(/Expected charge: .* held until/).waitFor();
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
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    await page.getByLabel('Model').selectOption('seedance-2.5');
    await page.getByLabel('Prompt').fill('A paper boat on a rainy street');
    await page.getByLabel('Resolution').selectOption('480p');
    await page.getByLabel('Seconds').fill('4');
    await page.getByText(/Expected charge: .* held until/).waitFor();
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
    await page.getByText('Nothing was used in this period').waitFor();
    await page.getByLabel('Until before').fill(new Date(Date.now() + 86_400_000).toISOString().slice(0, 10));
    await page.getByRole('cell', { name: 'seedance-2.5' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('finds a video by its prompt, and makes it again with changes', async () => {
    const account = await gateway.account();
    const { id } = (await account.create({ ...small, prompt: 'A red fox <b>in</b> snow', seed: 7 })).body;
    await account.finished(id);
    await account.finished((await account.create({ ...small, prompt: 'A ship at night' })).body.id);
    const { page, faults } = await browser.open(wide);
    await signIn(page, account);
    await page.getByText('A red fox <b>in</b> snow').waitFor();
    await page.getByLabel('Model').fill('seedance-2.5');
    await page.getByLabel('From').fill('2020-01-01');
    await page.getByText('A ship at night').waitFor();
    await snap(page, 'gallery-prompts');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('To').fill('2020-01-02');
    await page.getByText('No video tasks that match').waitFor();
    await page.getByLabel('To').fill('');
    await page.getByText('A red fox').click();
    await page.getByRole('link', { name: 'Repeat with changes' }).click();
    const prompt = page.getByLabel('Prompt');
    await expect.poll(() => prompt.inputValue()).toBe('A red fox <b>in</b> snow');
    await prompt.fill('A blue fox');
    await page.getByText(/Expected charge: .* held until/).waitFor();
    await page.getByRole('button', { name: 'Make the video' }).click();
    await page.locator('video').waitFor();
    const { body } = await account.call('GET', '/v1/videos/generations?include=prompts');
    expect(body.prompts[body.data[0].id]).toBe('A blue fox');
    expect(faults).toEqual([]);
  });

  it('saves the results of several tasks one after another, and copies their links', async () => {
    const account = await gateway.account();
    for (const prompt of ['one', 'two']) {
      await account.finished((await account.create({ ...small, prompt })).body.id);
    }
    const { page, faults } = await browser.open({
      ...wide,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await signIn(page, account);
    const saved: string[] = [];
    page.on('download', (download) => void saved.push(download.suggestedFilename()));
    for (const name of ['one', 'two']) await page.getByLabel(`Select ${name}`).check();
    await page.getByText('2 tasks selected, 2 files').waitFor();
    await snap(page, 'downloads');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Download' }).click();
    await page.getByText('Saved 2 files.').waitFor();
    await expect.poll(() => saved.filter((name) => /^task_\w+\.mp4$/.test(name)).length).toBe(2);
    await page.getByRole('button', { name: 'Copy the links' }).click();
    await page.getByText('Copied.').waitFor();
    const copied = String(await page.evaluate('navigator.clipboard.readText()')).split('\n');
    expect(copied.map((link) => new URL(link).pathname)).toEqual([
      expect.stringContaining('/media/'),
      expect.stringContaining('/media/'),
    ]);
    expect(faults).toEqual([]);
  });

  it('compares two models, and copies a command that runs as it stands', async () => {
    const account = await gateway.account();
    const { page, faults } = await browser.open({
      ...wide,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await signIn(page, account);
    await openPlayground(page);
    await page.getByLabel('Model').selectOption('seedance-2.5');
    await page.getByRole('button', { name: 'Short draft' }).click();
    await page.getByText(/Expected charge: .* held until/).waitFor();
    await page.getByLabel('Copy it with my key').check();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText('Copied.').waitFor();
    const command = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(await page.content()).not.toContain(account.key);
    const { stdout } = await promisify(execFile)('sh', ['-c', command.replace('curl ', 'curl -s ')]);
    expect(JSON.parse(stdout)).toMatchObject({ object: 'video.generation.task', model: 'seedance-2.5' });
    const other = 'seedance-2.0';
    await page.getByLabel('Compare with').selectOption(other);
    await page.getByText(`${other}:`).waitFor();
    await expect.poll(() => page.getByText(/Expected charge: .* held until/).count()).toBe(2);
    await page.getByRole('button', { name: 'Make the videos' }).click();
    await expect.poll(() => page.locator('[aria-label=Result] video').count()).toBe(2);
    await look(page, 'side-by-side');
    const { body } = await account.call('GET', '/v1/videos/generations');
    expect(body.data.map(({ model }: { model: string }) => model).toSorted()).toEqual(
      ['seedance-2.5', 'seedance-2.5', other].toSorted(),
    );
    expect(faults).toEqual([]);
  });

  it('says by which factor the account pays the prices', async () => {
    const account = await gateway.account();
    const factors = { factor: '0.5', reason: 'agreed' };
    expect((await gateway.admin('POST', `/accounts/${account.id}/price-factors`, factors)).status).toBe(200);
    const { page, faults } = await browser.open(wide);
    await signIn(page, account);
    await openPlayground(page);
    await page.getByText(/In USD: .*, each multiplied by 0\.5\.$/).waitFor();
    expect(faults).toEqual([]);
  });

  it('shows and changes the alerts of the account', async () => {
    const account = await gateway.account();
    const { page, faults } = await browser.open(narrow);
    await signIn(page, account);
    await page.goto(`${gateway.url}/account#/key`);
    const open = () => page.getByRole('button', { name: 'Change the alerts' }).click();
    await open();
    await page.getByLabel(/^When less than this/).fill('12.5');
    await page.getByLabel(/^Address that receives/).fill('https://shop.example/hook?secret=1');
    await look(page, 'alerts');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect((await account.call('GET', '/v1/alert')).body).toMatchObject({
      threshold: '12.500000',
      caps: false,
    });
    await open();
    await page.getByText('Currently: https://shop.example/hook').waitFor();
    expect(faults).toEqual([]);
  });

  it('pays once for a request whose answer was lost, and keeps what it made for whoever comes back', async () => {
    const account = await gateway.account();
    const isExpected = (text: string) => text.includes('net::ERR_FAILED');
    const { page, faults } = await browser.open({ ...wide, isExpected });
    await signIn(page, account);
    await openPlayground(page);
    await page.getByLabel('Model').selectOption('gpt-image-2.5-flare');
    await page.getByLabel('Prompt').fill('A red cube');
    let carriedOut = 0;
    await page.route('**/v1/images/generations', async (route) => {
      carriedOut += 1;
      const response = await route.fetch();
      await (carriedOut === 1 ? route.abort() : route.fulfill({ response }));
    });
    await page.getByRole('button', { name: 'Make the image' }).click();
    await page.getByText('The gateway does not respond').waitFor();
    await page.getByRole('button', { name: 'Make the image' }).click();
    await page.getByRole('img', { name: 'Result' }).waitFor();
    expect(carriedOut).toBe(2);
    const { body } = await account.call('GET', '/v1/images/generations');
    expect(body.data).toHaveLength(1);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page.getByRole('img', { name: 'Result' }).waitFor();
    await page.getByText(/^\d+\.\d+ USD$/).waitFor();
    expect(faults).toEqual([]);
  });

  it('stores the files of a video, however large they are', async () => {
    const account = await gateway.account();
    const { page, faults } = await browser.open(wide);
    await signIn(page, account);
    await openPlayground(page);
    await page.getByLabel('Model').selectOption('seedance-2.5');
    const large = Buffer.concat([png(256, 256), Buffer.alloc(3_000_000)]);
    const file = { name: '<img src=x onerror=fault()>.png', mimeType: 'image/png', buffer: large };
    const prompt = page.getByLabel('Prompt');
    await page.route('**/v1/files', async (route) => {
      await prompt.fill('Typed while the file is uploaded');
      await route.continue();
    });
    await page.getByLabel('File of images').setInputFiles(file);
    await page.locator('.media').getByText(file.name).waitFor();
    const [, id = ''] = /asset:\/\/(file_\w+)/.exec((await page.textContent('.code pre')) ?? '') ?? [];
    expect((await account.call('GET', `/v1/files/${id}`)).body).toMatchObject({ bytes: large.length });
    expect(await prompt.inputValue()).toBe('Typed while the file is uploaded');
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
    await page.getByText('Not known until three days').waitFor();
    expect([await overhang(page), await seriousFindings(page)]).toEqual([0, []]);
    await snap(page, 'key');
    expect(faults).toEqual([]);
  });

  it('asks once for a page, beside the balance', async () => {
    const account = await gateway.account();
    const { id } = (await account.create(small)).body;
    await account.finished(id);
    for (const [hash, heading, ...expected] of [
      ['', 'Tasks', '/v1/videos/generations?limit=24&include=prompts'],
      ['playground', 'Playground', '/v1/models'],
      ['key', 'Key', '/v1/key'],
      // This must be a finished task. An unfinished one does not show whether a callback will be sent.
      [
        `tasks/video/${id}`,
        'Task',
        `/v1/videos/generations/${id}`,
        `/v1/videos/generations/${id}/receipt`,
        `/v1/callbacks/${id}`,
      ],
    ] as const) {
      const { page, calls, faults } = await browser.open(wide);
      await page.addInitScript(
        `sessionStorage.setItem('mediary.key', ${JSON.stringify(account.key)}); ${withoutPolls(1000)}`,
      );
      await page.goto(`${gateway.url}/account#/${hash}`);
      await page.getByRole('heading', { name: heading, exact: true }).waitFor();
      const asked = ['/v1/balance', ...expected].map((path) => `GET ${path}`);
      await expect.poll(() => [...new Set(calls)].toSorted()).toEqual(asked.toSorted());
      await page.waitForLoadState('networkidle');
      expect([hash, calls.toSorted()]).toEqual([hash, asked.toSorted()]);
      expect(faults).toEqual([]);
      await page.close();
    }
  });

  it('shows what was held, charged and released for a task, line by line', async () => {
    const account = await gateway.account();
    const { id } = (await account.create(small)).body;
    await account.finished(id);
    const { payload } = (await account.call('GET', `/v1/videos/generations/${id}/receipt`)).body;
    const { page, faults } = await browser.open(narrow);
    await signIn(page, account);
    await page.goto(`${gateway.url}/account#/tasks/video/${id}`);
    const receipt = page.getByRole('region', { name: 'Receipt' });
    await receipt.getByRole('heading', { name: /^Charged: / }).waitFor();
    await look(page, 'receipt');
    const shown = await receipt.innerText();
    const [line] = payload.charge_reckoning.lines;
    expect(line).toMatchObject({ measure: 'million_tokens', source: 'upstream' });
    const amounts = [payload.hold, payload.charge, payload.released].map((amount) => money(amount));
    for (const text of [shortAmounts(line.text), 'reported by the upstream', ...amounts])
      expect(shown).toContain(text);
    expect(faults).toEqual([]);
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
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('link', { name: id }).waitFor();
    await page.getByLabel('State', { exact: true }).selectOption('delivered');
    await page.getByRole('button', { name: `Send again: callback of ${id}` }).click();
    await receiver.waitFor(3);
    await page.getByLabel('Send a signed test event').fill(receiver.url);
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('Your server accepted the event with 204').waitFor();
    expect(receiver.received.at(-1)?.body).toMatchObject({ type: 'test', data: { account: account.id } });
    await look(page, 'webhooks');
    await page.getByRole('link', { name: 'Key' }).click();
    await page.getByRole('button', { name: 'Replace the secret' }).click();
    await look(page, 'secret-before');
    await page.getByRole('button', { name: 'Replace it' }).click();
    const secret = await page.getByText(/^whsec_/).textContent();
    await look(page, 'secret');
    // A key press must not hide a secret that will never be displayed again.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'I have stored it' }).click();
    expect(await page.textContent('body')).not.toContain('whsec_');
    await account.call('POST', `/v1/callbacks/${id}/redeliver`);
    await receiver.waitFor(5);
    const { text = '', headers = {} } = receiver.received.at(-1) ?? {};
    for (const known of [secret ?? '', account.webhookSecret])
      expect(() => new Webhook(known).verify(text, headers as Record<string, string>)).not.toThrow();
    expect(faults).toEqual([]);
    await receiver.close();
  });

  it('works below a path of a proxy', async () => {
    const account = await gateway.account();
    const proxy = await startForwarder(() => gateway.url, { below: '/below' });
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
    await proxy.close();
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
      const rules = colorScheme === 'dark' ? contrast : undefined;
      await look(page, `sign-in-${colorScheme}`, rules);
      await signIn(page, account);
      for (const [place, text] of [
        ['', 'No video tasks yet'],
        ['playground', 'Prompt'],
        ['usage', 'Nothing was used'],
        ['key', 'no limit'],
        ['tasks/video/task_0000000000000000000000', 'task_not_found'],
      ] as const) {
        await page.goto(`${gateway.url}/account#/${place}`);
        await page.locator('main').getByText(text).first().waitFor();
        await look(page, `${place.split('/')[0] || 'tasks'}-${colorScheme}`, rules);
      }
      expect(faults).toEqual([]);
    }
  });

  it('shows hostile text as text', async () => {
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
    await openPlayground(page);
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

  async function look(page: Page, name: string, rules?: readonly string[]): Promise<void> {
    await snap(page, name);
    expect([name, await overhang(page), await seriousFindings(page, rules)]).toEqual([name, 0, []]);
  }
});

const hostileWords = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'; DROP TABLE tasks; --",
  '${alert(1)} {{base}} </code></pre><svg onload=alert(1)>',
  '\u202e\u0007\u001b[31mred',
];
