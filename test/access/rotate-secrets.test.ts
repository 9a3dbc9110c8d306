import { randomBytes } from 'node:crypto';
import { BSON, MongoClient } from 'mongodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { rotateSecrets } from '../../src/access/rotate-secrets.ts';
import { createSealer, SealError } from '../../src/access/sealer.ts';
import { openSecrets } from '../../src/access/secrets.ts';
import { createAccountStore } from '../../src/store/accounts.ts';
import { createAccountAlertStore } from '../../src/store/account-alerts.ts';
import { createRequestStore } from '../../src/store/requests.ts';
import { createTaskStore } from '../../src/store/tasks.ts';
import { createRootKeyStore } from '../../src/store/root-key.ts';
import { createSealedPlaces, type SealedPlace } from '../../src/store/sealed-places.ts';
import { openDatabase } from '../capacity/support.ts';
import { databaseUri } from '../support/run-servers.ts';
import { sealedWith, testEndUsers } from '../support/sealing.ts';
import { firstRecord } from '../support/task-records.ts';

const [a, b] = [randomBytes(32), randomBytes(32)];
const idOf = (key: Buffer) => createSealer([key]).keyId;
const database = await openDatabase();
const { db } = database;
beforeEach(async () => {
  await db.dropDatabase();
  await fill();
});
afterAll(() => database.drop());

const hooks = { purpose: 'webhook-secret', id: 'acc' } as const;
const alertPlace = { purpose: 'alert-address', id: 'acc' } as const;
const tasks = Array.from({ length: 7 }, (_, n) => `task_${n}`);
const change = { at: 1, by: 'ada', action: 'rotated', reason: '' };
const requests = (...keys: Buffer[]) => createRequestStore(db, Date.now, createSealer(keys));
const accounts = createAccountStore(db, testEndUsers);
const alerts = createAccountAlertStore(db);

async function fill(): Promise<void> {
  const sealer = createSealer([a]);
  await openSecrets([a], createRootKeyStore(db));
  await accounts.insert({
    id: 'acc',
    name: '',
    overdraftLimit: 0n,
    webhookSecrets: [sealer.seal(hooks, 'first')],
    createdAt: 1,
  });
  await accounts.addWebhookSecret('acc', sealer.seal(hooks, 'second'), change);
  for (const task of tasks) await insert(task, a);
  const outcome = { kind: 'failed', code: 'x', message: 'words of an upstream' } as const;
  await records(a).insert(firstRecord('task_0', { outcome }));
  const items = [{ url: 'https://a/0', lastFrameUrl: 'https://a/frame' }, { url: 'https://a/1' }];
  await records(a).insert(firstRecord('task_1', { outcome: { kind: 'succeeded', items, facts: {} } }));
  await alerts.set({ account: 'acc', threshold: 1n, address: sealer.seal(alertPlace, 'https://a') });
}

const records = (...keys: Buffer[]) => createTaskStore(db, Date.now, sealedWith(keys));

const insert = (task: string, key: Buffer, prompt = `prompt of ${task}`) =>
  requests(key).insert({
    task,
    account: 'acc',
    request: { kind: 'video', prompt } as never,
    callbackToken: 'token',
    deadlineAt: Date.now(),
    warnings: [],
    dropped: [],
    by: 'try',
  });

const rotate = (keys: readonly Buffer[], places: readonly SealedPlace[] = createSealedPlaces(db)) =>
  rotateSecrets({ places, sealer: createSealer(keys), onProgress: (line) => lines.push(line) });
let lines: string[] = [];
beforeEach(() => void (lines = []));

async function readAll(...keys: Buffer[]) {
  const sealer = createSealer(keys);
  const found = await Promise.all(tasks.map((task) => requests(...keys).find(task)));
  return {
    root: (await openSecrets(keys, createRootKeyStore(db))).deriveKey('api-key-hmac').toString('hex'),
    webhooks: (await accounts.find('acc'))?.webhookSecrets.map((one) => sealer.open(hooks, one)),
    prompts: found.map((record) => record?.request.prompt),
    alert: (await alerts.findMany(['acc'])).map((one) => sealer.open(alertPlace, one.address)),
    outcome: (await records(...keys).find('task_0'))?.outcome,
    result: (await records(...keys).find('task_1'))?.outcome,
  };
}

