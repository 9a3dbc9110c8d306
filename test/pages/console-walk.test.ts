import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openedBy, orderedBy, type CircuitRecord } from '../../src/health/circuit-rules.ts';
import { attentionReasons, concerns, type AttentionReason, type Concern } from '../../src/task/attention.ts';
import { actionTable, operatorActions, type OperatorActionName } from '../../src/operating/acts.ts';
import type { StateName } from '../../src/task/state.ts';
import { browserPath, noBrowser, startBrowser, type TestBrowser } from '../support/browser.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';
import { succeededWith } from '../support/task-records.ts';

const world = useHttpWorld('console_walk');
let browser: TestBrowser;

type Way = (id: string) => Promise<StateName>;

const states: Readonly<Record<Exclude<AttentionReason, Concern>, Way>> = {
  async submit_ambiguous(id) {
    await world.drive.ask(id);
    return 'asking';
  },
  async upstream_id_taken(id) {
    const n = await world.drive.send(id);
    const code = 'upstream_id_taken';
    await world.drive.step(id, { kind: 'lost', n, owner: 'run', code, taken: true });
    await world.drive.step(id, { kind: 'asked' });
    return 'asking';
  },
  async poll_failed(id) {
    const n = await world.drive.accept(id);
    await world.drive.step(id, { kind: 'broken', n, job: `up-${id}`, code: 'not_found' });
    return 'broken';
  },
  async charge_review(id) {
    await world.drive.polled(id, succeededWith('https://files.example/a.mp4'));
    await world.drive.step(id, { kind: 'reviewed', charge: '900000', why: 'above_hold' });
    return 'review';
  },
};

function noted(concern: Concern): Way {
  return async (id) => {
    const hasEnded = concern === 'not_delivered';
    if (hasEnded) await world.drive.succeed(id, succeededWith('https://files.example/a.mp4'));
    else await world.drive.accept(id);
    expect(await world.stores.tasks.setConcern(id, concern)).toBe(true);
    return hasEnded ? 'ended' : 'waiting';
  };
}

const ways: Readonly<Record<string, Way>> = {
  ...states,
  ...Object.fromEntries(concerns.map((concern) => [concern, noted(concern)])),
};

const tasks = new Map<AttentionReason, string>();

async function make(reason: AttentionReason): Promise<void> {
  const hook = { metadata: { callback_url: 'https://caller.example/hook' } };
  const { id } = (await (await world.newAccount()).create(hook)).body;
  tasks.set(reason, id);
  const state = await ways[reason]?.(id);
  expect((await world.stores.tasks.find(id))?.attention).toBe(reason);
  if (state !== undefined) world.port.situations.set(id, state);
}

const now = Date.now();
const failure = { code: 'http_503', tasks: ['t1', 't2'], accounts: ['x', 'y'] } as const;
const hour = 3_600_000;

const circuits: Readonly<Record<string, CircuitRecord>> = {
  'one/a/clip': openedBy({ ...failure, sign: 'failure' }, undefined, now),
  'two/b': openedBy({ ...failure, sign: 'account' }, undefined, now),
  'three/c': orderedBy(
    { state: 'open', until: now + hour, by: 'anna', reason: 'they asked' },
    undefined,
    now,
  ),
};

