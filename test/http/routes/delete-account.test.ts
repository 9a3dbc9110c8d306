import { readFileSync } from 'node:fs';
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

const bodies: Readonly<Record<string, object>> = {
  setOverdraft: { overdraft_limit: '5', reason: 'x' },
  setPriceFactors: { factor: '0.9', models: [], reason: 'x' },
  setEndUserCaps: { users: [{ user: 'canary', day: '1' }], reason: 'x' },
  setAccountAlert: { threshold: '1', url: 'https://example.com/canary', reason: 'x' },
  rotateWebhookSecret: { reason: 'x' },
  closeAccount: { reason: 'x' },
  reopenAccount: { reason: 'x' },
  deleteAccount: { reason: 'x' },
  setOwnAlert: { threshold: '1', url: 'https://example.com/canary' },
  rotateOwnWebhookSecret: {},
};
/** The ledger is kept, so its balance can still be corrected. */
const possible = new Set(['creditAccount']);
const own = ['/v1/alert', '/v1/webhook-secret/rotate'];

it('once it has begun, nothing of the account can be changed, because nothing would remove it again', async () => {
  const account = await world.newAccount({ credit: '0' });
  await world.admin('POST', `/accounts/${account.id}/close`, { reason: 'left' });
  expect((await remove(account.id)).status).toBe(200);
  const stored = () =>
    Promise.all([
      world.db.collection<{ _id: string }>('accounts').findOne({ _id: account.id }),
      world.db.collection<{ _id: string }>('account_alerts').findOne({ _id: account.id }),
    ]);
  const before = await stored();
  const { paths }: { paths: Record<string, Record<string, { operationId?: string }>> } = JSON.parse(
    readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'),
  );
  const changes = Object.entries(paths).flatMap(([path, { post }]) => {
    const isOurs = path.startsWith('/admin/v1/accounts/{account}/') || own.includes(path);
    return isOurs && post?.operationId !== undefined ? [[path, post.operationId] as const] : [];
  });
  expect(
    changes
      .map(([, name]) => name)
      .filter((name) => !possible.has(name))
      .toSorted(),
  ).toEqual(Object.keys(bodies).toSorted());
  for (const [path, name] of changes.filter(([, one]) => !possible.has(one))) {
    const { status, body } = own.includes(path)
      ? await account.call('POST', path, { body: bodies[name] })
      : await world.admin(
          'POST',
          path.replace('/admin/v1', '').replace('{account}', account.id),
          bodies[name],
        );
    expect([name, status, body.error?.code]).toEqual([name, 409, 'action_not_possible']);
  }
  expect(await stored()).toEqual(before);
});
