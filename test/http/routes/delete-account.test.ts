import { expect, it } from 'vitest';
import { adminCaller } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_delete_account');
const remove = (account: string, body: object = { reason: 'asked to be forgotten' }) =>
  world.admin('POST', `/accounts/${account}/delete`, body);

it('starts for a closed account whose tasks have ended; a dry run shows what prevents it', async () => {
  const account = await world.newAccount();
  const { id } = (await account.create()).body;
  const dry = async () => (await remove(account.id, { reason: 'x', dry_run: true })).body;
  expect(await dry()).toMatchObject({
    begun: false,
    obstacles: ['It is not closed.', 'Unfinished tasks: 1.', '0.500000 is held.'],
    removes: { keys: 1, tasks: 1 },
    keeps: { ledger_entries: 2 },
  });
  await world.admin('POST', `/accounts/${account.id}/close`, { reason: 'left' });
  const refused = await remove(account.id);
  expect([refused.status, refused.body.error]).toMatchObject([
    409,
    {
      code: 'action_not_possible',
      message: `The account ${account.id} cannot be deleted. Unfinished tasks: 1. 0.500000 is held.`,
    },
  ]);
  await world.deps.ledger.entriesOfTask(id);
  await world.drive.fail(id, { code: 'task_failed', message: 'x', class: 'other' } as never);
  expect((await dry()).obstacles).toEqual(['0.500000 is held.']);
  expect((await world.admin('GET', `/accounts/${account.id}`)).body.deletion).toBeNull();

  const empty = await world.newAccount({ credit: '0' });
  await world.admin('POST', `/accounts/${empty.id}/close`, { reason: 'left' });
  expect((await remove(empty.id)).body).toMatchObject({ begun: true, obstacles: [] });
  const { deletion } = (await world.admin('GET', `/accounts/${empty.id}`)).body;
  expect(deletion).toEqual({
    by: 'admin',
    reason: 'asked to be forgotten',
    requested_at: expect.any(Number),
    finished_at: null,
  });
  expect((await remove(empty.id)).body.error.message).toContain(
    'It is already being deleted, or has been deleted.',
  );
});

it('403: only the holder of ADMIN_TOKEN may; 404; 400 without a reason', async () => {
  const { id } = await world.newAccount();
  const { body } = await world.admin('POST', '/operators', {
    name: 'ada',
    roles: ['everything'],
  });
  const ada = adminCaller(world.url, body.token);
  expect((await ada('POST', `/accounts/${id}/delete`, { reason: 'x' })).status).toBe(403);
  expect((await remove('none')).body.error.code).toBe('account_not_found');
  expect((await remove(id, {})).body.error.param).toBe('reason');
});
