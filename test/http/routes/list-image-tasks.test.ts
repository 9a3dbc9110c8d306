import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { insertTask } from './image-tasks.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ worker: false });
});
afterAll(() => gateway.stop());

it('newest first, in pages, the account’s images only', async () => {
  const account = await gateway.account();
  const stranger = await gateway.account();
  const made: string[] = [];
  for (let n = 0; n < 3; n += 1) made.unshift(await insertTask(gateway, account));
  await insertTask(gateway, account, 'video');
  await insertTask(gateway, stranger);
  const list = async (query: string) => (await account.call('GET', `/v1/images/generations${query}`)).body;
  const first = await list('?limit=2');
  expect(first).toMatchObject({ object: 'list', has_more: true, first_id: made[0], last_id: made[1] });
  expect(first.data.map(({ id }: { id: string }) => id)).toEqual(made.slice(0, 2));
  const rest = await list(`?after=${first.last_id}`);
  expect(rest).toMatchObject({ has_more: false, data: [{ id: made[2], object: 'image.generation.task' }] });
});

it.each([
  ['limit=0', 'limit'],
  ['status=odd', 'status'],
  ['after=task_0000000000000000000000', 'after'],
])('400: %s', async (query, param) => {
  const account = await gateway.account();
  const answer = await account.call('GET', `/v1/images/generations?${query}`);
  expect([answer.status, answer.body.error]).toEqual([
    400,
    expect.objectContaining({ code: 'invalid_parameter', param }),
  ]);
});