describe('rotating SECRETS_KEY', () => {
  it('seals everything with the first key, so that the second is no longer needed', async () => {
    const before = await readAll(a);
    expect(before.prompts).toEqual(tasks.map((task) => `prompt of ${task}`));
    expect(before.outcome).toMatchObject({ message: 'words of an upstream' });
    expect(before.result).toMatchObject({ items: [{ url: 'https://a/0' }, { url: 'https://a/1' }] });
    expect(await readAll(b, a)).toEqual(before);
    await expect(readAll(b)).rejects.toThrow(SealError);
    expect(await rotate([b, a])).toEqual({ keyId: idOf(b), rewritten: 19, left: new Map() });
    expect(await readAll(b)).toEqual(before);
    await expect(readAll(a)).rejects.toThrow(SealError);
    expect(await rotate([b])).toMatchObject({ rewritten: 0 });
  });

  it('leaves every other field of a document as it is', async () => {
    const others = (name: string) =>
      db
        .collection(name)
        .find({})
        .project({ sealed: 0, prompt: 0, webhookSecrets: 0, words: 0, links: 0 })
        .sort({ _id: 1 })
        .toArray();
    const names = ['requests', 'accounts', 'secrets', 'tasks', 'account_alerts'];
    const before = await Promise.all(names.map(others));
    await rotate([b, a]);
    expect(await Promise.all(names.map(others))).toEqual(before);
  });

  it('reads more documents than one page holds', async () => {
    const requests = db.collection<{ _id: string }>('requests');
    const document = await requests.findOne({ _id: 'task_0' });
    const copies = Array.from({ length: 1_001 }, (_, n) => ({ ...document, _id: `copy_${n}` }));
    await requests.insertMany(
      copies.map((copy) => ({ ...copy, sealed: { key: idOf(b) }, prompt: { key: idOf(b) } })),
    );
    await insert('the_last', a);
    expect((await rotate([b, a])).rewritten).toBe(21);
  });

  it('writes no more in one command than MongoDB accepts, even if a value is large', async () => {
    const prompt = 'x'.repeat(14 * 1024 * 1024);
    await insert('large', a, prompt);
    const client = new MongoClient(databaseUri(db.databaseName), { monitorCommands: true });
    const bytes: number[] = [];
    client.on('commandStarted', ({ commandName, command }) => {
      if (commandName === 'update') bytes.push(BSON.calculateObjectSize(command));
    });
    expect(await rotate([b, a], createSealedPlaces(client.db()))).toMatchObject({
      rewritten: 21,
      left: new Map(),
    });
    await client.close();
    expect(bytes).toHaveLength(21);
    expect(Math.max(...bytes)).toBeGreaterThan(prompt.length);
    expect(Math.max(...bytes)).toBeLessThan(16 * 1024 * 1024);
    expect((await requests(b).find('large'))?.request.prompt.length).toBe(prompt.length);
  });

  it('continues after it was killed, and may run twice at the same time', async () => {
    const before = await readAll(a);
    let left = 5;
    const dying = createSealedPlaces(db).map((place) => ({
      ...place,
      rewrite: (...args: Parameters<SealedPlace['rewrite']>) =>
        (left -= 1) < 0 ? Promise.reject(new Error('killed')) : place.rewrite(...args),
    }));
    await expect(rotate([b, a], dying)).rejects.toThrow('killed');
    expect(await readAll(b, a)).toEqual(before);
    await Promise.all([rotate([b, a]), rotate([b, a])]);
    expect(await readAll(b)).toEqual(before);
  });

  it('never overwrites a change made after it has read the value', async () => {
    const sealed = createSealer([b, a]).seal(hooks, 'third');
    const meddling = createSealedPlaces(db).map((place) => ({
      ...place,
      rewrite: (id: string, reseal: Parameters<SealedPlace['rewrite']>[1]) => {
        let met: Promise<unknown> | undefined;
        return place.rewrite(id, (at, one) => {
          met ??= place.name === 'accounts' ? accounts.addWebhookSecret('acc', sealed, change) : undefined;
          return reseal(at, one);
        });
      },
    }));
    await rotate([b, a], meddling);
    expect((await readAll(b, a)).webhooks).toEqual(['third', 'second', 'first']);
    await rotate([b, a]);
    expect((await readAll(b)).webhooks).toEqual(['third', 'second', 'first']);
  });

  it('reports which keys are still needed, and rewrites the other values', async () => {
    const unknown = randomBytes(32);
    await insert('task_of_another', unknown);
    const { rewritten, left } = await rotate([b, a]);
    expect([rewritten, left]).toEqual([19, new Map([[idOf(unknown), 2]])]);
    const line = `requests task_of_another: a sealed value needs the key ${idOf(unknown)}, and SECRETS_KEY contains ${idOf(b)}, ${idOf(a)}`;
    expect(lines).toEqual([line, line]);
  });
});
