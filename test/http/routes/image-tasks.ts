import { randomBytes } from 'node:crypto';
import { newTaskId } from '../../../src/base/ids.ts';
import type { TaskKind } from '../../../src/base/task-kind.ts';
import type { TestAccount } from '../../support/client.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { firstRecord } from '../../support/task-records.ts';

let count = 0;

export async function insertTask(
  gateway: TestGateway,
  account: TestAccount,
  kind: TaskKind = 'image',
): Promise<string> {
  const id = newTaskId(randomBytes);
  const createdAt = Date.now() + (count += 1);
  const owner = { account: account.id, key: account.keyId };
  await gateway.core.stores.tasks.insert(firstRecord(id, { ...owner, kind, model: 'seedream', createdAt }));
  return id;
}
