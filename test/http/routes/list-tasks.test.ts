import { afterEach, describe, expect, it } from 'vitest';
import { classified } from '../../../src/task/task.ts';
import { taskFailures } from '../../../src/task/failures.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_tasks');

it('by account, status, channel, and who needs an operator', async () => {
  const account = await world.newAccount();
  const made = [await account.create(), await account.create(), await account.create()].map(
    ({ body }) => body.id,
  );
  await world.drive.accept(made[0]);
  await world.drive.ask(made[1]);
  const ids = async (query: string) =>
    (await world.admin('GET', `/tasks?account=${account.id}&${query}`)).body.data.map(
      ({ id }: { id: string }) => id,
    );
  expect(await ids('')).toHaveLength(3);
  expect(await ids('status=submitted')).toEqual([made[0]]);
  expect(await ids('channel=one')).toEqual([made[1], made[0]]);
  expect(await ids('needs_attention=true')).toEqual([made[1]]);
  expect(await ids('needs_attention=false')).toHaveLength(3);
  expect(await ids('kind=image')).toEqual([]);
  expect(await ids('class=capacity')).toEqual([]);
  await world.drive.accept(made[2]);
  await world.stores.tasks.recordProgress(made[2], { queuePosition: 7 });
  await world.drive.fail(
    made[2],
    { code: 'provider_error', message: 'm', class: 'capacity' },
    {
      kind: 'failed',
      code: 'ServerOverloaded',
      message: 'm',
      failure: { class: 'capacity' },
      cost: { amount: '0.035', unit: 'USD' },
    },
  );
  expect(await ids('class=capacity')).toEqual([made[2]]);
  expect(await ids('class=internal')).toEqual([]);
  expect((await world.admin('GET', '/tasks?class=odd')).status).toBe(400);
  const { body: shown } = await world.admin('GET', `/tasks/${made[2]}`);
  expect(shown).toMatchObject({
    error: { class: 'capacity' },
    upstream_cost: { amount: '0.035', unit: 'USD' },
    queue_position: 7,
  });
  expect((await world.admin('GET', '/tasks?status=odd')).status).toBe(400);
});

it('by the channel to which they are submitted next', async () => {
  const account = await world.newAccount();
  const ids = async (query: string) =>
    (await world.admin('GET', `/tasks?account=${account.id}&${query}`)).body.data.map(
      ({ id }: { id: string }) => id,
    );
  const waiting: string = (await account.create()).body.id;
  const sent: string = (await account.create()).body.id;
  await world.drive.accept(sent);
  expect(await ids('waiting_for=one')).toEqual([waiting]);
  expect(await ids('waiting_for=one&status=pending')).toEqual([waiting]);
  expect(await ids('waiting_for=two')).toEqual([]);
  const listed: string[] = (await world.admin('GET', '/tasks?limit=100&waiting_for=one')).body.data.map(
    ({ id }: { id: string }) => id,
  );
  const { body } = await world.admin('GET', '/channels');
  expect(body.data[0].health.waiting.tasks).toBe(listed.length);
});

it('by a callback that was abandoned, with the other filters', async () => {
  const [account, other] = [await world.newAccount(), await world.newAccount()];
  const made: string[] = [];
  for (const owner of [account, account, account, other]) made.push((await owner.create()).body.id);
  const [delivered = '', ...abandoned] = made;
  for (const id of made) {
    const round = { task: id, round: 'own', target: 'https://me.example' };
    await world.stores.tasks.beginCallback(round);
    const state = id === delivered ? 'delivered' : 'gave_up';
    await world.stores.tasks.recordCallback(round, { at: 1, durationMs: 1, status: 410 }, state);
  }
  const page = async (query: string) =>
    (await world.admin('GET', `/tasks?callback_failed=true&${query}`)).body;
  const ids = async (query: string) => (await page(query)).data.map(({ id }: { id: string }) => id);
  expect(await ids('')).toEqual(abandoned.toSorted());
  expect(await ids(`account=${other.id}`)).toEqual(abandoned.slice(2));
  expect(await ids(`account=${account.id}&status=pending`)).toEqual(abandoned.slice(0, 2).toSorted());
  expect(await ids('status=succeeded')).toEqual([]);
  const first = await page('limit=2');
  expect(first).toMatchObject({ has_more: true });
  expect(await ids(`limit=2&after=${first.data[1].id}`)).toEqual(abandoned.toSorted().slice(2));
  expect((await world.admin('GET', '/tasks?callback_failed=yes')).status).toBe(400);
  expect(await page('callback_failing=true')).toMatchObject({ error: { param: 'callback_failing' } });
});

