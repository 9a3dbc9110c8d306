import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChannelActivityDeps } from '../../activities/deps.ts';
import type { ActReply, ActRequest, SubmitInput } from '../../activities/types.ts';
import { formatAmount } from '../../src/money/money.ts';
import type { ActionInput } from '../../src/operating/act-fields.ts';
import { createRequestStore } from '../../src/store/requests.ts';
import { createTaskStore } from '../../src/store/tasks.ts';
import { testSealing } from '../support/sealing.ts';
import { staleReads } from '../support/stale-reads.ts';
import { openActivityWorld, type ActivityWorld } from './support.ts';

let world: ActivityWorld;
beforeAll(async () => {
  world = await openActivityWorld();
});
afterAll(() => world.close());

let acts = 0;
type Action = ActRequest['action'];

function act(
  { task }: SubmitInput,
  action: Action,
  input: Partial<ActionInput> = {},
  deps: Partial<ChannelActivityDeps> & { readonly id?: string; readonly at?: number } = {},
): Promise<ActReply> {
  const { id = `update-${(acts += 1)}`, at = 20, ...overrides } = deps;
  const price = { minimum: '0', lines: [{ measure: 'second', price: '0.1' }] } as const;
  return world.worker(overrides).actOnTask({
    task,
    action,
    id,
    at,
    input: { reason: 'why', by: 'ann', ...input },
    currency: 'USD',
    basis: { version: 'v', price, facts: {} },
  });
}

const refusedWith = (words: string | RegExp) => ({
  done: false,
  message: typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words),
});
const stateOf = async (input: SubmitInput) => (await world.record(input)).state;
const attemptOf = async (input: SubmitInput) => (await world.record(input)).attempts[0];

async function lost(prompt: string): Promise<{ input: SubmitInput; job: string }> {
  const input = await world.newTask(`${prompt} [sim:create:accepted-504]`);
  expect((await world.worker().submit(input)).state.at).toBe('searching');
  const [job = ''] = world.simulator.control.tasks(prompt).map(({ id }) => id);
  return { input, job };
}

/** Temporal's own tools bypass the API, which otherwise writes the audit log entry. */
it('an act sent with Temporal’s own tools is recorded in the audit log once, with its outcome', async () => {
  const input = await world.newTask('kept');
  const entries = async () => (await world.audit.list({ task: input.task }, { limit: 10 })).entries;
  await act(input, 'extend', { seconds: 600, dry_run: true });
  expect(await entries()).toEqual([]);
  // Temporal may run an update's step twice, at different times.
  for (const at of [10, 11]) await act(input, 'extend', { seconds: 600 }, { id: 'same', at });
  await act(input, 'accept_charge');
  const facts = { by: 'temporal:ann', via: 'temporal', target: input.task, reason: 'why' };
  expect(await entries()).toMatchObject([
    {
      ...facts,
      action: 'accept_charge',
      outcome: 'refused',
      result: expect.stringContaining('not possible'),
    },
    { ...facts, at: 10, action: 'extend', outcome: 'done', what: '{"seconds":600}' },
  ]);
  await act(input, 'extend', { seconds: 600 }, { id: 'proved', actorOf: ({ by }) => by });
  expect(await entries()).toHaveLength(2);
});

/** Update ids are unique only within one run of the workflow, and a reset starts another run. */
it('another operator’s act is recorded even if it reuses the id of an earlier one', async () => {
  const input = await world.newTask('reused');
  const same = { id: 'chosen', at: 10 };
  await act(input, 'accept_charge', {}, same);
  await act(input, 'extend', { by: 'bob', seconds: 600 }, same);
  const { entries } = await world.audit.list({ task: input.task }, { limit: 10 });
  expect(new Set(entries.map(({ id }) => id)).size).toBe(2);
  expect(entries).toContainEqual(expect.objectContaining({ by: 'temporal:ann', outcome: 'refused' }));
  expect(entries).toContainEqual(expect.objectContaining({ by: 'temporal:bob', outcome: 'done' }));
});

