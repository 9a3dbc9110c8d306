import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, noBrowser, offered, pressSearchKey, startBrowser } from '../support/browser.ts';
import type { TestBrowser, WatchedPage } from '../support/browser.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('console_lists');

let browser: TestBrowser;

describe.skipIf(browserPath === undefined)(`lists of the console${noBrowser}`, () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  async function signedIn(hash: string, width = 1280): Promise<WatchedPage> {
    const watched = await browser.open({ viewport: { width, height: 900 } });
    await watched.page.addInitScript(
      `sessionStorage.setItem('mediary.operator', ${JSON.stringify(adminToken)})`,
    );
    await watched.page.goto(`${world.url}/console${hash}`);
    return watched;
  }

  it.each([360, 1000, 1440])('keeps the header of a table visible, %s pixels wide', async (width) => {
    const account = await world.newAccount();
    for (let n = 0; n < 30; n += 1) await account.create();
    const { page, faults } = await signedIn(`#/tasks?account=${account.id}`, width);
    await page.getByRole('row').nth(30).waitFor();
    const head = page.getByRole('columnheader', { name: 'State' });
    const topOf = (element: Locator) => element.evaluate((node) => node.getBoundingClientRect().top);
    expect(await topOf(head)).toBeGreaterThan(100);
    await page.getByRole('row').nth(20).scrollIntoViewIfNeeded();
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await expect.poll(() => topOf(page.getByRole('row').nth(1))).toBeLessThan(0);
    await expect.poll(() => topOf(head)).toBe(0);
    await page.getByRole('region', { name: 'Tasks' }).evaluate((node) => node.scrollTo(60, 0));
    const leftOf = (element: Locator) => element.evaluate((node) => node.getBoundingClientRect().left);
    const titles = await page.getByRole('columnheader').allTextContents();
    const column = titles.findIndex((title) => title.includes('State'));
    const cell = page.getByRole('row').nth(30).getByRole('cell').nth(column);
    expect(await leftOf(head)).toBe(await leftOf(cell));
    expect(await topOf(head)).toBe(0);
    await page.evaluate('scrollTo(0, 0)');
    await expect.poll(() => topOf(head)).toBeGreaterThan(100);
    expect(faults).toEqual([]);
  });

  it('shows the model and the time of a task without scrolling in a narrow window', async () => {
    const account = await world.newAccount();
    const { id } = (await account.create()).body;
    const { page, faults } = await signedIn(`#/tasks?account=${account.id}`, 360);
    const cell = page.getByRole('cell').filter({ has: page.getByRole('link', { name: id }) });
    await cell.getByText('clip').waitFor();
    for (const part of [cell.getByText('clip'), cell.locator('time'), page.getByText('pending').last()]) {
      const { x = -1, width = 0 } = (await part.boundingBox()) ?? {};
      expect([x >= 0, x + width <= 360]).toEqual([true, true]);
    }
    expect(await page.getByRole('columnheader', { name: 'Model' }).count()).toBe(0);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('columnheader', { name: 'Model' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('leads from the count of what ended to the tasks that ended then, whenever they were created', async () => {
    const day = 24 * 3_600_000;
    world.clock.aheadMs -= 2 * day;
    const account = await world.newAccount();
    const { id } = (await account.create()).body;
    world.clock.aheadMs += 2 * day;
    await world.drive.fail(id, { code: 'provider_error', message: 'm', class: 'quota' });
    world.clock.aheadMs += 30_000;
    const { page, faults } = await signedIn('#/now');
    const count = page
      .getByRole('row')
      .filter({ hasText: 'failed: our upstream account' })
      .getByRole('link')
      .first();
    await count.waitFor();
    expect(await count.textContent()).toBe('1');
    await count.click();
    await page.getByRole('link', { name: id }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByRole('columnheader', { name: 'Ended' }).waitFor();
    expect(await page.getByLabel('Ended').inputValue()).toBe('1');
    await page.getByLabel('Created').selectOption('1');
    await page.getByText('No task matches').waitFor();
    // The filter by end time cannot be combined with the other filters, so each clears the others.
    expect(await page.getByLabel('Ended').inputValue()).toBe('');
    await page.getByLabel('Account').fill(account.id);
    await page.keyboard.press('Enter');
    await page.getByLabel('Ended').selectOption('24');
    await page.getByRole('link', { name: id }).waitFor();
    for (const label of ['Created', 'Account'])
      await expect.poll(() => page.getByLabel(label).inputValue()).toBe('');
    expect(await page.getByLabel('Failure').inputValue()).toBe('quota');
    expect(faults).toEqual([]);
  });

  it('by keyboard alone: acts on many, and returns from a task to its position in the list', async () => {
    const account = await world.newAccount();
    const ids: string[] = [];
    for (let n = 0; n < 30; n += 1) {
      const { id } = (await account.create()).body;
      await world.drive.ask(id);
      ids.unshift(id);
    }
    const { page, faults } = await signedIn(`#/tasks?account=${account.id}&state=attention`);
    await page.getByRole('link', { name: ids[0] ?? '' }).waitFor();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press(...Array.from({ length: 25 }, () => 'j'), 'x', 'j', 'x', 'a');
    const dialog = page.getByRole('dialog', { name: 'Act on 2 tasks' });
    await dialog.waitFor();
    await press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await press('a');
    await dialog.waitFor();
    const act = page.getByLabel('Act', { exact: true });
    // A select element forgets letters typed more than a second ago, so press only one.
    await press('f');
    await expect.poll(() => act.inputValue()).toBe('fail');
    await press('Tab');
    await page.keyboard.type('by hand');
    await press('Enter');
    await page.getByText('2 tasks of 2 would be affected').waitFor();
    await press('Enter', 'Tab', 'Tab', 'Enter');
    await page.getByText('Done for 2 tasks.').waitFor();
    const acted = world.port.acts.filter(({ input }) => input.reason === 'by hand' && !input.dry_run);
    expect(acted.map(({ task }) => task).toSorted()).toEqual(ids.slice(24, 26).toSorted());
    await press('Escape');
    await dialog.waitFor({ state: 'detached' });

    const focused = page.locator('tr.opens:focus-within');
    await press('k', 'j');
    const row = await focused.getAttribute('data-key');
    const position = await page.evaluate('scrollY');
    expect(position).toBeGreaterThan(0);
    await press('Enter');
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.goBack();
    await focused.waitFor();
    expect(page.url()).toContain(`account=${account.id}&state=attention`);
    await expect
      .poll(async () => [await focused.getAttribute('data-key'), await page.evaluate('scrollY')])
      .toEqual([row, position]);
    await press('j');
    expect(await focused.getAttribute('data-key')).not.toBe(row);
    expect(faults).toEqual([]);
  });

  it('opens what a search finds, and lists several things by their kind', async () => {
    const account = await world.newAccount();
    const { id } = (await account.create()).body;
    const { page, faults } = await signedIn('#/now');
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    const search = async (text: string) => {
      await pressSearchKey(page);
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
    };
    await search(id.slice(11, 19));
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    expect(page.url()).toContain(id);
    await page.goto(`${world.url}/console#/tasks`);
    await search('moderated');
    const failed = page.getByRole('region', { name: 'Failed tasks' });
    await failed.getByRole('link', { name: 'result was moderated' }).click();
    await expect.poll(() => page.getByLabel('Failure').inputValue()).toBe('moderation_output');
    await search('pict');
    await expect.poll(() => page.getByLabel('Model').inputValue()).toBe('picture');
    await search('nobody-knows-it');
    await page.getByText('Nothing has this id, this name or these words').waitFor();
    expect(faults).toEqual([]);
  });

  it('keeps views and columns in the browser, and offers what there is with its counts', async () => {
    const account = await world.newAccount();
    const { id } = (await account.create()).body;
    const { page, faults } = await signedIn(`#/tasks?account=${account.id}`);
    await page.getByRole('link', { name: id }).waitFor();
    await page.getByRole('button', { name: 'Save this view' }).click();
    await page.keyboard.type('Mine');
    await page.keyboard.press('Enter');
    await page.getByText('Columns').click();
    await page.getByLabel('Show Request').check();
    await page.getByLabel('Show Account').uncheck();
    await expect
      .poll(() => page.getByRole('columnheader').allTextContents())
      .toEqual(expect.arrayContaining(['Request']));
    expect(await page.getByRole('columnheader').allTextContents()).not.toContain('Account');
    await page.goto(`${world.url}/console#/tasks`);
    await page.reload();
    await page.getByRole('columnheader', { name: 'Request' }).waitFor();
    await page.getByRole('group', { name: 'Saved views' }).getByRole('link', { name: 'Mine' }).click();
    await expect.poll(() => page.url()).toContain(`account=${account.id}`);
    await page.getByRole('button', { name: 'Forget this view' }).click();
    await page.getByRole('link', { name: 'Mine' }).waitFor({ state: 'detached' });
    await page.getByLabel('Model').focus();
    await expect.poll(() => offered(page.getByLabel('Model'))).toContain('clip');
    await page.getByLabel('Account', { exact: true }).focus();
    await expect.poll(() => offered(page.getByLabel('Account', { exact: true }))).toContain(account.id);
    await page.getByLabel('Key', { exact: true }).focus();
    await expect.poll(() => offered(page.getByLabel('Key', { exact: true }))).not.toEqual([]);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('tasks.csv');
    expect(faults).toEqual([]);
  });
});
