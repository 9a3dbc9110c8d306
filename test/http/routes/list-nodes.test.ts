import { expect, it } from 'vitest';
import { createNodes } from '../../../src/control/nodes.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import { workerReport } from '../../support/worker-report.ts';

const world = useHttpWorld('route_list_nodes');

const report = (id: string, change: Parameters<typeof workerReport>[1] = {}) =>
  world.stores.nodes.report(workerReport(['one'], { id, ...change }));

it('lists the latest report of each process', async () => {
  const circuit = { sign: 'unreachable', code: 'connect_failed', coolDownMs: 1, until: 1, at: 1 } as const;
  const unreached = [
    { ...circuit, id: 'one/a', state: 'open' },
    { ...circuit, id: 'one/a/clip', state: 'closed' },
  ] as const;
  await report('worker/host/1/x', { unreached });
  const { body } = await world.admin('GET', '/nodes');
  expect(body).toEqual({
    object: 'list',
    data: [
      {
        object: 'node',
        id: 'worker/host/1/x',
        kind: 'worker',
        state: 'running',
        version: '1.0.0',
        config: 3,
        config_hash: 'abc',
        refused: null,
        since: 5,
        last_seen_at: expect.any(Number),
        event_loop_lag_ms: 4,
        in_flight: 7,
        unreached: [{ circuit: 'one/a', text: 'the host cannot be reached (connect_failed)' }],
        channels: ['one'],
      },
    ],
  });
  expect(Math.abs(body.data[0].last_seen_at - Date.now() / 1000)).toBeLessThan(60);
});

it('a process that has long been silent is shown as gone, and removed later', async () => {
  const nodes = world.deps.nodes;
  const seenBefore = (id: string, seconds: number) =>
    world.db
      .collection<{ _id: string }>('nodes')
      .updateOne({ _id: id }, { $set: { seen: new Date(Date.now() - seconds * 1000) } });
  await report('worker/host/1/x', { leaving: true });
  await report('worker/host/2/x');
  await report('worker/host/3/x');
  await seenBefore('worker/host/2/x', 60);
  await seenBefore('worker/host/3/x', 660);
  await nodes.refresh();
  expect(nodes.all().map(({ id, state }) => [id, state])).toEqual([
    ['worker/host/1/x', 'leaving'],
    ['worker/host/2/x', 'gone'],
  ]);
});

it('a channel is shown as served if a running worker serves it, or if no worker runs', async () => {
  const nodes = createNodes({
    store: world.stores.nodes,
    channels: () => [],
    isUnsearchable: () => false,
    isForgotten: () => false,
    onError: () => undefined,
  });
  await report('worker/host/1/x');
  await nodes.refresh();
  expect(['one', 'two'].map(nodes.isServed)).toEqual([true, false]);
  await Promise.all(['1', '2', '3'].map((n) => report(`worker/host/${n}/x`, { leaving: true })));
  await nodes.refresh();
  expect(['one', 'two'].map(nodes.isServed)).toEqual([true, true]);
});