it('an act with the id of an earlier act of another kind is carried out', async () => {
  const { input, job } = await lost('reused-later');
  const same = { id: 'chosen', at: 10 };
  await act(input, 'extend', { seconds: 600 }, same);
  await act(input, 'adopt', { upstream_id: job }, same);
  const { actions = [], state } = await world.record(input);
  expect([actions.map(({ action }) => action), state.at]).toEqual([['extend', 'adopt'], 'waiting']);
});

describe('a job that an operator names', () => {
  const adopt = (input: SubmitInput, id: string, more: Partial<ActionInput> = {}) =>
    act(input, 'adopt', { upstream_id: id, ...more });

  it('is assigned to the task if the upstream has it from this submission', async () => {
    const { input, job } = await lost('ours');
    const before = await world.record(input);
    expect(await adopt(input, job, { dry_run: true })).toMatchObject({
      done: true,
      said: { would: { task: expect.any(String) } },
    });
    expect(await world.record(input)).toEqual(before);
    expect(await adopt(input, job)).toMatchObject({ done: true, view: { state: { at: 'waiting', n: 1 } } });
    expect(await world.record(input)).toMatchObject({
      status: 'submitted',
      upstreamId: job,
      attempts: [{ state: 'accepted', adopted: true }],
      actions: [{ by: 'temporal:ann', action: 'adopt', reason: 'why', detail: expect.stringContaining(job) }],
    });
  });

  it('is assigned once, however often the same act is carried out', async () => {
    const { input, job } = await lost('repeated');
    const deps = { id: 'update-repeated' };
    const first = await act(input, 'adopt', { upstream_id: job }, deps);
    const record = await world.record(input);
    const second = await act(input, 'adopt', { upstream_id: job }, deps);
    expect([first.done, second.done]).toEqual([true, true]);
    expect(await world.record(input)).toEqual(record);
    expect(record.actions).toHaveLength(1);
  });

  it('is refused if the upstream does not know it', async () => {
    const { input } = await lost('unknown');
    expect(await adopt(input, 'cgt-20260101000000-none1')).toEqual(
      refusedWith(/does not know.*Nothing was changed/),
    );
    expect((await attemptOf(input))?.state).toBe('lost');
  });

  it('is refused if another submission made it, or another task has it', async () => {
    const [first, second] = [await lost('first'), await lost('second')];
    expect(await adopt(first.input, second.job)).toEqual(
      refusedWith('was not created by this task’s submission'),
    );
    await adopt(second.input, second.job);
    expect(await adopt(first.input, second.job)).toEqual(refusedWith(`belongs to ${second.input.task}`));
    expect(await stateOf(first.input)).toMatchObject({ at: 'searching' });
  });

  it('is refused by the write itself if another task gets it in between', async () => {
    const [first, second] = [await lost('one'), await lost('other')];
    const tasks = world.store();
    // Simulate a stale read that shows no owner. The upstream's list is empty too, so it cannot contradict the read.
    const deps = { tasks: { ...tasks, ownerOf: async () => undefined } };
    await adopt(second.input, second.job);
    world.simulator.control.addFault({ match: { prompt: 'one' }, fault: 'list:empty' });
    const stepped = await tasks.step(first.input.task, { kind: 'adopted', operation: { id: second.job } });
    expect(stepped).toMatchObject({ ok: false, code: 'job_taken' });
    expect((await act(first.input, 'adopt', { upstream_id: second.job }, deps)).done).toBe(false);
    world.simulator.control.clearFaults();
    expect(await stateOf(first.input)).toMatchObject({ at: 'searching' });
  });

  it('is refused while the configuration lacks its channel', async () => {
    const { input, job } = await lost('removed');
    const refused = await act(input, 'adopt', { upstream_id: job }, { channels: () => undefined });
    expect(refused).toEqual(refusedWith(/no longer has channel ark,.*restore it.*\. Nothing was changed\.$/));
    expect((await attemptOf(input))?.state).toBe('lost');
  });

  it('is refused while the upstream cannot be asked', async () => {
    const { input, job } = await lost('away');
    world.simulator.control.addFault({ match: { prompt: 'away' }, fault: 'poll:500' });
    expect(await adopt(input, job)).toEqual(refusedWith('could not be asked'));
    world.simulator.control.clearFaults();
    expect((await attemptOf(input))?.state).toBe('lost');
  });

  it('can be removed again until it has ended, and what it reports afterwards is ignored', async () => {
    const { input, job } = await lost('undone');
    const late = {
      kind: 'polled',
      n: 1,
      outcome: { kind: 'failed', code: 'late', message: 'of a job that was taken back' },
      unbilled: false,
    } as const;
    await adopt(input, job);
    expect(await act(input, 'undo')).toMatchObject({ done: true });
    expect(await stateOf(input)).toEqual({ at: 'asking', n: 1, code: 'adoption_undone' });
    expect(await attemptOf(input)).not.toHaveProperty('operation');
    expect((await world.store().step(input.task, late)).ok).toBe(false);
    await adopt(input, job);
    expect((await world.store().step(input.task, late)).ok).toBe(true);
    expect(await act(input, 'undo')).toEqual(refusedWith('`undo` is not possible'));
    expect((await attemptOf(input))?.state).toBe('accepted');
  });

  it('an acceptance that the upstream itself reported cannot be undone', async () => {
    const input = await world.newTask('reported');
    await world.worker().submit(input);
    expect(await act(input, 'undo')).toEqual(refusedWith('was not adopted by an operator'));
    expect((await attemptOf(input))?.state).toBe('accepted');
  });
});

