import { Buffer } from 'node:buffer';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { comparedBillSchema } from '../../src/http/routes/compare-bill.ts';
import { browserPath, noBrowser, overhang, seriousFindings, startBrowser } from '../support/browser.ts';
import type { TestBrowser } from '../support/browser.ts';
import { adminToken, useHttpWorld, type Server } from '../support/http-world.ts';

const world = useHttpWorld('console_bill');

let browser: TestBrowser;
let node: Server;

/** Creates tasks whose submissions got no response. Each test uses a separate day. */
async function lostTasks(day: string, models: readonly string[]): Promise<string[]> {
  world.clock.stoppedAt = Date.parse(`${day}T12:00:00Z`);
  const account = await world.newAccount();
  const ids: string[] = [];
  for (const model of models) {
    const { id } = (await account.create({ model })).body;
    await world.drive.ask(id);
    ids.push(id);
  }
  return ids;
}

const billOf = (day: string, jobs: readonly (readonly [job: string, model: string])[]) =>
  `id,cost,time,name\n${jobs.map(([job, model]) => `${job},0.70,${day}T12:00:05Z,${model}\n`).join('')}`;

async function compare(page: Page, bill: string): Promise<void> {
  await page.goto(`${node.url}/console#/money`);
  await page.getByText('Compare an upstream’s bill').click();
  await page.getByLabel('Channel', { exact: true }).selectOption('one');
  const columns = { job: 'id', amount: 'cost', time: 'time', model: 'name' };
  for (const [name, column] of Object.entries(columns))
    await page.getByLabel(`Column of ${name}`).fill(column);
  await page.getByLabel('Unit', { exact: true }).fill('USD');
  await page
    .getByLabel('Bill, CSV in UTF-8')
    .setInputFiles({ name: 'bill.csv', mimeType: 'text/csv', buffer: Buffer.from(bill) });
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.getByRole('region', { name: 'Comparison' }).waitFor();
}

const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const settle = (page: Page) => page.getByRole('button', { name: /^Settle / });
const adopt = (page: Page) => page.getByRole('button', { name: 'Adopt', exact: true });

const changeAnswer = (page: Page, change: (body: z.output<typeof comparedBillSchema>) => object) =>
  page.route('**/bills/compare', async (route) => {
    const response = await route.fetch();
    const body = comparedBillSchema.parse(await response.json());
    await route.fulfill({ response, json: { ...body, ...change(body) } });
  });

async function preview(page: Page): Promise<void> {
  await page.getByLabel(/^Reason/).fill('it is on the bill');
  await page.getByRole('button', { name: /^Preview/ }).click();
}

const actsOn = (ids: readonly string[]) =>
  world.port.acts
    .filter(({ task, input }) => ids.includes(task) && input.dry_run !== true)
    .map(({ task, input }) => [task, input.upstream_id] as const);

