import { describe, expect, it, onTestFinished } from 'vitest';
import { createAuditLog } from '../../../src/commands/audit-log.ts';
import { actOn, adminCaller } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import { pauseFirstAt } from '../../support/race.ts';

const world = useHttpWorld('route_list_audit');

interface Entry {
  readonly id: string;
  readonly action: string;
  readonly target: string;
  readonly outcome: string;
  readonly by: string;
  readonly changes: readonly object[] | null;
}
const audit = async (query = ''): Promise<readonly Entry[]> =>
  (await world.admin('GET', `/audit?limit=100${query}`)).body.data;
const shortOf = (entries: readonly Entry[]) =>
  entries.map(({ action, target, outcome }) => `${action} ${target}: ${outcome}`);

async function newOperator(name: string, role = 'everything') {
  const { body } = await world.admin('POST', '/operators', { name, roles: [role] });
  return adminCaller(world.url, body.token);
}

it('has one entry for each change by an operator, with who, why, from where and what', async () => {
  const anna = await newOperator('anna');
  const account = await world.newAccount();
  const id: string = (await account.create()).body.id;
  await anna('POST', `/tasks/${id}/actions`, { action: 'extend', seconds: 600, reason: 'it is slow' });
  await anna('POST', `/accounts/${account.id}/credits`, {
    amount: '1.5',
    reference: 'gift-1',
    note: 'sorry',
  });
  await anna('POST', '/channels/one', { enabled: false, reason: 'errors' });
  await anna('POST', '/channels/one', { enabled: true });
  await anna('POST', `/accounts/${account.id}/overdraft`, { overdraft_limit: '2', reason: 'a friend' });
  await anna('POST', `/accounts/${account.id}/close`, { reason: 'left' });
  await anna('POST', `/accounts/${account.id}/reopen`, { reason: 'came back' });
  const { body: key } = await anna('POST', '/keys', { account: account.id, name: 'second' });
  await anna('POST', `/keys/${key.id}/rotate`, { old_valid_seconds: 0, reason: 'leaked' });
  await anna('DELETE', `/keys/${key.id}`);
  await anna('POST', '/config/reload');
  const entries = await audit('&by=anna');
  expect(shortOf(entries).toReversed()).toEqual([
    `extend ${id}: done`,
    `creditAccount ${account.id}: done`,
    'setChannel one: done',
    'setChannel one: done',
    `setOverdraft ${account.id}: done`,
    `closeAccount ${account.id}: done`,
    `reopenAccount ${account.id}: done`,
    `createKey ${account.id}: done`,
    `rotateKey ${key.id}: done`,
    `revokeKey ${key.id}: done`,
    'reloadConfig : refused',
  ]);
  expect(entries.at(-1)).toEqual({
    object: 'audit.entry',
    id: expect.any(String),
    at: expect.any(Number),
    by: 'anna',
    via: 'api',
    address: expect.stringMatching(/127\.0\.0\.1/),
    action: 'extend',
    target: id,
    task: id,
    reason: 'it is slow',
    what: '{"action":"extend","seconds":600}',
    outcome: 'done',
    result: null,
    changes: null,
    ended_at: expect.any(Number),
    items: null,
  });
  expect(entries.at(-2)).toMatchObject({
    reason: 'sorry',
    what: '{"amount":"1.500000","reference":"gift-1"}',
  });
  expect(shortOf(await audit('&by=admin'))).toContain('addOperator anna: done');
  expect(JSON.stringify(await audit())).not.toContain(key.key);
});

