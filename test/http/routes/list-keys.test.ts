import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_keys');

it('those of the account, newest first, without the key itself', async () => {
  const account = await world.newAccount();
  world.clock.aheadMs += 1_000;
  const made = await world.admin('POST', '/keys', { account: account.id, name: 'second', models: ['clip'] });
  const { key, ...second } = made.body;
  const { body, text } = await world.admin('GET', `/keys?account=${account.id}`);
  expect(body.object).toBe('list');
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual([second.id, account.keyId]);
  expect(body.data[0]).toEqual(second);
  expect(text).not.toContain(key);
});

it('revoked and expired ones too', async () => {
  const { id, keyId } = await world.newAccount();
  await world.admin('DELETE', `/keys/${keyId}`);
  const { body } = await world.admin('GET', `/keys?account=${id}`);
  expect(body.data).toMatchObject([{ id: keyId, revoked_at: expect.any(Number) }]);
});

it('page by page, however many were made at once', async () => {
  world.clock.stoppedAt = Date.now() + 60 * 60_000;
  const account = await world.newAccount();
  const ids = [account.keyId];
  for (let n = 0; n < 6; n += 1)
    ids.push((await world.admin('POST', '/keys', { account: account.id, name: `${n}` })).body.id);
  world.clock.stoppedAt = undefined;
  const seen: string[] = [];
  let after = '';
  for (let pages = 1; ; pages += 1) {
    const { body } = await world.admin('GET', `/keys?account=${account.id}&limit=3${after}`);
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    after = `&after=${seen.at(-1)}`;
    expect(pages).toBeLessThan(4);
    if (!body.has_more) break;
  }
  expect(seen.toSorted()).toEqual(ids.toSorted());
  const unknown = await world.admin('GET', `/keys?account=${account.id}&after=key_unknown`);
  expect([unknown.status, unknown.body.error.param]).toEqual([400, 'after']);
});

it('of all accounts, no more than `limit`', async () => {
  await world.newAccount();
  await world.newAccount();
  expect((await world.admin('GET', '/keys?limit=2')).body.data).toHaveLength(2);
  expect((await world.admin('GET', '/keys?account=nobody')).body.data).toEqual([]);
});
