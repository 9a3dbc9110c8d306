import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import type { TestAccount } from '../../support/client.ts';
import { taskDriver } from '../../support/task-records.ts';
import { insertTask } from './image-tasks.ts';

let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startGateway({ worker: false });
  account = await gateway.account();
});
afterAll(() => gateway.stop());

const get = (id: string) => account.call('GET', `/v1/images/generations/${id}`);

it('pending, then succeeded with its images', async () => {
  const id = await insertTask(gateway, account);
  const pending = await get(id);
  expect([pending.status, pending.body]).toEqual([
    200,
    expect.objectContaining({ id, object: 'image.generation.task', status: 'pending', data: [] }),
  ]);
  const items = [{ url: 'https://a.example/0.png' }, { base64: 'AA==' }];
  await taskDriver(gateway.core.stores.tasks).succeed(id, { kind: 'succeeded', items, facts: { images: 2 } });
  expect((await get(id)).body).toMatchObject({
    status: 'succeeded',
    data: [{ url: 'https://a.example/0.png' }, { b64_json: 'AA==' }],
  });
});

it('404: unknown, a video, and another account’s', async () => {
  const stranger = await gateway.account();
  const unknown = [
    'task_0000000000000000000000',
    await insertTask(gateway, account, 'video'),
    await insertTask(gateway, stranger),
  ];
  for (const id of unknown) {
    const answer = await get(id);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
  }
});

it('400: no id', async () => {
  const answer = await get('');
  expect([answer.status, answer.body.error]).toEqual([
    400,
    expect.objectContaining({ code: 'missing_parameter', param: 'task_id' }),
  ]);
});
