import { expect, it } from 'vitest';
import type { CallbackState } from '../../../src/task/callback-record.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import type { TestAccount } from '../../support/client.ts';

const world = useHttpWorld('route_list_callbacks');
const metadata = { callback_url: 'https://shop.example/hook' };
const target = 'https://shop.example';

async function sent(account: TestAccount, state: CallbackState): Promise<string> {
  const { id } = (await account.create({ metadata })).body;
  await world.port.cancel(id);
  const round = { task: id, round: 'own', target };
  await world.deps.tasks.beginCallback(round);
  await world.deps.tasks.recordCallback(round, { at: 1_000, durationMs: 7, status: 500 }, state);
  return id;
}

const list = async (account: TestAccount, query = '') =>
  (await account.call('GET', `/v1/callbacks${query}`)).body;
const idsOf = (page: { data: { task_id: string }[] }) => page.data.map(({ task_id: id }) => id);

it('lists what was sent, newest first, in pages, by state', async () => {
  const account = await world.newAccount();
  const old = await sent(account, 'gave_up');
  const mid = await sent(account, 'pending');
  const [young] = [
    await sent(account, 'delivered'),
    await account.create(),
    await account.create({ metadata }),
  ];
  expect(idsOf(await list(account))).toEqual([young, mid, old]);
  const first = await list(account, '?limit=1');
  expect([first.has_more, ...idsOf(first)]).toEqual([true, young]);
  const rest = await list(account, `?limit=2&after=${young}`);
  expect([rest.has_more, ...idsOf(rest)]).toEqual([false, mid, old]);
  expect((await list(account, '?state=gave_up')).data).toEqual([
    {
      object: 'callback',
      task_id: old,
      kind: 'video',
      is_wanted: true,
      delivery: { state: 'gave_up', target, attempts: [{ at: 1, duration_ms: 7, status: 500, error: null }] },
    },
  ]);
});

it('a key without read_account sees its own, and no key those of another account', async () => {
  const account = await world.newAccount();
  const id = await sent(account, 'delivered');
  const { key } = (await world.admin('POST', '/keys', { account: account.id })).body;
  const { key: reader } = (
    await world.admin('POST', '/keys', { account: account.id, scopes: ['read_account'] })
  ).body;
  const by = async (own: string, query = '') =>
    (await account.call('GET', `/v1/callbacks${query}`, { key: own })).body;
  expect(idsOf(await by(key))).toEqual([]);
  expect(idsOf(await by(reader))).toEqual([id]);
  expect((await by(key, `?after=${id}`)).error.param).toBe('after');
  expect(idsOf(await list(await world.newAccount()))).toEqual([]);
  expect((await list(account, '?state=lost')).error.param).toBe('state');
});
