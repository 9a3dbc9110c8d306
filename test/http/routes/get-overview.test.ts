import { expect, it } from 'vitest';
import { operatorRoles } from '../../../src/base/operator.ts';
import { adminToken, useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_overview');

it('counts everything, once in five seconds for all operators, and names the operator of the token', async () => {
  world.clock.stoppedAt = Date.now();
  const account = await world.newAccount({ credit: '10' });
  for (let n = 0; n < 3; n += 1) expect((await account.create()).status).toBe(200);
  const { status, body } = await world.admin('GET', '/overview');
  expect([status, body.operator, body.currency]).toEqual([
    200,
    {
      name: 'admin',
      roles: [...operatorRoles, 'admin'],
      operations: expect.arrayContaining(['addOperator', 'getTask']),
    },
    'USD',
  ]);
  const { available, held } = (await world.admin('GET', `/accounts/${account.id}`)).body;
  expect(body.money).toEqual({ available, held, overdrawn: 0 });
  expect(body.unfinished.reduce((sum: number, row: { count: number }) => sum + row.count, 0)).toBe(3);
  expect(body.throughput.hour).toEqual({ created: 3, succeeded: 0, failures: [] });
  expect(body.throughput.day).toEqual(body.throughput.hour);
  expect(body.attention).toEqual([]);

  await account.create();
  expect((await world.admin('GET', '/overview')).body.throughput).toEqual(body.throughput);
  world.clock.stoppedAt += 61 * 60_000;
  const later = (await world.admin('GET', '/overview')).body.throughput;
  expect([later.hour.created, later.day.created]).toEqual([0, 4]);
  world.clock.stoppedAt = undefined;
});

it('counts ends when they are, and how long results took to be delivered', async () => {
  const startedAt = Date.now() + 30 * 60 * 60_000;
  world.clock.stoppedAt = startedAt;
  const account = await world.newAccount();
  const ids: string[] = [];
  for (let n = 0; n < 6; n += 1) ids.push((await account.create()).body.id);
  for (const id of ids) await world.drive.accept(id);
  const [first = '', second = '', third = '', silent = '', failed = '', lost = ''] = ids;
  world.clock.stoppedAt += 2 * 60 * 60_000;
  const endedAt = world.clock.stoppedAt;
  const outcome = { kind: 'succeeded', items: [], facts: {} } as const;
  for (const [id, lateMs] of [
    [first, 1_000],
    [second, 2_000],
    [third, 9_000],
  ] as const)
    await world.drive.succeed(id, { ...outcome, renderedAt: endedAt - lateMs });
  await world.drive.succeed(silent, outcome);
  await world.drive.fail(
    failed,
    { code: 'provider_error', message: 'm', class: 'capacity' },
    { kind: 'failed', code: 'busy', message: 'm', failure: { class: 'capacity' } },
  );
  const { body } = await world.admin('GET', '/overview');
  const ended = { succeeded: 4, failures: [{ class: 'capacity', count: 1 }] };
  expect(body.throughput).toEqual({ hour: { created: 0, ...ended }, day: { created: 6, ...ended } });
  expect(body.delivery).toEqual({ tasks: 3, p50_seconds: 2, p95_seconds: 9 });

  await world.drive.step(lost, { kind: 'broken', n: 1, job: `up-${lost}`, code: 'gone' });
  world.clock.stoppedAt += 3 * 60 * 60_000 + 1;
  const later = (await world.admin('GET', '/overview')).body;
  expect(later.throughput.hour).toEqual({ created: 0, succeeded: 0, failures: [] });
  expect(later.delivery).toBeNull();
  expect(later.attention).toEqual([
    { reason: 'poll_failed', channel: 'one', count: 1, since: expect.closeTo(endedAt / 1000, -1) },
  ]);
  world.clock.stoppedAt = undefined;
});

it('sends no body to a client that has this version', async () => {
  world.clock.stoppedAt = Date.now() + 120 * 60_000;
  const first = await world.admin('GET', '/overview');
  const etag = String(first.headers.etag);
  const again = await world.call('GET', '/admin/v1/overview', {
    key: adminToken,
    headers: { 'if-none-match': etag },
  });
  expect([again.status, again.text]).toEqual([304, '']);
  expect(first.headers['cache-control']).toBe('private, no-cache');
  world.clock.stoppedAt = undefined;
});

it('recounts after a failure', async () => {
  let isDown = true;
  const { takeCensus } = world.deps;
  const node = await world.startNode({
    takeCensus: () => (isDown ? Promise.reject(new Error('no answer')) : takeCensus()),
  });
  expect((await node.admin('GET', '/overview')).status).toBe(500);
  isDown = false;
  expect((await node.admin('GET', '/overview')).status).toBe(200);
});
