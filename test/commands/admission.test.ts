import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { request as httpRequest, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { GatewayError } from '../../src/errors/errors.ts';
import { formatMicros } from '../../src/money/money.ts';
import { ledgerCollection } from '../../src/ledger/collection.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { connectMongo, type Mongo } from '../../src/store/mongo.ts';
import { tryIdAt } from '../../src/store/task-document.ts';
import { createTaskStore, type TaskStore } from '../../src/store/tasks.ts';
import { createAbandonCreation, type AbandonOutcome } from '../../src/commands/abandon-creation.ts';
import { useHttpWorld, videoBody } from '../support/http-world.ts';
import type { TestAccount } from '../support/client.ts';
import { databaseUri } from '../support/run-servers.ts';
import { staleReads } from '../support/stale-reads.ts';
import { gate, pauseFirstAt } from '../support/race.ts';
import { testLedgerKey, testSealing } from '../support/sealing.ts';

/**
 * Creates a task while a repeated request, the reconciler or the workflow interferes. Temporal is simulated, but all
 * writes are real.
 */
const world = useHttpWorld('tasks_admission');

const minutes = 60_000;
let mongo: Mongo;
beforeAll(async () => {
  mongo = await connectMongo(databaseUri('tasks_admission'));
});
afterAll(() => mongo.close());

async function heldBy(account: TestAccount): Promise<string> {
  return (await account.call('GET', '/v1/balance')).body.held;
}

async function tasksOf(account: TestAccount): Promise<readonly { id: string; status: string }[]> {
  return (await account.call('GET', '/v1/videos/generations')).body.data;
}

async function reconcile(account: TestAccount): Promise<AbandonOutcome[]> {
  const ledger = createLedger({ collection: ledgerCollection(mongo.db), key: testLedgerKey, now: Date.now });
  const tasks = createTaskStore(mongo.db, Date.now, testSealing);
  const abandonCreation = createAbandonCreation({ ...world.stores, tasks, ledger });
  const given: AbandonOutcome[] = [];
  for await (const task of tasks.unfinished()) {
    if (task.account !== account.id || task.state.at !== 'creating') continue;
    const { tryId } = task.state;
    given.push(await abandonCreation({ task: task.id, account: account.id, tryId }));
  }
  return given;
}

function failNextStart(): void {
  world.port.failStart = new GatewayError('service_unavailable', 'Busy.', { retryAfterSeconds: 5 });
}

const keyed = (key: string) => ({ 'idempotency-key': key });

describe('a 503', () => {
  it('leaves no task, hold, request or claim, and the same key creates a new task', async () => {
    const account = await world.newAccount();
    failNextStart();
    const refused = await account.create({}, keyed('first'));
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
    expect([await heldBy(account), await tasksOf(account)]).toEqual(['0.000000', []]);
    const again = await account.create({}, keyed('first'));
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, undefined]);
    expect(await heldBy(account)).toBe('0.500000');
  });

  it('becomes a 200 if the workflow has the task after all', async () => {
    const account = await world.newAccount();
    const paused = pauseFirstAt('admission.held');
    const created = account.create();
    await paused.reached;
    const [task] = await tasksOf(account);
    await world.drive.step(task?.id ?? '', { kind: 'acted' });
    failNextStart();
    paused.release();
    expect(await created).toMatchObject({ status: 200, body: { id: task?.id } });
    expect(await heldBy(account)).toBe('0.500000');
  });

  it('of a creation whose hold arrives late leaves nothing held, because the hold is rejected', async () => {
    const account = await world.newAccount();
    const paused = pauseFirstAt('ledger.append', account.id);
    const created = account.create();
    await paused.reached;
    expect(await reconcile(account)).toEqual(['abandoned']);
    paused.release();
    // This task id can no longer be used, so the request continues with a different one.
    expect(await created).toMatchObject({ status: 200 });
    expect([(await tasksOf(account)).length, await heldBy(account)]).toEqual([1, '0.500000']);
  });
});

describe('a process that is paused for five minutes between hold and start', () => {
  it('responds with 503 if the creation was abandoned meanwhile, and nothing is held', async () => {
    const account = await world.newAccount();
    const paused = pauseFirstAt('admission.held');
    const created = account.create();
    await paused.reached;
    world.clock.aheadMs += 5 * minutes;
    expect(await reconcile(account)).toEqual(['abandoned']);
    paused.release();
    expect((await created).status).toBe(503);
    expect([await heldBy(account), await tasksOf(account)]).toEqual(['0.000000', []]);
  });

  it('responds with 200 if the creation was not abandoned, and prevents that from then on', async () => {
    const account = await world.newAccount();
    const paused = pauseFirstAt('admission.held');
    const created = account.create();
    await paused.reached;
    world.clock.aheadMs += 5 * minutes;
    paused.release();
    expect((await created).status).toBe(200);
    expect(await reconcile(account)).toEqual([]);
    expect(await heldBy(account)).toBe('0.500000');
  });
});

