import { expect, it } from 'vitest';
import { ledgerCollection } from '../../../src/ledger/collection.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { connectMongo } from '../../../src/store/mongo.ts';
import { runLine } from '../../cli/support.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import { databaseUri } from '../../support/run-servers.ts';
import { testLedgerKey } from '../../support/sealing.ts';

const database = 'route_find_tasks';
const world = useHttpWorld(database);

const find = async (id: string) =>
  (await world.admin('GET', `/find?${new URLSearchParams({ text: id }).toString()}`)).body;
const foundBy = async (id: string) =>
  (await find(id)).data.map((one: { found_by: string; task: { id: string } }) => [one.found_by, one.task.id]);

it('a task by its id, its create’s request, its upstream’s job and its marker', async () => {
  const account = await world.newAccount();
  const { body, headers } = await account.create();
  await world.drive.accept(body.id, 'job-7');
  expect(await foundBy(body.id)).toEqual([['task', body.id]]);
  expect(await foundBy(String(headers['x-request-id']))).toEqual([['request_id', body.id]]);
  expect(await foundBy('job-7')).toEqual([['upstream_id', body.id]]);
  expect(await foundBy(`mark-${body.id}-1`)).toEqual([['marker', body.id]]);
  const { data, ledger } = await find(body.id);
  expect(ledger).toMatchObject([{ kind: 'hold', task: body.id }]);
  expect(data[0].task).toMatchObject({ request_id: headers['x-request-id'], account: account.id });
});

it('every task with this name, up to 20, whoever chose the name', async () => {
  const [one, two] = [await world.newAccount(), await world.newAccount()];
  const chosen = { 'x-request-id': 'batch of Monday' };
  const made = [await one.create({}, chosen), await two.create({}, chosen)].map(({ body }) => body.id);
  const found = await foundBy('batch of Monday');
  expect(found).toHaveLength(2);
  expect(found).toEqual(expect.arrayContaining(made.map((id) => ['request_id', id])));
  for (let n = 2; n < 22; n += 1) await one.create({}, chosen);
  expect(await foundBy('batch of Monday')).toHaveLength(20);
});

it('keeps the id of the request that made the task, not that of its repeat', async () => {
  const account = await world.newAccount();
  const key = { 'idempotency-key': 'once' };
  const { body } = await account.create({}, { ...key, 'x-request-id': 'the-first' });
  await account.create({}, { ...key, 'x-request-id': 'the-repeat' });
  expect(await foundBy('the-first')).toEqual([['request_id', body.id]]);
  expect(await foundBy('the-repeat')).toEqual([]);
});

it('the money of images that were answered at once', async () => {
  const { id: account } = await world.newAccount();
  const mongo = await connectMongo(databaseUri(database));
  const ledger = createLedger({ collection: ledgerCollection(mongo.db), key: testLedgerKey, now: Date.now });
  await ledger.hold({
    account,
    task: 'img_abcdefgh',
    by: { key: 'key_1', model: 'video-1' },
    amount: 5n,
    basis: '{}',
    overdraftLimit: 0n,
  });
  await mongo.close();
  expect(await find('img_abcdefgh')).toMatchObject({ data: [], ledger: [{ account, kind: 'hold' }] });
});

it('is empty where nothing is known, and refuses what cannot be an id', async () => {
  expect(await find('task_nobody')).toEqual({ object: 'list', data: [], ledger: [], others: [] });
  expect((await world.admin('GET', '/find')).status).toBe(400);
  for (const text of ['x'.repeat(301), 'nobody\u0000s-task', 'nobodys\u200btask'])
    expect(await find(text)).toMatchObject({ error: { code: 'invalid_parameter', param: 'text' } });
});

it('a task by any eight characters of its id, and by the beginning of its other names', async () => {
  const account = await world.newAccount();
  const { body, headers } = await account.create();
  await world.drive.accept(body.id, 'vendor-job-4711');
  for (let at = 0; at <= body.id.length - 8; at += 1) {
    const part = body.id.slice(at, at + 8);
    // All ids share a prefix, which does not count towards the minimum length.
    if (part.slice(part.indexOf('_') + 1).length < 8) expect(await foundBy(part)).toEqual([]);
    else expect(await foundBy(part)).toEqual([['task', body.id]]);
  }
  expect(await foundBy(body.id.slice(5, 12))).toEqual([]);
  expect(await foundBy(String(headers['x-request-id']).slice(0, 8))).toEqual([['request_id', body.id]]);
  expect(await foundBy('vendor-job')).toEqual([['upstream_id', body.id]]);
  expect(await foundBy(`mark-${body.id}`)).toEqual([['marker', body.id]]);
  expect(await foundBy('vendor.job')).toEqual([]);
});