describe('a result that an operator provides', () => {
  const url = 'https://files.example/a.mp4';

  it('becomes the task’s result once, and is charged at the prices of its hold', async () => {
    const input = await world.newTask('by hand');
    await world.worker().submit(input);
    const before = await world.record(input);
    const money = expect.stringContaining('0.500000 USD is charged');
    const said = { result_url: url, duration: 5 };
    expect(await act(input, 'complete', { ...said, dry_run: true })).toMatchObject({
      done: true,
      said: { would: { money } },
    });
    expect(await world.record(input)).toEqual(before);
    const deps = { id: 'update-complete' };
    for (const repeated of [1, 2]) {
      expect([repeated, (await act(input, 'complete', said, deps)).done]).toEqual([repeated, true]);
    }
    expect(await act(input, 'complete', { result_url: 'https://files.example/b.mp4', duration: 7 })).toEqual(
      refusedWith('`complete` is not possible'),
    );
    expect(await world.record(input)).toMatchObject({
      state: { at: 'ending', ending: { kind: 'succeeded', approved: true } },
      outcome: { items: [{ url }], facts: { durationSeconds: 5 } },
      actions: [{ action: 'complete' }],
    });
  });

  it('shows a charge of at most the hold if an earlier job of the task has failed', async () => {
    const input = await world.newTask('a job took the place of another');
    await world.worker().submit(input);
    const record = await world.record(input);
    const attempts = record.attempts.flatMap((one) => [{ ...one, n: 0, state: 'failed' as const }, one]);
    const tasks = createTaskStore(world.database.db, Date.now, testSealing);
    const deps = { tasks: { ...tasks, confirm: async () => ({ ...record, attempts }) } };
    const said = { result_url: url, duration: 500, dry_run: true };
    const hold = formatAmount(record.hold, 'USD');
    const money = `${hold} is charged; ${hold} is held.`;
    expect(await act(input, 'complete', said, deps)).toMatchObject({ said: { would: { money } } });
  });

  it.each([false, true])('is refused if its address cannot be opened (dry run: %s)', async (dryRun) => {
    const input = await world.newTask('nothing there');
    await world.worker().submit(input);
    const before = await world.record(input);
    const asked: string[][] = [];
    const deps = {
      canOpen: async (channel: string, address: string) => {
        asked.push([channel, address]);
        return 'HTTP 404';
      },
      deliver: () => Promise.reject(new Error('copied')),
    };
    const reply = await act(input, 'complete', { result_url: url, duration: 5, dry_run: dryRun }, deps);
    expect(reply).toEqual(refusedWith(/cannot be opened \(HTTP 404\).*Nothing was changed/));
    expect([asked, await world.record(input)]).toEqual([[['ark', url]], before]);
  });

  it('is checked but not copied in a dry run', async () => {
    const input = await world.newTask('only looked at');
    await world.worker().submit(input);
    const deliver = () => Promise.reject(new Error('copied'));
    const reply = await act(input, 'complete', { result_url: url, dry_run: true }, { deliver });
    expect(reply).toMatchObject({ done: true, said: { would: { task: expect.any(String) } } });
  });
});