it('a process that is paused for five minutes before its hold responds with 503 if the creation is being abandoned', async () => {
  const account = await world.newAccount();
  const claimed = pauseFirstAt('admission.claimed');
  const created = account.create();
  await claimed.reached;
  world.clock.aheadMs += 5 * minutes;
  const voiding = pauseFirstAt('ledger.append', account.id);
  const reconciling = reconcile(account);
  await voiding.reached;
  claimed.release();
  expect((await created).status).toBe(503);
  voiding.release();
  expect(await reconciling).toEqual(['abandoned']);
  expect([await heldBy(account), await tasksOf(account)]).toEqual(['0.000000', []]);
});

describe('a repeat with the same Idempotency-Key', () => {
  it('continues a creation that was interrupted before its start', async () => {
    const account = await world.newAccount();
    const paused = pauseFirstAt('admission.held');
    const lost = account.create({}, keyed('left'));
    await paused.reached;
    const again = await account.create({}, keyed('left'));
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, 'true']);
    paused.release();
    expect((await lost).body.id).toBe(again.body.id);
    expect([(await tasksOf(account)).length, await heldBy(account)]).toEqual([1, '0.500000']);
  });

  it('returns when the task was created, even while no worker has begun it', async () => {
    const account = await world.newAccount();
    const { body: first } = await account.create({}, keyed('when'));
    await mongo.db
      .collection<{ _id: string }>('tasks')
      .updateOne({ _id: first.id }, { $set: { tryId: tryIdAt(Date.now(), 'other') } });
    world.clock.aheadMs += 5_000;
    const again = await account.create({}, keyed('when'));
    world.clock.aheadMs -= 5_000;
    expect(again.body).toEqual(first);
  });

  it.each([
    ['admission.held', '500000', '0.10'],
    ['admission.claimed', '1500000', '0.30'],
  ] as const)('after a price change costs what was held first (%s)', async (point, hold, price) => {
    const account = await world.newAccount();
    const paused = pauseFirstAt(point);
    const lost = account.create({}, keyed('price'));
    await paused.reached;
    world.configure((yaml) => yaml.replace('price: "0.10"', 'price: "0.30"'));
    try {
      const again = await account.create({}, keyed('price'));
      expect(again.status).toBe(200);
      const started = world.port.started.find(({ task }) => task === again.body.id);
      expect(started).toMatchObject({ hold, basis: { price: { lines: [{}, { price }] } } });
      expect(await world.stores.tasks.find(again.body.id)).toMatchObject({ hold: BigInt(hold) });
      paused.release();
      expect((await lost).body.id).toBe(again.body.id);
      expect(await heldBy(account)).toBe(formatMicros(BigInt(hold)));
    } finally {
      world.configure();
    }
  });

  it('that finds its creation half abandoned creates a new task, and the old one keeps no slot of the key', async () => {
    const account = await world.newAccount({ key: { concurrent_tasks: 1 } });
    const paused = pauseFirstAt('admission.held');
    const lost = account.create({}, keyed('half'));
    await paused.reached;
    const [task] = await tasksOf(account);
    const { id = '', state } = (await world.stores.tasks.find(task?.id ?? '')) ?? {};
    const tryId = state?.at === 'creating' ? state.tryId : '';
    await world.drive.step(id, { kind: 'abandoned', tryId });
    const again = await account.create({}, keyed('half'));
    expect(again.status).toBe(200);
    expect(again.body.id).not.toBe(id);
    failNextStart();
    paused.release();
    await lost;
  });

  it('does not lose the task to the first request, which fails meanwhile', async () => {
    const account = await world.newAccount();
    const paused = pauseFirstAt('admission.held');
    const first = account.create({}, keyed('both'));
    await paused.reached;
    const second = pauseFirstAt('admission.held');
    const repeat = account.create({}, keyed('both'));
    await second.reached;
    failNextStart();
    paused.release();
    expect((await first).status).toBe(503);
    second.release();
    const created = await repeat;
    expect(created.status).toBe(200);
    expect(await tasksOf(account)).toMatchObject([{ id: created.body.id }]);
    expect(await world.stores.requests.find(created.body.id)).toBeDefined();
    expect(await heldBy(account)).toBe('0.500000');
  });

  it('that fails does not take the task away from the first request, which has started it meanwhile', async () => {
    const account = await world.newAccount();
    const paused = pauseFirstAt('admission.held');
    const first = account.create({}, keyed('late'));
    await paused.reached;
    const second = pauseFirstAt('admission.held');
    const repeat = account.create({}, keyed('late'));
    await second.reached;
    const start = world.port.start.bind(world.port);
    world.port.start = async () => undefined;
    paused.release();
    const { id } = (await first).body;
    world.port.start = start;
    failNextStart();
    second.release();
    expect((await repeat).status).toBe(503);
    expect(await tasksOf(account)).toMatchObject([{ id }]);
    expect(await heldBy(account)).toBe('0.500000');
    const again = await account.create({}, keyed('late'));
    expect([again.status, again.body.id]).toEqual([200, id]);
  });

  it('that is refused leaves no task, although the first request has begun it', async () => {
    const account = await world.newAccount({ credit: '0' });
    const paused = pauseFirstAt('admission.claimed');
    const first = account.create({}, keyed('refused'));
    await paused.reached;
    expect((await account.create({}, keyed('refused'))).status).toBe(402);
    expect(await tasksOf(account)).toEqual([]);
    paused.release();
    expect((await first).status).toBe(402);
    expect(await tasksOf(account)).toEqual([]);
  });

  it('that is refused leaves the task of the first request, which has a hold', async () => {
    const account = await world.newAccount();
    const paused = pauseFirstAt('admission.held');
    const first = account.create({}, keyed('closed'));
    await paused.reached;
    await world.admin('POST', `/accounts/${account.id}/close`, { reason: 'a test' });
    world.clock.aheadMs += 5_000;
    expect((await account.create({}, keyed('closed'))).body.error.code).toBe('account_closed');
    expect(await heldBy(account)).toBe('0.500000');
    paused.release();
    const { status, body } = await first;
    expect(status).toBe(200);
    expect(await tasksOf(account)).toMatchObject([{ id: body.id }]);
  });

  it('gets the first request’s response, although the channels have been switched off since', async () => {
    const account = await world.newAccount();
    const first = await account.create({ ratio: '5:4' }, keyed('off'));
    expect(first.body.warnings).toHaveLength(1);
    for (const id of ['one', 'two']) await world.admin('POST', `/channels/${id}`, { enabled: false });
    try {
      expect((await account.create()).status).toBe(503);
      const again = await account.create({ ratio: '5:4' }, keyed('off'));
      expect([again.status, again.body]).toEqual([200, first.body]);
    } finally {
      for (const id of ['one', 'two']) await world.admin('POST', `/channels/${id}`, { enabled: true });
    }
  });

  it('after a 402 and a credit is the task of that key', async () => {
    const account = await world.newAccount({ credit: '0' });
    expect((await account.create({}, keyed('poor'))).status).toBe(402);
    expect(await tasksOf(account)).toEqual([]);
    const entries = await world.admin('GET', `/accounts/${account.id}/ledger`);
    expect(entries.body.data).toEqual([]);
    await world.admin('POST', `/accounts/${account.id}/credits`, { amount: '5', reference: 'later' });
    const created = await account.create({}, keyed('poor'));
    expect(created.status).toBe(200);
    expect((await account.create({}, keyed('poor'))).body).toEqual(created.body);
    expect(await heldBy(account)).toBe('0.500000');
  });
});

