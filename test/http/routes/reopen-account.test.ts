import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_reopen_account');

it('creates again with the same key', async () => {
  const account = await world.newAccount();
  await world.admin('POST', `/accounts/${account.id}/close`, { reason: 'unpaid' });
  expect((await account.create()).status).toBe(403);
  const reopened = await world.admin('POST', `/accounts/${account.id}/reopen`, { reason: 'paid' });
  expect(reopened.body).toMatchObject({
    closed_at: null,
    changes: [
      {},
      { action: 'closed', reason: 'unpaid' },
      { by: 'admin', action: 'reopened', reason: 'paid' },
    ],
  });
  world.clock.aheadMs += 5_000;
  expect((await account.create()).status).toBe(200);
});

it('409: not closed; 404; 400', async () => {
  const { id } = await world.newAccount();
  const reopen = async (account: string, body: object = { reason: 'x' }) =>
    (await world.admin('POST', `/accounts/${account}/reopen`, body)).body.error;
  const refused = (why: string) => ({ code: 'action_not_possible', message: `The account ${id} ${why}.` });
  expect(await reopen(id)).toMatchObject(refused('is not closed'));
  await world.admin('POST', `/accounts/${id}/close`, { reason: 'left' });
  await world.admin('POST', `/accounts/${id}/delete`, { reason: 'left' });
  expect(await reopen(id)).toMatchObject(refused('is being deleted, or has been deleted'));
  expect((await reopen('none')).code).toBe('account_not_found');
  expect((await reopen(id, {})).param).toBe('reason');
});