it('no act is refused because of a stale read: the record decides', async () => {
  const input = await world.newTask('behind');
  const db = await staleReads(world.database.db, ['tasks']);
  const stale = createTaskStore(db, Date.now, testSealing);
  await world.worker().submit(input);
  expect((await stale.look(input.task))?.state.at).toBe('queued');
  const done = await act(input, 'complete', { result_url: 'https://files.example/a.mp4' }, { tasks: stale });
  expect(done).toMatchObject({ done: true });
  expect(await stateOf(input)).toMatchObject({ at: 'ending' });
});

it('a repeat completes an extension whose process died before it extended the life of the request', async () => {
  const input = await world.newTask('extended');
  const requests = createRequestStore(world.database.db, Date.now, testSealing);
  const documents = world.database.db.collection<{ _id: string; expires: Date }>('requests');
  const keptUntil = async () => (await documents.findOne({ _id: input.task }))?.expires.getTime();
  const before = (await keptUntil()) ?? 0;
  const keepUntil = () => Promise.reject(new Error('the process has died'));
  const repeated = { id: 'update-extended', requests: { ...requests, keepUntil } };
  await expect(act(input, 'extend', { seconds: 600 }, repeated)).rejects.toThrow('died');
  const { deadlineAt } = await world.record(input);
  expect(await keptUntil()).toBe(before);
  expect((await act(input, 'extend', { seconds: 600 }, { id: 'update-extended' })).done).toBe(true);
  expect(await world.record(input)).toMatchObject({ deadlineAt, actions: [{ id: 'update-extended' }] });
  expect(await keptUntil()).toBe(before + 600_000);
  await requests.keepUntil(input.task, deadlineAt - 600_000);
  expect(await keptUntil()).toBe(before + 600_000);
});

