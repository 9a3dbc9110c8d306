import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_task');

it('shows attempts, ledger entries, callbacks and actions, and not what was asked for', async () => {
  const account = await world.newAccount();
  const id: string = (await account.create({ prompt: 'a very private prompt' })).body.id;
  const { attempts, deliveries, tasks } = world.stores;
  await attempts.begin({ task: id, n: 1, channel: 'one', credential: 'a', marker: 'm' }, 'run');
  await attempts.accept(`${id}:1`, { channel: 'one' }, { id: `up-${id}` });
  await attempts.accept(`${id}:1`, { channel: 'one' }, { id: 'up-late' });
  await tasks.markSubmitted(id, {
    version: BigInt(Date.now()) * 1000n,
    channel: 'one',
    credential: 'a',
    upstreamId: `up-${id}`,
    traceId: 't',
  });
  await deliveries.begin(id, 'task', 'https://me.example');
  const delivery = { task: id, round: 'task', target: 'https://me.example' };
  await deliveries.record(delivery, { at: 1, durationMs: 2, status: 500 }, 'pending');
  const { body, text } = await world.admin('GET', `/tasks/${id}`);
  expect(body).toMatchObject({
    id,
    account: account.id,
    key: account.keyId,
    kind: 'video',
    channel: 'one',
    credential: 'a',
    upstream_id: `up-${id}`,
    hold: '0.500000',
    charge: null,
    needs_attention: null,
    actions: [],
    attempts: [
      {
        n: 1,
        state: 'accepted',
        channel: 'one',
        upstream_id: `up-${id}`,
        stray_upstream_id: 'up-late',
        code: null,
      },
    ],
    ledger: [{ kind: 'hold', amount: '0.500000', task: id }],
    callback: { state: 'pending', target: 'https://me.example', attempts: [{ status: 500, error: null }] },
  });
  expect(text).not.toContain('private prompt');
});

it('404', async () => {
  const answer = await world.admin('GET', '/tasks/none');
  expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
});
