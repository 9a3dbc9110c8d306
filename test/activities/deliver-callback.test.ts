import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/activity';
import { MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallbackActivityDeps } from '../../activities/deps.ts';
import { SealError } from '../../src/access/sealer.ts';
import { isOutage } from '../../src/store/mongo.ts';
import { createStores } from '../../src/store/stores.ts';
import { testSealing } from '../support/sealing.ts';
import { staleReads } from '../support/stale-reads.ts';
import { endedTask as newEndedTask, openTaskWorld, type TaskWorld } from './task-support.ts';
import { createHostPlaces } from '../../src/capacity/host-places.ts';

let world: TaskWorld;
beforeAll(async () => {
  world = await openTaskWorld();
});
afterAll(() => world.close());

const endedTask = () => newEndedTask(world);

const attempts = async (task: string) => (await world.stores.tasks.find(task))?.callback?.attempts.length;
const stateOf = async (task: string) => (await world.stores.tasks.find(task))?.callback?.state;

it('an unreachable database before the request does not count as an attempt', async () => {
  const task = await endedTask();
  const find = () => Promise.reject(new MongoNetworkError('away'));
  for (let n = 0; n < 12; n += 1) {
    await expect(world.deliver({ requests: { ...world.stores.requests, find } }, task)).rejects.toThrow(
      'away',
    );
  }
  await world.deliver({}, task);
  expect([await stateOf(task), await attempts(task)]).toEqual(['delivered', 1]);
});

it('a secret that cannot be opened is listed as failing, and all requests are sent once it can', async () => {
  const task = await endedTask();
  const listed = async () => (await world.stores.tasks.failingCallbacks(100)).includes(task);
  const unreadable = { webhookSecrets: () => Promise.reject(new SealError('its key is missing')) };
  for (let n = 0; n < 12; n += 1) {
    await expect(world.deliver(unreadable, task)).rejects.toThrow('its key is missing');
    expect(await listed()).toBe(true);
  }
  expect((await world.stores.tasks.find(task))?.callback).toMatchObject({
    state: 'pending',
    begun: 0,
    attempts: [{ error: 'not_sent' }],
  });
  const busy = async () => ({ status: 500 });
  await expect(world.deliver({ post: busy }, task)).rejects.toMatchObject({ nonRetryable: false });
  await expect(world.deliver(unreadable, task)).rejects.toThrow('its key is missing');
  await world.deliver({}, task);
  expect([await stateOf(task), await attempts(task), await listed()]).toEqual(['delivered', 3, false]);
});

it('a callback is delivered even if a stale read lacks its request or its end', async () => {
  const stale = createStores(await staleReads(world.db, ['tasks', 'requests']), Date.now, testSealing);
  const task = await endedTask();
  expect([await stale.tasks.find(task), await stale.requests.glance(task)]).toEqual([undefined, undefined]);
  await world.deliver({ tasks: stale.tasks, requests: stale.requests }, task);
  expect([await stateOf(task), await attempts(task)]).toEqual(['delivered', 1]);
});

it('a stale record without the end does not hold back a callback', async () => {
  const task = await endedTask();
  const { tasks } = world.stores;
  const asBefore = async (id: string) => {
    const found = await tasks.look(id);
    return found === undefined ? undefined : ({ ...found, status: 'pending' } as const);
  };
  await world.deliver({ tasks: { ...tasks, look: asBefore } }, task);
  expect(await stateOf(task)).toBe('delivered');
});

it('abandons a callback after ten requests without a 2xx, and records that', async () => {
  const task = await endedTask();
  const post = async () => ({ status: 500 });
  const delays: unknown[] = [];
  for (let n = 1; n <= 10; n += 1) {
    const error: unknown = await world.deliver({ post }, task).catch((failure: unknown) => failure);
    delays.push(error);
  }
  expect(delays.slice(0, 9)).toMatchObject(Array.from({ length: 9 }, () => ({ nonRetryable: false })));
  expect(delays[9]).toMatchObject({ nonRetryable: true });
  expect([await stateOf(task), await attempts(task)]).toEqual(['gave_up', 10]);
});

it('abandons a callback whose process died during the last request', async () => {
  const task = await endedTask();
  const round = { task, round: 'task', target: 'https://me.example' };
  for (let n = 0; n < 10; n += 1) await world.stores.tasks.beginCallback(round);
  await expect(world.deliver({}, task)).rejects.toMatchObject({ nonRetryable: true });
  expect(await stateOf(task)).toBe('gave_up');
});

it('a delivered callback is not repeated in its round, except on demand', async () => {
  const task = await endedTask();
  let posts = 0;
  const post = async () => {
    posts += 1;
    return { status: 200 };
  };
  await world.deliver({ post }, task);
  await world.deliver({ post }, task);
  expect(posts).toBe(1);
  await world.deliver({ post }, task, 'on-demand-1');
  await world.deliver({ post }, task, 'on-demand-1');
  expect([posts, await stateOf(task)]).toEqual([2, 'delivered']);
});

