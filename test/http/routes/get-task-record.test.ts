import { expect, it } from 'vitest';
import { flightRecordSchema } from '../../../src/flight/flight-record.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_task_record');
const prompt = 'a very private prompt about a red fox';

it('contains everything known, in order, without the caller’s text', async () => {
  const account = await world.newAccount();
  const id: string = (await account.create({ prompt })).body.id;
  const { exchanges, tasks, resultCopies } = world.stores;
  const at = Date.now();
  await world.drive.accept(id);
  const call = {
    step: 'status',
    at: at / 1000 + 60,
    ms: 12,
    channel: 'one',
    credential: 'a',
    provider: 'test',
    model: 'u',
    base_url: 'http://upstream.example',
    operation: { id: `up-${id}` },
    exchanges: [
      {
        method: 'GET',
        url: 'http://upstream.example/jobs/1',
        at: at / 1000,
        ms: 12,
        status: 200,
        json: true,
        body: JSON.stringify({ id: `up-${id}`, error: { message: '[caller]' } }),
      },
    ],
    outcome: { kind: 'pending', phase: 'running' },
  };
  await exchanges.add([
    { task: id, submits: [], polls: [JSON.stringify(call), '{"step":"of another version"}'] },
  ]);
  const callback = { task: id, round: 'task', target: 'https://me.example' };
  await tasks.beginCallback(callback);
  await tasks.recordCallback(callback, { at: at + 90_000, durationMs: 2, status: 500 }, 'pending');
  const said = { by: 'anna', action: 'retry_now', reason: 'again', detail: 'Done.' };
  await tasks.step(id, { kind: 'acted' }, { id: 'act-1', at: at + 70_000, ...said });
  await resultCopies.write({ task: id, state: 'retry', names: [], tries: 1, dueAt: at, error: 'timeout' });

  const { body, text } = await world.admin('GET', `/tasks/${id}/record`);
  const record = flightRecordSchema.parse(body);
  expect(record.task).toMatchObject({ id, account: account.id, status: 'submitted', hold: '0.500000' });
  expect(record.plan?.candidates.map(({ channel }) => channel)).toEqual(['one', 'two']);
  expect(record.events.map(({ what, text: words }) => [what, words])).toEqual([
    ['admission', `clip for ${account.id} with key ${account.keyId}; hold 0.500000`],
    ['plan', 'one/a, two/b'],
    ['ledger', 'hold -0.500000'],
    ['attempt', '1 begins at one/a'],
    ['attempt', `1 accepted, job up-${id}`],
    ['wait', 'one/a: The upstream has the job. It has not ended.'],
    ['exchange', 'status at one: GET /jobs/1 → 200: running (12 ms)'],
    ['operator', 'anna: retry_now (again): Done.'],
    ['callback', 'https://me.example responded with 500 in 2 ms'],
  ]);
  expect(record.result_copy).toEqual({ state: 'retry', names: [], tries: 1, error: 'timeout' });
  expect(record.calls).toHaveLength(1);
  expect(body.history).toBeUndefined();
  expect(text).not.toContain('red fox');
  expect((await world.admin('GET', `/tasks/${id}/record?history=true`)).body.history).toEqual({ of: id });
});

it('lacks only what no document contains', async () => {
  const account = await world.newAccount();
  const id: string = (await account.create({ prompt })).body.id;
  const { by } = (await world.stores.requests.find(id)) ?? { by: '' };
  await world.stores.requests.remove(id, by);
  const { body } = await world.admin('GET', `/tasks/${id}/record`);
  expect(flightRecordSchema.parse(body)).toMatchObject({
    plan: null,
    request: null,
    calls: [],
    callback: null,
  });
});

it('404', async () => {
  const answer = await world.admin('GET', '/tasks/none/record');
  expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
});