it('by a callback that fails now: due, with failed attempts', async () => {
  const account = await world.newAccount();
  const made: string[] = [];
  const metadata = { callback_url: 'https://me.example' };
  for (let n = 0; n < 5; n += 1) made.push((await account.create({ metadata })).body.id);
  const [fresh = '', failing = '', again = '', delivered = '', abandoned = ''] = made;
  const states = { [fresh]: undefined, [delivered]: 'delivered', [abandoned]: 'gave_up' } as const;
  for (const id of made) {
    await world.drive.fail(id, taskFailures.upstream);
    const round = { task: id, round: 'own', target: 'https://me.example' };
    await world.stores.tasks.beginCallback(round);
    if (id === fresh) continue;
    await world.stores.tasks.recordCallback(
      round,
      { at: 1, durationMs: 1, status: 500 },
      states[id] ?? 'pending',
    );
  }
  const page = async (query: string) =>
    (await world.admin('GET', `/tasks?callback_failing=true&account=${account.id}&${query}`)).body;
  const ids = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);
  const expected = [failing, again].toSorted();
  expect(ids(await page(''))).toEqual(expected);
  expect(ids(await page('status=pending'))).toEqual([]);
  const first = await page('limit=1');
  expect([ids(first), first.has_more]).toEqual([expected.slice(0, 1), true]);
  expect(ids(await page(`limit=1&after=${expected[0]}`))).toEqual(expected.slice(1));
});

it('by the id that an upstream gave a job', async () => {
  const id: string = (await (await world.newAccount()).create()).body.id;
  await world.drive.accept(id);
  const found = async (upstreamId: string) =>
    (await world.admin('GET', `/tasks?upstream_id=${upstreamId}`)).body.data;
  expect(await found(`up-${id}`)).toMatchObject([{ id }]);
  expect(await found('up-nobody')).toEqual([]);
});

it('of all accounts, the newest first, a page at a time, by model or time too', async () => {
  const accounts = [await world.newAccount(), await world.newAccount()];
  const made: string[] = [];
  for (const account of [...accounts, ...accounts]) made.push((await account.create()).body.id);
  const newest = made.toReversed();
  const page = async (query: string) => (await world.admin('GET', `/tasks?${query}`)).body;
  const first = await page('limit=3');
  expect(first).toMatchObject({ has_more: true, data: newest.slice(0, 3).map((id) => ({ id })) });
  const [oldest] = (await page(`limit=1&after=${newest[2]}`)).data;
  expect(oldest.id).toBe(newest[3]);
  const { data } = await page(`limit=4&model=${oldest.model}&created_after=1`);
  expect(data.map(({ id }: { id: string }) => id)).toEqual(newest);
  const { status, body } = await world.admin('GET', '/tasks?after=task_nothing');
  expect([status, body.error]).toMatchObject([400, { code: 'invalid_parameter', param: 'after' }]);
});

it('by the key that created them, and by model, whatever the account', async () => {
  const [one, other] = [await world.newAccount(), await world.newAccount()];
  const { id } = (await one.create()).body;
  const { id: plain } = (await other.create({ model: 'plain' })).body;
  const ids = async (query: string) =>
    (await world.admin('GET', `/tasks?${query}`)).body.data.map(({ id: found }: { id: string }) => found);
  expect(await ids(`key=${one.keyId}`)).toEqual([id]);
  expect(await ids(`key=${one.keyId}&model=plain`)).toEqual([]);
  expect(await ids(`account=${one.id}&key=${other.keyId}`)).toEqual([]);
  expect(await ids('model=plain')).toContain(plain);
  expect(await ids('model=plain')).not.toContain(id);
});

