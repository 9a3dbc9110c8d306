import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_close_account');

it('nothing new is created anywhere; running tasks keep their holds, and everything stays readable', async () => {
  const account = await world.newAccount({ credit: '10' });
  const node = await world.startNode();
  const id: string = (await account.create()).body.id;
  const elsewhere = () =>
    node.call('POST', '/v1/videos/generations', { key: account.key, body: { model: 'clip', prompt: 'x' } });
  expect((await elsewhere()).status).toBe(200);
  const closed = await world.admin('POST', `/accounts/${account.id}/close`, { reason: 'left us' });
  expect(closed.body).toMatchObject({
    closed_at: expect.any(Number),
    available: '9.000000',
    held: '1.000000',
    balance_note:
      '1.000000 is held for tasks in flight. The unused part is released when they end. 9.000000 is available. After you pay it out, record a credit of -9.000000.',
    changes: [
      { by: 'admin', action: 'created' },
      { at: expect.any(Number), by: 'admin', action: 'closed', reason: 'left us' },
    ],
  });
  world.clock.aheadMs += 5_000;
  for (const refused of [await account.create(), await elsewhere()]) {
    expect([refused.status, refused.body.error]).toEqual([
      403,
      {
        message: `The account ${account.id} is closed, so it cannot create anything new.`,
        type: 'permission_error',
        param: '',
        code: 'account_closed',
      },
    ]);
  }
  expect(await account.balance()).toMatchObject({ available: '9.000000', held: '1.000000' });
  expect((await account.call('GET', `/v1/videos/generations/${id}`)).status).toBe(200);
  expect((await account.call('GET', '/v1/videos/generations')).body.data).toHaveLength(2);
  const key = await world.admin('POST', '/keys', { account: account.id });
  expect([key.status, key.body.error.code]).toEqual([403, 'account_closed']);
  const out = { amount: '-9', reference: 'paid-out' };
  expect((await world.admin('POST', `/accounts/${account.id}/credits`, out)).status).toBe(200);
  expect((await account.balance()).available).toBe('0.000000');
});

it('reports the balance of an empty account, and of one in debt', async () => {
  const empty = await world.newAccount({ credit: '0' });
  expect((await world.admin('POST', `/accounts/${empty.id}/close`, { reason: 'x' })).body.balance_note).toBe(
    'Nothing is held, because no task is in flight. Nothing is available.',
  );
  const owing = await world.newAccount({ credit: '-2' });
  expect((await world.admin('POST', `/accounts/${owing.id}/close`, { reason: 'x' })).body.balance_note).toBe(
    'Nothing is held, because no task is in flight. The account owes 2.000000. When it is paid, record a credit of 2.000000.',
  );
});

it('409: already closed; 404; 400 without a reason', async () => {
  const { id } = await world.newAccount();
  const close = (account: string, body: object = { reason: 'x' }) =>
    world.admin('POST', `/accounts/${account}/close`, body);
  const both = await Promise.all([close(id), close(id)]);
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  expect((await close('none')).body.error.code).toBe('account_not_found');
  expect((await close(id, {})).body.error.param).toBe('reason');
});
