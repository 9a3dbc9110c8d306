import { afterAll, beforeAll, expect, it } from 'vitest';
import { ledgerCollection } from '../../src/ledger/collection.ts';
import { readLedgerTotals } from '../../src/ledger/totals.ts';
import { takeCensus } from '../../src/tasks/take-census.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { attendedYaml } from '../support/test-yaml.ts';
import { runLine } from './support.ts';

/**
 * An operator's walk: each state that needs somebody is in the metrics that the alerts ask, in the list, in `tasks show`
 * and in the notices, and ends by the command that is advised.
 */
const yaml = attendedYaml.replace(
  '\nmodels:',
  `
  - id: main
    provider: dashscope
    base_url: \${SIMULATOR_URL}/dashscope/api/v1
    credentials: [{ id: a, api_key: simulated }]
    models: { wan: { upstream: wan2.6-t2v } }
models:`,
);

let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  gateway = await startGateway({ yaml });
  account = await gateway.account();
  // Each step looks when it wants to.
  await gateway.core.notices.stop();
});
afterAll(() => gateway.stop());

const cli = (...line: string[]) => runLine(gateway, line, { token: gateway.adminToken });
const json = async (...line: string[]) => JSON.parse((await cli(...line, '-o', 'json')).text);
const noticesOf = async (state: string): Promise<string[]> =>
  (await json('notices', 'list', '--state', state)).map(({ id }: { id: string }) => id);

async function measured(line: string): Promise<boolean> {
  const { core } = gateway;
  const ledgerTotals = () => readLedgerTotals(ledgerCollection(core.mongo.db));
  core.metrics.showCensus(await takeCensus({ ...core, ledgerTotals }));
  return (await core.metrics.render()).split('\n').includes(line);
}

async function look(times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) await gateway.core.notices.tick();
}

/** Types what the gateway advises, with a reason. */
async function type(command: string): Promise<void> {
  const words = command
    .replace(/^gateway /, '')
    .replace(/ --reason "…"$/, '')
    .split(' ');
  expect((await cli(...words, '--reason', 'as advised')).status).toBe(0);
}

it.each([
  {
    reason: 'submit_ambiguous',
    model: 'wan',
    mark: '[sim:create:accepted-500]',
    advised: 'fail',
    end: 'failed',
  },
  {
    reason: 'charge_review',
    model: 'seedance',
    mark: '[sim:usage-above=20]',
    advised: 'accept_charge',
    end: 'succeeded',
  },
  {
    reason: 'poll_failing',
    model: 'seedance',
    mark: '[sim:poll:401][sim:never-starts][sim:callback-never]',
    advised: 'fail',
    end: 'failed',
  },
])('$reason is seen everywhere, and ends by `$advised`', async ({ reason, model, mark, advised, end }) => {
  const { body } = await account.create({ model, prompt: `a boat ${mark}` });
  const { id } = body;
  const listed = async () =>
    (await json('tasks', 'list', '--needs-attention')).find((task: { id: string }) => task.id === id);
  await expect.poll(async () => (await listed())?.situation.waits_for).toBe(reason);
  const { situation, channel } = await listed();
  const notice = `attention/${reason}/${channel}`;
  const { command } = situation.actions.find(({ name }: { name: string }) => name === advised);
  expect((await cli('tasks', 'show', id)).text).toContain(command);
  expect(await measured(`mediary_tasks_attention{reason="${reason}"} 1`)).toBe(true);
  await look(1);
  expect(await noticesOf('open')).toContain(notice);

  await type(command);
  expect(await account.finished(id)).toMatchObject({ status: end });
  await expect.poll(listed).toBeUndefined();
  expect(await measured(`mediary_tasks_attention{reason="${reason}"} 0`)).toBe(true);
  await look(8);
  expect(await noticesOf('open')).not.toContain(notice);
  expect(await noticesOf('over')).toContain(notice);
});

it('an abandoned callback is seen everywhere, and delivered by `redeliver`', async () => {
  const receiver = await startCallbackReceiver([410, 204]);
  try {
    const { body } = await account.create({ metadata: { callback_url: receiver.url } });
    await account.finished(body.id);
    const listed = async () =>
      (await json('tasks', 'list', '--callback-failed')).map((task: { id: string }) => task.id);
    await expect.poll(listed).toEqual([body.id]);
    expect(await measured('mediary_callbacks{state="abandoned"} 1')).toBe(true);
    await look(1);
    expect(await noticesOf('open')).toContain('callbacks_abandoned/all');
    await type(`gateway tasks action ${body.id} redeliver --reason "…"`);
    await receiver.waitFor(2);
    await expect.poll(listed).toEqual([]);
    expect(await measured('mediary_callbacks{state="abandoned"} 0')).toBe(true);
    await look(8);
    expect(await noticesOf('over')).toContain('callbacks_abandoned/all');
  } finally {
    receiver.close();
  }
});
