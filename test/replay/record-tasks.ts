import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { openFallbackWorld } from '../life/fallback-world.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';

/**
 * Not a test: writes the records that replay.test.ts replays, of tasks of a real gateway and through `tasks export`, by
 * `RECORD_TASKS=1 npx vitest run test/replay/record-tasks.ts`. A record of production is added the same way: export it
 * into this folder.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));

async function save(gateway: TestGateway, name: string, id: string): Promise<void> {
  await gateway.core.client.workflow.getHandle(id).result();
  await waitUntil('the end is recorded', async () => {
    const { body } = await gateway.admin('GET', `/admin/v1/tasks/${id}/record`);
    // Exchanges are written a moment after the task has ended.
    const last = body.calls.at(-1)?.outcome;
    return last?.kind === 'succeeded' || last?.outcome === 'rejected';
  });
  const line = ['src/gateway.js', '--url', gateway.url, 'tasks', 'export', id];
  await promisify(execFile)('node', [...line, '--out', `test/replay/records/${name}.json`], {
    cwd: root,
    env: { ...process.env, ADMIN_TOKEN: gateway.adminToken },
  });
}

it('writes the records of one gateway', async () => {
  const gateway = await startGateway();
  const receiver = await startCallbackReceiver();
  const account = await gateway.account();
  const attention = (id: string) =>
    waitUntil('an operator is asked', async () => {
      const { body } = await gateway.admin('GET', `/admin/v1/tasks/${id}`);
      return body.needs_attention !== null;
    });

  const succeeded = await account.create({ metadata: { callback_url: receiver.url } });
  await account.finished(succeeded.body.id);
  await save(gateway, 'succeeded', succeeded.body.id);

  const moderated = await account.create({ prompt: 'a private scene on a balcony [sim:moderation]' });
  await account.finished(moderated.body.id);
  await save(gateway, 'moderated', moderated.body.id);

  const lost = await account.create({ prompt: 'a lost and found office [sim:create:accepted-504]' });
  await account.finished(lost.body.id);
  await save(gateway, 'lost-and-found', lost.body.id);

  gateway.simulator.addFault({ match: { prompt: 'a lighthouse in a storm' }, fault: 'poll:401' });
  const outage = await account.create({ prompt: 'a lighthouse in a storm [sim:callback-never]' });
  await attention(outage.body.id);
  gateway.simulator.clearFaults();
  const retry = { action: 'retry_now', reason: 'the key is back' };
  await gateway.admin('POST', `/admin/v1/tasks/${outage.body.id}/actions`, retry);
  await account.finished(outage.body.id);
  await save(gateway, 'poll-outage', outage.body.id);

  gateway.simulator.addFault({ match: {}, fault: 'list:500' });
  const ambiguous = await account.create({ prompt: 'a train through the alps [sim:create:accepted-504]' });
  await attention(ambiguous.body.id);
  gateway.simulator.clearFaults();
  const [job] = gateway.simulator.tasks('a train through the alps');
  const adopt = { action: 'adopt', reason: 'found in the console', upstream_id: job?.id };
  const answer = await gateway.admin('POST', `/admin/v1/tasks/${ambiguous.body.id}/actions`, adopt);
  expect(answer.status).toBe(200);
  await account.finished(ambiguous.body.id);
  await save(gateway, 'adopted', ambiguous.body.id);

  receiver.close();
  await gateway.stop();
});

it('writes the record of a task whose job was replaced', async () => {
  const world = await openFallbackWorld();
  const account = await world.gateway.account();
  world.disturb('first', 'a paper kite', 'failed');
  const { body } = await account.create({ model: 'rescued', prompt: 'a paper kite' });
  await account.finished(body.id);
  expect(await world.attempts(body.id)).toEqual(['failed first', 'accepted second']);
  await save(world.gateway, 'replaced', body.id);
  await world.gateway.stop();
});