it('has the previous values, field by field, of every act that sets a value', async () => {
  const carl = await newOperator('carl');
  const account = await world.newAccount();
  const reason = 'agreed';
  const path = `/accounts/${account.id}`;
  await carl('POST', `${path}/overdraft`, { overdraft_limit: '2', reason });
  await carl('POST', `${path}/price-factors`, {
    factor: '0.9',
    models: [{ model: 'plain', factor: '2' }],
    reason,
  });
  await carl('POST', `${path}/end-user-caps`, {
    day: '1',
    users: [{ user: 'zoe.miller', month: '3' }],
    reason,
  });
  await carl('POST', `/keys/${account.keyId}/caps`, { month: '5', reason });
  await carl('POST', '/channels/one', { enabled: false, reason });
  await carl('POST', '/channels/one', { enabled: true, reason });
  const alert = { threshold: '3', url: 'https://example.com/hooks?token=secret', reason };
  await carl('POST', `${path}/alert`, alert);
  await carl('POST', `${path}/alert`, { reason });
  await carl('POST', '/channels/three/circuits', { credential: 'c', state: 'open', reason });
  await carl('POST', '/channels/three/circuits', { credential: 'c', state: 'closed', reason });
  await carl('POST', `${path}/close`, { reason });
  await carl('POST', `${path}/reopen`, { reason });
  await world.admin('POST', '/operators/carl/roles', { roles: ['tasks', 'money'], reason });
  const changed = (path: string, before: unknown, after: unknown) => ({
    path,
    kind: 'changed',
    before: JSON.stringify(before),
    after: JSON.stringify(after),
  });
  const added = (path: string, after: string) => ({
    path,
    kind: 'added',
    before: null,
    after: JSON.stringify(after),
  });
  const removed = (path: string, before: string) => ({
    path,
    kind: 'removed',
    before: JSON.stringify(before),
    after: null,
  });
  const entries = await audit('&by=carl');
  expect(entries.map(({ changes }) => changes).toReversed()).toEqual([
    [changed('overdraft_limit', '0.000000', '2.000000')],
    [changed('factor', '1', '0.9'), added('models.plain', '2')],
    [added('day', '1.000000'), changed('users', 0, 1)],
    [added('month', '5.000000')],
    [changed('enabled', true, false)],
    [changed('enabled', false, true)],
    [added('threshold', '3.000000'), added('url', 'https://example.com/hooks')],
    [removed('threshold', '3.000000'), removed('url', 'https://example.com/hooks')],
    [changed('c', 'closed', 'open')],
    [changed('c', 'open', 'closed')],
    [changed('closed', false, true)],
    [changed('closed', true, false)],
  ]);
  expect(JSON.stringify(entries)).not.toMatch(/miller|secret/);
  const ofCarl = await audit('&target=carl');
  const roles = ofCarl.find(({ action }: { action: string }) => action === 'setOperatorRoles');
  expect(roles?.changes).toMatchObject([{ path: 'roles', after: '["read","amounts","tasks","money"]' }]);
});

it('has refused acts with the reason, but no reads, dry runs or invalid requests', async () => {
  const bert = await newOperator('bert');
  const id: string = (await (await world.newAccount()).create()).body.id;
  await bert('GET', `/tasks/${id}`);
  await bert('POST', `/tasks/${id}/actions`, { action: 'fail', reason: 'r', dry_run: true });
  await bert('POST', `/tasks/${id}/actions`, { action: 'explode', reason: 'r' });
  await bert('POST', '/routes/explain', { request: { model: 'clip' } });
  await bert('POST', `/tasks/${id}/actions`, { action: 'undo', reason: 'a slip' });
  expect(await audit('&by=bert')).toEqual([
    expect.objectContaining({
      action: 'undo',
      outcome: 'refused',
      result: expect.stringContaining('`undo`'),
    }),
  ]);
});

describe('an act on many tasks', () => {
  const bulkActs = async (operator: Awaited<ReturnType<typeof newOperator>>, more: object = {}) => {
    const account = await world.newAccount();
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push((await account.create()).body.id);
    const [first = ''] = ids;
    world.port.situations.set(first, 'ended');
    const act = { action: 'extend', seconds: 600, reason: 'an outage', bulk: 'outage-0001', ...more };
    await Promise.all(ids.map((id) => operator('POST', `/tasks/${id}/actions`, act)));
    return ids;
  };

  it('is one entry, with an item and outcome for each task', async () => {
    const ids = await bulkActs(await newOperator('dora'));
    const [entry, ...others] = await audit('&by=dora');
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      action: 'extend',
      target: '3 tasks',
      task: null,
      reason: 'an outage',
      what: '{"action":"extend","seconds":600}',
      outcome: 'done',
      result: '2 done, 1 refused',
      ended_at: expect.any(Number),
    });
    const items: { task: string; outcome: string; result: string | null }[] = Reflect.get(
      entry ?? {},
      'items',
    );
    expect(items.map(({ task }) => task).toSorted()).toEqual(ids.toSorted());
    for (const { task, outcome, result } of items)
      expect([outcome, result]).toEqual(
        task === ids[0] ? ['refused', expect.stringContaining('not possible')] : ['done', null],
      );
    for (const id of ids) expect(await audit(`&task=${id}`)).toEqual([entry]);
  });

  it('is a separate one for another operator, reason, field or name', async () => {
    const [eva, finn] = [await newOperator('eva'), await newOperator('finn')];
    await bulkActs(eva);
    await bulkActs(finn);
    for (const more of [{ reason: 'b' }, { seconds: 700 }, { bulk: 'outage-0002' }])
      await bulkActs(eva, more);
    expect([(await audit('&by=eva')).length, (await audit('&by=finn')).length]).toEqual([4, 1]);
  });

  it('has at most a thousand items: one more is refused, and not done', async () => {
    const gus = await newOperator('gus');
    await bulkActs(gus);
    const item = { task: 'task_x', at: 1, outcome: 'done' };
    const filled = { $push: { items: { $each: Array.from({ length: 997 }, () => item) } } };
    await world.db.collection<{ items: object[] }>('audit').updateOne({ by: 'gus' }, filled);
    const before = world.port.acts.length;
    const id: string = (await (await world.newAccount()).create()).body.id;
    const act = { action: 'extend', seconds: 600, reason: 'an outage', bulk: 'outage-0001' };
    const { status, body } = await gus('POST', `/tasks/${id}/actions`, act);
    expect([status, body.error.param, world.port.acts.length]).toEqual([400, 'bulk', before]);
  });

  it('of a deleted account keeps the act, but not the reason', async () => {
    const ids = await bulkActs(await newOperator('hans'));
    await world.stores.audit.redact({ task: { $in: ids } });
    const [entry] = await audit('&by=hans');
    expect(entry).toMatchObject({ reason: '', what: '{}', target: '3 tasks' });
    expect(JSON.stringify(entry)).not.toContain('not possible');
  });
});

