import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi } from '../../src/api.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/compose/core.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';

/**
 * Ids of channels, credentials and models may contain dots, so one id may be the beginning of another. The two must not
 * be mixed up.
 */

const channel = /^ {2}- id: ark\n(?: {4}.*\n)+/m.exec(testYaml)?.[0] ?? '';
const second = channel
  .replace('id: ark', 'id: ark.cn')
  .replace('{ id: a,', '{ id: a.b,')
  .replace('{ seedance:', '{ seedance.2.0:')
  .replace('polls_per_second: 500 }', 'polls_per_second: 500, concurrent_tasks: 2 }');
const model = testYaml
  .slice(testYaml.indexOf('  - id: seedance'))
  .replace('id: seedance', 'id: seedance.2.0');

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml: testYaml.replace(channel, channel + second) + model });
});
afterAll(() => gateway.stop());

it('a channel `ark.cn` beside `ark` is served, and found by every process and by the reconciler', async () => {
  const account = await gateway.account();
  for (const id of ['seedance', 'seedance.2.0']) {
    const created = await account.create({ model: id });
    expect(await account.finished(created.body.id)).toMatchObject({ status: 'succeeded' });
  }
  const lastServed = await gateway.core.stores.nodes.lastServed();
  expect([...lastServed.keys()]).toEqual(['ark', 'ark.cn']);
  for (const at of lastServed.values()) expect(Math.abs(at - Date.now())).toBeLessThan(600_000);
  expect((await gateway.reconcile()).upkeep).toBeDefined();

  const log = createLogger({ level: 'silent', format: 'json' });
  const core = await openCore(readEnvironment(gateway.environment), log);
  const api = await startApi(core);
  const kinds = async () =>
    (await gateway.admin('GET', '/nodes')).body.data.map(({ kind, channels }: any) => [kind, channels]);
  await expect.poll(kinds).toEqual([
    ['api', null],
    ['api', null],
    ['worker', ['ark', 'ark.cn']],
  ]);
  await api.stop();
  await core.close();
});