it('names that begin with the same hundred characters are different names', async () => {
  const account = await world.newAccount();
  const common = `projects/${'p'.repeat(100)}/operations`;
  const [{ body: one }, { body: other }] = [await account.create(), await account.create()];
  await world.drive.accept(one.id, `${common}/1`);
  await world.drive.accept(other.id, `${common}/2`);
  expect(await foundBy(`${common}/1`)).toEqual([['upstream_id', one.id]]);
  expect(await foundBy(common)).toHaveLength(2);
});

it('accounts and keys by their names and ids, models and channels by a part of their names', async () => {
  const { id } = (await world.admin('POST', '/accounts', { id: 'birch-film', name: 'Birch & Söhne (Film)' }))
    .body;
  const { body: key } = await world.admin('POST', '/keys', { account: id, name: 'Night shift' });
  const othersOf = async (text: string) =>
    (await find(text)).others.map((one: Record<string, string>) => [one['kind'], one['id']]);
  for (const text of ['birch', 'söhne', 'SÖHNE (fi', 'film', 'rch-film', 'birch-film'])
    expect(await othersOf(text)).toContainEqual(['account', id]);
  for (const text of ['night', 'Shift', key.id, key.id.slice(6, 14), key.prefix])
    expect(await othersOf(text)).toContainEqual(['key', key.id]);
  expect((await find('shift')).others).toEqual([
    { kind: 'key', id: key.id, name: 'Night shift', account: id },
  ]);
  expect(await othersOf('PICT')).toEqual([['model', 'picture']]);
  expect(await othersOf('thre')).toEqual([['channel', 'three']]);
  expect(await othersOf('hift')).toEqual([]);
  expect(await othersOf('.*')).toEqual([]);
});

it('tasks by words of their errors, the newest first, if no name matches', async () => {
  const account = await world.newAccount();
  const ids: string[] = [];
  const messages = ['The quota of heron clips is used up.', 'Heron clips: no quota left!', '内容违规, clips'];
  for (const [n, message] of messages.entries()) {
    world.clock.aheadMs = n * 1000;
    const { id } = (await account.create()).body;
    const attempt = await world.drive.send(id);
    await world.drive.step(id, {
      kind: 'rejected',
      n: attempt,
      owner: 'run',
      code: `HERON_E${n}77`,
      message,
    });
    ids.push(id);
  }
  world.clock.aheadMs = 0;
  const [one, two, three] = ids;
  for (const text of ['heron quota', 'QUOTA, clips', 'quota of heron CLIPS'])
    expect(await foundBy(text)).toEqual([
      ['error', two],
      ['error', one],
    ]);
  expect(await foundBy('used up quota')).toEqual([['error', one]]);
  expect(await foundBy('HERON_E177')).toEqual([['error', two]]);
  for (const text of ['内容违规', '违规', '容违']) expect(await foundBy(text)).toEqual([['error', three]]);
  for (const text of ['quot', 'heron fjord', 'up', '.*', '规内']) expect(await foundBy(text)).toEqual([]);
  expect((await runLine(world, ['find', 'heron quota'])).text).toMatch(new RegExp(`^error +${two} `, 'm'));
});

it('gateway find: by what, which task, and the line that shows it', async () => {
  const account = await world.newAccount();
  const { body, headers } = await account.create();
  const name = String(headers['x-request-id']);
  const { text } = await runLine(world, ['find', name]);
  expect(text).toMatch(/^FOUND_BY +ID +ACCOUNT +STATUS +WAITS_FOR +CHANNEL +SINCE\n/);
  expect(text).toMatch(new RegExp(`^request_id +${body.id} .*\\ngateway tasks show ${body.id}$`, 'm'));
  const { data } = JSON.parse((await runLine(world, ['find', name, '-o', 'json'])).text);
  expect(data).toMatchObject([{ found_by: 'request_id', task: { id: body.id } }]);
  expect((await runLine(world, ['find', 'pictu'])).text).toMatch(/^KIND +ID +NAME +ACCOUNT\nmodel +picture /);
  await expect(runLine(world, ['find', 'nobody'])).rejects.toMatchObject({ status: 4 });
});