describe.skipIf(browserPath === undefined)(`the keyboard leads to the act for${noBrowser}`, () => {
  beforeAll(async () => {
    for (const reason of attentionReasons) await make(reason);
    for (const [id, record] of Object.entries(circuits)) await world.stores.circuits.write(id, record);
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  type Walk = Awaited<ReturnType<typeof onNow>>;

  async function onNow() {
    const { page, faults } = await browser.open({ viewport: { width: 1280, height: 900 } });
    await page.addInitScript(`sessionStorage.setItem('mediary.operator', ${JSON.stringify(adminToken)})`);
    await page.goto(`${world.url}/console#/now`);
    await page.locator('.now .opens').first().waitFor();
    let presses = 0;
    const press = async (key: string) => {
      presses += 1;
      await page.keyboard.press(key);
    };
    const pressTo = async (key: string, wanted: RegExp) => {
      for (let times = 0; times < 40; times += 1) {
        await press(key);
        if (wanted.test(await focused(page))) return;
      }
      throw new Error(`${key} does not lead to ${wanted.source}`);
    };
    return { page, faults, press, pressTo, presses: () => presses };
  }

  const focused = (page: Page) =>
    page.evaluate<string>(`(() => {
      const element = document.activeElement;
      const name = ['href', 'name', 'aria-label'].map((one) => element.getAttribute(one)).find(Boolean);
      return [name, element.labels?.[0]?.textContent.trim(), element.textContent.trim()].join(' ');
    })()`);

  async function toActs({ page, press, pressTo, presses }: Walk, reason: AttentionReason): Promise<void> {
    await pressTo('j', new RegExp(`attention=${reason}\\b`));
    const row = presses();
    await press('Enter');
    await page.locator('.now').waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('tr.opens').count()).toBe(1);
    await press('j');
    await press('Enter');
    await page.locator('.acts button').first().waitFor();
    await press('a');
    expect(presses()).toBe(row + 4);
    expect(row).toBeLessThanOrEqual(attentionReasons.length);
  }

  async function carryOut(
    { page, press, pressTo, presses }: Walk,
    id: string,
    action: OperatorActionName,
  ): Promise<void> {
    const { title, fields, example, confirmation } = actionTable[action];
    const before = presses();
    await press('Enter');
    await page.getByRole('dialog').waitFor();
    for (const [name, value] of Object.entries({ ...example, reason: 'by hand' })) {
      const field = new RegExp(`^${name} `);
      if (!field.test(await focused(page))) await pressTo('Tab', field);
      await page.keyboard.type(String(value));
    }
    await press('Enter');
    await expect.poll(() => focused(page)).toMatch(/^Preview /);
    expect(isDone(id, action)).toBe(false);
    if (confirmation !== undefined) {
      await pressTo('Tab', new RegExp(confirmation));
      await press('Space');
    }
    await pressTo('Tab', new RegExp(`${title} now$`));
    await press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(isDone(id, action)).toBe(true);
    const most = 1 + Object.keys(fields).length + 1 + (confirmation === undefined ? 0 : 2) + 2;
    expect(presses() - before).toBeLessThanOrEqual(most);
  }

  const isDone = (id: string, action: OperatorActionName): boolean =>
    world.port.redelivered.includes(id) ||
    world.port.acts.some(
      ({ task, action: name, input }) => task === id && name === action && input.dry_run !== true,
    );

  it.each(attentionReasons)('a task with %s, through the preview to the end', async (reason) => {
    const walk = await onNow();
    await toActs(walk, reason);
    const first = await focused(walk.page);
    const action = operatorActions.find((name) => first.startsWith(`  ${actionTable[name].title}`));
    if (action === undefined) throw new Error(`${first} is not the button of an act`);
    await carryOut(walk, tasks.get(reason) ?? '', action);
    expect(walk.faults).toEqual([]);
  });

  const confirmed = operatorActions.filter((name) => actionTable[name].confirmation !== undefined);
  it.each(confirmed)('%s, which needs a confirmation, to the end', async (action) => {
    const walk = await onNow();
    await toActs(walk, 'submit_ambiguous');
    await walk.pressTo('Tab', new RegExp(`^ {2}${actionTable[action].title}`));
    await carryOut(walk, tasks.get('submit_ambiguous') ?? '', action);
    expect(walk.faults).toEqual([]);
  });

  it.each(Object.keys(circuits))('the circuit %s, by its row and its channel', async (id) => {
    const { page, faults, press, pressTo, presses } = await onNow();
    const [channel = ''] = id.split('/');
    await pressTo('j', new RegExp(` ${channel}$`));
    const row = presses();
    await press('Enter');
    await page.getByRole('region', { name: `Circuits of ${channel}` }).waitFor();
    await pressTo('j', / Close$/);
    await press('Enter');
    await page.getByRole('dialog', { name: `Close the circuit ${id.slice(channel.length + 1)}` }).waitFor();
    expect(presses()).toBe(row + 4);
    expect(row).toBeLessThanOrEqual(attentionReasons.length + Object.keys(circuits).length);
    const state = () => world.stores.circuits.list();
    const known = await state();
    for (let times = 0; times < 3; times += 1) await page.keyboard.press('Enter');
    expect(await state()).toEqual(known);
    expect(faults).toEqual([]);
  });
});