it('contains links only without their access part', async () => {
  const id: string = (await (await world.newAccount()).create()).body.id;
  const url = 'https://files.example/a.mp4?X-Signature=secret#f';
  await world.drive.accept(id);
  await actOn(world.admin, id, { action: 'complete', reason: 'r', result_url: url });
  expect(await audit(`&task=${id}`)).toMatchObject([
    { what: '{"action":"complete","result_url":"https://files.example/a.mp4"}' },
  ]);
});

it('an act whose process dies before its outcome is known has an entry', async () => {
  const { id: account } = await world.newAccount();
  const died = pauseFirstAt('audit.acted', account);
  const answer = world.admin('POST', `/accounts/${account}/credits`, { amount: '3', reference: 'once' });
  await died.reached;
  // The money has moved, but nothing links the ledger to this audit entry.
  const { data } = (await world.admin('GET', `/accounts/${account}/ledger`)).body;
  expect(data.at(-1)).toMatchObject({ kind: 'credit', amount: '3.000000' });
  expect(
    (await audit()).find(({ target, action }) => target === account && action === 'creditAccount'),
  ).toEqual(expect.objectContaining({ outcome: 'begun', result: null, ended_at: null }));
  died.release();
  expect((await answer).status).toBe(200);
});

it('an act that cannot be recorded is not carried out', async () => {
  const begin = () => Promise.reject(new Error('MongoDB is away'));
  const auditLog = createAuditLog({
    ...world.deps,
    audit: { begin, end: begin, beginItem: begin, endItem: begin },
  });
  const node = await world.startNode({ auditLog });
  onTestFinished(() => node.close(0));
  const { id: account } = await world.newAccount();
  const answer = await node.admin('POST', `/accounts/${account}/credits`, { amount: '3', reference: 'no' });
  expect(answer.status).toBe(500);
  const { data } = (await world.admin('GET', `/accounts/${account}/ledger`)).body;
  expect(data).not.toContainEqual(expect.objectContaining({ amount: '3.000000' }));
});

describe('its pages', () => {
  it('are newest first, and begin after an entry; `since` leaves out what is older', async () => {
    const carla = await newOperator('carla');
    for (const reason of ['a', 'b', 'c']) await carla('POST', '/channels/one', { enabled: true, reason });
    const page = async (query: string) => (await world.admin('GET', `/audit?by=carla${query}`)).body;
    const first = await page('&limit=2');
    expect([first.has_more, first.data.map(({ reason }: { reason: string }) => reason)]).toEqual([
      true,
      ['c', 'b'],
    ]);
    const second = await page(`&limit=2&after=${first.data[1].id}`);
    expect([second.has_more, second.data.map(({ reason }: { reason: string }) => reason)]).toEqual([
      false,
      ['a'],
    ]);
    const now = Math.floor(Date.now() / 1000);
    expect((await page(`&since=${now - 60}`)).data).toHaveLength(3);
    expect((await page(`&since=${now + 60}`)).data).toEqual([]);
    expect(shortOf(await audit(`&since=${now - 60}`)).length).toBeGreaterThan(3);
  });
});

it('by the account, key, channel or operator that was changed', async () => {
  const account = await world.newAccount();
  await world.admin('POST', `/accounts/${account.id}/close`, { reason: 'left' });
  await world.admin('POST', '/channels/two', { enabled: false, reason: 'late' });
  await world.admin('POST', '/channels/two', { enabled: true });
  expect(shortOf(await audit('&target=two'))).toEqual(['setChannel two: done', 'setChannel two: done']);
  expect(shortOf(await audit(`&target=${account.id}`))).toContain(`closeAccount ${account.id}: done`);
  expect(await audit('&target=nobody')).toEqual([]);
});