describe('by when they ended', () => {
  interface Made {
    readonly ids: readonly string[];
    readonly endedAt: number;
  }
  let clockMs = Math.floor(Date.now() / 1000) * 1_000;
  const pageOf = async (query: string) => (await world.admin('GET', `/tasks?${query}`)).body;
  const idsOf = async (query: string) => (await pageOf(query)).data.map(({ id }: { id: string }) => id);

  async function made(count: number): Promise<Made> {
    clockMs += 3_600_000;
    world.clock.stoppedAt = clockMs;
    const account = await world.newAccount();
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) ids.push((await account.create()).body.id);
    clockMs += 3_600_000;
    const endedAt = clockMs / 1000;
    for (const [n, id] of ids.toReversed().entries()) {
      world.clock.stoppedAt = clockMs + n * 1_000;
      await world.drive.fail(id, classified(n % 2 === 0 ? taskFailures.cancelled : taskFailures.upstream));
    }
    return { ids, endedAt };
  }

  afterEach(() => {
    world.clock.stoppedAt = undefined;
  });

  it('whenever they were created, the latest end first, by status and class, a page at a time', async () => {
    const { ids, endedAt } = await made(4);
    const since = `ended_after=${endedAt}`;
    expect(await idsOf(since)).toEqual(ids);
    expect(await idsOf(`${since}&status=failed`)).toEqual(ids);
    expect(await idsOf(`${since}&status=succeeded`)).toEqual([]);
    expect(await idsOf(`${since}&status=running`)).toEqual([]);
    expect(await idsOf(`${since}&class=cancelled`)).toEqual([ids[1], ids[3]]);
    expect(await idsOf(`${since}&class=cancelled&status=succeeded`)).toEqual([]);
    expect(await idsOf(`${since}&needs_attention=false`)).toEqual(ids);
    expect(await idsOf(`created_after=${endedAt}`)).toEqual([]);
    const first = await pageOf(`${since}&limit=3`);
    expect(first).toMatchObject({ has_more: true, data: ids.slice(0, 3).map((id) => ({ id })) });
    expect(await pageOf(`${since}&limit=3&after=${ids[2]}`)).toMatchObject({
      has_more: false,
      data: [{ id: ids[3] }],
    });
  });

  it('until a time, which is not part of it', async () => {
    const { ids, endedAt } = await made(2);
    const [later = ''] = (await made(1)).ids;
    expect(await idsOf(`ended_after=${endedAt}`)).toEqual([later, ...ids]);
    expect(await idsOf(`ended_after=${endedAt}&ended_before=${endedAt + 3_600}`)).toEqual(ids);
    expect(await idsOf(`ended_before=${endedAt}`)).not.toContain(ids[0]);
  });

  it('not after a task that has not ended or is unknown', async () => {
    const { endedAt } = await made(1);
    const unfinished = (await (await world.newAccount()).create()).body.id;
    for (const after of [unfinished, 'task_nothing'])
      expect(await pageOf(`ended_after=${endedAt}&after=${after}`)).toMatchObject({
        error: { code: 'invalid_parameter', param: 'after' },
      });
  });

  it.each([
    ['account', 'acme'],
    ['model', 'clip'],
    ['created_after', '1'],
    ['needs_attention', 'true'],
    ['callback_failed', 'true'],
  ])('not together with filters that no index serves: %s', async (param, value) => {
    for (const end of ['ended_after', 'ended_before']) {
      const { status, body } = await world.admin('GET', `/tasks?${end}=1&${param}=${value}`);
      expect([status, body.error]).toMatchObject([400, { code: 'invalid_parameter', param }]);
    }
  });
});

it('as CSV: every task that the filters let pass, page after page, in the order of the list', async () => {
  const account = await world.newAccount();
  const made: string[] = [];
  for (let n = 0; n < 5; n += 1) made.unshift((await account.create()).body.id);
  await world.drive.accept(made[1] ?? '');
  const csv = async (query: string) => {
    const { text } = await world.admin('GET', `/tasks?account=${account.id}&format=csv${query}`);
    return text
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','));
  };
  const [head, ...rows] = await csv('&limit=2');
  expect(head?.slice(0, 4)).toEqual(['id', 'status', 'account', 'key']);
  expect(rows.map(([id]) => id)).toEqual(made);
  expect(rows[1]?.slice(0, 6)).toEqual([made[1], 'submitted', account.id, account.keyId, 'clip', 'one']);
  expect((await csv(`&after=${made[3]}`)).slice(1).map(([id]) => id)).toEqual([made[4]]);
  expect((await csv('&status=submitted')).slice(1).map(([id]) => id)).toEqual([made[1]]);
});

it('one CSV at a time for an operator; the next one when it is over, however it ended', async () => {
  await (await world.newAccount()).create();
  const { tasks } = world.deps;
  let go = (): void => undefined;
  const gone = new Promise<void>((resolve) => (go = resolve));
  let [reads, isFailing] = [0, false];
  const node = await world.startNode({
    tasks: {
      ...tasks,
      async list(...asked) {
        reads += 1;
        await gone;
        if (isFailing) throw new Error('away');
        return tasks.list(...asked);
      },
    },
  });
  const ask = async () => (await node.admin('GET', '/tasks?format=csv')).status;
  const first = ask();
  await expect.poll(() => reads).toBe(1);
  expect(await ask()).toBe(429);
  go();
  expect(await first).toBe(200);
  isFailing = true;
  expect(await ask()).toBe(500);
  isFailing = false;
  expect(await ask()).toBe(200);
  expect((await node.admin('GET', '/tasks?format=csv&after=task_nobody')).status).toBe(400);
  expect(await ask()).toBe(200);
});
