import { createServer } from 'node:net';
import { BSON, MongoServerError } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';
import { limitsOf, missingAbilities } from '../../src/base/server-abilities.ts';
import { connectMongo } from '../../src/store/mongo.ts';
import { factsOf, readServerFacts } from '../../src/store/server-facts.ts';
import { databaseUri } from '../support/run-servers.ts';
import { listen } from '../support/listen.ts';

it('the server of the tests has a version and a replica set, and can do everything', async () => {
  const mongo = await connectMongo(databaseUri('test_server_facts'));
  onTestFinished(() => mongo.close());
  const facts = await readServerFacts(mongo.db);
  expect(facts).toMatchObject({ topology: 'replica set', isWritable: true, readsMajority: true });
  expect(facts.version).toMatch(/^\d+\.\d+/);
  expect([missingAbilities(facts), limitsOf(facts)]).toEqual([[], []]);
});

it.each([
  ['a replica set', { setName: 'rs0' }, 'replica set'],
  ['a mongos', { msg: 'isdbgrid' }, 'sharded cluster'],
  ['neither', {}, 'standalone server'],
])('%s', (_name, more, topology) => {
  const hello = { isWritablePrimary: true, maxWireVersion: 21, ...more };
  expect(factsOf(hello, { version: '7.0.14' }, true)).toMatchObject({
    topology,
    version: '7.0.14',
    wireVersion: 21,
  });
});

it('the version may be hidden, and majority reads may be off', async () => {
  const command = async (asked: object): Promise<BSON.Document> => {
    if ('hello' in asked) return { isWritablePrimary: true, maxWireVersion: 9 };
    if ('buildInfo' in asked) throw new MongoServerError({ code: 13 });
    throw new MongoServerError({ code: 148 });
  };
  expect(await readServerFacts({ command })).toEqual({
    topology: 'standalone server',
    wireVersion: 9,
    isWritable: true,
    readsMajority: false,
  });
});

it('if the driver rejects a server, the error names what is missing', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => socket.write(oldHello(data)));
  });
  const { port } = await listen(server);
  onTestFinished(() => void server.close());
  await expect(connectMongo(`mongodb://127.0.0.1:${port}/`, { foundWithinMs: 2_000 })).rejects.toThrow(
    /^MongoDB at 127\.0\.0\.1:\d+ \(wire version 8\) cannot be used: it does not mark failed writes .*: upgrade to MongoDB 7\.$/,
  );
});

function oldHello(message: Buffer): Buffer {
  const document = BSON.serialize({ ismaster: true, minWireVersion: 0, maxWireVersion: 8, ok: 1 });
  const head = Buffer.alloc(36);
  head.writeInt32LE(head.length + document.length, 0);
  head.writeInt32LE(message.readInt32LE(4), 8);
  head.writeInt32LE(1, 12);
  head.writeInt32LE(1, 32);
  return Buffer.concat([head, document]);
}
