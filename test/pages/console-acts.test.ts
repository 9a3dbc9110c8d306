import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerCollection } from '../../src/ledger/collection.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { actionTable, needsPlan, operatorActions } from '../../src/operating/acts.ts';
import type { OperatorActionName } from '../../src/operating/acts.ts';
import type { StateName } from '../../src/task/state.ts';
import { settledText } from '../ledger/support.ts';
import { browserPath, noBrowser, seriousFindings, startBrowser } from '../support/browser.ts';
import type { TestBrowser, WatchedPage } from '../support/browser.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';
import { testLedgerKey } from '../support/sealing.ts';
import { succeededWith } from '../support/task-records.ts';

const world = useHttpWorld('console_acts');

let browser: TestBrowser;

const ways: Readonly<Record<OperatorActionName, (id: string, account: string) => Promise<StateName>>> = {
  retry_now: asking,
  adopt: asking,
  resubmit: asking,
  fail: asking,
  complete: asking,
  extend: asking,
  async cancel(id) {
    await world.drive.accept(id);
    return 'waiting';
  },
  async accept_charge(id) {
    await world.drive.polled(id, succeededWith('https://files.example/a.mp4'));
    await world.drive.step(id, { kind: 'reviewed', charge: '900000', why: 'above_hold' });
    return 'review';
  },
  async undo(id) {
    await world.drive.ask(id);
    await world.drive.step(id, { kind: 'adopted', operation: { id: `up-${id}` } });
    return 'waiting';
  },
  redeliver: succeeded,
  refund: succeeded,
};

async function asking(id: string): Promise<StateName> {
  await world.drive.ask(id);
  return 'asking';
}

async function succeeded(id: string, account: string): Promise<StateName> {
  await world.drive.polled(id, succeededWith('https://files.example/a.mp4'));
  const ledger = createLedger({ collection: ledgerCollection(world.db), key: testLedgerKey, now: Date.now });
  const money = { account, task: id, held: 500_000n, amount: 500_000n };
  await ledger.settle({ ...money, basis: settledText(500_000n) });
  const charge = 500_000n;
  await world.drive.step(id, { kind: 'ended', status: 'succeeded', charge, chargeEstimated: false });
  return 'ended';
}

async function newTask(action: OperatorActionName): Promise<string> {
  const account = await world.newAccount();
  const { id } = (await account.create({ metadata: { callback_url: 'https://caller.example/hook' } })).body;
  world.port.situations.set(id, await ways[action](id, account.id));
  return id;
}

async function changed(ids: readonly string[]): Promise<unknown> {
  const tasks = await Promise.all(ids.map((id) => world.stores.tasks.find(id)));
  const entries = await ledgerCollection(world.db).countDocuments({ task: { $in: [...ids] } });
  const acts = world.port.acts.filter(({ task, input }) => ids.includes(task) && input.dry_run !== true);
  const sent = world.port.redelivered.filter((id) => ids.includes(id));
  return [tasks.map((task) => task?.rev), entries, acts.length, sent.length];
}

const focusable = 'button:enabled, input:enabled, select:enabled, summary, [tabindex]';
const preview = (page: Page): Locator => page.getByRole('region', { name: 'Preview', exact: true });

async function fillIn(page: Page, action: OperatorActionName): Promise<void> {
  const { example } = actionTable[action];
  for (const [name, value] of Object.entries(example))
    await page.locator(`dialog input[name=${name}]`).fill(String(value));
  await page.locator('dialog input[name=reason]').fill('by hand');
}

async function isQuiet(page: Page): Promise<void> {
  await expect.poll(() => page.locator('dialog fieldset:disabled').count()).toBe(0);
}

async function pressEnter(page: Page): Promise<void> {
  for (let times = 0; times < 3; times += 1) {
    await page.keyboard.press('Enter');
    await isQuiet(page);
  }
}

