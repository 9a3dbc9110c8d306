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
  (await world.admin('GET', `/find?${new URLSearchParams({ id }).toString()}`)).body;
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

it('every task that one name stands for, up to 20, whoever chose it', async () => {
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
  expect(await find('task_nobody')).toEqual({ object: 'list', data: [], ledger: [] });
  expect((await world.admin('GET', '/find')).status).toBe(400);
  expect((await world.admin('GET', `/find?id=${'x'.repeat(301)}`)).status).toBe(400);
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
  await expect(runLine(world, ['find', 'nobody'])).rejects.toMatchObject({ status: 4 });
});
