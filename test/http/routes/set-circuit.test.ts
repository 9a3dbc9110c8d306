import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_set_circuit');

const set = (body: object, channel = 'three') => world.admin('POST', `/channels/${channel}/circuits`, body);

/** Channels that an open circuit keeps this model from. */
async function held(model: string): Promise<string[]> {
  const { body } = await world.admin('POST', '/routes/explain', { request: { model } });
  const dropped: readonly { channel: string; reason: string }[] = body.dropped;
  return dropped.flatMap(({ channel, reason }) => (reason === 'circuit_open' ? [channel] : []));
}

it('opens a credential and closes it, and says who and why', async () => {
  const opened = await set({ credential: 'c', state: 'open', reason: 'they asked us to' });
  expect([opened.status, opened.body.health]).toEqual([
    200,
    {
      c: {
        circuit: 'open',
        sign: 'failure',
        code: 'operator',
        retry_at: Date.UTC(9999, 11, 31, 23, 59, 59) / 1000,
        waits_for: null,
        changed_at: expect.any(Number),
        failed_tasks: [],
        accounts: 0,
        by: 'admin',
        reason: 'they asked us to',
        openings: [
          {
            at: opened.body.health.c.changed_at,
            sign: 'failure',
            code: 'operator',
            by: 'admin',
            reason: 'they asked us to',
          },
        ],
      },
    },
  ]);
  const listed = (await world.admin('GET', '/channels')).body.data;
  expect(listed[2].health.c).toMatchObject({ circuit: 'open', by: 'admin' });
  const account = await world.newAccount();
  const request = { model: 'other' };
  expect(await held('other')).toEqual(['three']);
  // A task waits there, for want of another channel.
  expect((await account.create(request)).status).toBe(200);
  const closed = await set({ credential: 'c', state: 'closed', reason: 'they are back' });
  expect(closed.body.health.c).toMatchObject({ circuit: 'closed', by: 'admin', reason: 'they are back' });
  expect(await held('other')).toEqual([]);
  const again = await set({ credential: 'c', state: 'closed', reason: 'again' });
  expect([again.status, again.body.error.code]).toEqual([409, 'action_not_possible']);
});

it('opens one model for a time', async () => {
  const before = Math.floor(Date.now() / 1000);
  const body = { credential: 'a', model: 'clip', state: 'open', seconds: 60, reason: 'r' };
  const { health } = (await set(body, 'one')).body;
  expect(Object.keys(health)).toEqual(['a/clip']);
  expect(health['a/clip'].retry_at).toBeGreaterThanOrEqual(before + 60);
  expect(await held('clip')).toEqual(['one']);
  expect(await held('plain')).toEqual([]);
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
