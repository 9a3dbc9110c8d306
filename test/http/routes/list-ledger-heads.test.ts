import { beforeAll, expect, it } from 'vitest';
import { createHeadAnchors, dailyAnchors } from '../../../src/ledger/anchored-heads.ts';
import { connectMongo } from '../../../src/store/mongo.ts';
import { databaseUri } from '../../support/run-servers.ts';
import { testLedgerKey } from '../../support/sealing.ts';
import { runLine } from '../../cli/support.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const database = 'route_list_ledger_heads';
const world = useHttpWorld(database);
const day = 86_400_000;
const clock = { at: 20_000 * day + 1_234 };
let accounts: string[];
let anchorHeads: () => Promise<number>;

beforeAll(async () => {
  accounts = [(await world.newAccount()).id, (await world.newAccount()).id].toSorted();
  const mongo = await connectMongo(databaseUri(database));
  anchorHeads = dailyAnchors(createHeadAnchors(mongo.db, testLedgerKey), () => clock.at);
  return () => mongo.close();
});

it('has the head of each account once a day, and no second one of an idle account', async () => {
  expect(await anchorHeads()).toBe(2);
  await world.admin('POST', `/accounts/${accounts[0]}/credits`, { amount: '1', reference: 'more' });
  expect(await anchorHeads()).toBe(0);
  clock.at += day;
  expect(await anchorHeads()).toBe(1);
  const { body } = await world.admin('GET', '/ledger/heads');
  expect(body).toEqual({
    object: 'list',
    data: [head(accounts[0], 1, 20_000), head(accounts[0], 2, 20_001), head(accounts[1], 1, 20_000)],
    has_more: false,
  });
});

const head = (account: string | undefined, seq: number, onDay: number) => ({
  object: 'ledger.head',
  id: `${account}/${seq}`,
  account,
  seq,
  hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  at: onDay * 86_400 + 1,
  signature: expect.stringMatching(/^[0-9a-f]{64}$/),
});

it('comes in pages, and all of them with --all', async () => {
  const first = await world.admin('GET', '/ledger/heads?limit=2');
  expect(first.body).toMatchObject({ has_more: true, data: [{ seq: 1 }, { seq: 2 }] });
  const { body } = await world.admin('GET', `/ledger/heads?limit=2&after=${first.body.data[1].id}`);
  expect(body).toMatchObject({ has_more: false, data: [{ account: accounts[1] }] });
  const { text } = await runLine(world, ['ledger', 'heads', '--all', '--limit', '1', '-o', 'jsonl']);
  expect(text.split('\n').map((line) => JSON.parse(line).id)).toEqual([
    `${accounts[0]}/1`,
    `${accounts[0]}/2`,
    `${accounts[1]}/1`,
  ]);
});
