import { Connection } from '@temporalio/client';
import { MongoClient } from 'mongodb';
import { expect, inject, test } from 'vitest';

test('the run has a Temporal with our search attributes', async () => {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  const { customAttributes } = await connection.operatorService.listSearchAttributes({
    namespace: 'default',
  });
  expect(Object.keys(customAttributes)).toEqual(expect.arrayContaining(['MediaModel', 'NeedsAttention']));
  await connection.close();
});

test('the run has a MongoDB', async () => {
  const client = await MongoClient.connect(inject('mongodbUri'));
  const things = client.db('servers-test').collection<{ _id: string }>('things');
  await things.insertOne({ _id: 'a' });
  expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a' });
  await client.close();
});
