/**
 * Stands in for a mongod. Speaks only the part of MongoDB's wire protocol that describes a replica set. The member does
 * not belong to a set until it is initiated, and becomes primary some time later. If its port differs from the one in
 * the set's configuration, it does not consider itself a member. It keeps the configuration in its data directory, and
 * accepts the arguments of a mongod.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';

import { BSON, type Document } from 'mongodb';

const argument = (name: string): string => process.argv[process.argv.indexOf(name) + 1] ?? '';
const port = Number(argument('--port'));
const file = join(argument('--dbpath'), 'config.bson');
const self = `127.0.0.1:${port}`;

let config: Document | undefined = existsSync(file) ? BSON.deserialize(readFileSync(file)) : undefined;
let electedIn = 2;

const codes = {
  notYetInitialized: 94,
  invalidConfig: 93,
  alreadyInitialized: 23,
  notPrimary: 10_107,
  unknown: 59,
};
const failure = (code: number, errmsg: string): Document => ({ ok: 0, code, errmsg });

function isMember(): boolean {
  return config?.['members'][0].host === self;
}

function store(changed: Document): Document {
  config = changed;
  electedIn = 2;
  writeFileSync(file, BSON.serialize(changed));
  return { ok: 1 };
}

function hello(): Document {
  const limits = {
    minWireVersion: 0,
    maxWireVersion: 25,
    maxBsonObjectSize: 16_777_216,
    helloOk: true,
    ok: 1,
  };
  if (!isMember()) return { ismaster: false, secondary: false, isreplicaset: true, ...limits };
  electedIn -= 1;
  const isPrimary = electedIn < 0;
  const set = { setName: config?.['_id'], setVersion: config?.['version'], hosts: [self], me: self };
  return { ismaster: isPrimary, isWritablePrimary: isPrimary, secondary: !isPrimary, ...set, ...limits };
}

function answer(command: Document): Document {
  const [name = ''] = Object.keys(command);
  if (/^(hello|isMaster)$/i.test(name)) return hello();
  switch (name) {
    case 'replSetGetStatus':
      if (config === undefined)
        return failure(codes.notYetInitialized, 'no replset config has been received');
      if (!isMember())
        return failure(codes.invalidConfig, 'Our replica set config is invalid or we are not a member');
      return { ok: 1, myState: electedIn < 0 ? 1 : 2 };
    case 'replSetInitiate':
      if (config !== undefined) return failure(codes.alreadyInitialized, 'already initialized');
      return store({
        ...command['replSetInitiate'],
        version: 1,
        settings: { replicaSetId: new BSON.ObjectId() },
      });
    case 'replSetGetConfig':
      return { ok: 1, config };
    case 'replSetReconfig':
      if (command['force'] !== true)
        return failure(codes.notPrimary, 'only a primary takes it without force');
      return store({ ...command['replSetReconfig'], version: command['replSetReconfig'].version + 10_000 });
    case 'endSessions':
      return { ok: 1 };
    default:
      return failure(codes.unknown, `no such command: '${name}'`);
  }
}

const headerBytes = 16;
const opReply = 1;
const opQuery = 2004;
const opMessage = 2013;

function reply(message: Buffer): Buffer {
  const isQuery = message.readInt32LE(12) === opQuery;
  // Skip what precedes the document. In OP_QUERY, that is flags, the collection and two numbers. In OP_MSG, it is flags
  // and the kind of the only section.
  const from = isQuery ? message.indexOf(0, headerBytes + 4) + 1 + 8 : headerBytes + 5;
  const document = BSON.serialize(
    answer(BSON.deserialize(message.subarray(from, from + message.readInt32LE(from)))),
  );
  const head = Buffer.alloc(headerBytes + (isQuery ? 20 : 5));
  head.writeInt32LE(head.length + document.length, 0);
  head.writeInt32LE(message.readInt32LE(4), 8);
  head.writeInt32LE(isQuery ? opReply : opMessage, 12);
  if (isQuery) head.writeInt32LE(1, headerBytes + 16);
  return Buffer.concat([head, document]);
}

createServer((socket: Socket) => {
  let pending = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (data) => {
    pending = Buffer.concat([pending, data]);
    while (pending.length >= 4 && pending.length >= pending.readInt32LE(0)) {
      const length = pending.readInt32LE(0);
      socket.write(reply(pending.subarray(0, length)));
      pending = pending.subarray(length);
    }
  });
}).listen(port, '127.0.0.1');
