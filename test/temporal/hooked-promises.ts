import { executionAsyncId } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { createTemporalClient } from '../../src/temporal/connection.ts';
import { createTaskClient } from '../../src/temporal/task-client.ts';

/** Prints as JSON whether promises are hooked before and after each call of the task client. */

/** If promises are not hooked, code after an `await` has no async id of its own. */
async function areHooked(): Promise<boolean> {
  await Promise.resolve();
  return executionAsyncId() !== 0;
}

const client = createTemporalClient({ address: process.env['TEMPORAL_ADDRESS'] ?? '', namespace: 'default' });
const queuePrefix = `t${randomBytes(5).toString('hex')}-`;
const port = createTaskClient({ client, queuePrefix, newActId: () => 'api-1', now: Date.now });
const before = await areHooked();
await Promise.allSettled([
  port.start({ task: `task_${queuePrefix}`, account: 'acc-1', model: 'clip', candidates: [] } as never),
  port.wake('task_none'),
  port.waiting('task_none'),
  port.unpolledQueues(),
  port.act('task_none', 'retry_now', { reason: 'r', by: 'ada' }),
  port.cancel('task_none'),
]);
const after = await areHooked();
await client.workflow.getHandle(`task_${queuePrefix}`).terminate();
await client.connection.close();
process.stdout.write(JSON.stringify({ before, after }));