describe('a dry run', () => {
  it.each([
    ['fail', {}],
    ['cancel', {}],
    ['extend', { seconds: 600 }],
    ['retry_now', {}],
  ] as const)('of %s does not write', async (action, more) => {
    const input = await world.newTask(`dry ${action}`);
    await world.worker().submit(input);
    const before = await world.record(input);
    expect(await act(input, action, { ...more, dry_run: true })).toMatchObject({
      done: true,
      said: { would: { task: expect.any(String) } },
    });
    expect(await world.record(input)).toEqual(before);
    expect((await act(input, action, more)).done).toBe(true);
    expect((await world.record(input)).rev).toBeGreaterThan(before.rev);
  });

  it('returns a plan, which is refused once the record has changed', async () => {
    const { input } = await lost('planned');
    const tried = await act(input, 'resubmit', { dry_run: true });
    const plan = tried.done && 'would' in tried.said ? tried.said.plan : '';
    await act(input, 'extend', { seconds: 600 });
    expect(await act(input, 'resubmit', { plan })).toEqual(
      refusedWith(/^The plan no longer applies: .*Nothing was changed\.$/),
    );
    expect(await stateOf(input)).toMatchObject({ at: 'searching' });
    const again = await act(input, 'resubmit', { dry_run: true });
    const fresh = again.done && 'would' in again.said ? again.said.plan : '';
    expect((await act(input, 'resubmit', { plan: fresh })).done).toBe(true);
  });

  it('of a resubmission is refused once the caller’s request has been deleted, as the act itself is', async () => {
    const { input } = await lost('forgotten');
    await createRequestStore(world.database.db, Date.now, testSealing).removeMany([input.task]);
    for (const dryRun of [true, false])
      expect(await act(input, 'resubmit', { dry_run: dryRun })).toEqual(
        refusedWith('the caller’s request is no longer kept'),
      );
    expect(await stateOf(input)).toMatchObject({ at: 'searching' });
  });

  it.each([
    ['resubmit', { channel: 'elsewhere' }, 'has no channel `elsewhere`'],
    ['accept_charge', {}, '`accept_charge` is not possible'],
  ] as const)('of %s is refused in the same cases as the act itself', async (action, more, words) => {
    const { input } = await lost(`dry ${action} refused`);
    for (const dryRun of [true, false]) {
      const reply = await act(input, action, { ...more, dry_run: dryRun });
      expect([dryRun, reply]).toEqual([dryRun, refusedWith(words)]);
    }
    expect(await world.record(input)).not.toHaveProperty('actions');
  });
});

it('a cancellation with Temporal’s own tools is recorded once, although a discarded step gave it another time', async () => {
  const input = await world.newTask('cancelled in the UI');
  const cancelRequest = async () => ({ by: 'anna', reason: 'a wrong model', at: 5_000 });
  const request = { ...cancelOf(input), id: 'ui-cancel-1', isCancelRequest: true } as const;
  for (const at of [6_000, 16_000]) await world.worker({ cancelRequest }).actOnTask({ ...request, at });
  const { entries } = await world.audit.list({ task: input.task }, { limit: 10 });
  expect(entries).toMatchObject([{ by: 'temporal:anna', reason: 'a wrong model', at: 5_000 }]);
});

it('a cancellation with Temporal’s own tools is recorded once, although a repeat learns who asked for it', async () => {
  const input = await world.newTask('cancelled by somebody');
  const request = { ...cancelOf(input), id: 'ui-cancel-1', at: 6_000, isCancelRequest: true } as const;
  const asked = { by: 'anna', reason: 'a wrong model', at: 5_000 };
  for (const found of [undefined, asked])
    await world.worker({ cancelRequest: async () => found }).actOnTask(request);
  const { entries } = await world.audit.list({ task: input.task }, { limit: 10 });
  expect(entries).toHaveLength(1);
});

const cancelOf = ({ task }: SubmitInput) =>
  ({
    task,
    action: 'cancel',
    input: { reason: 'why', by: 'ann' },
    currency: 'USD',
    basis: { version: 'v', price: { minimum: '0', lines: [] }, facts: {} },
  }) as const;

it('a cancellation by the caller is not recorded as an operator’s act', async () => {
  const input = await world.newTask('by its caller');
  await world.worker().submit(input);
  const request = { ...cancelOf(input), id: 'c', at: 0, isCallers: true } as const;
  const reply = await world.worker().actOnTask({ ...request, input: { reason: 'api', by: 'caller' } });
  expect(reply).toMatchObject({ done: true, view: { state: { stop: 'cancel' } } });
  expect(await world.record(input)).not.toHaveProperty('actions');
});

it('a task without a record cannot be acted on', async () => {
  expect(
    await act(
      { task: 'task_none', candidate: { channel: 'ark', credential: 'a' }, expectedSeconds: 1 },
      'fail',
    ),
  ).toEqual(refusedWith('no record'));
});