describe.skipIf(browserPath === undefined)(`acts in the console${noBrowser}`, () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  async function signedIn(hash: string): Promise<WatchedPage> {
    const isExpected = (text: string) => /status of 4(?:00|09)/.test(text);
    const watched = await browser.open({ viewport: { width: 1280, height: 900 }, isExpected });
    await watched.page.addInitScript(
      `sessionStorage.setItem('mediary.operator', ${JSON.stringify(adminToken)})`,
    );
    await watched.page.goto(`${world.url}/console${hash}`);
    return watched;
  }

  /**
   * Presses Enter three times on every element of the dialog except the button `final`. `isOpen` checks that the dialog
   * has not changed.
   */
  async function misuse(
    page: Page,
    { open, isOpen, final }: { open: () => Promise<void>; isOpen: () => Promise<boolean>; final?: string },
  ): Promise<void> {
    await open();
    const count = await page.locator('dialog').locator(focusable).count();
    expect(count).toBeGreaterThan(2);
    for (let at = 0; at < count; at += 1) {
      if (!(await isOpen())) {
        await leave(page);
        await open();
      }
      const element = page.locator('dialog').locator(focusable).nth(at);
      if ((await element.textContent())?.trim() === final) continue;
      await element.focus();
      await pressEnter(page);
    }
    await leave(page);
  }

  async function leave(page: Page): Promise<void> {
    // If a select element's list is open, the first Escape only closes that list.
    const left = async () => {
      if ((await page.locator('dialog').count()) > 0) await page.keyboard.press('Escape');
      return page.locator('dialog').count();
    };
    await expect.poll(left).toBe(0);
  }

  it.each(operatorActions)('%s of one task: Enter three times, anywhere, changes nothing', async (action) => {
    const { title, bills, confirmation } = actionTable[action];
    const id = await newTask(action);
    const { page, faults } = await signedIn(`#/tasks/${id}`);
    const opener = page
      .locator('.acts')
      .getByRole('button', { name: new RegExp(`^${title}`) })
      .first();
    const final = page.getByRole('button', { name: `${title} now` });
    const open = async () => {
      await opener.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
    };
    const opened = async () => {
      await open();
      await fillIn(page, action);
      await page.keyboard.press('Enter');
      await preview(page).waitFor();
    };
    const before = await changed([id]);
    // Press nothing but Enter, starting at the button that opens the dialog.
    await opener.focus();
    await pressEnter(page);
    await leave(page);
    const dialog = page.getByRole('dialog');
    const isEmpty = async () => (await dialog.isVisible()) && !(await preview(page).isVisible());
    await misuse(page, { open, isOpen: isEmpty });
    await misuse(page, { open: opened, isOpen: () => preview(page).isVisible(), final: `${title} now` });
    expect(await changed([id])).toEqual(before);

    await opened();
    await expect
      .poll(() => page.evaluate(`document.activeElement.getAttribute("aria-label")`))
      .toBe('Preview');
    expect(await preview(page).locator('.notice.warn').count()).toBe(bills === 'twice' ? 1 : 0);
    if (confirmation !== undefined) {
      expect(await final.isDisabled()).toBe(true);
      expect(await seriousFindings(page)).toEqual([]);
      await page.getByLabel(confirmation).focus();
      await page.keyboard.press('Space');
    }
    await page.keyboard.press('Escape');
    await expect
      .poll(() => page.evaluate('document.activeElement.textContent'))
      .toMatch(new RegExp(`^\\s*${title}`));
    await opened();
    if (confirmation !== undefined) await page.getByLabel(confirmation).check();
    expect(await changed([id])).toEqual(before);
    await final.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await changed([id])).not.toEqual(before);
    const acts = world.port.acts.filter(({ task, input }) => task === id && input.dry_run !== true);
    expect(acts.every(({ input }) => needsPlan(action) && input.plan !== undefined)).toBe(
      acts.length === 0 || needsPlan(action),
    );
    expect(faults).toEqual([]);
  });

  const ofMany = operatorActions.filter((name) => actionTable[name].isForOne !== true);
  it.each(ofMany)('%s of many: none is chosen, and Enter three times changes nothing', async (action) => {
    const { title, confirmation } = actionTable[action];
    const account = await world.newAccount();
    const ids: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      const hook = { metadata: { callback_url: 'https://caller.example/hook' } };
      const { id } = (await account.create(hook)).body;
      world.port.situations.set(id, await ways[action](id, account.id));
      ids.push(id);
    }
    const { page, faults } = await signedIn(`#/tasks?account=${account.id}`);
    await page.getByLabel('Select all shown').check();
    const opener = page.getByRole('button', { name: 'Act on 2 selected' });
    const act = page.getByLabel('Act', { exact: true });
    const open = async () => {
      await opener.focus();
      await page.keyboard.press('Enter');
      await act.waitFor();
    };
    const opened = async () => {
      await open();
      expect([
        await act.inputValue(),
        await page.getByRole('button', { name: /^Preview/ }).isDisabled(),
      ]).toEqual(['', true]);
      await act.selectOption(action);
      await fillIn(page, action);
      await page.keyboard.press('Enter');
      await preview(page).waitFor();
    };
    const before = await changed(ids);
    if (action === ofMany[0])
      await misuse(page, { open, isOpen: async () => (await page.locator('dialog').count()) > 0 });
    const isOpen = () => preview(page).isVisible();
    await misuse(page, { open: opened, isOpen, final: `${title}: 2 tasks` });
    expect(await changed(ids)).toEqual(before);
    await opened();
    const final = page.getByRole('button', { name: `${title}: 2 tasks` });
    expect(await final.isDisabled()).toBe(confirmation !== undefined);
    expect(faults).toEqual([]);
  });

  it('says once what is the same for thirty tasks, and what the upstream may bill; the audit log has one entry', async () => {
    const account = await world.newAccount();
    for (let n = 0; n < 30; n += 1) {
      const { id } = (await account.create()).body;
      await world.drive.ask(id);
      world.port.situations.set(id, 'asking');
    }
    const { page, faults } = await signedIn(`#/tasks?account=${account.id}`);
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Act on 30 selected' }).click();
    await page.getByLabel('Act', { exact: true }).selectOption('resubmit');
    await page.getByRole('textbox', { name: /^Reason/ }).fill('an outage');
    await page.getByRole('button', { name: 'Preview for 30' }).click();
    await preview(page)
      .getByText('30 tasks of 30 would be affected: no money is moved in the ledger.')
      .waitFor();
    await preview(page).getByText('The upstream may bill 30 jobs that no charge covers.').waitFor();
    expect(await preview(page).getByText('Done.').allInnerTexts()).toEqual(['30 × Done.']);
    await page.getByLabel(actionTable.resubmit.confirmation ?? '').check();
    await page.getByRole('button', { name: 'Resubmit: 30 tasks' }).click();
    await page.getByText('Done for 30 tasks.').waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Tasks');
    await page.goto(`${world.url}/console#/audit`);
    const row = page.getByRole('row').filter({ hasText: 'an outage' });
    await row.getByText('30 tasks').click();
    expect(await row.getByRole('listitem').count()).toBe(30);
    expect(await row.count()).toBe(1);
    expect(faults).toEqual([]);
  });
});
