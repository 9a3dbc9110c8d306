import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { mongodbUri } from '../support/run-servers.ts';
import { checkMongoConformance, conformanceChecks } from './conformance/conformance.ts';
import { refusalChecks } from './conformance/refusals.ts';

let client: MongoClient;

beforeAll(async () => {
  client = await MongoClient.connect(mongodbUri());
});

afterAll(async () => {
  await client.close();
});

it('the MongoDB in use does what our stores rely on', async () => {
  expect(await checkMongoConformance(client.db('conformance-test'))).toEqual([]);
});

it('the stand-in rejects what the oldest supported MongoDB rejects; a mongod may be newer', async () => {
  const isStandIn = (await client.db('admin').command({ buildInfo: 1 }))['modules'] === undefined;
  const differences = await checkMongoConformance(client.db('conformance-test'), refusalChecks);
  const isAllowed = (found: string): boolean => !isStandIn && found.includes("'none'");
  expect(differences.filter(({ found }) => !isAllowed(found))).toEqual([]);
});

it('a difference is reported by the name of its check', async () => {
  const [first] = conformanceChecks;
  const wrong = { name: first?.name ?? '', expected: 'something else', run: async () => 11_000 };
  const failing = {
    name: 'fails',
    expected: 1,
    run: async () => {
      throw new Error('no such command');
    },
  };
  expect(await checkMongoConformance(client.db('conformance-test'), [wrong, failing])).toEqual([
    { check: wrong.name, expected: "'something else'", found: '11000' },
    { check: 'fails', expected: '1', found: "{ unexpected: 'no such command' }" },
  ]);
});

it('the checks leave nothing behind', async () => {
  const db = client.db('conformance-leftovers');
  await checkMongoConformance(db);
  expect(await db.listCollections().toArray()).toEqual([]);
});
