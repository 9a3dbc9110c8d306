import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, noBrowser, startBrowser } from '../support/browser.ts';
import type { TestBrowser, WatchedPage } from '../support/browser.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';

/** The console's list of tasks: what leads to it, how it is read, and what is done with it by the keyboard. */

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

  it.each([360, 1000, 1440])('keeps the head of a table in sight, %s pixels wide', async (width) => {
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
    // It moves sideways with its columns.
    await page.getByRole('region', { name: 'Tasks' }).evaluate((node) => node.scrollTo(60, 0));
    const leftOf = (element: Locator) => element.evaluate((node) => node.getBoundingClientRect().left);
    const cell = page.getByRole('row').nth(30).getByRole('cell').nth(3);
    expect(await leftOf(head)).toBe(await leftOf(cell));
    expect(await topOf(head)).toBe(0);
    await page.evaluate('scrollTo(0, 0)');
    await expect.poll(() => topOf(head)).toBeGreaterThan(100);
    expect(faults).toEqual([]);
  });

  it('leads from the count of what ended to the tasks that ended then, whenever they were created', async () => {
    const day = 24 * 3_600_000;
    world.clock.aheadMs -= 2 * day;
    const account = await world.newAccount();
    const { id } = (await account.create()).body;
    world.clock.aheadMs += 2 * day;
    await world.drive.fail(id, { code: 'provider_error', message: 'm', class: 'quota' });
    // The counts are shared for some seconds.
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
    // What does not go together with the time of an end goes when one is chosen, and the reverse.
    expect(await page.getByLabel('Ended').inputValue()).toBe('');
    await page.getByLabel('Account').fill(account.id);
    await page.keyboard.press('Enter');
    await page.getByLabel('Ended').selectOption('24');
    await page.getByRole('link', { name: id }).waitFor();
    expect([
      await page.getByLabel('Created').inputValue(),
      await page.getByLabel('Account').inputValue(),
    ]).toEqual(['', '']);
    expect(await page.getByLabel('Failure').inputValue()).toBe('quota');
    expect(faults).toEqual([]);
  });

  it('by the keyboard alone: acts on many, and comes back from a task to where the list was', async () => {
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
    await page.keyboard.type('Fail');
    expect(await act.inputValue()).toBe('fail');
    await press('Tab');
    await page.keyboard.type('by hand');
    await press('Enter');
    await page.getByText('2 tasks of 2 would be touched').waitFor();
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
    expect([await focused.getAttribute('data-key'), await page.evaluate('scrollY')]).toEqual([row, position]);
    await press('j');
    expect(await focused.getAttribute('data-key')).not.toBe(row);
    expect(faults).toEqual([]);
  });
});