describe('a caller who disconnects before its request is claimed or recorded', () => {
  function pauseStoreIn(method: 'claim' | 'claimTry' | 'note') {
    const { repeats } = world.stores;
    const usual = { ...repeats };
    const [reached, released] = [gate(), gate()];
    const call = usual[method] as (...given: unknown[]) => Promise<unknown>;
    Object.assign(repeats, {
      [method]: async (...given: unknown[]) => {
        reached.resolve();
        await released.promise;
        return call(...given);
      },
    });
    onTestFinished(() => {
      released.resolve();
      Object.assign(repeats, usual);
    });
    return { reached: reached.promise, release: released.resolve };
  }

  function sendCreate({ key }: TestAccount, headers: Readonly<Record<string, string>>) {
    const responses: ServerResponse[] = [];
    const began = (message: unknown) =>
      void responses.push((message as { response: ServerResponse }).response);
    subscribe('http.server.request.start', began);
    onTestFinished(() => void unsubscribe('http.server.request.start', began));
    const request = httpRequest(`${world.url}/v1/videos/generations`, {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    });
    request.on('error', () => undefined);
    request.end(JSON.stringify(videoBody));
    return {
      hangUp: async () => {
        const [response] = responses;
        if (response === undefined) throw new Error('no request has begun');
        const closed = once(response, 'close');
        request.destroy();
        await closed;
      },
    };
  }

  it.each([
    ['sends an Idempotency-Key', 'claim', keyed('gone')],
    ['neither sends a key nor counts its retries', 'claimTry', {}],
  ] as const)('keeps its task if it %s: its repeat is given that task', async (_, method, headers) => {
    const account = await world.newAccount();
    const paused = pauseStoreIn(method);
    const { hangUp } = sendCreate(account, headers);
    await paused.reached;
    await hangUp();
    paused.release();
    await expect.poll(() => tasksOf(account)).toHaveLength(1);
    const [task] = await tasksOf(account);
    await expect.poll(() => world.port.started.map((started) => started.task)).toContain(task?.id);
    const again = await account.create({}, headers);
    expect([again.status, again.body.id]).toEqual([200, task?.id]);
    expect(await heldBy(account)).toBe('0.500000');
  });

  it('gets no task if it sends a retry count, because a retry may have found nothing', async () => {
    const account = await world.newAccount();
    const headers = { 'x-stainless-retry-count': '0' };
    const paused = pauseStoreIn('note');
    const held = pauseFirstAt('admission.held');
    const { hangUp } = sendCreate(account, headers);
    const task = await held.reached;
    await paused.reached;
    await hangUp();
    paused.release();
    held.release();
    await expect.poll(() => tasksOf(account)).toEqual([]);
    expect(await heldBy(account)).toBe('0.000000');
    expect(world.port.started.map((started) => started.task)).not.toContain(task);
  });
});