it('carries the trace of the request that created its task, if it has one', async () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`;
  const sent: unknown[] = [];
  const post: CallbackActivityDeps['post'] = async ({ headers }, task) => {
    sent.push([task, headers['traceparent']]);
    return { status: 204 };
  };
  const { tasks } = world.stores;
  const look = async (id: string) => {
    const found = await tasks.look(id);
    return found === undefined ? undefined : { ...found, traceparent };
  };
  const [traced, other] = [await endedTask(), await endedTask()];
  await world.deliver({ post, tasks: { ...tasks, look } }, traced);
  await world.deliver({ post }, other);
  expect(sent).toEqual([
    [traced, traceparent],
    [other, undefined],
  ]);
});

describe('a redelivery while the task’s own series is pending', () => {
  const busy = async () => ({ status: 503 });

  it('replaces that series, so that a delivered callback is not delivered twice', async () => {
    const task = await endedTask();
    await expect(world.deliver({ post: busy }, task)).rejects.toMatchObject({ nonRetryable: false });
    await world.deliver({}, task, 'on-demand');
    let posts = 0;
    const post = async () => ({ status: (posts += 1) && 503 });
    await world.deliver({ post }, task);
    expect([posts, await stateOf(task), await attempts(task)]).toEqual([0, 'delivered', 2]);
  });

  it('ends after its ten requests, however often the older series runs again', async () => {
    const task = await endedTask();
    let posts = 0;
    const post = async () => ({ status: (posts += 1) && 503 });
    await expect(world.deliver({ post }, task)).rejects.toMatchObject({ nonRetryable: false });
    for (let n = 1; n < 10; n += 1) {
      await expect(world.deliver({ post }, task, 'on-demand')).rejects.toMatchObject({ nonRetryable: false });
      await world.deliver({ post }, task);
    }
    await expect(world.deliver({ post }, task, 'on-demand')).rejects.toMatchObject({ nonRetryable: true });
    expect([posts, await stateOf(task)]).toEqual([11, 'gave_up']);
  });

  it('keeps its outcome when an older request gets a late response', async () => {
    const task = await endedTask();
    const place = { isGranted: true, leave: () => undefined } as const;
    const places = { take: async () => place, takeFree: () => place };
    const post = async () => {
      await world.deliver({ places }, task, 'on-demand');
      return { status: 503 };
    };
    await expect(world.deliver({ post, places }, task)).rejects.toMatchObject({ type: 'CallbackFailed' });
    expect([await stateOf(task), await attempts(task)]).toEqual(['delivered', 2]);
  });
});

describe('an answer', () => {
  it.each([200, 201, 204, 299])('of %i means that the callback was delivered', async (status) => {
    const task = await endedTask();
    await world.deliver({ post: async () => ({ status }) }, task);
    expect((await world.stores.tasks.find(task))?.callback).toMatchObject({
      state: 'delivered',
      target: 'https://me.example',
      attempts: [{ status }],
    });
  });

  it.each([199, 301, 307, 400, 401, 404, 409, 429, 500, 503])('of %i is retried', async (status) => {
    const task = await endedTask();
    await expect(world.deliver({ post: async () => ({ status }) }, task)).rejects.toMatchObject({
      type: 'CallbackFailed',
      nonRetryable: false,
    });
    expect((await world.stores.tasks.find(task))?.callback).toMatchObject({
      state: 'pending',
      attempts: [{ status }],
    });
  });

  it.each(['timeout', 'connection_lost', 'address_refused'])(
    'that never came (%s) is retried, and the record says why',
    async (code) => {
      const task = await endedTask();
      const post = () => Promise.reject(Object.assign(new Error('x'), { code }));
      await expect(world.deliver({ post }, task)).rejects.toMatchObject({ nonRetryable: false });
      expect((await world.stores.tasks.find(task))?.callback).toMatchObject({
        state: 'pending',
        attempts: [{ error: code }],
      });
    },
  );
});

it('the nine waits between ten requests grow from seconds to a day, each within a tenth', async () => {
  const task = await endedTask();
  const waits: number[] = [];
  for (let n = 1; n <= 10; n += 1) {
    const failure: unknown = await world
      .deliver({ post: async () => ({ status: 500 }) }, task)
      .catch((error: unknown) => error);
    if (failure instanceof ApplicationFailure) waits.push(Number(failure.nextRetryDelay ?? 0));
  }
  const minutes = [5 / 60, 5, 30, 120, 300, 600, 840, 1200, 1440];
  expect(waits).toHaveLength(10);
  expect(waits[9]).toBe(0);
  for (const [n, expected] of minutes.entries()) {
    expect(waits[n], `wait ${n + 1}`).toBeGreaterThanOrEqual(Math.floor(expected * 60_000 * 0.9));
    expect(waits[n], `wait ${n + 1}`).toBeLessThanOrEqual(Math.ceil(expected * 60_000 * 1.1));
  }
});

it('every request of a callback has the same id and body, and its own time and signature', async () => {
  const task = await endedTask();
  const sent: { readonly headers: Readonly<Record<string, string>>; readonly body: string }[] = [];
  const post: CallbackActivityDeps['post'] = async ({ headers, body }) => {
    sent.push({ headers, body });
    return { status: 500 };
  };
  await world.deliver({ post }, task).catch(asIs);
  await world.deliver({ post, now: () => Date.now() + 3_600_000 }, task).catch(asIs);
  const [first, second] = sent;
  expect(first?.headers['webhook-id']).toBe(task);
  expect(second?.headers['webhook-id']).toBe(task);
  expect(second?.body).toBe(first?.body);
  expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature']);
});

it('410 stops at once', async () => {
  const task = await endedTask();
  await expect(world.deliver({ post: async () => ({ status: 410 }) }, task)).rejects.toMatchObject({
    nonRetryable: true,
  });
  expect(await stateOf(task)).toBe('gave_up');
});

it.each([
  { what: 'a host that never answers', hostOf: () => 'dead.example', inFlightMax: 12 },
  {
    what: 'as many hosts of one account that never answer',
    hostOf: (task: string) => `${task.split('-')[1]}.dead.example`,
    inFlightMax: 30,
  },
])('400 due callbacks to $what leave room for another account', async ({ hostOf, inFlightMax }) => {
  const [dead, live] = await Promise.all([endedTask(), endedTask()]);
  const template = await world.stores.tasks.find(dead);
  const stored = await world.stores.requests.find(dead);
  if (template === undefined || stored === undefined) throw new Error('the task is on record');
  const copies = Array.from({ length: 400 }, (_, n) => `${dead}-${n}`);
  const documents = world.db.collection<{ _id: string }>('tasks');
  const document = await documents.findOne({ _id: dead });
  await documents.insertMany(copies.map((_id) => ({ ...document, _id })));
  const due = [...copies, live];
  const posted: string[] = [];
  let hangUp: () => void = () => undefined;
  const hungUp = new Promise<never>((_, reject) => {
    hangUp = () => reject(Object.assign(new Error('no answer'), { code: 'timeout' }));
  });
  hungUp.catch(() => undefined);
  const findTask = async (task: string) => ({
    ...template,
    id: task,
    account: task === live ? 'another' : template.account,
  });
  const deps = {
    tasks: { ...world.stores.tasks, look: findTask },
    requests: {
      ...world.stores.requests,
      find: async (task: string) => ({
        ...stored,
        callbackUrl: `https://${task === live ? 'live.example' : hostOf(task)}/hook`,
      }),
    },
    places: createHostPlaces({
      requestsPerHostMax: 16,
      requestsPerAccountMax: 30,
      waitMs: 50,
      now: Date.now,
      random: Math.random,
    }),
    post: ({ url }: { readonly url: string }) => {
      posted.push(new URL(url).hostname);
      return url.includes('live') ? Promise.resolve({ status: 200 }) : hungUp;
    },
  };
  const outcomes = new Map<string, unknown>();
  const run = async (task: string) => {
    let outcome: unknown = await world.deliver(deps, task).catch(asIs);
    for (let tries = 1; tries < 6 && isOutage(outcome); tries += 1) {
      await sleep(1_000);
      outcome = await world.deliver(deps, task).catch(asIs);
    }
    outcomes.set(task, outcome);
  };
  const slots = Array.from({ length: 100 }, async () => {
    for (let task = due.shift(); task !== undefined; task = due.shift()) await run(task);
  });
  const settled = () => [outcomes.size, posted.length];
  await expect.poll(settled).toEqual([401 - inFlightMax, inFlightMax + 1]);

  expect([...outcomes.values()].filter(isOutage), 'six attempts had no connection to the database').toEqual(
    [],
  );
  expect(posted.filter((host) => host === 'live.example')).toHaveLength(1);
  expect(await stateOf(live)).toBe('delivered');
  const sentAway = [...outcomes].filter(([task]) => task !== live);
  for (const [, outcome] of sentAway) {
    expect(outcome).toMatchObject({ type: 'CallbackHostBusy', nonRetryable: false });
  }
  expect(await Promise.all(sentAway.slice(0, 50).map(([task]) => attempts(task)))).toEqual(
    Array.from({ length: 50 }, () => undefined),
  );

  hangUp();
  await Promise.all(slots);
  const attempted = [...outcomes].slice(-inFlightMax);
  expect(await Promise.all(attempted.map(([task]) => attempts(task)))).toEqual(
    Array.from({ length: inFlightMax }, () => 1),
  );
});

const asIs = (error: unknown): unknown => error;

it('the receiver’s answer is recorded although the database was briefly unreachable', async () => {
  const task = await endedTask();
  const { tasks } = world.stores;
  let failures = 1;
  const recordCallback: typeof tasks.recordCallback = (...call) =>
    (failures -= 1) >= 0 ? Promise.reject(new MongoNetworkError('away')) : tasks.recordCallback(...call);
  await world.deliver({ tasks: { ...tasks, recordCallback } }, task);
  expect([await stateOf(task), await attempts(task)]).toEqual(['delivered', 1]);
});
