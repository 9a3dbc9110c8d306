import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';
import { workerReport } from '../../support/worker-report.ts';

const world = useHttpWorld('route_set_circuit');

const set = (body: object, channel = 'three') => world.admin('POST', `/channels/${channel}/circuits`, body);

async function verdicts(model: string): Promise<readonly string[]> {
  const { body } = await world.admin('POST', '/routes/explain', { request: { model } });
  const candidates: readonly { channel: string; waits: boolean }[] = body.candidates;
  const dropped: readonly { channel: string; reason: string }[] = body.dropped;
  return [
    ...candidates.map(({ channel, waits }) => `${channel} ${waits ? 'waited for' : 'tried'}`),
    ...dropped.flatMap(({ channel, reason }) => (reason === 'circuit_open' ? `${channel} dropped` : [])),
  ];
}

it('opens the circuit of a credential and closes it, and shows who did it and why', async () => {
  await world.stores.nodes.report(workerReport(['one', 'two', 'three']));
  const opened = await set({ credential: 'c', state: 'open', reason: 'they asked us to' });
  const until = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;
  const at = expect.any(Number);
  const order = { sign: 'failure', code: 'operator', by: 'admin', reason: 'they asked us to' };
  const text = 'admin stopped submissions to credential c: they asked us to';
  const health = {
    channel: 'three',
    state: 'paused',
    text,
    since: at,
    until,
    opened: { hour: 1, day: 1 },
    waiting: { tasks: 0, oldest_at: null },
    parts: [
      {
        ...order,
        scope: 'credential',
        credential: 'c',
        model: null,
        state: 'paused',
        text,
        since: at,
        until,
        evidence: [],
        models: null,
        failed_tasks: [],
        can_close: true,
        opened: { hour: 1, day: 1 },
        openings: [{ at, ...order }],
        processes: null,
        waiting: { tasks: 0, oldest_at: null },
      },
    ],
  };
  expect([opened.status, opened.body.health]).toEqual([200, health]);
  const listed = (await world.admin('GET', '/channels')).body.data;
  expect(listed[2].health).toEqual(health);
  const account = await world.newAccount();
  const request = { model: 'other' };
  expect(await verdicts('other')).toEqual(['three waited for']);
  expect((await account.create(request)).status).toBe(200);
  const closed = await set({ credential: 'c', state: 'closed', reason: 'they are back' });
  expect(closed.body.health).toMatchObject({
    state: 'serving',
    parts: [{ state: 'serving', by: 'admin', reason: 'they are back', can_close: false }],
  });
  expect(await verdicts('other')).toEqual(['three tried']);
  const again = await set({ credential: 'c', state: 'closed', reason: 'again' });
  expect([again.status, again.body.error.code]).toEqual([409, 'action_not_possible']);
});

it('opens the circuit of one model for a time', async () => {
  const before = Math.floor(Date.now() / 1000);
  const body = { credential: 'a', model: 'clip', state: 'open', seconds: 60, reason: 'r' };
  const { health } = (await set(body, 'one')).body;
  expect(health).toMatchObject({ state: 'partly_ill', parts: [{ scope: 'model', model: 'clip' }] });
  expect(health.parts[0].until).toBeGreaterThanOrEqual(before + 60);
  expect(await verdicts('clip')).toEqual(['two tried', 'one dropped']);
  expect(await verdicts('plain')).toEqual(['one tried']);
});

it.each([
  [{ credential: 'x', state: 'open', reason: 'r' }, 'credential'],
  [{ credential: 'c', model: 'clip', state: 'open', reason: 'r' }, 'model'],
  [{ credential: 'c', model: 'constructor', state: 'open', reason: 'r' }, 'model'],
  [{ credential: 'c', state: 'half', reason: 'r' }, 'state'],
  [{ credential: 'c', state: 'open' }, 'reason'],
  [{ credential: 'c', state: 'open', seconds: 0, reason: 'r' }, 'seconds'],
])('400: %j', async (body, param) => {
  const answer = await set(body);
  expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  if (body.credential === 'x')
    expect(answer.body.error.message).toMatch(/^The channel \w+ has no credential x\.$/);
});

it('404', async () => {
  const answer = await set({ credential: 'c', state: 'open', reason: 'r' }, 'none');
  expect([answer.status, answer.body.error.code]).toEqual([404, 'channel_not_found']);
});