describe('a process with stale reads', () => {
  async function readAsOfNow(): Promise<void> {
    const { tasks } = world.stores;
    const stale = createTaskStore(await staleReads(mongo.db, ['tasks']), Date.now, testSealing);
    const fresh = { ...tasks };
    Object.assign(tasks, stale);
    onTestFinished(() => void Object.assign(tasks, fresh));
  }

  it('creates no second task for an Idempotency-Key, although it does not see that the first one has begun', async () => {
    const account = await world.newAccount();
    const paused = pauseFirstAt('admission.held');
    const creating = account.create({}, keyed('stale'));
    await paused.reached;
    await readAsOfNow();
    paused.release();
    const { id } = (await creating).body;
    await world.drive.step(id, { kind: 'acted' });
    expect((await world.stores.tasks.find(id))?.state.at).toBe('creating');
    const again = await account.create({}, keyed('stale'));
    expect([again.status, again.body.id]).toEqual([200, id]);
    expect(await heldBy(account)).toBe('0.500000');
  });

  it('responds with 200 for a task that its workflow has, although it does not see it', async () => {
    const account = await world.newAccount();
    const paused = pauseFirstAt('admission.held');
    const created = account.create();
    await paused.reached;
    const [task] = await tasksOf(account);
    await readAsOfNow();
    await world.drive.step(task?.id ?? '', { kind: 'acted' });
    failNextStart();
    paused.release();
    expect(await created).toMatchObject({ status: 200, body: { id: task?.id } });
  });
});

it('a key’s limit of unfinished tasks is exact under simultaneous creates, and a failed create frees its slot', async () => {
  const account = await world.newAccount({ key: { concurrent_tasks: 2 } });
  failNextStart();
  expect((await account.create()).status).toBe(503);
  const answers = await Promise.all(Array.from({ length: 12 }, () => account.create()));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
  expect(await tasksOf(account)).toHaveLength(2);
});

it('while MongoDB refuses to abandon a creation, it is retried until it succeeds, and the key gets its slot back', async () => {
  const account = await world.newAccount({ key: { concurrent_tasks: 1 } });
  const paused = pauseFirstAt('admission.held');
  const created = account.create();
  await paused.reached;
  const [task] = await tasksOf(account);
  const isGone = async () => (await world.stores.tasks.find(task?.id ?? '')) === undefined;
  failNextStart();
  const restore = breakOnce(world.stores.tasks);
  paused.release();
  expect((await created).status).toBe(503);
  restore();
  while (!(await isGone())) await delay(100);
  expect(await heldBy(account)).toBe('0.000000');
  expect((await account.create()).status).toBe(200);
});

function breakOnce(tasks: { step: TaskStore['step'] }): () => void {
  const { step } = tasks;
  let failures = 0;
  tasks.step = (id, event, act) => {
    if (event.kind === 'abandoned') failures += 1;
    return event.kind === 'abandoned' && failures === 1
      ? Promise.reject(new Error('away'))
      : step(id, event, act);
  };
  return () => {
    expect(failures).toBeGreaterThanOrEqual(1);
    tasks.step = step;
  };
}
