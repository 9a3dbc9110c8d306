import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestAccount } from '../../support/client.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { insertTask } from './image-tasks.ts';

let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startGateway({ worker: false });
  account = await gateway.account();
});
afterAll(() => gateway.stop());

const cancel = (id: string) => account.call('POST', `/v1/images/generations/${id}/cancel`);

it('404: unknown, a video, and another account’s', async () => {
  const stranger = await gateway.account();
  const unknown = [
    'task_0000000000000000000000',
    await insertTask(gateway, account, 'video'),
    await insertTask(gateway, stranger),
  ];
  for (const id of unknown) {
    const { status, body } = await cancel(id);
    expect([status, body.error.code]).toEqual([404, 'task_not_found']);
  }
});