describe.skipIf(browserPath === undefined)(`a bill is settled on the console${noBrowser}`, () => {
  beforeAll(async () => {
    browser = await startBrowser();
    node = await world.startNode({
      async actOnTask(act) {
        const result = await world.deps.actOnTask(act);
        const { dry_run: isDryRun, upstream_id: id = '' } = act.input;
        if (isDryRun !== true) await world.drive.step(act.task.id, { kind: 'adopted', operation: { id } });
        return result;
      },
    });
  });
  afterAll(async () => {
    await browser.close();
    await node.close(0);
  });

  async function signedIn(token = adminToken) {
    const isExpected = (text: string) => /status of 4(?:03|09)/.test(text);
    const watched = await browser.open({ viewport: { width: 1280, height: 900 }, isExpected });
    await watched.page.addInitScript(`sessionStorage.setItem('mediary.operator', ${JSON.stringify(token)})`);
    return watched;
  }

  it('all jobs that fit one task in one act, once, and the numbers follow', async () => {
    const day = '2026-03-02';
    const [clip = '', plain = ''] = await lostTasks(day, ['clip', 'plain']);
    const { page, faults } = await signedIn();
    await compare(
      page,
      billOf(day, [
        ['job-u', 'u'],
        ['job-p', 'p'],
      ]),
    );
    await settle(page).click();
    const listed = page.getByRole('region', { name: 'Selected' });
    await listed.getByText(`${clip} gets the job job-u`).waitFor();
    await listed.getByText(`${plain} gets the job job-p`).waitFor();
    await preview(page);
    await page.getByText('Nothing has been done yet. 2 tasks of 2 would be affected').waitFor();
    expect(actsOn([clip, plain])).toEqual([]);
    await page.getByRole('button', { name: 'Adopt a job: 2 tasks' }).dblclick();
    await page.getByText('Done for 2 tasks.').waitFor();
    const acts = new Map(actsOn([clip, plain]));
    expect([acts.size, acts.get(clip), acts.get(plain)]).toEqual([2, 'job-u', 'job-p']);
    expect(actsOn([clip, plain])).toHaveLength(2);
    await page.locator('dialog').getByRole('button', { name: 'Close' }).click();
    await rowOf(page, 'job-u').getByText('expected amount unknown').waitFor();
    await rowOf(page, 'job-p').getByRole('link', { name: plain }).waitFor();
    expect(await settle(page).count()).toBe(0);
    const { data } = (await world.admin('GET', `/audit?task=${clip}`)).body;
    const act = { action: 'adopt', via: 'console', reason: 'it is on the bill' };
    expect(data).toContainEqual(expect.objectContaining(act));
    expect(faults).toEqual([]);
  });

  it('a job that fits several tasks by the one that the operator chooses', async () => {
    const day = '2026-03-12';
    const ids = await lostTasks(day, ['clip', 'clip']);
    const { page, faults } = await signedIn();
    await page.setViewportSize({ width: 360, height: 800 });
    await compare(page, billOf(day, [['job-several', 'u']]));
    await adopt(page).nth(1).waitFor();
    expect(await settle(page).count()).toBe(0);
    expect(await overhang(page)).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await page
      .getByText('May belong to')
      .filter({ hasText: ids[1] ?? '' })
      .getByRole('button')
      .click();
    await preview(page);
    await page.getByRole('button', { name: 'Adopt a job now' }).click();
    await rowOf(page, 'job-several').getByText('expected amount unknown').waitFor();
    expect(actsOn(ids)).toEqual([[ids[1], 'job-several']]);
    expect(await adopt(page).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it.each([
    ['2026-03-15', 'has_more'],
    ['2026-03-18', 'has_more_unclaimed'],
  ])('one by one if not everything was compared (%s, %s)', async (day, field) => {
    await lostTasks(day, ['clip']);
    const { page } = await signedIn();
    await changeAnswer(page, () => ({ [field]: true }));
    await compare(page, billOf(day, [[`job-${field}`, 'u']]));
    await page.getByText('Adopt jobs one by one').waitFor();
    expect([await settle(page).count(), await adopt(page).count()]).toEqual([0, 1]);
  });

  it('one by one if another job may fit more tasks than are named', async () => {
    const day = '2026-03-28';
    await lostTasks(day, ['clip']);
    const { page } = await signedIn();
    await changeAnswer(page, ({ rows }) => ({
      rows: rows.flatMap((row) => {
        const candidates = row.candidates.map((one) => ({ ...one, task: 'other' }));
        return [row, { ...row, job: 'job-cut', candidates, has_more_candidates: true }];
      }),
    }));
    await compare(page, billOf(day, [['job-named', 'u']]));
    await page.getByText('Adopt jobs one by one').waitFor();
    await rowOf(page, 'job-cut').getByText('Other tasks may match too.').waitFor();
    expect(await settle(page).count()).toBe(0);
  });

  it('one by one if the job fits another task in another unit', async () => {
    const day = '2026-03-25';
    const [, plain = ''] = await lostTasks(day, ['clip', 'plain']);
    const { page } = await signedIn();
    await changeAnswer(page, ({ rows }) => ({
      rows: rows.flatMap((row) => {
        const candidates = row.candidates.map((one) => ({ ...one, task: plain }));
        return [row, { ...row, unit: 'credits', candidates }];
      }),
    }));
    await compare(page, billOf(day, [['job-units', 'u']]));
    await adopt(page).nth(1).waitFor();
    expect(await settle(page).count()).toBe(0);
  });

  it('only with the role for acts on tasks, even if it was withdrawn a moment ago', async () => {
    const day = '2026-03-22';
    const [task = ''] = await lostTasks(day, ['clip']);
    const operator = async (name: string, roles: readonly string[]) =>
      String((await world.admin('POST', '/operators', { name, roles })).body.token);
    const bill = billOf(day, [['job-role', 'u']]);
    const reader = await signedIn(await operator('bookkeeper', ['read', 'amounts']));
    await compare(reader.page, bill);
    await rowOf(reader.page, 'job-role').getByText('May belong to').waitFor();
    expect([await settle(reader.page).count(), await adopt(reader.page).count()]).toEqual([0, 0]);

    const { page } = await signedIn(await operator('agent', ['read', 'amounts', 'tasks']));
    await compare(page, bill);
    await settle(page).click();
    const body = { roles: ['read', 'amounts'], reason: 'moved' };
    expect(await node.admin('POST', '/operators/agent/roles', body)).toMatchObject({ status: 200 });
    await preview(page);
    await page.getByRole('alert').filter({ hasText: 'Not possible for 1 task' }).getByText('role').waitFor();
    expect(actsOn([task])).toEqual([]);
  });

  it('not if there is nothing to settle', async () => {
    const day = '2026-04-02';
    const [task = ''] = await lostTasks(day, ['clip']);
    await world.drive.step(task, { kind: 'adopted', operation: { id: 'job-settled' } });
    const items = [{ url: 'https://x.test/v.mp4' }];
    const cost = { amount: '0.7', unit: 'USD' };
    await world.drive.succeed(task, { kind: 'succeeded', items, facts: {}, cost });
    const { page, faults } = await signedIn();
    await compare(page, billOf(day, [['job-settled', 'u']]));
    await page.getByText('The bill matches.').waitFor();
    expect([await settle(page).count(), await adopt(page).count()]).toEqual([0, 0]);
    await page.reload();
    await compare(page, billOf(day, [['job-of-others', 'u']]));
    await rowOf(page, 'job-of-others').getByText('No task matches.').waitFor();
    expect([await settle(page).count(), await adopt(page).count()]).toEqual([0, 0]);
    expect(faults).toEqual([]);
  });
});
