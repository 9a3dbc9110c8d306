import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_reload_config');

it('a bad file is refused with every violation', async () => {
  const answer = await world.admin('POST', '/config/reload');
  expect(answer.status).toBe(400);
  expect(answer.body.error.message).toBe('The file was not loaded: models: required; currency: required');
});

it('a valid one is answered once every process has loaded or refused it', async () => {
  const head = { version: 2, hash: 'abc', currency: 'USD', by: 'admin', node: 'host/1/x', at: 1_000 };
  const report = (kind: 'api' | 'worker', config: { version: number; refused?: object }) =>
    world.stores.nodes.report({
      id: `${kind}/host/1/x`,
      kind,
      version: '1.0.0',
      since: 1_000,
      leaving: false,
      config: { hash: 'abc', ...config } as never,
      unreached: [],
      load: { eventLoopLagMs: 1, inFlight: 0 },
    });
  await Promise.all([report('api', { version: 2 }), report('worker', { version: 1 })]);
  const by: string[] = [];
  const node = await world.startNode({
    publishConfig: (operator) => {
      by.push(operator);
      return Promise.resolve({ ok: true, head, changes: [] });
    },
  });
  let isAnswered = false;
  const asked = node.admin('POST', '/config/reload').finally(() => (isAnswered = true));
  await expect.poll(() => by).toEqual(['admin']);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(isAnswered).toBe(false);
  await report('worker', { version: 1, refused: { version: 2, reasons: ['channels[0]: no key'] } });
  const { status, body } = await asked;
  expect(status).toBe(200);
  expect(body).toMatchObject({ object: 'config', version: 2, hash: 'abc', published_by: 'admin' });
  expect(body.nodes).toMatchObject([
    { id: 'api/host/1/x', state: 'running', config: 2, refused: null },
    { id: 'worker/host/1/x', config: 1, refused: { config: 2, reasons: ['channels[0]: no key'] } },
  ]);
});

it('with dry_run reports what would change, without publication or audit entry', async () => {
  const [before, after] = ['1', undefined];
  const changes = [{ path: 'models.clip.price', kind: 'changed', before, after }] as const;
  const node = await world.startNode({
    publishConfig: () => Promise.reject(new Error('published')),
    previewConfig: () => Promise.resolve({ ok: true, changes }),
  });
  await world.stores.configurations.publish({
    text: 'x',
    hash: 'abc',
    currency: 'USD',
    by: 'ada',
    node: 'n',
    at: 0,
  });
  const { status, body } = await node.admin('POST', '/config/reload', { dry_run: true });
  expect([status, body.changes]).toEqual([200, [{ ...changes[0], after: null }]]);
  expect(body).toMatchObject({ object: 'config', hash: 'abc', published_by: 'ada' });
  const { data } = (await world.admin('GET', '/audit')).body;
  expect(data.every(({ what }: { what: string }) => !what.includes('dry_run":true'))).toBe(true);
  const bad = await world.admin('POST', '/config/reload', { dry_run: true });
  expect([bad.status, bad.body.error.message]).toEqual([400, 'The file was not loaded: models: required']);
});
