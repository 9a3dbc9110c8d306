import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_set_end_user_caps');

it('an unknown end user has the default cap from the first request, and a named one their own', async () => {
  const account = await world.newAccount();
  const create = (user?: string) =>
    account.create(user === undefined ? {} : { metadata: { safety_identifier: user } });
  const set = await caps(account.id, { total: '0.5', users: [{ user: 'zoë.1', total: '1' }] });
  expect(set.body).toMatchObject({
    end_user_caps: { total: '0.500000', users: [{ user: 'zoë.1', total: '1.000000' }] },
    changes: expect.arrayContaining([
      expect.objectContaining({ by: 'admin', action: 'end_user_caps changed', reason: 'free plan' }),
    ]),
  });
  const first = await Promise.all(Array.from({ length: 8 }, () => create('unknown')));
  const count = (status: number) => first.filter((answer) => answer.status === status).length;
  expect([count(200), count(402)]).toEqual([1, 7]);
  expect(first.find(({ status }) => status === 402)?.body.error).toMatchObject({
    code: 'spend_cap_exceeded',
    cap: { scope: 'end_user', window: 'total', used: '0.500000', left: '0.000000' },
  });
  const named = [await create('zoë.1'), await create('zoë.1'), await create('zoë.1')];
  expect(named.map(({ status }) => status)).toEqual([200, 200, 402]);
  expect(named[0]?.headers['x-mediary-cap']).toBe('end_user/total');
  expect(named[0]?.headers['x-mediary-cap-remaining']).toBe('0.500000');
  expect((await create()).status).toBe(200);
  const { data } = (await world.admin('GET', `/accounts/${account.id}/ledger`)).body;
  expect(data.at(-1)).toMatchObject({ kind: 'hold', model: 'clip', end_user: null });
  expect(data.at(-2)).toMatchObject({ kind: 'hold', model: 'clip', end_user: 'zoë.1' });

  await caps(account.id, {});
  world.clock.aheadMs += 5_000;
  expect((await create('unknown')).status).toBe(200);
});

it('the name of an end user is written in any spelling, and in any case if the account says so', async () => {
  const account = await world.newAccount();
  const create = async (user: string) =>
    (await account.create({ metadata: { safety_identifier: user } })).status;
  await caps(account.id, { users: [{ user: ' Ａlice ', total: '0.5' }] });
  expect([await create('Alice'), await create('Alice'), await create('alice')]).toEqual([200, 402, 200]);

  const set = await caps(account.id, { ignore_case: true, users: [{ user: 'Bob', total: '0.5' }] });
  expect(set.body.end_user_caps).toMatchObject({ ignore_case: true, users: [{ user: 'bob' }] });
  world.clock.aheadMs += 5_000;
  expect([await create('BOB'), await create('Bob')]).toEqual([200, 402]);
  const twice = [{ user: 'Bob' }, { user: 'bob' }];
  expect((await caps(account.id, { ignore_case: true, users: twice })).body.error.param).toBe('users');
});

it('404, 400', async () => {
  const { id } = await world.newAccount();
  expect((await caps('none', { day: '1' })).body.error.code).toBe('account_not_found');
  expect((await caps(id, { total: '1.1234567' })).body.error.param).toBe('total');
  expect((await caps(id, { users: [{ user: '', day: '1' }] })).body.error.param).toBe('users[0].user');
  expect((await caps(id, { users: [{ user: 'a' }, { user: 'a' }] })).body.error.param).toBe('users');
  const many = Array.from({ length: 1_001 }, (_, n) => ({ user: `u${n}` }));
  expect((await caps(id, { users: many })).body.error.param).toBe('users');
});

const caps = (account: string, body: object) =>
  world.admin('POST', `/accounts/${account}/end-user-caps`, { ...body, reason: 'free plan' });
