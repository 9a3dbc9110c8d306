import { beforeAll, describe, expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';
import type { TestAccount } from '../../support/client.ts';
import { firstRecord } from '../../support/task-records.ts';

const world = useHttpWorld('http_list_videos');

const at = 1_800_000_000_000;
const count = 25;
let account: TestAccount;
let ids: string[];

/** Many tasks share only five creation times, so that the list must also order tasks whose times are equal. */
beforeAll(async () => {
  account = await world.newAccount();
  const made = Array.from({ length: count }, (_, index) => ({
    id: `task_${String(index % 7)}${'x'.repeat(20)}${String.fromCharCode(97 + index)}`,
    createdAt: at + Math.floor(index / 5) * 1000,
    model: index % 2 === 0 ? 'clip' : 'plain',
  }));
  for (const { id, createdAt, model } of made) {
    await world.stores.tasks.insert(
      firstRecord(id, { account: account.id, key: account.keyId, model, createdAt }),
    );
  }
  const other = await world.newAccount();
  await other.create();
  const image = { account: account.id, key: account.keyId, kind: 'image', model: 'picture' } as const;
  await world.stores.tasks.insert(firstRecord(`task_${'i'.repeat(24)}`, { ...image, createdAt: at }));
  ids = made.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)).map(({ id }) => id);
});

const list = (query: string) => account.call('GET', `/v1/videos/generations${query}`);
const idsOf = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map(({ id }) => id);

it('newest first, the account’s videos only', async () => {
  const answer = await list('?limit=100');
  expect(answer.status).toBe(200);
  expect(idsOf(answer)).toEqual(ids);
  expect(answer.body).toMatchObject({
    object: 'list',
    first_id: ids[0],
    last_id: ids.at(-1),
    has_more: false,
  });
  expect(answer.body.data[0]).toMatchObject({ object: 'video.generation.task', status: 'pending', data: [] });
});

it('the same as GET, even right after a create that answered submitted', async () => {
  const fresh = await world.newAccount();
  const { body: created } = await fresh.create();
  expect(created.status).toBe('submitted');
  const { body: task } = await fresh.call('GET', `/v1/videos/generations/${created.id}`);
  const { body: listed } = await fresh.call('GET', '/v1/videos/generations');
  expect(task).toMatchObject({ id: created.id, status: 'pending' });
  expect(listed.data).toEqual([task]);
});

it('with the beginnings of the prompts, if they are asked for and kept', async () => {
  const fresh = await world.newAccount();
  const [{ id }, { id: old }] = [
    (await fresh.create({ prompt: `a red fox ${'x'.repeat(1_000)}` })).body,
    (await fresh.create({ prompt: 'forgotten' })).body,
  ];
  await world.db
    .collection<{ _id: string }>('requests')
    .updateOne({ _id: old }, { $set: { expires: new Date(0) } });
  expect((await fresh.call('GET', '/v1/videos/generations')).text).not.toContain('red fox');
  const tooMany = await fresh.call('GET', '/v1/videos/generations?include=prompts&limit=26');
  expect([tooMany.status, tooMany.body.error.param]).toEqual([400, 'limit']);
  const { body } = await fresh.call('GET', '/v1/videos/generations?include=prompts');
  expect(body.data).toHaveLength(2);
  expect(body.prompts).toEqual({ [id]: `a red fox ${'x'.repeat(290)}` });
});

it('20 by default', async () => {
  const answer = await list('');
  expect(idsOf(answer)).toEqual(ids.slice(0, 20));
  expect(answer.body.has_more).toBe(true);
});

it.each([1, 2, 3, 4, 7, 25, 100])(
  'pages of %i show every task once, ties in time included',
  async (limit) => {
    const seen: string[] = [];
    let after = '';
    for (;;) {
      const page = await list(`?limit=${limit}${after}`);
      seen.push(...idsOf(page));
      if (!page.body.has_more) break;
      expect(page.body.data).toHaveLength(limit);
      after = `&after=${page.body.last_id}`;
    }
    expect(seen).toEqual(ids);
  },
);

it('the page after the last task is empty', async () => {
  const answer = await list(`?after=${ids.at(-1)}`);
  expect(answer.body).toEqual({ object: 'list', data: [], first_id: null, last_id: null, has_more: false });
});

describe('filters', () => {
  it('model', async () => {
    const answer = await list('?limit=100&model=plain');
    expect(idsOf(answer)).toHaveLength(12);
    expect(idsOf(await list('?model=none'))).toEqual([]);
  });

  it('status', async () => {
    expect(idsOf(await list('?limit=100&status=pending'))).toEqual(ids);
    expect(idsOf(await list('?status=failed'))).toEqual([]);
  });

  it('created_after includes its second, created_before does not', async () => {
    const second = at / 1000 + 2;
    expect(idsOf(await list(`?limit=100&created_after=${second}`))).toEqual(ids.slice(0, 15));
    expect(idsOf(await list(`?limit=100&created_before=${second}`))).toEqual(ids.slice(15));
    expect(idsOf(await list(`?limit=100&created_after=${second}&created_before=${second + 1}`))).toEqual(
      ids.slice(10, 15),
    );
    expect(idsOf(await list(`?limit=2&created_before=${second}&after=${ids[16]}`))).toEqual(
      ids.slice(17, 19),
    );
  });
});

it.each([
  ['limit=0', 'limit'],
  ['limit=', 'limit'],
  ['limit=0x10', 'limit'],
  ['limit=1&limit=2', 'limit'],
  ['created_before=', 'created_before'],
  ['created_after=', 'created_after'],
  ['created_after=%20', 'created_after'],
  ['created_after=1e3', 'created_after'],
  ['limit=101', 'limit'],
  ['limit=x', 'limit'],
  ['limit=1.5', 'limit'],
  ['limit=1&limit=2', 'limit'],
  ['status=done', 'status'],
  ['created_after=yesterday', 'created_after'],
  ['created_before=-1', 'created_before'],
  ['after=task_0000000000000000000000', 'after'],
  ['after=nonsense', 'after'],
])('400: ?%s', async (query, param) => {
  const answer = await list(`?${query}`);
  expect([answer.status, answer.body.error]).toEqual([
    400,
    expect.objectContaining({ code: 'invalid_parameter', param }),
  ]);
});

it('another account’s task is not a cursor', async () => {
  const stranger = await world.newAccount();
  const answer = await stranger.call('GET', `/v1/videos/generations?after=${ids[3]}`);
  expect([answer.status, answer.body.error.param]).toEqual([400, 'after']);
});
